//! RIMM's guarantees for any traffic and any losses. A random failure prints its plan; see CONTRIBUTING.md for how to
//! run it again.

mod world;

use std::collections::BTreeSet;

use hitless_core::wire::Duration;
use hitless_mechanisms::Rimm;
use hitless_mechanisms::rimm::{Neighbour, NeighbourForReturns, RimmMessages, RimmRelease, RimmSettings};
use proptest::prelude::*;

use world::{Burst, Plan, Run, SINKS, exact, middle, run};

/// Packets until an alarm, and the maximum of a path through a neighbour.
const THRESHOLD: u16 = 6;
const NEVER_FULL: u16 = 20_000;

prop_compose! {
    /// Flows with one burst each, so that a number tells their order.
    fn plan(lost: bool)(
        neighbours in 1u16..4,
        bursts in prop::collection::vec((0..SINKS, 0u16..4, 0u64..60_000, 1u32..50, 100u64..2_500), 1..7),
        losses in prop::collection::btree_set(1u64..400, 0..if lost { 12 } else { 1 }),
    ) -> Plan {
        let burst = |(flow, (sink, from, starts_ns, packets, gap_ns)): (usize, (u16, u16, u64, u32, u64))| Burst {
            flow: flow as u32, sink, from: from.min(neighbours), starts_ns, packets, gap_ns,
        };
        Plan {
            neighbours,
            bursts: bursts.into_iter().enumerate().map(burst).collect(),
            lost: if lost { losses } else { BTreeSet::new() },
            lost_below_segments: 0,
            queue_packets: 100_000,
            relay_packets: 100_000,
        }
    }
}

prop_compose! {
    /// RIMM that never needs to give up, with slots shared by many flows.
    fn settings()(
        is_exact in any::<bool>(),
        hash_bits in 0u8..4,
        same in any::<bool>(),
        messages_first in any::<bool>(),
    ) -> RimmSettings {
        let never = Duration::from_us(1_000_000);
        RimmSettings {
            release: if is_exact { RimmRelease::Exact } else { RimmRelease::FlowletGap },
            flowlet_gap: Some(never),
            neighbour_for_returns: if same { NeighbourForReturns::SameNeighbour } else { NeighbourForReturns::LeastLoaded },
            messages: if messages_first { RimmMessages::First } else { RimmMessages::InOrder },
            hash_bits,
            congestion_after: never,
            ..exact()
        }
    }
}

/// A burst at 40G into 10G, from behind the first neighbour.
fn one_burst(packets: u32) -> Plan {
    let burst = Burst { flow: 1, sink: 0, from: 1, starts_ns: 0, packets, gap_ns: 300 };
    Plan {
        neighbours: 2,
        bursts: vec![burst],
        lost: BTreeSet::new(),
        lost_below_segments: 0,
        queue_packets: 24,
        relay_packets: 1_000,
    }
}

/// Runs the plan with RIMM and neighbours that never fill.
fn with(plan: &Plan, settings: RimmSettings) -> Run {
    run(plan, Some(Rimm::new(middle(plan, settings, THRESHOLD, NEVER_FULL))))
}

fn never_gives_up() -> RimmSettings {
    RimmSettings { congestion_after: Duration::from_us(1_000_000), ..exact() }
}

