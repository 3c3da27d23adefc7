//! The autopsy of completion times: each packet carries a ledger, a message's completion time divided into parts.
//!
//! A packet's ledger starts as a copy of its cause's ledger: the packet or the timer that made a transport send it.
//! Each step of the packet charges the time since its last step to a part. A retransmission takes the ledger of the
//! lost packet, and charges the time since the loss. So the ledger of the packet that completes a message divides the
//! message's time along its critical path, without remainder. Nothing here schedules an event: the run is the same.

mod departures;
mod ends;
mod flows;
mod front;
mod kind;
mod ledger;
mod losses;
mod parts;
mod pauses;
mod port;
mod rare;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{FlowId, HostId, LineTiming, Packet, PortId, QueueId, Time, Transport};
use hitless_hosts::{FlowEnd, FlowRecords, HostStep, MessageRecord};
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::{Node, SwitchId, Topology};
use hitless_switch::{DropReason, Stop, Switch, SwitchEvent};

use super::edge::{Edge, Passage};
use super::network::Network;
use crate::link::Fate;
use crate::results::Table;
use departures::{Departure, Departures};
use flows::Flow;
use front::{Front, Tally};
use kind::{Frame, Kind, Makers};
use ledger::{Delivered, Ledger};
use parts::{Cause, Loss, Part, Place};
use pauses::{Pauses, Queue};
use port::{PAUSED_PS, Port};
use rare::RareLedgers;

/// A packet's ledger: a hop uses one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct OfPacket {
    ledger: Ledger,
    /// The switch that it is in, plus one, unless it passes on the shortcut; 0 elsewhere.
    switch: u32,
}

const _: () = assert!(size_of::<OfPacket>() == 128, "documented: 128 B for each packet");

/// The ledgers of a run.
pub(super) struct Autopsy {
    now: Time,
    /// By switch and port.
    ports: Vec<Port>,
    /// Entries for each switch: the maximum number of ports.
    stride: usize,
    cards: Vec<LineTiming>,
    pauses: Pauses,
    /// Pauses and closures by mechanisms.
    closures: Pauses,
    card_pauses: Pauses,
    makers: Makers,
    departures: Departures,
    tally: Tally,
    /// By packet.
    ledgers: Vec<OfPacket>,
    rares: RareLedgers,
    /// By flow; `None` after its end.
    flows: Vec<Option<Box<Flow>>>,
    /// The end whose latest packet makes the transport send; `None` after another reason.
    received_at: Option<FlowEnd>,
    /// The ledger of another reason: a timer, the application, the card.
    woken: Ledger,
    /// Whether the reason is a turn at the network card.
    has_turn: bool,
    /// Whether the reason is the end of a wait for a loss.
    is_recovering: bool,
    /// The packet that hooks of a switch handle now; invalid for an event without a packet.
    hooked: PacketHandle,
    delivered: Vec<Delivered>,
    /// The rare parts of delivered messages.
    delivered_rares: RareLedgers,
    delivered_fronts: Vec<Front>,
}

impl Autopsy {
    /// Prepares the autopsy of a run on `network`.
    pub fn new<E: Edge>(network: &Network<E>) -> Self {
        let switches = &network.switches;
        let stride = switches.iter().map(Switch::port_count).max().unwrap_or(0);
        let mut ports = Vec::with_capacity(stride * switches.len());
        for switch in switches {
            ports.extend((0..stride).map(|port| Port::of(switch, port)));
        }
        let (makers, cards) = (Makers::new(switches), network.hosts.lines().collect());
        Self { stride, ports, cards, makers, ..Self::default() }
    }
}

/// The autopsy of an empty network.
impl Default for Autopsy {
    fn default() -> Self {
        Self {
            now: Time::ZERO,
            ports: Vec::new(),
            stride: 0,
            cards: Vec::new(),
            pauses: Pauses::default(),
            closures: Pauses::default(),
            card_pauses: Pauses::default(),
            makers: Makers::default(),
            departures: Departures::default(),
            tally: Tally::default(),
            ledgers: Vec::new(),
            rares: RareLedgers::default(),
            flows: Vec::new(),
            received_at: None,
            woken: Ledger::new(Time::ZERO),
            has_turn: false,
            is_recovering: false,
            hooked: PacketHandle(u32::MAX),
            delivered: Vec::new(),
            delivered_rares: RareLedgers::default(),
            delivered_fronts: Vec::new(),
        }
    }
}

