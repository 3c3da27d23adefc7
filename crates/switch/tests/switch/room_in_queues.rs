//! What ingress sees of queues: any port's, with what is on its way there, and whether a packet will be taken.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hitless_engine::{PacketHandle, PacketStore};
use hitless_switch::queueing::flow::{ClassWeights, DrrConfig};
use hitless_switch::{
    Architecture, BufferPolicy, Context, DepthVisibility, DropReason, Environment, FlowQueueing, HookSet, Mechanism,
    PortConfig, QueueConfig, QueueLimit, Report, Resources, Subscriptions, Switch, SwitchEvent, Verdict,
};
use hitless_wire::{BitRate, Duration, HostId, Packet, PortId, QueueId, Time};
use proptest::prelude::*;

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);
/// A line time is a whole number of 800 ps: so no packet arrives at the moment at which another leaves.
const NEVER_WHEN_ONE_LEAVES_PS: u64 = 7;
const QUEUE: QueueId = QueueId(0);

/// Keeps time and events, and writes down the packets' numbers that ended for want of room.
#[derive(Default)]
struct World {
    packets: PacketStore,
    events: BTreeMap<(Time, u64), SwitchEvent>,
    count: u64,
    refused: Vec<u32>,
}

impl Environment for World {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.packets
    }
    fn route(&mut self, _packet: PacketHandle) -> Option<PortId> {
        Some(OUT)
    }
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }
    fn transmit(&mut self, _port: PortId, packet: PacketHandle, _last_bit_at: Time) {
        self.packets.remove(packet);
    }
    fn created(&mut self, _packet: PacketHandle) {}
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        assert!(matches!(reason, DropReason::QueueFull | DropReason::BufferFull), "{reason:?}");
        self.refused.push(self.packets[packet].source.0);
        self.packets.remove(packet);
    }
}

/// Asks of every packet whether there is room for it.
struct Oracle {
    /// By packet: the committed bytes that it saw, and whether room was promised.
    answers: Rc<RefCell<Vec<(u64, bool)>>>,
    acts_in_egress: bool,
}

impl Mechanism for Oracle {
    fn subscriptions(&mut self, _: &[usize]) -> Subscriptions {
        let towards = HookSet::INGRESS_TOWARDS;
        let hooks = if self.acts_in_egress { towards.with(HookSet::EGRESS) } else { towards };
        Subscriptions { hooks: vec![(OUT, hooks)], ..Subscriptions::default() }
    }
    fn report(&self, _: Time) -> Report {
        Report::new("oracle")
    }
    fn resources(&self) -> Resources {
        Resources::new("oracle")
    }
    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let answer = (context.committed_bytes(OUT, QUEUE), context.has_room(OUT, QUEUE));
        assert!(context.queue_bytes(OUT, QUEUE) <= answer.0 || !self.acts_in_egress);
        self.answers.borrow_mut().push(answer);
        Verdict::Continue
    }
}

struct Case {
    limit: QueueLimit,
    buffer: BufferPolicy,
    acts_in_egress: bool,
    flow_queueing: Option<FlowQueueing>,
    latency_ns: u64,
}

struct Outcome {
    answers: Vec<(u64, bool)>,
    taken: Vec<bool>,
    violation: bool,
}

/// Sends frames of so many bytes, each so many nanoseconds after the last, on their way to one port.
fn run(case: &Case, arrivals: &[(u64, u32)]) -> Outcome {
    let queue = QueueConfig::normal(case.limit);
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, queue);
    let out = PortConfig { flow_queueing: case.flow_queueing, ..port.clone() };
    let latency = Duration::from_ns(case.latency_ns);
    let architecture = Architecture {
        ingress_latency: latency,
        checked: true,
        depth_visibility: DepthVisibility::IngressAndEgress,
        ..Architecture::tofino_like()
    };
    let answers = Rc::default();
    let oracle = Oracle { answers: Rc::clone(&answers), acts_in_egress: case.acts_in_egress };
    let mut switch = Switch::new(architecture, vec![port, out], case.buffer, vec![oracle]);
    let mut world = World::default();
    let mut at = Time::ZERO;
    for (number, &(gap_ns, frame_bytes)) in arrivals.iter().enumerate() {
        at += Duration::from_ps(gap_ns * 1_000 + NEVER_WHEN_ONE_LEAVES_PS * u64::from(gap_ns > 0));
        run_until(&mut switch, &mut world, at);
        let packet = Packet { frame_bytes, ttl: 9, source: HostId(number as u32), ..Packet::default() };
        let handle = world.packets.insert(packet);
        switch.receive(at, IN, handle, &mut world);
    }
    run_until(&mut switch, &mut world, Time::NEVER);
    assert_eq!(world.packets.alive(), 0);
    let taken = (0..arrivals.len() as u32).map(|number| !world.refused.contains(&number)).collect();
    Outcome { answers: answers.take(), taken, violation: switch.violation().is_some() }
}

