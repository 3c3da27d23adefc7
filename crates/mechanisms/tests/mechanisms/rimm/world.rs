//! A switch with RIMM, its neighbours, hosts that send and receive, and links that lose what they are told to.

use std::collections::{BTreeMap, BTreeSet};

use hitless_engine::{PacketHandle, PacketStore};
use hitless_mechanisms::rimm::{Neighbour, RimmConfig, WatchedPort};
use hitless_mechanisms::{AnyMechanism, Rimm};
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, Environment, PortConfig, QueueConfig, QueueLimit, Switch, SwitchEvent,
};
use hitless_wire::rimm::{DetourHeader, MessageHeader};
use hitless_wire::{BitRate, Duration, FlowId, HostId, Packet, PortId, Time};

/// Ports of the switch in the middle: hosts that receive, a host that sends, and then the neighbours.
pub const SINKS: u16 = 2;
const SOURCE: PortId = PortId(SINKS);
const FIRST_NEIGHBOUR: u16 = SINKS + 1;
/// Ports of a neighbour: towards the middle, and a host that sends.
const TO_MIDDLE: PortId = PortId(0);
const FROM_HOST: PortId = PortId(1);

const SINK_GBPS: u64 = 10;
const SEGMENT_BYTES: u64 = 500;
const FRAME_BYTES: u32 = 1_500;

/// Packets of one flow, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    pub flow: u32,
    /// The host that receives.
    pub sink: u16,
    /// Where it comes from: 0 is the host at the middle, the others are behind a neighbour.
    pub from: u16,
    pub starts_ns: u64,
    pub packets: u32,
    pub gap_ns: u64,
}

/// What is sent, and what goes wrong.
#[derive(Clone, Debug)]
pub struct Plan {
    pub neighbours: u16,
    pub bursts: Vec<Burst>,
    /// Of the packets with a header of a detour, or messages, that are put on links between switches: those that are lost.
    pub lost: BTreeSet<u64>,
    /// Lost are messages, too, that a queue towards a neighbour is below so many segments.
    pub lost_below_segments: u16,
    /// What the queue to a host that receives holds.
    pub queue_packets: u32,
    /// What each other queue holds.
    pub relay_packets: u32,
}

/// A packet at the host that it was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub flow: u32,
    pub number: u32,
    pub at: Time,
}

/// What became of it.
pub struct Run {
    pub deliveries: Vec<Delivery>,
    pub sent: u64,
    pub dropped: u64,
    pub lost: u64,
    pub detours_max: u8,
    pub counters: BTreeMap<&'static str, u64>,
    pub broken_promises: Vec<String>,
    pub violations: Vec<String>,
}

impl Run {
    pub fn count(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Packets of each flow that came after one sent later.
    pub fn out_of_order(&self) -> usize {
        let mut latest: BTreeMap<u32, u32> = BTreeMap::new();
        let is_late = |delivery: &&Delivery| {
            let latest = latest.entry(delivery.flow).or_insert(0);
            let is_late = delivery.number < *latest;
            *latest = delivery.number.max(*latest);
            is_late
        };
        self.deliveries.iter().filter(is_late).count()
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    OfSwitch { node: usize, event: SwitchEvent },
    Arrival { node: usize, port: PortId, packet: PacketHandle },
    Sent { burst: usize, number: u32 },
}

struct World<'a> {
    plan: &'a Plan,
    packets: PacketStore,
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    deliveries: Vec<Delivery>,
    on_detour: u64,
    lost: u64,
    dropped: u64,
    detours_max: u8,
}

impl World<'_> {
    fn push(&mut self, at: Time, event: Event) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    /// Whether this transmission between switches is one of those that are lost.
    fn loses(&mut self, packet: PacketHandle) -> bool {
        let shims = self.packets[packet].shims;
        let detour = shims.get::<DetourHeader>();
        self.detours_max = self.detours_max.max(detour.map_or(0, |header| header.detours));
        if detour.is_none() && !shims.contains::<MessageHeader>() {
            return false;
        }
        self.on_detour += 1;
        let is_lost_news = shims.get::<MessageHeader>().is_some_and(|header| {
            header.port.0 >= FIRST_NEIGHBOUR && header.depth_segments < self.plan.lost_below_segments
        });
        is_lost_news || self.plan.lost.contains(&self.on_detour)
    }
}

