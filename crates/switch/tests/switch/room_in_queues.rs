//! Ingress can see any port's queue, including packets under way to it, and whether a packet will be admitted.

use std::sync::{Arc, Mutex};

use hitless_core::wire::{BitRate, Duration, Packet, PortId, QueueId, Time};
use hitless_switch::queueing::flow::{ClassWeights, DrrConfig};
use hitless_switch::testing::Harness;
use hitless_switch::{
    Architecture, BufferPolicy, Context, DepthVisibility, DropReason, FlowQueueing, HookSet, Mechanism, Needs,
    PortConfig, QueueConfig, QueueLimit, Report, Resources, Switch, Verdict,
};
use proptest::prelude::*;

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);
/// Line times are multiples of 800 ps, so no packet arrives at the instant when another leaves.
const NEVER_WHEN_ONE_LEAVES_PS: u64 = 7;
const QUEUE: QueueId = QueueId(0);

/// Asks for every packet whether there is room.
struct Oracle {
    /// Committed bytes and promised room, by packet.
    answers: Arc<Mutex<Vec<(u64, bool)>>>,
    acts_in_egress: bool,
}

impl Mechanism for Oracle {
    fn needs(&mut self, _: &[usize]) -> Needs {
        let towards = HookSet::INGRESS_TOWARDS;
        let hooks = if self.acts_in_egress { towards.with(HookSet::EGRESS) } else { towards };
        Needs { hooks: vec![(OUT, hooks)], ..Needs::default() }
    }
    fn report(&self, _: Time) -> Report {
        Report::new("oracle")
    }
    fn resources(&self) -> Resources {
        Resources::new("oracle")
    }
    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let answer = (context.queue(OUT, QUEUE).committed_bytes(), context.queue(OUT, QUEUE).has_room());
        assert!(context.queue(OUT, QUEUE).bytes() <= answer.0 || !self.acts_in_egress);
        self.answers.lock().expect("no other thread").push(answer);
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

/// Sends frames of (gap to the previous one in ns, bytes) to a port.
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
    let answers = Arc::default();
    let oracle = Oracle { answers: Arc::clone(&answers), acts_in_egress: case.acts_in_egress };
    let switch = Switch::new(architecture, vec![port, out], case.buffer, vec![Box::new(oracle)]);
    let mut harness = Harness::of_one(switch, |_| OUT);
    let mut at = Time::ZERO;
    for &(gap_ns, frame_bytes) in arrivals {
        at += Duration::from_ps(gap_ns * 1_000 + NEVER_WHEN_ONE_LEAVES_PS * u64::from(gap_ns > 0));
        harness.arrive(at, IN, Packet { frame_bytes, ttl: 9, ..Packet::default() });
    }
    harness.run_until(Time::NEVER);
    assert_eq!(harness.world.packets.alive(), 0);
    let ended = harness.ended();
    let for_want_of_room = |reason| matches!(reason, DropReason::QueueFull | DropReason::BufferFull);
    assert!(ended.iter().all(|&(_, reason)| for_want_of_room(reason)), "{ended:?}");
    let taken = (0..arrivals.len() as u32).map(|number| ended.iter().all(|&(refused, _)| refused != number)).collect();
    Outcome {
        answers: std::mem::take(&mut *answers.lock().expect("no other thread")),
        taken,
        violation: harness.switches[0].violation().is_some(),
    }
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![(1u32..12).prop_map(QueueLimit::Packets), (64u64..9_000).prop_map(QueueLimit::Bytes)]
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    // Some arrive at the same time, others a frame apart.
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
    /// A FIFO scheduler knows its departures, so its promises are exact. If it is told about packets later, it can be
    /// emptier than promised, but never fuller.
    #[test]
    fn a_fifo_scheduler_takes_exactly_those_for_whom_it_has_room(
        limit in limits(), arrivals in arrivals(), latency_ns in prop_oneof![Just(0u64), Just(150), Just(200), Just(700)],
    ) {
        let outcome = run(&Case { limit, latency_ns, ..PLAIN }, &arrivals);
        let is_told_at_once = latency_ns <= Architecture::tofino_like().mirror_latency.as_ps() / 1_000;
        for (number, (&(_, has_room), &taken)) in outcome.answers.iter().zip(&outcome.taken).enumerate() {
            prop_assert!(has_room == taken || !is_told_at_once && taken, "packet {}", number);
        }
        prop_assert!(!outcome.violation);
    }

    /// A queued scheduler can be emptier than promised when the packet arrives, but never fuller. Without latency the
    /// promise is exact for packets that arrive one at a time.
    #[test]
    fn a_queued_scheduler_takes_those_for_whom_it_has_room(
        limit in limits(), arrivals in arrivals(), latency_ns in prop_oneof![Just(0u64), Just(200), Just(700)], shares in any::<bool>(),
    ) {
        let buffer = if shares { BufferPolicy::Shared { capacity_bytes: 8_000, alpha: 1.0 } } else { BufferPolicy::Static };
        let outcome = run(&Case { limit, buffer, acts_in_egress: true, latency_ns, ..PLAIN }, &arrivals);
        for (number, (&(_, has_room), &taken)) in outcome.answers.iter().zip(&outcome.taken).enumerate() {
            prop_assert!(!has_room || taken, "packet {} was refused", number);
            // A packet counts until it is refused, and can keep out others that are judged in the meantime.
            let is_alone = arrivals[number].0 > 0 && arrivals.get(number + 1).is_none_or(|&(gap_ns, _)| gap_ns > 0);
            prop_assert!(latency_ns > 0 || !is_alone || has_room == taken, "packet {}", number);
        }
    }
}

/// A single flow in deficit round robin; without room it loses its last packet.
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