impl Autopsy {
    /// The ledger of a packet, and the rare parts. A packet of a switch has one without a meaning.
    #[inline(always)]
    fn books(&mut self, packet: PacketHandle) -> (&mut Ledger, &mut RareLedgers) {
        let slot = packet.0 as usize;
        if slot >= self.ledgers.len() {
            self.make_room(slot);
        }
        (&mut self.ledgers[slot].ledger, &mut self.rares)
    }

    #[inline(always)]
    fn ledger(&mut self, packet: PacketHandle) -> &mut Ledger {
        self.books(packet).0
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, slot: usize) {
        self.ledgers.resize(slot + 1, OfPacket { ledger: Ledger::new(Time::ZERO), switch: 0 });
    }

    fn flow(&mut self, flow: FlowId) -> Option<&mut Flow> {
        self.flows.get_mut(flow.0 as usize)?.as_deref_mut()
    }

    /// Makes sure that the flow exists; it begins now if it is new.
    #[inline(always)]
    fn begin(&mut self, flow: FlowId) -> usize {
        let slot = flow.0 as usize;
        if !matches!(self.flows.get(slot), Some(Some(_))) {
            self.add_flow(slot);
        }
        slot
    }

    #[cold]
    #[inline(never)]
    fn add_flow(&mut self, slot: usize) {
        if slot >= self.flows.len() {
            self.flows.resize_with(slot + 1, || None);
        }
        self.flows[slot] = Some(Box::new(Flow::new(self.now)));
    }

    /// Frees the rare parts and the departures of paths that have ended.
    #[cold]
    #[inline(never)]
    fn collect(&mut self, packets: &PacketStore) {
        let joined = self.departures.are_due().then(|| self.joined(packets));
        let Self { now, ledgers, flows, woken, rares, departures, ports, tally, .. } = self;
        let ledgers_of_packets = ledgers.len();
        let of_flows = flows.iter_mut().flatten().flat_map(|flow| flow.ledgers());
        let all = ledgers.iter_mut().map(|of_packet| &mut of_packet.ledger).chain(of_flows).chain([woken]);
        if let Some(joined) = joined {
            let waits = all.map(|ledger| &mut ledger.longest_wait);
            departures.collect((*now, ledgers_of_packets), waits, joined, ports, tally);
        } else if rares.are_due() {
            rares.collect(all.map(|ledger| &mut ledger.rare));
        }
    }

    /// The arrival of the oldest packet for each port, among those that do not pass on the shortcut: they can wait.
    fn joined(&self, packets: &PacketStore) -> Vec<Time> {
        let mut joined = vec![Time::NEVER; self.ports.len()];
        if self.ledgers.iter().all(|of_packet| of_packet.switch == 0) {
            return joined;
        }
        for packet in packets.handles() {
            let Some(OfPacket { ledger, switch }) = self.ledgers.get(packet.0 as usize) else { continue };
            // Mechanisms can change the port of a packet that has been in a queue.
            let place = switch.checked_sub(1).map(|switch| self.place_of(switch, packets[packet].egress_port));
            if let Some(joined_at) = place.and_then(|place| joined.get_mut(place)) {
                *joined_at = ledger.at.min(*joined_at);
            }
        }
        joined
    }

    /// Charges the rest of a link.
    #[inline(always)]
    fn cross_link(&mut self, packet: PacketHandle) {
        let now = self.now;
        let (ledger, rares) = self.books(packet);
        ledger.charge(now, Part::Propagation, rares);
        ledger.kind = ledger.kind.arrived();
    }

    /// A packet has arrived at a switch, and does not pass on the shortcut.
    #[inline(never)]
    fn entered(&mut self, packet: PacketHandle, SwitchId(switch): SwitchId) {
        self.cross_link(packet);
        self.ledgers[packet.0 as usize].switch = switch + 1;
    }

