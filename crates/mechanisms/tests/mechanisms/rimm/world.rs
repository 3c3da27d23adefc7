//! A switch with RIMM, its neighbours, hosts that send and receive, and links with chosen losses.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hitless_core::wire::{BitRate, Bytes, Duration, FlowId, HostId, Packet, PortId, ServiceKey, Time};
use hitless_mechanisms::Rimm;
use hitless_mechanisms::rimm::headers::{DetourHeader, MessageHeader};
use hitless_mechanisms::rimm::{Neighbour, RimmConfig, RimmRelease, RimmSettings, WatchedPort};
use hitless_switch::testing::{Ended, Fate, Harness, Left};
use hitless_switch::{Architecture, BufferPolicy, Mechanism, PortConfig, QueueConfig, QueueLimit, Switch};

/// Ports of the switch in the middle: receiving hosts, a sending host, and then the neighbours.
pub const SINKS: u16 = 2;
const SOURCE: PortId = PortId(SINKS);
const FIRST_NEIGHBOUR: u16 = SINKS + 1;
/// Ports of a neighbour: towards the middle, and a sending host.
const TO_MIDDLE: PortId = PortId(0);
const FROM_HOST: PortId = PortId(1);

const SINK_GBPS: u64 = 10;
const SEGMENT_BYTES: u64 = 500;
const FRAME_BYTES: u32 = 1_500;

#[derive(Clone, Copy, Debug)]
pub struct Burst {
    pub flow: u32,
    pub sink: u16,
    /// The source: 0 is the host at the middle, higher numbers are behind a neighbour.
    pub from: u16,
    pub starts_ns: u64,
    pub packets: u32,
    pub gap_ns: u64,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub neighbours: u16,
    pub bursts: Vec<Burst>,
    /// Lost packets, counted among those with a detour header and the messages on links between switches.
    pub lost: BTreeSet<u64>,
    /// Messages about a queue towards a neighbour below this depth are lost too.
    pub lost_below_segments: u16,
    pub queue_packets: u32,
    pub relay_packets: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub flow: u32,
    pub number: u32,
    pub at: Time,
}

pub struct Run {
    pub deliveries: Vec<Delivery>,
    pub sent: u64,
    pub dropped: u64,
    pub lost: u64,
    pub detours_max: u8,
    pub counters: BTreeMap<&'static str, u64>,
}

