//! The network of a run: switches, hosts and the links between them.

use std::collections::BTreeMap;
use std::sync::Arc;

use hitless_core::engine::{Event, OrderKey, PacketHandle, Turn};
use hitless_core::wire::{FlowId, HostId, OrderedSet, Packet, PortId, Time, Transport};
use hitless_hosts::{HostEvent, Hosts};
use hitless_scenario::network::loss::ArrivingFrame;
use hitless_scenario::network::topology::{Node, SwitchId, Topology};
use hitless_switch::{DropReason, Report, Shortcut, Switch, SwitchEvent};

use super::drops::NETWORK_CARD_FULL;
use super::edge::{Edge, Passage};
use super::environment::{HostsEnvironment, SwitchEnvironment};
use super::event::SimulationEvent;
use super::shared::{Shared, put_on_link};
use crate::link::Fate;

/// The state machines of a run and their shared state.
#[derive(hitless_core::state::State)]
pub(super) struct Network<E> {
    #[configured]
    pub topology: Arc<Topology>,
    #[part]
    pub shared: Shared<E>,
    #[part]
    pub hosts: Hosts,
    #[part]
    pub switches: Vec<Switch>,
}

/// The result of a turn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Happened {
    /// A packet arrived at the end of a link; `has_ended` tells whether its flow has ended.
    Arrival { has_ended: bool },
    /// This event is due; nothing has been handled or recorded yet.
    Due { order: OrderKey, event: SimulationEvent },
}

impl<E: Edge> Network<E> {
    /// Takes the next turn before `end` and returns its time. Handles arrivals on links itself.
    ///
    /// The lookups for a packet on its way through a plain switch are done once here, on separate fields of `self`: a
    /// method that borrows all of `self` would repeat each of them after every call.
    #[inline(always)]
    pub fn take_turn(&mut self, end: Time) -> Option<(Time, Happened)> {
        let Self { shared, switches, .. } = self;
        let Shared { queue, links, clocks, packets, routing, edge, .. } = shared;
        let Event { time: now, order, payload } = queue.pop_turn_before(end, links, |link, now, order| {
            // Here, because the key would otherwise occupy a register while the next event is placed.
            clocks.record(now, order);
            let (packet, next) = link.take();
            ((link, packet), next)
        })?;
        edge.set_time(now);
        // Source numbers are link numbers.
        let (number, (link, packet)) = match payload {
            Turn::Source(source, taken) => (source.index() as u32, taken),
            Turn::Other(event) => return Some((now, Happened::Due { order, event })),
        };
        // The slow path of live runs and impaired links; all other arrivals continue here.
        if !E::IS_CLOSED || link.is_impaired() {
            edge.arrived(packet, link.to().node);
            return Some((now, Happened::Arrival { has_ended: self.arrive(now, number, packet) }));
        }
        let descriptor = &mut packets[packet];
        link.count_arrival(now, descriptor.frame_bytes);
        let to = link.to();
        let has_ended = match to.node {
            Node::Switch(SwitchId(number)) => {
                let switch = &mut switches[number as usize];
                let what = if switch.has_shortcut(to.port)
                    && let Some(towards) = routing.route(SwitchId(number), descriptor)
                {
                    switch.receive_on_shortcut(now, to.port, descriptor, towards)
                } else {
                    Shortcut::Refused
                };
                match what {
                    Shortcut::Sent { port, line, transmission, last_bit_at } => {
                        let Packet { flow, frame_bytes, .. } = *descriptor;
                        let passage = Passage { switch: number, port, flow, frame_bytes, transmission, last_bit_at };
                        edge.passed(packet, passage, packets);
                        put_on_link(links, queue, line, packet, last_bit_at);
                    }
                    Shortcut::Refused => {
                        edge.arrived(packet, Node::Switch(SwitchId(number)));
                        self.receive_on_slow_path(now, number, to.port, packet);
                    }
                    Shortcut::Full => {
                        edge.arrived(packet, Node::Switch(SwitchId(number)));
                        self.end_at_full_queue(number, packet);
                    }
                }
                false
            }
            Node::Host(host) => {
                edge.arrived(packet, Node::Host(host));
                let to = (descriptor.destination, descriptor.flow);
                self.receive_at_host(now, host, packet, to)
            }
        };
        Some((now, Happened::Arrival { has_ended }))
    }