    /// A packet leaves a switch.
    fn leave_switch(&mut self, packet: PacketHandle) {
        self.ledger(packet);
        self.ledgers[packet.0 as usize].switch = 0;
    }

    /// Charges the wait in the queue of a card with flow control.
    #[cold]
    #[inline(never)]
    fn dequeued(&mut self, packet: PacketHandle, descriptor: &Packet) {
        let (now, joined_at) = (self.now, self.ledger(packet).at);
        let class = class_of_card(descriptor.source, descriptor.class & 7);
        let paused = self.card_pauses.between(class, joined_at, now);
        let (ledger, rares) = self.books(packet);
        ledger.charge((joined_at + paused).min(now), Part::Paused, rares);
        ledger.charge(now, Part::Card, rares);
    }

    fn deliver(&mut self, flow: FlowId, group: u32, number: u64, bytes: u64) {
        let (now, mut ledger) = (self.now, self.reason());
        assert!(ledger.at == now, "a message of {flow:?} is delivered at {now}, its ledger ends at {}", ledger.at);
        let total_ps: u64 = ledger.parts(self.rares.of(ledger.rare)).iter().sum();
        assert!(total_ps == (now - ledger.origin).as_ps(), "the parts of {flow:?} do not add up");
        ledger.rare = self.delivered_rares.adopt(ledger.rare, &self.rares);
        if ledger.longest_wait != 0 {
            let front = self.departures.front(ledger.longest_wait, &self.ports, &mut self.tally);
            self.delivered_fronts.push(front);
            ledger.longest_wait = self.delivered_fronts.len() as u32;
        }
        self.delivered.push(Delivered { flow, group, number, bytes, ledger });
    }

    /// The port, by its place in `ports`.
    #[inline(always)]
    fn place_of(&self, switch: u32, port: PortId) -> usize {
        switch as usize * self.stride + usize::from(port.0)
    }

    /// Charges the way of a packet on the shortcut that was no shortcut: its port pauses.
    #[cold]
    #[inline(never)]
    fn passed_slowly(&mut self, to: (u32, PortId), packet: PacketHandle, packets: &PacketStore, last_bit_at: Time) {
        self.arrived(packet, Node::Switch(SwitchId(to.0)));
        self.transmitted(to.0, to.1, packet, packets, last_bit_at);
    }
}

/// The class of a network card, as a queue of [`Pauses`].
const fn class_of_card(host: HostId, class: u8) -> Queue {
    (host.0, PortId(0), QueueId(class))
}

impl Edge for Autopsy {
    const IS_CLOSED: bool = true;
    const OBSERVES: bool = true;

    #[inline]
    fn set_time(&mut self, now: Time) {
        self.now = now;
    }

    #[inline(always)]
    fn arrived(&mut self, packet: PacketHandle, at: Node) {
        match at {
            Node::Switch(switch) => self.entered(packet, switch),
            Node::Host(_) => self.cross_link(packet),
        }
    }

    // The time on links is charged when the packet leaves the shortcuts: it is the rest.
    #[inline(always)]
    fn passed(&mut self, packet: PacketHandle, passage: Passage, packets: &PacketStore) {
        let Passage { switch, port, flow, frame_bytes, transmission, last_bit_at } = passage;
        let (place, slot) = (self.place_of(switch, port), packet.0 as usize);
        let port = &mut self.ports[place];
        let (line_ps, through_ps) = (transmission.as_ps(), (last_bit_at - self.now).as_ps());
        let wait_ps = through_ps.wrapping_sub(line_ps).wrapping_sub(port.shortcut_ps);
        // Negative if the port has ever paused.
        if slot >= self.ledgers.len() || wait_ps.cast_signed() < 0 {
            return self.passed_slowly((passage.switch, passage.port), packet, packets, last_bit_at);
        }
        let ledger = &mut self.ledgers[slot].ledger;
        ledger.kind = ledger.kind.arrived();
        port.latest = self.departures.add(Departure {
            arrived_at: self.now,
            last_bit_at,
            before: port.latest,
            flow,
            place: place as u32,
            frame: Frame::new(frame_bytes, ledger.kind),
        });
        ledger.wait(wait_ps, port.latest);
        ledger.pipeline_ps += port.shortcut_ps;
        ledger.serialisation_ps += line_ps;
        ledger.at = Time(ledger.at.as_ps() + through_ps);
    }

