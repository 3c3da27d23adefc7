//! Adapters that present the run to switches and hosts as their environment.

use hitless_core::engine::{OrderKey, PacketHandle, PacketStore};
use hitless_core::wire::{HostId, OrderedSet, Packet, PortId, QueueId, ServiceKey, Time, Transport};
use hitless_hosts::{
    FlowRecord, FlowRecords, HostDrop, HostEnvironment, HostEvent, HostStep, ReceiverRecord, SenderEnd,
};
use hitless_scenario::network::routing::Routing;
use hitless_scenario::network::topology::{Node, SwitchId};
use hitless_switch::{DropReason, Environment, Half, Stop, SwitchEvent, Tables, Verdict};

use super::edge::Edge;
use super::event::{SimulationEvent, kind};
use super::records::Services;
use super::shared::{Letter, Shared};

pub(super) struct SwitchEnvironment<'a, E> {
    pub shared: &'a mut Shared<E>,
    pub switch: u32,
}

/// Lookup tables for the mechanisms of a switch.
pub(super) struct SwitchTables<'a, E> {
    routing: &'a Routing,
    services: &'a Services,
    edge: &'a E,
    switch: u32,
}

impl<E: Edge> Tables for SwitchTables<'_, E> {
    fn service_key(&self, packet: &Packet) -> ServiceKey {
        self.edge.service_key(packet).unwrap_or_else(|| self.services.of(packet.flow))
    }

    fn returns(&self, packet: &Packet, port: PortId) -> bool {
        !self.edge.is_for_everyone(packet) && self.routing.returns(SwitchId(self.switch), port, packet.destination)
    }
}

impl<E: Edge> Environment for SwitchEnvironment<'_, E> {
    const OBSERVES: bool = E::OBSERVES;

    type Tables<'t>
        = SwitchTables<'t, E>
    where
        Self: 't;

    #[inline(always)]
    fn parts(&mut self) -> (&mut PacketStore, Self::Tables<'_>) {
        let Shared { packets, routing, services, edge, .. } = &mut *self.shared;
        (packets, SwitchTables { routing, services, edge, switch: self.switch })
    }

    #[inline(always)]
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.shared.packets
    }

    #[inline(always)]
    fn route(&mut self, packet: PacketHandle) -> Option<PortId> {
        self.shared.resolve(self.switch, packet)?;
        let packet = &self.shared.packets[packet];
        let (routing, switch) = (&self.shared.routing, SwitchId(self.switch));
        let port = routing.route(switch, packet);
        port.or_else(|| routing.route_watched(switch, packet))
    }

    // Skips routes that depend on the port of arrival, because the packet does not carry that port yet. A packet
    // without any other route takes the slow path, which calls `route`.
    #[inline(always)]
    fn packet_and_route(&mut self, packet: PacketHandle) -> (&mut Packet, Option<PortId>) {
        let Shared { packets, routing, edge, .. } = &mut *self.shared;
        let packet = &mut packets[packet];
        if edge.is_for_everyone(packet) {
            return (packet, None);
        }
        let port = routing.route(SwitchId(self.switch), packet);
        (packet, port)
    }

    fn next_hops(&self, packet: PacketHandle) -> &[PortId] {
        let packet = &self.shared.packets[packet];
        if self.shared.edge.is_for_everyone(packet) {
            return &[];
        }
        self.shared.routing.next_hops(SwitchId(self.switch), packet.destination)
    }

    #[inline]
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        self.shared.edge.scheduled(self.switch, at, event, &self.shared.packets);
        self.shared.schedule_switch(at, self.switch, event);
    }

    #[inline]
    fn begins_at_once(&mut self, now: Time) -> bool {
        E::IS_CLOSED && self.shared.begins_at_once(now, self.switch)
    }

    #[inline(always)]
    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        let link = self.shared.switch_links.of(self.switch, port);
        self.transmit_on(link, port, packet, last_bit_at);
    }

    // The switch numbers its lines as the network numbers its links.
    #[inline(always)]
    fn transmit_on(&mut self, link: u32, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        self.shared.edge.transmitted(self.switch, port, packet, &self.shared.packets, last_bit_at);
        self.shared.put_on_link(link, packet, last_bit_at);
    }

    fn send_ordered_set(&mut self, port: PortId, set: OrderedSet, last_bit_at: Time) {
        let number = self.shared.switch_links.of(self.switch, port);
        let link = &self.shared.links[number as usize];
        let Node::Switch(SwitchId(switch)) = link.to().node else { return };
        let (at, node) = (last_bit_at + link.delay(), self.shared.hosts_count + switch);
        // The port separates the links of one receiver; a link never has 2^20 ordered sets in flight.
        const SETS: u64 = 1 << 20;
        let (to, is_cut) = (link.to().port, link.is_cut());
        let sequence = self.shared.clocks.next(self.shared.hosts_count + self.switch) % SETS;
        let order = OrderKey::new(kind::ORDERED_SET, node, u64::from(to.0) * SETS + sequence);
        if is_cut {
            return self.shared.outbox.push(Letter::OrderedSet { at, order, link: number, set });
        }
        self.shared.queue.push(at, order, SimulationEvent::OrderedSetArrival { link: number, set });
    }

    fn created(&mut self, packet: PacketHandle) {
        self.shared.edge.created(self.switch, packet, &self.shared.packets);
        let descriptor = &self.shared.packets[packet];
        if descriptor.transport == Transport::None {
            self.shared.control_packets += 1;
        } else {
            self.shared.copied += 1;
        }
    }

    #[inline(always)]
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.shared.drop_in_switch(self.switch, packet, reason);
    }

    #[inline(always)]
    fn hook_ran(&mut self, packet: PacketHandle) {
        self.shared.edge.hook_ran(packet);
    }

    #[inline(always)]
    fn stopped(&mut self, port: PortId, queue: QueueId, by: Stop) {
        self.shared.edge.stopped((self.switch, port, queue), by);
    }

    #[inline(always)]
    fn decided(&mut self, packet: PacketHandle, half: Half, verdict: Verdict) {
        self.shared.edge.decided(self.switch, packet, &self.shared.packets, half, verdict);
    }
}

