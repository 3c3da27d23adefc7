//! State shared by hosts and switches: event queue, packets and links.

use std::collections::BTreeMap;

use hitless_core::engine::{EventQueue, OrderKey, PacketHandle, PacketStore, Source, Ties};
use hitless_core::wire::{Duration, FlowId, HostId, OrderedSet, PortId, Time, Transport};
use hitless_hosts::{HostEvent, SenderEnd};
use hitless_scenario::Scenario;
use hitless_scenario::network::routing::Routing;
use hitless_scenario::network::topology::{DirectedLink, Host, Node, Topology};
use hitless_switch::{DropReason, SwitchEvent};

use super::capture::Capture;
use super::drops::DropLedger;
use super::edge::Edge;
use super::event::{NodeClocks, SimulationEvent, kind};
use super::order::OrderChecker;
use super::records::{Records, Services};
use crate::link::{Fate, Link, Links};

/// A message to another partition that is not a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Letter {
    /// An ordered set that arrives at the end of a link.
    OrderedSet { at: Time, order: OrderKey, link: u32, set: OrderedSet },
    /// The sending end of a flow to this host has ended.
    SenderEnd { receiver: HostId, end: SenderEnd },
}

/// State shared by hosts and switches.
#[derive(hitless_core::state::State)]
pub(super) struct Shared<E> {
    #[part]
    pub queue: EventQueue<SimulationEvent>,
    pub packets: PacketStore,
    #[part]
    pub links: Links,
    #[part]
    pub routing: Routing,
    pub clocks: NodeClocks,
    /// Number of events that began at once, without the queue.
    pub events_at_once: u64,
    /// By host: the link it sends on, the first of several.
    #[configured]
    pub host_links: Vec<u32>,
    /// By host and port: the link it sends on; empty if no host has several or a changing line.
    #[configured]
    pub links_of_ports: Vec<Vec<u32>>,
    /// By switch and port: the link it sends on; none for a recirculation port.
    #[configured]
    pub switch_links: SwitchLinks,
    #[configured]
    pub hosts_count: u32,
    /// Time from the end of a flow's sender until its receiver learns of it: the maximum delay of a link, so that the
    /// message reaches any other partition in time.
    #[configured]
    pub sender_end_delay: Duration,
    /// Minimum delay, coding included, of each link with a changing line.
    #[configured]
    pub shortest_delays: BTreeMap<usize, Duration>,
    /// Flow packets that the fabric has copied, and flow packets that it has lost or absorbed.
    pub copied: u64,
    pub lost: u64,
    /// Messages to other partitions, besides frames.
    #[configured]
    pub outbox: Vec<Letter>,
    /// After the join of a divided run: packets left in other partitions, and whether their queues were empty.
    #[configured]
    pub packets_elsewhere: usize,
    #[configured]
    pub is_idle_elsewhere: bool,
    /// Number of existing packets without a transport header, which switches create.
    pub control_packets: u64,
    #[part]
    pub records: Records,
    #[part]
    pub services: Services,
    #[part]
    pub drops: DropLedger,
    /// Present if the scenario requests it.
    pub order: Option<Box<OrderChecker>>,
    /// Whether arrivals at hosts count for more than the hosts: for the order checker, or for credits.
    #[configured]
    pub watches_hosts: bool,
    /// Present if the scenario requests it.
    #[part]
    pub capture: Option<Box<Capture>>,
    #[configured]
    pub edge: E,
}

/// The link of each switch port, in one table.
#[derive(Clone)]
pub(super) struct SwitchLinks {
    links: Vec<u32>,
    /// Entries for each switch: the maximum number of ports.
    stride: u32,
}

impl SwitchLinks {
    pub fn new(topology: &Topology) -> Self {
        let stride = topology.switches.iter().map(|switch| switch.ports.len()).max().unwrap_or(0);
        let of_switch = |switch: &hitless_scenario::network::topology::Switch| {
            let links = switch.ports.iter().map(|port| port.link.index() as u32);
            links.chain(std::iter::repeat(u32::MAX)).take(stride).collect::<Vec<_>>()
        };
        Self { links: topology.switches.iter().flat_map(of_switch).collect(), stride: stride as u32 }
    }

    /// The link of a port; `None` for a recirculation port.
    pub fn link(&self, switch: u32, port: PortId) -> Option<usize> {
        let is_of_switch = u32::from(port.0) < self.stride;
        let link = is_of_switch.then(|| self.of(switch, port))?;
        (link != u32::MAX).then_some(link as usize)
    }

    #[inline(always)]
    pub fn of(&self, switch: u32, port: PortId) -> u32 {
        self.links[(switch * self.stride) as usize + usize::from(port.0)]
    }
}