    #[inline(always)]
    fn left_host(&mut self, host: HostId, packet: PacketHandle, packets: &PacketStore, last_bit_at: Time) {
        let now = self.now;
        let line_time = self.cards[host.0 as usize].time_for(packets[packet].frame_bytes);
        let starts_at = Time(last_bit_at.as_ps().saturating_sub(line_time.as_ps()));
        let (ledger, rares) = self.books(packet);
        ledger.charge(now, Part::Stack, rares);
        ledger.charge(starts_at, Part::Card, rares);
        ledger.charge(last_bit_at, Part::Serialisation, rares);
    }

    fn transmitted(
        &mut self,
        switch: u32,
        port: PortId,
        packet: PacketHandle,
        packets: &PacketStore,
        last_bit_at: Time,
    ) {
        let descriptor = &packets[packet];
        if descriptor.is_trimmed() {
            self.note_trim(switch, packet, packets);
        }
        let place = self.place_of(switch, port);
        let port_state = self.ports[place];
        let departs_at = port_state.left_at(last_bit_at);
        let line_time = port_state.line.time_for(descriptor.frame_bytes);
        let starts_at = Time(departs_at.as_ps().saturating_sub(line_time.as_ps()));
        let Ledger { at: begins_at, kind, .. } = *self.ledger(packet);
        self.leave_switch(packet);
        let departure = self.departures.add(Departure {
            arrived_at: begins_at,
            last_bit_at,
            before: port_state.latest,
            flow: descriptor.flow,
            place: place as u32,
            frame: Frame::new(descriptor.frame_bytes, kind),
        });
        self.ports[place].latest = departure;
        if kind.is_copy() {
            self.send_copy(descriptor, packet, starts_at);
        }
        let queue = (switch, port, descriptor.queue);
        let paused = self.pauses.between(queue, begins_at, starts_at);
        let closed = self.closures.between(queue, begins_at, starts_at);
        let (ledger, rares) = self.books(packet);
        ledger.charge((ledger.at + port_state.lead).min(starts_at), Part::Pipeline, rares);
        ledger.charge((ledger.at + paused).min(starts_at), Part::Paused, rares);
        ledger.charge((ledger.at + closed).min(starts_at), Part::Mechanism, rares);
        let time_ps = starts_at.saturating_since(ledger.at).as_ps();
        ledger.wait(time_ps, departure);
        ledger.at = ledger.at.max(starts_at);
        ledger.charge(departs_at, Part::Serialisation, rares);
        ledger.charge(last_bit_at, Part::Pipeline, rares);
    }

    fn scheduled(&mut self, switch: u32, at: Time, event: SwitchEvent, packets: &PacketStore) {
        let (now, (packet, part)) = match event {
            SwitchEvent::Enqueue { packet, .. } => (self.now, (packet, Part::Pipeline)),
            SwitchEvent::Loopback { packet, .. } | SwitchEvent::Release { packet } => (at, (packet, Part::Mechanism)),
            _ => return,
        };
        if packets[packet].is_trimmed() {
            self.note_trim(switch, packet, packets);
        }
        let (ledger, rares) = self.books(packet);
        if !ledger.kind.is_copy() {
            // Only a mechanism takes a packet out of a queue again.
            ledger.charge(now, Part::Mechanism, rares);
            ledger.charge(at, part, rares);
        }
    }

    fn hook_ran(&mut self, packet: PacketHandle) {
        self.hooked = packet;
    }

    fn stopped(&mut self, queue: (u32, PortId, QueueId), by: Stop) {
        if by == Stop::Partner {
            let place = self.place_of(queue.0, queue.1);
            self.ports[place].shortcut_ps = PAUSED_PS;
        }
        self.pauses.note(self.now, queue, by == Stop::Partner);
        self.closures.note(self.now, queue, by == Stop::Mechanism);
    }