fn gap_of(chi: Duration) -> RimmSettings {
    RimmSettings { release: RimmRelease::FlowletGap, flowlet_gap: Some(chi), ..never_gives_up() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any sharing of slots nothing is lost, each flow stays in order, and the registers drain.
    #[test]
    fn without_losses_every_flow_arrives_whole_and_in_order(plan in plan(false), settings in settings(), first: u32) {
        let config = middle(&plan, settings, THRESHOLD, NEVER_FULL);
        let run = run(&plan, Some(Rimm::with_first_number(config, first)));
        prop_assert_eq!(run.deliveries.len() as u64, run.sent);
        for name in ["packets_forced", "packets_released_early", "packets_released_late"] {
            prop_assert_eq!(run.count(name), 0, "{}", name);
        }
        prop_assert_eq!(run.out_of_order(), 0);
        prop_assert_eq!((run.count("packets_away"), run.count("slots_open")), (0, 0));
        prop_assert_eq!(run.count("packets_released_in_order"), run.count("packets_detoured"));
    }

    /// Messages and detoured packets are lost. The other packets arrive, none goes round longer than allowed, and a
    /// flow is out of order only if RIMM reports that it has given up packets.
    #[test]
    fn with_losses_all_others_arrive_and_whoever_gives_up_says_so(
        plan in plan(true),
        settings in settings(),
        detours_max in 3u8..60,
        timeout_us in 20u64..200,
        congestion_us in 30u64..400,
    ) {
        let settings = RimmSettings {
            detours_max,
            predecessor_timeout: Some(Duration::from_us(timeout_us)),
            congestion_after: Duration::from_us(congestion_us),
            ..settings
        };
        let run = with(&plan, settings);
        prop_assert_eq!(run.deliveries.len() as u64 + run.lost, run.sent);
        prop_assert!(run.detours_max <= detours_max);
        prop_assert_eq!(run.count("packets_away"), run.lost);
        let gave_up = run.count("packets_released_late") + run.count("new_packets_past_detoured");
        prop_assert!(run.out_of_order() == 0 || gave_up > 0);
    }

    /// Short queues: each packet is delivered once or dropped once.
    #[test]
    fn with_short_queues_each_packet_ends_once(
        plan in plan(true),
        settings in settings(),
        is_unordered in any::<bool>(),
        queue_packets in 4u32..30,
        full in 2u16..20,
    ) {
        let plan = Plan { queue_packets, relay_packets: queue_packets, ..plan };
        let release = if is_unordered { RimmRelease::Unordered } else { settings.release };
        let settings = RimmSettings { release, congestion_after: Duration::from_us(100), ..settings };
        let run = run(&plan, Some(Rimm::new(middle(&plan, settings, 3, full))));
        let mut seen = BTreeSet::new();
        prop_assert!(run.deliveries.iter().all(|delivery| seen.insert((delivery.flow, delivery.number))));
        prop_assert_eq!(run.deliveries.len() as u64 + run.lost + run.dropped, run.sent);
    }
}

#[test]
fn a_burst_that_overflows_the_queue_is_saved_and_stays_in_order() {
    let plan = one_burst(60);
    let basic = run(&plan, None);
    assert!(basic.dropped >= 10, "{}", basic.dropped);
    for release in [RimmRelease::Exact, RimmRelease::FlowletGap] {
        let settings = RimmSettings { release, ..gap_of(Duration::from_us(50)) };
        let run = with(&plan, settings);
        assert_eq!((run.dropped, run.out_of_order(), run.deliveries.len()), (0, 0, 60), "{release:?}");
        assert!(run.count("packets_detoured") > 10 && run.count("detours") > run.count("packets_detoured"));
        assert!(run.count("messages_returned") >= 2);
    }
}

#[test]
fn without_numbers_the_same_burst_is_saved_too_but_in_disorder() {
    let plan = one_burst(60);
    let settings = RimmSettings { release: RimmRelease::Unordered, ..never_gives_up() };
    let run = with(&plan, settings);
    assert_eq!((run.dropped, run.deliveries.len()), (0, 60));
    assert!(run.out_of_order() > 0);
}

#[test]
fn while_all_neighbours_are_full_the_switch_forwards_as_without_rimm() {
    let mut plan = one_burst(60);
    // The burst comes from the host at the switch itself: on the path from a neighbour the telemetry would take time on
    // the line.
    plan.bursts[0].from = 0;
    let basic = run(&plan, None);
    let relieved = run(&plan, Some(Rimm::new(middle(&plan, never_gives_up(), THRESHOLD, 0))));
    assert!(basic.dropped > 0);
    assert_eq!((relieved.deliveries, relieved.dropped), (basic.deliveries, basic.dropped));
    assert!(relieved.counters["detours_ended_by_full_neighbours"] > 0);
    assert_eq!(relieved.counters["packets_detoured"], 0);
}

#[test]
fn a_detour_that_lasts_too_long_ends_and_the_queue_overflows_as_without_it() {
    let plan = one_burst(1_000);
    let settings = RimmSettings { congestion_after: Duration::from_us(3), ..exact() };
    let run = with(&plan, settings);
    assert!(run.count("detours_ended_by_congestion") > 0 && run.dropped > 500, "{:?}", run.counters);
    assert_eq!(run.deliveries.len() as u64 + run.dropped, run.sent);
}

#[test]
fn a_flow_that_never_pauses_is_detoured_until_its_limit() {
    let plan = Plan { queue_packets: 1_000, ..one_burst(1_500) };
    let plan = Plan {
        bursts: vec![
            Burst { gap_ns: 3_000, ..plan.bursts[0] },
            Burst { flow: 2, packets: 40, starts_ns: 30_000, from: 0, ..plan.bursts[0] },
        ],
        ..plan
    };
    let detoured = |detour_max| {
        let settings = RimmSettings { flow_detour_max: detour_max, ..gap_of(Duration::from_us(100)) };
        with(&plan, settings).count("packets_detoured")
    };
    let (without, with) = (detoured(None), detoured(Some(Duration::from_us(100))));
    assert!(with < without / 2, "{with} of {without}");
}

#[test]
fn an_idle_time_of_chi_ends_the_detour_of_a_flow() {
    let second = |starts_us: u64| {
        let burst = one_burst(60).bursts[0];
        let later = Burst { starts_ns: starts_us * 1_000, packets: 5, gap_ns: 2_000, ..burst };
        Plan { bursts: vec![burst, later], ..one_burst(60) }
    };
    let detoured = |starts_us: u64, chi_us: u64| {
        let plan = second(starts_us);
        let run = with(&plan, gap_of(Duration::from_us(chi_us)));
        assert_eq!((run.dropped, run.out_of_order()), (0, 0));
        run.count("packets_detoured")
    };
    // The first burst is over after 12 us at the input, and after 50 us at the output.
    let of_first = detoured(500, 100);
    assert_eq!(detoured(500, 600), of_first + 5);
    assert_eq!(detoured(1_000, 600), of_first);
}

#[test]
fn a_lost_predecessor_is_waited_for_as_long_as_was_said() {
    let mut plan = one_burst(60);
    // Loses the first packet on a detour; the first message has come back before.
    plan.lost = BTreeSet::from([4]);
    let time = |timeout_us| {
        let settings = RimmSettings { predecessor_timeout: Some(Duration::from_us(timeout_us)), ..never_gives_up() };
        let run = with(&plan, settings);
        assert_eq!((run.lost, run.count("numbers_skipped"), run.count("packets_released_early")), (1, 1, 0));
        assert_eq!((run.deliveries.len(), run.out_of_order()), (59, 0));
        run.deliveries.last().expect("something arrived").at.as_ps() / 1_000_000
    };
    let (short, long) = (time(50), time(200));
    assert!((140..160).contains(&(long - short)), "{short} us and {long} us");
}

#[test]
fn whoever_may_not_go_round_again_is_forwarded() {
    let plan = one_burst(60);
    let forced = |detours_max| {
        let settings = RimmSettings { detours_max, ..never_gives_up() };
        let run = with(&plan, settings);
        assert!(run.detours_max <= detours_max);
        run.count("packets_forced")
    };
    assert_eq!(forced(u8::MAX), 0);
    assert!(forced(2) > 0);
}

#[test]
fn two_flows_have_a_slot_each_if_there_are_enough() {
    let other = Burst { flow: 2, ..one_burst(60).bursts[0] };
    let slots_open = |hash_bits| {
        let mut plan = one_burst(60);
        plan.bursts.push(other);
        // After some time all packets of the detour are lost: each used slot stays open.
        plan.lost = (30..2_000).collect();
        with(&plan, RimmSettings { hash_bits, ..never_gives_up() }).count("slots_open")
    };
    assert_eq!([slots_open(0), slots_open(12)], [1, 2]);
}

#[test]
fn the_most_packets_away_at_once_are_a_maximum_over_bursts_and_include_lost_packets() {
    let away = |starts_us: &[u64], lost| {
        let starts = starts_us.iter().map(|starts_us| starts_us * 1_000);
        let burst = |starts_ns| Burst { starts_ns, ..one_burst(60).bursts[0] };
        let plan = Plan { bursts: starts.map(burst).collect(), lost, ..one_burst(60) };
        let run = with(&plan, never_gives_up());
        let counts = ["packets_away_max", "packets_away", "packets_detoured"];
        counts.map(|name| run.counters[name])
    };
    let [most, away_at_end, detoured] = away(&[0], BTreeSet::new());
    assert!(0 < most && most < detoured, "{most} of {detoured}: some are back before others leave");
    assert_eq!(away_at_end, 0);
    // The packets of the first burst are all back before the second burst.
    assert_eq!(away(&[0, 500], BTreeSet::new()), [most, 0, 2 * detoured]);
    // The first messages return; then all transmissions between switches are lost.
    let [most, away_at_end, detoured] = away(&[0], (4..2_000).collect());
    assert_eq!([most, away_at_end], [detoured; 2]);
    // Without an alarm no packet leaves.
    let few = one_burst(2);
    let run = with(&few, never_gives_up());
    assert_eq!(run.counters["packets_away_max"], 0);
}

#[test]
fn a_lost_message_that_a_queue_is_below_its_threshold_closes_the_way_for_the_lifetime_of_a_crossing_and_not_for_ever() {
    // The host at the switch sends at 100G: the only neighbour's 40G link fills up, and is empty again at the second
    // burst.
    let detoured = |second_us: u64, is_lost: bool| {
        let burst = Burst { flow: 1, sink: 0, from: 0, starts_ns: 0, packets: 60, gap_ns: 120 };
        let second = Burst { flow: 2, starts_ns: second_us * 1_000, ..burst };
        let plan = Plan {
            neighbours: 1,
            bursts: vec![burst, second],
            lost_below_segments: if is_lost { 10 * 3 } else { 0 },
            queue_packets: 1_000,
            ..one_burst(0)
        };
        let settings = RimmSettings { crossing_lifetime: Duration::from_us(1_000), ..never_gives_up() };
        let run = run(&plan, Some(Rimm::new(middle(&plan, settings, THRESHOLD, 10))));
        assert_eq!((run.dropped, run.deliveries.len()), (0, 120));
        assert!(run.count("detours_ended_by_full_neighbours") > 0);
        run.count("packets_detoured")
    };
    let of_first = detoured(500, true);
    assert_eq!(detoured(500, false), 2 * of_first, "the second burst is like the first");
    assert_eq!(detoured(900, true), of_first, "the way counts as full");
    assert_eq!(detoured(1_200, true), 2 * of_first, "its crossing is forgotten");
}

#[test]
fn that_a_queue_is_still_above_its_threshold_raises_no_alarm() {
    // 12 Gbps into 10: once congestion has ended the detour, the queue stays above its threshold.
    let run = |crossing_lifetime| {
        let burst = Burst { gap_ns: 1_000, ..one_burst(1_500).bursts[0] };
        let plan = Plan { bursts: vec![burst], queue_packets: 1_000, ..one_burst(0) };
        let settings = RimmSettings { crossing_lifetime, congestion_after: Duration::from_us(100), ..never_gives_up() };
        let mut config = middle(&plan, settings, THRESHOLD, NEVER_FULL);
        // The port also faces a neighbour, which sends nothing back.
        config.neighbours.push(Neighbour {
            port: config.watched[0].port,
            full_segments: u16::MAX,
            own_full_segments: config.watched[0].threshold_segments,
            is_told: false,
        });
        run(&plan, Some(Rimm::new(config)))
    };
    let [without, with] = [100_000, 400].map(|lifetime_us| run(Duration::from_us(lifetime_us)));
    assert_eq!(without.count("messages_repeated"), 0);
    assert!(with.count("messages_repeated") > 0);
    for name in ["alarms", "detours_ended_by_congestion", "packets_detoured"] {
        assert_eq!(with.count(name), without.count(name), "{name}");
    }
    assert_eq!(with.deliveries, without.deliveries);
}