/// Puts a packet on a link, and schedules its arrival if no other packet is on it.
#[inline(always)]
pub(super) fn put_on_link(
    links: &mut Links,
    queue: &mut EventQueue<SimulationEvent>,
    link: u32,
    packet: PacketHandle,
    last_bit_at: Time,
) {
    debug_assert!(last_bit_at >= queue.now(), "a frame has left before it is sent");
    if let Some(at) = links.at(link).send(packet, last_bit_at) {
        queue.push_source(at, Source::of(link));
    }
}

impl<E> Shared<E> {
    /// The state of a run, or of a partition, before its first event.
    pub fn new(scenario: &Scenario, topology: &Topology, links: Links, routing: Routing, edge: E) -> Self {
        Self {
            queue: queue_of(topology, scenario.seed),
            packets: PacketStore::default(),
            sender_end_delay: links.iter().map(Link::delay).max().unwrap_or(Duration::ZERO),
            links,
            routing,
            clocks: NodeClocks::new(topology.hosts.len() + topology.switches.len()),
            host_links: topology.hosts.iter().map(|host| host.ports[0].link.index() as u32).collect(),
            links_of_ports: links_of_ports(topology),
            switch_links: SwitchLinks::new(topology),
            hosts_count: topology.hosts.len() as u32,
            shortest_delays: shortest_delays(topology),
            events_at_once: 0,
            copied: 0,
            lost: 0,
            outbox: Vec::new(),
            packets_elsewhere: 0,
            is_idle_elsewhere: true,
            control_packets: 0,
            records: Records::default(),
            services: Services::new(&scenario.flows),
            drops: DropLedger::new(topology.switches.len(), scenario.flows.len()),
            order: None,
            watches_hosts: scenario.measure.order || scenario.switch.cbfc.is_some(),
            capture: None,
            edge,
        }
    }
}

fn shortest_delays(topology: &Topology) -> BTreeMap<usize, Duration> {
    let changing = topology.changing_lines().iter();
    let phy_latency = |link| topology.spec(DirectedLink::from_index(link)).phy_latency;
    changing.map(|(&link, range)| (link, range.shortest_delay + phy_latency(link))).collect()
}

fn links_of_ports(topology: &Topology) -> Vec<Vec<u32>> {
    if !topology.hosts.iter().any(|host| topology.needs_card_per_port(host)) {
        return Vec::new();
    }
    let of_host = |host: &Host| host.ports.iter().map(|port| port.link.index() as u32).collect();
    topology.hosts.iter().map(of_host).collect()
}

/// Creates the event queue. Each link has at most one pending arrival, that of its first frame. Simultaneous arrivals
/// are handled in random order.
fn queue_of(topology: &Topology, seed: u64) -> EventQueue<SimulationEvent> {
    let mut queue = EventQueue::with_ties(Ties::shuffled(kind::ARRIVAL, seed));
    for index in 0..2 * topology.links.len() as u32 {
        let receiver = match topology.ends(DirectedLink::from_index(index as usize)).1.node {
            Node::Host(host) => host.0,
            Node::Switch(switch) => topology.hosts.len() as u32 + switch.0,
        };
        let order = OrderKey::new(kind::ARRIVAL, receiver, u64::from(index));
        queue.add_source(order, SimulationEvent::LinkArrival { link: index });
    }
    queue
}