    fn created(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore) {
        let descriptor = &packets[packet];
        let maker = self.makers.of(switch, descriptor);
        if descriptor.transport == Transport::None {
            *self.ledger(packet) = Ledger { kind: Kind::void(maker), ..Ledger::new(self.now) };
        } else if let Some(original) = self.of_copy(descriptor, packets) {
            *self.ledger(packet) = Ledger { kind: original.kind.copied(maker), ..original };
        } else {
            *self.ledger(packet) = Ledger { kind: Kind::DATA.copied(maker), ..Ledger::new(self.now) };
        }
        // Hosts make messages of flow control.
        self.ledgers[packet.0 as usize].switch = switch.wrapping_add(1);
    }

    fn lost(&mut self, link: u32, packet: PacketHandle, packets: &PacketStore, fate: Fate) {
        self.leave_switch(packet);
        let cause = if fate == Fate::LostDown { Cause::LinkDown } else { Cause::Corrupted };
        self.lose(packet, packets, Loss { place: Place::Link(link), cause });
    }

    fn ended(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore, reason: DropReason) {
        self.leave_switch(packet);
        if reason.is_loss() {
            let place = Place::Port(switch, packets[packet].egress_port);
            self.lose(packet, packets, Loss { place, cause: Cause::Switch(reason) });
        }
    }

    #[inline(always)]
    fn host_step(&mut self, step: HostStep, packets: &PacketStore) {
        match step {
            HostStep::Reached(packet) | HostStep::Queued(packet) => {
                let now = self.now;
                let (ledger, rares) = self.books(packet);
                ledger.charge(now, Part::Stack, rares);
            }
            HostStep::Received(end, packet) => self.received(end, packet, packets),
            HostStep::Woken(end, wake) => self.woken(end, wake, packets),
            HostStep::Wrote(end) => self.wrote(end),
            HostStep::HeldBack(end, line) => self.held_back(end, line),
            HostStep::Dequeued(packet) => self.dequeued(packet, &packets[packet]),
            HostStep::CardPaused { host, class, is_paused } => {
                self.card_pauses.note(self.now, class_of_card(host, class), is_paused);
            }
            HostStep::Sent(end, packet) => self.sent(end, packet, packets),
            HostStep::Delivered { end, group, number, bytes } => self.deliver(end.flow, group, number, bytes),
        }
    }

    fn refused_by_card(&mut self, host: HostId, packet: PacketHandle, packets: &PacketStore) {
        self.lose(packet, packets, Loss { place: Place::Host(host.0), cause: Cause::CardFull });
    }

    fn flow_added(&mut self, group: u32) {
        self.tally.add_flow(group);
    }

    fn flow_ended(&mut self, flow: FlowId) {
        if self.received_at.is_some_and(|at| at.flow == flow) {
            (self.woken, self.received_at) = (self.reason(), None);
        }
        if let Some(slot) = self.flows.get_mut(flow.0 as usize) {
            *slot = None;
        }
    }

    /// Each delivered message has an autopsy, from its start to its delivery.
    fn violations(&self, records: &FlowRecords) -> Vec<String> {
        let span = |row: &Delivered| ((row.flow, row.number), (row.ledger.origin, row.ledger.at));
        let known: BTreeMap<_, _> = self.delivered.iter().map(span).collect();
        let is_wrong = |message: &&MessageRecord| {
            let found = known.get(&(message.flow, message.number));
            message.delivered != Time::NEVER && found != Some(&(message.started, message.delivered))
        };
        let wrong = records.messages.iter().chain(&records.unfinished).find(is_wrong);
        let told = |message: &MessageRecord| {
            let found = known.get(&(message.flow, message.number));
            format!("the autopsy of {message:?} has other ends: {found:?}")
        };
        wrong.map(told).into_iter().collect()
    }

    fn tables(&self, scenario: &Scenario, topology: &Topology) -> Vec<Table> {
        table::Delivery {
            delivered: &self.delivered,
            rares: &self.delivered_rares,
            fronts: &self.delivered_fronts,
            tally: &self.tally,
            makers: &self.makers,
            stride: self.stride,
        }
        .tables(scenario, topology)
    }
}