struct Side<'w, 'a> {
    world: &'w mut World<'a>,
    node: usize,
}

impl Environment for Side<'_, '_> {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.world.packets
    }

    fn route(&mut self, packet: PacketHandle) -> Option<PortId> {
        let destination = self.world.packets[packet].destination;
        Some(if self.node == 0 { PortId(destination.0 as u16) } else { TO_MIDDLE })
    }

    fn returns(&self, _packet: PacketHandle, port: PortId) -> bool {
        self.node == 0 && port.0 >= FIRST_NEIGHBOUR
    }

    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        let node = self.node;
        self.world.push(at, Event::OfSwitch { node, event });
    }

    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        let at = last_bit_at + Duration::from_ns(100);
        let (node, port) = match self.node {
            0 if port.0 < SINKS => {
                let Packet { flow, frame, shims, frame_bytes, .. } = self.world.packets[packet];
                assert!(shims.is_empty() && frame_bytes == FRAME_BYTES, "a host gets a packet as it was sent");
                self.world.deliveries.push(Delivery { flow: flow.0, number: frame, at });
                self.world.packets.remove(packet);
                return;
            }
            0 => (usize::from(port.0 - FIRST_NEIGHBOUR) + 1, TO_MIDDLE),
            neighbour => (0, PortId(FIRST_NEIGHBOUR + neighbour as u16 - 1)),
        };
        if self.world.loses(packet) {
            self.world.lost += u64::from(!self.world.packets[packet].shims.contains::<MessageHeader>());
            self.world.packets.remove(packet);
            return;
        }
        self.world.push(at, Event::Arrival { node, port, packet });
    }

    fn created(&mut self, _packet: PacketHandle) {}

    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        let is_message = self.world.packets[packet].shims.contains::<MessageHeader>();
        self.world.dropped += u64::from(reason.is_loss() && !is_message);
        self.world.packets.remove(packet);
    }
}

/// The switch in the middle relieves its ports to the hosts that receive; it has `threshold_packets`.
pub fn middle(plan: &Plan, settings: RimmConfig, threshold_packets: u16, full_packets: u16) -> RimmConfig {
    let segments = |packets: u16| packets.saturating_mul((u64::from(FRAME_BYTES) / SEGMENT_BYTES) as u16);
    let neighbour = |number| Neighbour {
        port: PortId(FIRST_NEIGHBOUR + number),
        full_segments: segments(full_packets),
        own_full_segments: segments(full_packets),
        is_told: false,
    };
    let watched = |port| WatchedPort { port: PortId(port), threshold_segments: segments(threshold_packets) };
    RimmConfig {
        line_ports: FIRST_NEIGHBOUR + plan.neighbours,
        watched: (0..SINKS).map(watched).collect(),
        neighbours: (0..plan.neighbours).map(neighbour).collect(),
        segment_bytes: SEGMENT_BYTES,
        ..settings
    }
}

/// A neighbour that tells the middle its depths.
fn beside() -> RimmConfig {
    let to_middle = Neighbour { port: TO_MIDDLE, full_segments: 1, own_full_segments: 1, is_told: true };
    RimmConfig { line_ports: 2, neighbours: vec![to_middle], segment_bytes: SEGMENT_BYTES, ..RimmConfig::default() }
}

