//! Compares the schedulers of section 4.

use hitless_core::wire::{Bytes, Duration};
use hitless_mechanisms::afq::{
    AfqDeficit, AfqLate, AfqPort, AfqRotating, AfqRound, AfqScheduler, AfqSettings, AfqSketch, AfqTwoGroups, UpdateRule,
};
use hitless_switch::{Architecture, BufferPolicy, QueueLimit};
use proptest::prelude::*;

use super::world::{self, Arrival, PORT, arrival, ideal, inferred_round, rotating, run_at, run_ideal, settings};

pub const DEFICIT: AfqScheduler = deficit(1_000_000_000);

pub const fn deficit(quantum_bytes: u64) -> AfqScheduler {
    AfqScheduler::DeficitRoundRobin(AfqDeficit { quantum: Bytes(quantum_bytes) })
}

pub const fn stepping(step_ns: u64) -> AfqScheduler {
    AfqScheduler::RotatingStrictPriority(AfqRotating { late: AfqLate::ServedQueue, step: Duration::from_ns(step_ns) })
}

/// Two groups; period 0 disables the period.
pub const fn two_groups(period_ns: u64, delay_ns: u64) -> AfqScheduler {
    let period = if period_ns == 0 { None } else { Some(Duration::from_ns(period_ns)) };
    AfqScheduler::TwoGroups(AfqTwoGroups { period, delay: Duration::from_ns(delay_ns) })
}

pub fn schedules() -> impl Strategy<Value = Vec<Arrival>> {
    world::schedules(6, 40_000, 150)
}