    #[cold]
    #[inline(never)]
    fn end_at_full_queue(&mut self, number: u32, packet: PacketHandle) {
        let (switch, mut environment) = self.at(number);
        switch.end_at_full_queue(packet, &mut environment);
    }

    #[inline(always)]
    pub fn at(&mut self, switch: u32) -> (&mut Switch, SwitchEnvironment<'_, E>) {
        let Self { shared, switches, .. } = self;
        (&mut switches[switch as usize], SwitchEnvironment { shared, switch })
    }

    /// The hosts with their environment.
    #[inline(always)]
    pub fn hosts(&mut self) -> (&mut Hosts, HostsEnvironment<'_, E>) {
        (&mut self.hosts, HostsEnvironment { shared: &mut self.shared })
    }

    pub fn start(&mut self) {
        for number in 0..self.switches.len() as u32 {
            let (switch, mut environment) = self.at(number);
            switch.start(Time::ZERO, &mut environment);
        }
    }

    /// Handles the arrival of the first frame in flight on an impaired link or at the edge. Returns whether a flow has
    /// ended.
    #[inline(never)]
    fn arrive(&mut self, now: Time, link: u32, packet: PacketHandle) -> bool {
        let state = self.shared.links.at(link);
        let to = state.to();
        if !state.is_impaired() {
            state.count_arrival(now, self.shared.packets[packet].frame_bytes);
        } else if self.lose_in_flight(now, link, packet) {
            return false;
        }
        if self.shared.capture.is_some() {
            self.shared.capture_on_link(now, link, packet, Fate::Arrives);
        }
        if self.shared.edge.takes(now, link, packet, &self.shared.packets) {
            self.shared.discard(packet);
            return false;
        }
        match to.node {
            Node::Switch(number) => {
                let (switch, mut environment) = self.at(number.0);
                switch.receive(now, to.port, packet, &mut environment);
                false
            }
            Node::Host(host) => {
                let Packet { destination, flow, .. } = self.shared.packets[packet];
                self.receive_at_host(now, host, packet, (destination, flow))
            }
        }
    }

    #[inline(always)]
    fn receive_at_host(&mut self, now: Time, host: HostId, packet: PacketHandle, to: (HostId, FlowId)) -> bool {
        if self.shared.watches_hosts {
            self.watch_arrival(now, host, packet, to.0);
        }
        let (hosts, mut environment) = self.hosts();
        hosts.receive(now, host, packet, to, &mut environment)
    }

    #[cold]
    #[inline(never)]
    fn watch_arrival(&mut self, now: Time, host: HostId, packet: PacketHandle, destination: HostId) {
        let (hosts, mut environment) = self.hosts();
        hosts.return_credits(now, host, packet, &mut environment);
        if let Some(order) = &mut self.shared.order
            && destination == host
        {
            order.arrived(now, &self.shared.packets[packet]);
        }
    }

    #[inline(never)]
    fn receive_on_slow_path(&mut self, now: Time, number: u32, port: PortId, packet: PacketHandle) {
        let (switch, mut environment) = self.at(number);
        switch.receive_on_slow_path(now, port, packet, &mut environment);
    }

    pub fn arrive_ordered_set(&mut self, now: Time, link: u32, set: OrderedSet) {
        let to = self.shared.links[link as usize].to();
        let Node::Switch(SwitchId(number)) = to.node else { return };
        let event = SwitchEvent::OrderedSet { port: to.port, set };
        if self.shared.links.carry_ordered_set(link, now) {
            self.handle_switch(now, number, event);
        }
    }

    /// Decides whether an impaired link loses an arriving packet, and removes the packet if so.
    #[inline(never)]
    fn lose_in_flight(&mut self, now: Time, link: u32, packet: PacketHandle) -> bool {
        let descriptor = &self.shared.packets[packet];
        let frame = ArrivingFrame {
            at: now,
            frame_bytes: descriptor.frame_bytes,
            is_link_retransmission: descriptor.is_link_retransmission,
        };
        let fate = self.shared.links.arrive(link, frame);
        if fate != Fate::Arrives {
            self.lose(now, link, packet, fate);
        }
        fate != Fate::Arrives
    }