fn switch(plan: &Plan, rates_gbps: &[u64], mechanism: Option<Rimm>) -> Switch<AnyMechanism> {
    let port = |&gbps: &u64| {
        let packets = if gbps == SINK_GBPS { plan.queue_packets } else { plan.relay_packets };
        PortConfig::fifo(BitRate::from_gbps(gbps), 20, QueueConfig::normal(QueueLimit::Packets(packets)))
    };
    let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
    let ports = rates_gbps.iter().map(port).collect();
    Switch::new(architecture, ports, BufferPolicy::Static, mechanism.map(AnyMechanism::from).into_iter().collect())
}

/// Runs `plan` to its end; without a mechanism when there is none.
pub fn run(plan: &Plan, mechanism: Option<Rimm>) -> Run {
    let has_mechanism = mechanism.is_some();
    let mut rates = vec![SINK_GBPS; usize::from(SINKS)];
    rates.push(100);
    rates.extend(vec![40; usize::from(plan.neighbours)]);
    let mut switches = vec![switch(plan, &rates, mechanism)];
    let neighbour = || switch(plan, &[40, 100], has_mechanism.then(|| Rimm::new(beside())));
    switches.extend((0..plan.neighbours).map(|_| neighbour()));
    let mut world = World {
        plan,
        packets: PacketStore::default(),
        events: BTreeMap::new(),
        count: 0,
        deliveries: Vec::new(),
        on_detour: 0,
        lost: 0,
        dropped: 0,
        detours_max: 0,
    };
    for (burst, Burst { starts_ns, .. }) in plan.bursts.iter().enumerate() {
        world.push(Time::ZERO + Duration::from_ns(*starts_ns), Event::Sent { burst, number: 0 });
    }
    let mut sent = 0;
    while let Some(((now, _), event)) = world.events.pop_first() {
        assert!(world.count < 3_000_000, "something goes round for ever");
        match event {
            Event::OfSwitch { node, event } => {
                switches[node].handle(now, event, &mut Side { world: &mut world, node });
            }
            Event::Arrival { node, port, packet } => {
                switches[node].receive(now, port, packet, &mut Side { world: &mut world, node });
            }
            Event::Sent { burst, number } => sent += u64::from(send(&mut world, &mut switches, now, burst, number)),
        }
    }
    finish(world, &switches, sent)
}

fn send(world: &mut World<'_>, switches: &mut [Switch<AnyMechanism>], now: Time, burst: usize, number: u32) -> bool {
    let Burst { flow, sink, from, packets, gap_ns, .. } = world.plan.bursts[burst];
    if number >= packets {
        return false;
    }
    world.push(now + Duration::from_ns(gap_ns), Event::Sent { burst, number: number + 1 });
    let packet = world.packets.insert(Packet {
        frame_bytes: FRAME_BYTES,
        flow: FlowId(flow),
        destination: HostId(sink.into()),
        flow_hash: flow.wrapping_mul(0x85eb_ca6b),
        // Bursts of one flow follow each other.
        frame: burst as u32 * 100_000 + number,
        ttl: Packet::INITIAL_TTL,
        ..Packet::default()
    });
    let (node, port) = if from == 0 { (0, SOURCE) } else { (usize::from(from), FROM_HOST) };
    switches[node].receive(now, port, packet, &mut Side { world, node });
    true
}

fn finish(world: World<'_>, switches: &[Switch<AnyMechanism>], sent: u64) -> Run {
    assert_eq!(world.packets.alive(), 0, "every packet has ended somewhere");
    let mut run = Run {
        deliveries: world.deliveries,
        sent,
        dropped: world.dropped,
        lost: world.lost,
        detours_max: world.detours_max,
        counters: BTreeMap::new(),
        broken_promises: Vec::new(),
        violations: switches.iter().filter_map(|switch| switch.violation().map(ToString::to_string)).collect(),
    };
    for report in switches.iter().flat_map(|switch| switch.reports(Time::NEVER)) {
        run.broken_promises.extend(report.broken_promises);
        for (_, name, value) in report.counters {
            *run.counters.entry(name).or_default() += value;
        }
    }
    run
}