pub(super) struct HostsEnvironment<'a, E> {
    pub shared: &'a mut Shared<E>,
}

impl<E: Edge> HostEnvironment for HostsEnvironment<'_, E> {
    const OBSERVES: bool = E::OBSERVES;

    #[inline(always)]
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.shared.packets
    }

    #[inline]
    fn schedule(&mut self, at: Time, host: HostId, event: HostEvent) {
        let (number, event) = match event {
            HostEvent::FlowStart(flow) => (u64::from(flow.0), SimulationEvent::Host(event)),
            HostEvent::StartFlows(host) => (kind::START_ALL, SimulationEvent::StartFlows { host }),
            _ => return self.shared.schedule(at, kind::HOST, host.0, SimulationEvent::Host(event)),
        };
        self.shared.queue.push(at, OrderKey::new(kind::START, host.0, number), event);
    }

    fn created(&mut self, packet: PacketHandle) {
        self.shared.edge.created(u32::MAX, packet, &self.shared.packets);
        self.shared.control_packets += 1;
    }

    #[inline(always)]
    fn transmit(&mut self, host: HostId, packet: PacketHandle, last_bit_leaves_at: Time) {
        if self.shared.order.is_some() {
            self.shared.note_sent(packet, last_bit_leaves_at);
        }
        self.shared.edge.left_host(host, packet, &self.shared.packets, last_bit_leaves_at);
        let link = self.shared.host_links[host.0 as usize];
        self.shared.put_on_link(link, packet, last_bit_leaves_at);
    }

    fn transmit_by_port(&mut self, host: HostId, port: PortId, packet: PacketHandle, last_bit_leaves_at: Time) {
        if self.shared.order.is_some() {
            self.shared.note_sent(packet, last_bit_leaves_at);
        }
        let link = self.shared.links_of_ports[host.0 as usize][usize::from(port.0)];
        self.shared.put_on_link(link, packet, last_bit_leaves_at);
    }

    fn drop_packet(&mut self, host: HostId, packet: PacketHandle, reason: HostDrop) {
        if reason == HostDrop::Signal {
            return self.shared.discard(packet);
        }
        let descriptor = &self.shared.packets[packet];
        if reason == HostDrop::NetworkCardFull {
            self.shared.drops.note_at_host(host, descriptor.flow, descriptor.frame_bytes);
            self.shared.edge.refused_by_card(host, packet, &self.shared.packets);
            if let Some(capture) = &mut self.shared.capture {
                capture.refused(self.shared.queue.now(), host, descriptor, &self.shared.edge);
            }
        }
        self.shared.packets.remove(packet);
    }

    fn records(&mut self) -> &mut FlowRecords {
        &mut self.shared.records.flows
    }

    fn flow_finished(&mut self, record: &FlowRecord) {
        if let Some(order) = &mut self.shared.order {
            order.ended(record.flow);
        }
        self.shared.records.flows.flows.push(*record);
        // A UDP flow ends with its receiving end, so its sender's record has no end.
        if record.finished < Time::NEVER {
            self.shared.records.note_ended(record.tag, record.flow, record.finished);
        }
    }

    fn receiver_finished(&mut self, record: &ReceiverRecord) {
        self.shared.records.flows.receivers.push(*record);
        self.shared.edge.flow_ended(record.flow);
        if let Some(finished) = record.finished {
            self.shared.records.note_ended(record.tag, record.flow, finished);
        }
    }

    #[inline(always)]
    fn observe(&mut self, step: HostStep) {
        self.shared.edge.host_step(step, &self.shared.packets);
    }

    fn sender_ended(&mut self, receiver: HostId, end: SenderEnd, is_elsewhere: bool) {
        if is_elsewhere {
            self.shared.outbox.push(Letter::SenderEnd { receiver, end });
        } else {
            self.shared.schedule_sender_end(receiver, end.at, end.flow);
        }
    }
}