    #[cold]
    fn lose(&mut self, now: Time, link: u32, packet: PacketHandle, fate: Fate) {
        let to = self.shared.links[link as usize].to();
        if let (Fate::Corrupted, Node::Switch(SwitchId(number))) = (fate, to.node) {
            let (switch, mut environment) = self.at(number);
            switch.receive_corrupted(now, to.port, &mut environment);
        }
        if self.shared.capture.is_some() {
            self.shared.capture_on_link(now, link, packet, fate);
        }
        self.shared.edge.lost(link, packet, &self.shared.packets, fate);
        let descriptor = &self.shared.packets[packet];
        if descriptor.transport != Transport::None {
            self.shared.lost += 1;
            if fate == Fate::LostDown {
                self.shared.records.note_lost_to_failure(descriptor.flow);
            }
        }
        self.shared.discard(packet);
    }

    /// Handles an event of a node.
    #[inline(never)]
    pub fn handle(&mut self, now: Time, event: SimulationEvent) {
        match event {
            SimulationEvent::OrderedSetArrival { link, set } => self.arrive_ordered_set(now, link, set),
            SimulationEvent::Switch { switch, event } => self.handle_switch(now, switch, event),
            SimulationEvent::Host(event) => self.handle_host(now, event),
            SimulationEvent::StartFlows { host } => self.handle_host(now, HostEvent::StartFlows(host)),
            other => unreachable!("{other:?} is no event of a node"),
        }
    }

    #[inline(always)]
    pub fn handle_switch(&mut self, now: Time, number: u32, event: SwitchEvent) {
        let (switch, mut environment) = self.at(number);
        switch.handle(now, event, &mut environment);
    }

    #[inline(always)]
    pub fn handle_host(&mut self, now: Time, event: HostEvent) {
        let (hosts, mut environment) = self.hosts();
        hosts.handle(now, event, &mut environment);
    }

    /// Number of flow packets neither delivered nor dropped.
    pub fn flows_in_flight(&self) -> i64 {
        self.hosts.totals().packets.in_flight() + self.shared.copied as i64 - self.shared.lost as i64
    }

    /// Checks the balance: injected = delivered + dropped + in flight, and the packets in flight exist. Returns a
    /// sentence if it is violated.
    pub fn imbalance(&self) -> Option<String> {
        let in_flight = self.flows_in_flight();
        let (control, alive) = (self.shared.control_packets, self.shared.packets_alive());
        (in_flight + control as i64 != alive as i64).then(|| {
            format!(
                "packets went astray: flows have {in_flight} in flight, switches {control} of their own, but {alive} \
                 exist"
            )
        })
    }

    /// The reports of all mechanisms of all switches.
    pub fn reports(&self, now: Time) -> Vec<(SwitchId, Report)> {
        let of_switch = |(number, switch): (usize, &Switch)| {
            let id = SwitchId(number as u32);
            switch.reports(now).map(|report| (id, report)).collect::<Vec<_>>()
        };
        self.switches.iter().enumerate().flat_map(of_switch).collect()
    }

    /// Lost packets by reason.
    pub fn drops(&self) -> BTreeMap<&'static str, u64> {
        let mut drops = self.ended_in_switches(DropReason::is_loss);
        let mut add = |reason: &'static str, count: u64| {
            if count > 0 {
                *drops.entry(reason).or_insert(0) += count;
            }
        };
        for link in 0..self.shared.links.iter().len() {
            let counters = self.shared.links.counters(link);
            add("corrupted on a link", counters.frames_corrupted);
            add("lost on a link that was down", counters.frames_lost_down);
        }
        let totals = self.hosts.totals();
        add(NETWORK_CARD_FULL, totals.dropped_by_network_card);
        add("arrived after the end of the flow", totals.strays);
        add("addressed to another host", totals.misdelivered);
        add("copy of a packet held for order", totals.duplicates);
        drops
    }

    /// Packets that ended in switches, by reason, for the reasons accepted by `counts`.
    pub fn ended_in_switches(&self, counts: impl Fn(DropReason) -> bool) -> BTreeMap<&'static str, u64> {
        let total = |reason: DropReason| self.switches.iter().map(|switch| switch.drops()[reason as usize]).sum();
        let reasons = DropReason::ALL.into_iter().filter(|&reason| counts(reason));
        reasons.map(|reason| (reason.name(), total(reason))).filter(|&(_, count)| count > 0).collect()
    }
}