pub fn architecture(ingress_ns: u64) -> Architecture {
    Architecture { ingress_latency: Duration::from_ns(ingress_ns), ..ideal() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Section 4: "RSP is simply a version of DRR with the quantum set to a large value."
    #[test]
    fn deficit_round_robin_gives_the_departures_of_the_rotating_strict_priority(
        schedule in schedules(),
        queues in 2u8..40,
        bytes_per_round in 800u32..3_000,
        ingress_ns in prop_oneof![Just(0u64), 1u64..400],
        limit in prop_oneof![Just(QueueLimit::Unlimited), (3_000u64..40_000).prop_map(QueueLimit::Bytes)],
    ) {
        let run_with = |scheduler| {
            let settings = AfqSettings { scheduler, ..settings(queues, bytes_per_round) };
            run_at(AfqPort { limit, ..PORT }, architecture(ingress_ns), settings, BufferPolicy::Static, &schedule)
        };
        let (rotating, deficit) = (run_with(rotating(AfqLate::NamedQueue)), run_with(DEFICIT));
        prop_assert_eq!(&rotating.departures, &deficit.departures);
        prop_assert_eq!(&rotating.counters, &deficit.counters);
    }

    /// For any scheduler and any source of the round, packets are only lost by counted rules, queued packets are sent,
    /// and packets in a wrong queue are counted.
    #[test]
    fn every_packet_is_sent_or_counted(
        schedule in schedules(),
        half in 1u8..16,
        scheduler in prop_oneof![
            Just(rotating(AfqLate::ServedQueue)),
            Just(rotating(AfqLate::NamedQueue)),
            Just(stepping(10)),
            Just(DEFICIT),
            (prop_oneof![Just(0), 1u64..20_000], 0u64..2_000)
                .prop_map(|(period_ns, delay_ns)| two_groups(period_ns, delay_ns)),
        ],
        update in prop_oneof![
            Just(UpdateRule::Increment), Just(UpdateRule::PredicatedIncrement), Just(UpdateRule::Figure3)
        ],
        inferred in prop::option::of((1u64..4_000, 0u64..3_000)),
        columns in 1u32..200,
        limit in prop_oneof![Just(QueueLimit::Unlimited), (2_000u64..40_000).prop_map(QueueLimit::Bytes)],
        ingress_ns in 0u64..400,
        idle_ns in prop::option::of(1u64..2_000),
    ) {
        let sketch = AfqSketch { update, columns, ..settings(2, 0).sketch };
        let mut settings = AfqSettings { scheduler, sketch, ..settings(2 * half, 2_000) };
        let mut port = AfqPort { limit, ..PORT };
        let may_infer = !matches!(scheduler, AfqScheduler::TwoGroups(_));
        if let Some((granularity_bytes, refresh_ns)) = inferred.filter(|_| may_infer) {
            settings = inferred_round(granularity_bytes, Duration::from_ns(refresh_ns), settings);
        }
        // The scenario's rules for rounds that advance while the port is idle.
        if scheduler != DEFICIT && settings.round == AfqRound::Shared {
            port.idle_round_time = idle_ns.map(Duration::from_ns);
        }
        let is_inferred = settings.round != AfqRound::Shared;
        let run = run_at(port, architecture(ingress_ns), settings, BufferPolicy::Static, &schedule);
        if !run.counters.contains_key("packets_queued") {
            prop_assert_eq!(run.departures.len(), 0);
            return Ok(());
        }
        let (too_far, refused) = (run.count("packets_dropped_too_far_ahead"), run.count("packets_refused_by_traffic_manager"));
        prop_assert_eq!(run.dropped() as u64, too_far + refused);
        prop_assert_eq!(run.count("packets_queued"), run.departures.len() as u64);
        prop_assert_eq!(run.count("packets_served"), run.departures.len() as u64);
        prop_assert_eq!(run.count("packets_assigned"), run.departures.len() as u64 + refused);
        if ingress_ns == 0 && !is_inferred {
            prop_assert_eq!(run.count("packets_in_earlier_queue"), 0);
            prop_assert_eq!(run.count("packets_late_for_round"), 0);
        }
    }

    /// A flow's packets stay in order if no packet can arrive after its round.
    #[test]
    fn the_packets_of_a_flow_stay_in_order(schedule in schedules(), ingress_ns in 0u64..400) {
        let run = run_at(PORT, architecture(ingress_ns), settings(20, 1_518), BufferPolicy::Static, &schedule);
        for flow in 0..6 {
            let own: Vec<_> = run.departures.iter().filter(|gone| gone.flow == flow).map(|gone| gone.arrival).collect();
            prop_assert!(own.is_sorted(), "flow {flow}: {own:?}");
        }
    }
}

#[test]
fn a_quantum_below_a_round_is_no_rotating_strict_priority() {
    let schedule: Vec<_> = (0..60).map(|packet| arrival(0, packet % 6, 1_000)).collect();
    let order = |scheduler| run_ideal(AfqSettings { scheduler, ..settings(16, 2_000) }, &schedule).order();
    let rotating = order(rotating(AfqLate::NamedQueue));
    assert_eq!(rotating, order(DEFICIT));
    assert_ne!(rotating, order(deficit(2_000)));
}

#[test]
fn a_scheduler_that_takes_time_to_go_on_sends_the_same_packets_later() {
    let schedule: Vec<_> = (0..30).map(|packet| arrival(0, 0, if packet % 2 == 0 { 2_000 } else { 1_000 })).collect();
    let with_step = |step_ns| run_ideal(AfqSettings { scheduler: stepping(step_ns), ..settings(60, 1_000) }, &schedule);
    let (at_once, stepping) = (with_step(0), with_step(10));
    assert_eq!(at_once.order(), stepping.order());
    let last = |run: &super::world::Run| run.departures.last().expect("packets left").ends_at;
    // 45 rounds: the scheduler advances once to each, including rounds that a packet drains in the next.
    assert_eq!(last(&stepping) - last(&at_once), Duration::from_ns(10) * 45);
}

#[test]
fn two_groups_swap_when_the_first_is_empty_and_when_its_time_is_up() {
    let schedule: Vec<_> = (0..200).map(|packet| arrival(packet * 900, packet as u32 % 4, 1_000)).collect();
    let run_with = |scheduler| run_ideal(AfqSettings { scheduler, ..settings(16, 1_000) }, &schedule);
    let at_once = run_with(two_groups(1_000_000, 0));
    assert!(at_once.count("swaps") >= 7, "{:?}", at_once.counters);
    assert_eq!(at_once.count("packets_left_behind"), 0);
    assert_eq!(run_with(two_groups(0, 0)).departures, at_once.departures, "a period that never ends is none");
    let hasty = run_with(two_groups(500, 0));
    assert!(hasty.count("packets_left_behind") > 0, "{:?}", hasty.counters);
    let slow = run_with(two_groups(1_000_000, 5_000));
    assert!(slow.count("packets_dropped_too_far_ahead") > at_once.count("packets_dropped_too_far_ahead"));
}