fn run_until(switch: &mut Switch<Oracle>, world: &mut World, limit: Time) {
    while let Some(entry) = world.events.first_entry().filter(|entry| entry.key().0 < limit) {
        let ((at, _), event) = entry.remove_entry();
        switch.handle(at, event, world);
    }
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![(1u32..12).prop_map(QueueLimit::Packets), (64u64..9_000).prop_map(QueueLimit::Bytes)]
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    // Some at the same time, some a frame apart.
    proptest::collection::vec((prop_oneof![Just(0u64), 0u64..2_000], 64u32..=1_518), 1..80)
}

const PLAIN: Case = Case {
    limit: QueueLimit::Unlimited,
    buffer: BufferPolicy::Static,
    acts_in_egress: false,
    flow_queueing: None,
    latency_ns: 0,
};

proptest! {
    /// A FIFO lane knows its departures: what it promises is what happens. When it is told of packets on their way to it
    /// only later, it may be emptier than promised, never fuller.
    #[test]
    fn a_fifo_lane_takes_exactly_those_for_whom_it_has_room(
        limit in limits(), arrivals in arrivals(), latency_ns in prop_oneof![Just(0u64), Just(150), Just(200), Just(700)],
    ) {
        let outcome = run(&Case { limit, latency_ns, ..PLAIN }, &arrivals);
        let is_told_at_once = latency_ns <= Architecture::tofino_like().mirror_latency.as_ps() / 1_000;
        for (number, (&(_, has_room), &taken)) in outcome.answers.iter().zip(&outcome.taken).enumerate() {
            prop_assert!(has_room == taken || !is_told_at_once && taken, "packet {}", number);
        }
        prop_assert!(!outcome.violation);
    }

    /// A managed lane may be emptier than promised by the time that a packet is there, never fuller; without latency it
    /// is neither, for packets that come one at a time.
    #[test]
    fn a_managed_lane_takes_those_for_whom_it_has_room(
        limit in limits(), arrivals in arrivals(), latency_ns in prop_oneof![Just(0u64), Just(200), Just(700)], shares in any::<bool>(),
    ) {
        let buffer = if shares { BufferPolicy::Shared { capacity_bytes: 8_000, alpha: 1.0 } } else { BufferPolicy::Static };
        let outcome = run(&Case { limit, buffer, acts_in_egress: true, latency_ns, ..PLAIN }, &arrivals);
        for (number, (&(_, has_room), &taken)) in outcome.answers.iter().zip(&outcome.taken).enumerate() {
            prop_assert!(!has_room || taken, "packet {} was refused", number);
            // Counted before it is refused, a packet may keep others out that are looked at meanwhile.
            let is_alone = arrivals[number].0 > 0 && arrivals.get(number + 1).is_none_or(|&(gap_ns, _)| gap_ns > 0);
            prop_assert!(latency_ns > 0 || !is_alone || has_room == taken, "packet {}", number);
        }
    }
}

/// One flow in deficit round robin, which drops its own last packet when there is no room.
#[test]
fn a_port_that_queues_by_flow_has_room_until_a_packet_would_have_to_go() {
    let drr = FlowQueueing::Drr(DrrConfig { quantum_bytes: 1_518, weights: ClassWeights::EQUAL });
    let case = Case { limit: QueueLimit::Packets(3), flow_queueing: Some(drr), latency_ns: 200, ..PLAIN };
    let outcome = run(&case, &[(0, 1_000); 5]);
    let expected = [(0, true), (1_000, true), (2_000, true), (3_000, false), (4_000, false)];
    assert_eq!(outcome.answers, expected, "the way to the queue is longer than the time between packets");
    assert_eq!(outcome.taken, [true, true, true, false, false]);
}

#[test]
fn packets_on_their_way_to_a_queue_count_until_they_are_there_and_no_longer() {
    let case = Case { limit: QueueLimit::Bytes(2_500), acts_in_egress: true, latency_ns: 700, ..PLAIN };
    let outcome = run(&case, &[(0, 1_000), (0, 1_000), (0, 1_000), (10_000, 1_000)]);
    assert_eq!(outcome.answers, [(0, true), (1_000, true), (2_000, false), (0, true)]);
    assert_eq!(outcome.taken, [true, true, false, true]);
}