impl Run {
    pub fn count(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// The number of packets that arrived after a later packet of their flow.
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

struct OnLinks {
    lost_by_number: BTreeSet<u64>,
    lost_below_segments: u16,
    on_detour: u64,
    lost: u64,
    detours_max: u8,
}

impl OnLinks {
    fn fate(&mut self, packet: &Packet) -> Fate {
        if !self.loses(packet) {
            return Fate::Arrives;
        }
        self.lost += u64::from(!packet.shims.contains::<MessageHeader>());
        Fate::Vanishes
    }

    /// Whether this transmission between switches is lost.
    fn loses(&mut self, packet: &Packet) -> bool {
        let detour = packet.shims.get::<DetourHeader>();
        self.detours_max = self.detours_max.max(detour.map_or(0, |header| header.detours));
        if detour.is_none() && !packet.shims.contains::<MessageHeader>() {
            return false;
        }
        self.on_detour += 1;
        let is_lost_news = packet
            .shims
            .get::<MessageHeader>()
            .is_some_and(|header| header.port.0 >= FIRST_NEIGHBOUR && header.depth_segments < self.lost_below_segments);
        is_lost_news || self.lost_by_number.contains(&self.on_detour)
    }
}

/// Settings with the exact release and a predecessor timeout of a millisecond.
pub fn exact() -> RimmSettings {
    RimmSettings {
        segment: Bytes(SEGMENT_BYTES),
        release: RimmRelease::Exact,
        predecessor_timeout: Some(Duration::from_us(1_000)),
        ..RimmSettings::default()
    }
}

/// The switch in the middle, which relieves its ports to the receiving hosts at a threshold of `threshold_packets`.
pub fn middle(plan: &Plan, settings: RimmSettings, threshold_packets: u16, full_packets: u16) -> RimmConfig {
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
        settings,
        ..RimmConfig::default()
    }
}

/// A neighbour that reports its depths to the middle.
fn beside() -> RimmConfig {
    let to_middle = Neighbour { port: TO_MIDDLE, full_segments: 1, own_full_segments: 1, is_told: true };
    RimmConfig { line_ports: 2, neighbours: vec![to_middle], settings: exact(), ..RimmConfig::default() }
}

fn switch(plan: &Plan, rates_gbps: &[u64], mechanism: Option<Rimm>) -> Switch {
    let port = |&gbps: &u64| {
        let packets = if gbps == SINK_GBPS { plan.queue_packets } else { plan.relay_packets };
        PortConfig::fifo(BitRate::from_gbps(gbps), 20, QueueConfig::normal(QueueLimit::Packets(packets)))
    };
    let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
    let ports = rates_gbps.iter().map(port).collect();
    let mechanisms = mechanism.map(|mechanism| Box::new(mechanism) as Box<dyn Mechanism>).into_iter().collect();
    Switch::new(architecture, ports, BufferPolicy::Static, mechanisms)
}

pub fn run(plan: &Plan, mechanism: Option<Rimm>) -> Run {
    let has_mechanism = mechanism.is_some();
    let mut rates = vec![SINK_GBPS; usize::from(SINKS)];
    rates.push(100);
    rates.extend(vec![40; usize::from(plan.neighbours)]);
    let mut switches = vec![switch(plan, &rates, mechanism)];
    let neighbour = || switch(plan, &[40, 100], has_mechanism.then(|| Rimm::new(beside())));
    switches.extend((0..plan.neighbours).map(|_| neighbour()));
    let route = |node, packet: &Packet| Some(if node == 0 { PortId(packet.destination.0 as u16) } else { TO_MIDDLE });
    let returns = |node, port: PortId| node == 0 && port.0 >= FIRST_NEIGHBOUR;
    let mut harness = Harness::new(switches, route).with_tables(returns, |_| ServiceKey::default());
    let on_links = Rc::new(RefCell::new(OnLinks {
        lost_by_number: plan.lost.clone(),
        lost_below_segments: plan.lost_below_segments,
        on_detour: 0,
        lost: 0,
        detours_max: 0,
    }));
    for neighbour in 0..plan.neighbours {
        let ends = [(0, PortId(FIRST_NEIGHBOUR + neighbour)), (usize::from(neighbour) + 1, TO_MIDDLE)];
        for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            let on_links = Rc::clone(&on_links);
            let fate = move |packet: &Packet| on_links.borrow_mut().fate(packet);
            harness.connect(from, to, Duration::from_ns(100), fate, |_| false);
        }
    }
    harness.start();
    let sent = (0..plan.bursts.len()).map(|burst| send(&mut harness, plan, burst)).sum();
    harness.finish();
    outcome(&harness, &on_links.borrow(), sent)
}

fn send(harness: &mut Harness, plan: &Plan, burst: usize) -> u64 {
    let Burst { flow, sink, from, starts_ns, packets, gap_ns } = plan.bursts[burst];
    let (node, port) = if from == 0 { (0, SOURCE) } else { (usize::from(from), FROM_HOST) };
    for number in 0..packets {
        let packet = Packet {
            frame_bytes: FRAME_BYTES,
            flow: FlowId(flow),
            destination: HostId(sink.into()),
            flow_hash: flow.wrapping_mul(0x85eb_ca6b),
            // Bursts of a flow follow each other.
            frame: burst as u32 * 100_000 + number,
            ttl: Packet::INITIAL_TTL,
            ..Packet::default()
        };
        let at = Time::ZERO + Duration::from_ns(starts_ns + gap_ns * u64::from(number));
        harness.enter(at, node, port, packet);
    }
    packets.into()
}

fn outcome(harness: &Harness, on_links: &OnLinks, sent: u64) -> Run {
    assert_eq!(harness.violated_invariants(), Vec::<String>::new());
    harness.switches.iter().for_each(|switch| assert_eq!(switch.violation(), None));
    let is_lost = |ended: &&Ended| ended.reason.is_loss() && !ended.packet.shims.contains::<MessageHeader>();
    let mut run = Run {
        deliveries: harness.world.left.iter().map(delivery).collect(),
        sent,
        dropped: harness.world.ended.iter().filter(is_lost).count() as u64,
        lost: on_links.lost,
        detours_max: on_links.detours_max,
        counters: BTreeMap::new(),
    };
    for report in harness.switches.iter().flat_map(|switch| switch.reports(Time::NEVER)) {
        for (_, counter, value) in report.counters {
            *run.counters.entry(counter.key).or_default() += value;
        }
    }
    run
}

fn delivery(left: &Left) -> Delivery {
    let Packet { flow, frame, shims, frame_bytes, .. } = left.packet;
    assert!(shims.is_empty() && frame_bytes == FRAME_BYTES, "a host gets a packet as it was sent");
    Delivery { flow: flow.0, number: frame, at: left.at }
}