impl<E: Edge> Shared<E> {
    /// Schedules an event caused by `node`, after all other events that it has scheduled for the same time.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, kind: u8, node: u32, event: SimulationEvent) {
        debug_assert!(at >= self.queue.now(), "an event is scheduled for a time that has passed: {event:?}");
        let order = self.clocks.key(kind, node);
        self.queue.push(at, order, event);
    }

    /// Adds the counters and records of another partition.
    pub fn take_over(&mut self, other: Self) {
        self.packets_elsewhere += other.packets.alive() + other.packets_elsewhere;
        self.is_idle_elsewhere &= other.is_idle_elsewhere && other.queue.is_empty();
        self.control_packets += other.control_packets;
        self.copied += other.copied;
        self.lost += other.lost;
        self.events_at_once += other.events_at_once;
        self.records.merge(other.records);
        self.drops.merge(other.drops);
        if let (Some(own), Some(other)) = (&mut self.capture, other.capture) {
            own.merge(*other);
        }
    }

    /// Returns the minimum delay of a link during the run.
    pub fn shortest_delay(&self, link: DirectedLink) -> Duration {
        let constant = || self.links[link.index()].delay();
        self.shortest_delays.get(&link.index()).copied().unwrap_or_else(constant)
    }

    /// Number of existing packets.
    pub fn packets_alive(&self) -> usize {
        self.packets.alive() + self.packets_elsewhere
    }

    /// Schedules a global event.
    pub fn schedule_everywhere(&mut self, at: Time, event: SimulationEvent) {
        let everywhere = self.clocks.everywhere();
        self.schedule(at, kind::CHANGE, everywhere, event);
    }

    /// Schedules the drawing of flows; at equal times the workload comes first, then the sequences by number.
    pub fn schedule_draw(&mut self, at: Time, sequence: Option<u32>) {
        let (place, event) = match sequence {
            None => (0, SimulationEvent::NextFlow),
            Some(sequence) => (1 + u64::from(sequence), SimulationEvent::NextInSequence { sequence }),
        };
        self.queue.push(at, OrderKey::new(kind::DRAW, self.clocks.everywhere(), place), event);
    }

    /// Schedules the event that tells a flow's receiver that its sender has ended.
    pub fn schedule_sender_end(&mut self, receiver: HostId, ended_at: Time, flow: FlowId) {
        let order = OrderKey::new(kind::SENDER_ENDED, receiver.0, flow.0.into());
        let event = SimulationEvent::Host(HostEvent::SenderEnded(flow));
        self.queue.push(ended_at + self.sender_end_delay, order, event);
    }

    #[inline(always)]
    pub fn schedule_switch(&mut self, at: Time, switch: u32, event: SwitchEvent) {
        let node = self.hosts_count + switch;
        self.schedule(at, kind::SWITCH, node, SimulationEvent::Switch { switch, event });
    }

    /// Returns whether an event of the switch for `now` would be the next one, and records it if so.
    #[inline]
    pub fn begins_at_once(&mut self, now: Time, switch: u32) -> bool {
        if self.queue.next_time() == Some(now) {
            return false;
        }
        let order = self.clocks.key(kind::SWITCH, self.hosts_count + switch);
        self.clocks.record(now, order);
        self.events_at_once += 1;
        true
    }

    #[inline(always)]
    pub fn put_on_link(&mut self, link: u32, packet: PacketHandle, last_bit_at: Time) {
        put_on_link(&mut self.links, &mut self.queue, link, packet, last_bit_at);
    }

    /// Schedules the arrival of a packet at a link's end.
    pub fn land(&mut self, link: u32, packet: PacketHandle, at: Time) {
        if let Some(at) = self.links.at(link).land(packet, at) {
            self.queue.push_source(at, Source::of(link));
        }
    }

    /// Resolves the destination of a broadcast packet. Its copies enter the switch again; `None` discards the packet.
    #[inline(always)]
    pub fn resolve(&mut self, switch: u32, packet: PacketHandle) -> Option<()> {
        for copy in self.edge.resolve(switch, packet, &mut self.packets)? {
            self.control_packets += 1;
            let port = self.packets[copy].ingress_port;
            self.schedule_switch(self.queue.now(), switch, SwitchEvent::Loopback { port, packet: copy });
        }
        Some(())
    }

    #[inline(never)]
    pub fn drop_in_switch(&mut self, switch: u32, packet: PacketHandle, reason: DropReason) {
        let descriptor = &self.packets[packet];
        if let Some(capture) = &mut self.capture {
            capture.ended(self.queue.now(), (switch, self.hosts_count + switch), descriptor, reason, &self.edge);
        }
        // After the capture, because the edge can free the frame.
        self.edge.ended(switch, packet, &self.packets, reason);
        let flow = (descriptor.transport != Transport::None).then_some(descriptor.flow);
        self.lost += u64::from(flow.is_some());
        if reason.is_loss() {
            self.drops.note(switch, flow, reason, descriptor.frame_bytes);
        }
        self.discard(packet);
    }

    /// Captures a frame at the end of a link, or one that it has lost.
    #[cold]
    #[inline(never)]
    pub fn capture_on_link(&mut self, now: Time, link: u32, packet: PacketHandle, fate: Fate) {
        let Self { capture: Some(capture), links, packets, edge, .. } = self else { return };
        let state = &links[link as usize];
        let to = state.to().node.index(self.hosts_count as usize) as u32;
        capture.on_link(now, (link, state.delay(), to), &packets[packet], fate, edge);
    }

    /// Passes a packet sent by a host to the order checker.
    #[cold]
    #[inline(never)]
    pub fn note_sent(&mut self, packet: PacketHandle, last_bit_leaves_at: Time) {
        if let Some(order) = &mut self.order {
            order.sent(last_bit_leaves_at, &self.packets[packet]);
        }
    }

    /// Tells the order checker which packets still exist.
    pub fn settle_order(&mut self) {
        let Self { order: Some(order), packets, .. } = self else { return };
        order.still_exist(packets.handles().into_iter().map(|packet| &packets[packet]));
    }

    /// Removes a packet from the run.
    pub fn discard(&mut self, packet: PacketHandle) {
        if self.packets[packet].transport == Transport::None {
            debug_assert!(self.control_packets > 0, "more packets of switches end than were made");
            self.control_packets -= 1;
        }
        self.packets.remove(packet);
    }
}
