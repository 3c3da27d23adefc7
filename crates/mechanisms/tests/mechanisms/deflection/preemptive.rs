//! Preemptive Deflection: packets that enter a queue, are deflected, or are given up.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Bytes, Duration, Packet, PortId, PriorityMark, Time};
use hitless_mechanisms::PreemptiveDeflection;
use hitless_mechanisms::deflection::priority::{
    Arithmetic, DistributionSettings, DivideBy, Mean, QuantileOf, QuantileSettings, RelativePriority,
};
use hitless_mechanisms::deflection::{
    Capacity, ConstantCapacity, CurrentThreshold, Decision, Occupancy, PreemptiveDeflectionSettings,
    ProbabilisticDecision, ThresholdDecision, UpdateGap,
};
use hitless_switch::{BufferPolicy, DropReason, PortState, QueueLimit};
use proptest::prelude::*;

use super::world::{
    HARDWARE, HOST, Hardware, NEIGHBOURS, OTHER_HOST, OUT, arrive_by, detours, of_out, packet, ranked, switch_with,
};
use crate::one_switch::OneSwitch;

const QUANTILE: QuantileSettings =
    QuantileSettings { window: 4, sample_every: 1, of: QuantileOf::Enqueued, divide_by: DivideBy::Fill };
const EXACT_MEAN: RelativePriority = by_mean(Mean::Exact, Arithmetic::Exact);
const MOVING_AVERAGE: RelativePriority = by_mean(Mean::MovingAverage, Arithmetic::Exact);

const fn by_mean(mean: Mean, arithmetic: Arithmetic) -> RelativePriority {
    RelativePriority::Distribution(DistributionSettings { mean, gain: 0.02, arithmetic })
}

/// Queues of ten packets of 1,000 bytes, in switches without latency.
const TEN: Hardware = Hardware { limit: QueueLimit::Bytes(10_000), is_ideal: true, ..HARDWARE };

fn settings() -> PreemptiveDeflectionSettings {
    PreemptiveDeflectionSettings {
        relative_priority: RelativePriority::Quantile(QUANTILE),
        alpha: 0.5,
        ..PreemptiveDeflectionSettings::default()
    }
}

fn preemptive(settings: &PreemptiveDeflectionSettings, seed: u64) -> PreemptiveDeflection {
    let stream = RandomStreams::new(seed).stream("preemptive deflection");
    PreemptiveDeflection::new(&[OUT], settings, Vec::new(), stream)
}

fn bench(settings: PreemptiveDeflectionSettings) -> OneSwitch {
    switch_with(TEN, preemptive(&settings, 1))
}

const fn constant(bytes: u64) -> Capacity {
    Capacity::Constant(ConstantCapacity { size: Bytes(bytes) })
}

const CURRENT_THRESHOLD: Capacity = Capacity::CurrentThreshold(CurrentThreshold {});

fn arrive(bench: &mut OneSwitch, ranks: impl IntoIterator<Item = u32>) {
    ranks.into_iter().for_each(|rank| bench.arrive(Time::ZERO, HOST, ranked(rank)));
}

/// Sends packets of these ranks at once, and runs to the end.
fn run(settings: PreemptiveDeflectionSettings, ranks: impl IntoIterator<Item = u32>) -> OneSwitch {
    let mut bench = bench(settings);
    arrive(&mut bench, ranks);
    bench.finish();
    bench
}

/// Counts of packets over their threshold, with a full queue, given up, and deflected.
fn decisions(bench: &OneSwitch) -> [u64; 4] {
    ["packets_over_threshold", "packets_of_full_queue", "packets_given_up", "packets_detoured"]
        .map(|name| of_out(bench, name))
}

#[test]
fn the_threshold_falls_with_the_relative_priority() {
    // The window holds 10, 20, 30 and 40; the queue six packets of ten.
    for (rank, relative_priority, is_over) in [(10, 0.0, false), (25, 0.5, false), (35, 0.75, false), (99, 1.0, true)] {
        let bench = run(settings(), [0, 0, 10, 20, 30, 40, rank]);
        let threshold = 10.0 * (1.0 - 0.5 * relative_priority);
        assert_eq!(6.0 > threshold, is_over, "the test's own arithmetic");
        assert_eq!(decisions(&bench), [u64::from(is_over), 0, 0, u64::from(is_over)], "{rank}");
    }
}

#[test]
fn a_queue_at_its_threshold_is_not_over_it() {
    // Relative priority 1: the threshold is five packets.
    let bench = run(settings(), [1, 1, 1, 1, 1, 2, 3]);
    assert_eq!(decisions(&bench), [1, 0, 0, 1], "that of rank 2 meets five packets, that of rank 3 meets six");
}

#[test]
fn what_a_full_queue_cannot_take_is_deflected_whatever_its_rank() {
    let bench = run(settings(), [0; 12]);
    assert_eq!((decisions(&bench), bench.count_sent_by(&[OUT])), ([0, 2, 0, 2], 10));
}

#[test]
fn with_alpha_zero_only_a_full_queue_deflects() {
    let bench = run(PreemptiveDeflectionSettings { alpha: 0.0, ..settings() }, 0..13);
    assert_eq!((decisions(&bench), bench.count_sent_by(&[OUT])), ([0, 3, 0, 3], 10));
}

#[test]
fn a_packet_that_its_deflection_port_does_not_let_in_is_given_up_there() {
    // Ten packets fill the queue, thirty fill the neighbours, and five more arrive.
    let bench = run(PreemptiveDeflectionSettings { alpha: 0.0, ..settings() }, [0; 200]);
    let [over, full, given_up, deflected] = decisions(&bench);
    assert_eq!((over, full, given_up + deflected), (0, 190, 190));
    assert_eq!(
        (bench.count_sent_by(&NEIGHBOURS) as u64, deflected),
        (30, 30),
        "one port is drawn, so some wait for room"
    );
    assert_eq!(bench.reasons(), vec![DropReason::Mechanism; given_up as usize]);
}

#[test]
fn the_deflection_port_compares_with_its_own_packets() {
    // Each neighbour has a separate window. The first packets there meet an empty one, so that their relative priority
    // is 0.
    let bench = run(
        PreemptiveDeflectionSettings { relative_priority: RelativePriority::Quantile(QUANTILE), ..settings() },
        [1, 1, 1, 1, 1, 1].into_iter().chain([9; 3]),
    );
    assert_eq!(decisions(&bench), [3, 0, 0, 3]);
}

#[test]
fn the_less_occupied_of_two_ports_is_taken() {
    let bench = run(PreemptiveDeflectionSettings { alpha: 0.0, candidates: 2, ..settings() }, [0; 10 + 15]);
    let counts = NEIGHBOURS.map(|port| bench.count_sent_by(&[port]));
    assert_eq!(counts.iter().sum::<usize>(), 15);
    assert!(counts.iter().all(|count| (4..=6).contains(count)), "{counts:?}");
}

#[test]
fn a_remembered_port_is_a_candidate_more() {
    let given_up = |memory| {
        let bench = run(PreemptiveDeflectionSettings { alpha: 0.0, memory, ..settings() }, [0; 10 + 30]);
        decisions(&bench)[2]
    };
    assert!(given_up(true) < given_up(false), "{} of 30, and {}", given_up(true), given_up(false));
}

#[test]
fn a_packet_that_draws_its_own_port_and_stays_is_not_detoured() {
    let quantile = QuantileSettings { of: QuantileOf::Evaluated, ..QUANTILE };
    let relative_priority = RelativePriority::Quantile(quantile);
    let settings = PreemptiveDeflectionSettings { relative_priority, draw_own_port: true, ..settings() };
    let mut bench = switch_with(Hardware { out_faces_switch: true, ..TEN }, preemptive(&settings, 1));
    for port in NEIGHBOURS {
        bench.port_state(port, PortState::Down);
    }
    // Of 10, 20, 30 and 40 all are below 99, of 20, 30, 40 and 99 three are: the threshold is five packets, and then
    // 6.25.
    arrive(&mut bench, [0, 0, 10, 20, 30, 40, 99]);
    bench.finish();
    assert_eq!((decisions(&bench), of_out(&bench, "packets_stayed")), ([1, 0, 0, 0], 1));
    assert_eq!(detours(&bench), [(OUT, None); 7], "none has a detour behind it");
}

#[test]
fn no_port_by_which_a_packet_came_no_host_and_no_port_that_is_down() {
    let mut bench = bench(PreemptiveDeflectionSettings { alpha: 0.0, to_arrival_port: false, ..settings() });
    bench.port_state(NEIGHBOURS[1], PortState::Down);
    (0..20).for_each(|_| bench.arrive(Time::ZERO, NEIGHBOURS[0], ranked(5)));
    bench.finish();
    assert_eq!(NEIGHBOURS.map(|port| bench.count_sent_by(&[port])), [0, 0, 10]);
    for port in NEIGHBOURS {
        bench.port_state(port, PortState::Down);
    }
    (0..11).for_each(|_| bench.arrive(Time(1_000_000_000), HOST, ranked(5)));
    bench.finish();
    assert_eq!((of_out(&bench, "packets_with_nowhere_to_go"), bench.count_sent_by(&[HOST])), (1, 0));
}

#[test]
fn evaluated_packets_enter_the_window_wherever_they_are_tested() {
    // All but the first six packets are deflected, so that a window of enqueued packets does not see them.
    let run = |of| {
        let quantile = QuantileSettings { of, ..QUANTILE };
        let bench = run(
            PreemptiveDeflectionSettings { relative_priority: RelativePriority::Quantile(quantile), ..settings() },
            [1, 1, 1, 1, 1, 1].into_iter().chain([9; 8]),
        );
        decisions(&bench)[0]
    };
    assert_eq!(run(QuantileOf::Enqueued), 8, "all entries are smaller, for ever");
    // After one of them 3 of 4 are smaller, and the threshold is 6.25 packets.
    assert_eq!(run(QuantileOf::Evaluated), 1);
}

#[test]
fn distributions_know_the_mean_of_the_queue_or_of_recent_packets() {
    // Mean 100, rank 100: R = 1 - 1/e = 0.63, and the threshold is 6.8 of ten packets. A moving average that begins at
    // 0 is lower.
    let run = |relative_priority, rank| {
        let bench = run(
            PreemptiveDeflectionSettings { relative_priority, ..settings() },
            [100; 6].into_iter().chain([rank; 3]),
        );
        decisions(&bench)[0]
    };
    assert_eq!(run(EXACT_MEAN, 100), 2, "six are below the threshold, seven are not");
    assert_eq!(run(EXACT_MEAN, 0), 0);
    assert_eq!(run(EXACT_MEAN, 1_000), 3);
    assert!(run(MOVING_AVERAGE, 100) > 2);
}

#[test]
fn the_mean_forgets_what_has_left() {
    let mut bench = bench(PreemptiveDeflectionSettings { relative_priority: EXACT_MEAN, ..settings() });
    arrive(&mut bench, [1_000_000; 5]);
    // 1,020 bytes at 10 Gbps take 816 ns: all packets have left after 5 us.
    (0..8).for_each(|_| bench.arrive(Time(5_000_000), HOST, ranked(100)));
    bench.finish();
    assert_eq!(decisions(&bench)[0], 1, "the eighth meets seven of its own kind: the threshold is 6.8");
}

#[test]
fn the_probabilistic_form_admits_below_its_minimum_and_deflects_by_chance_above() {
    let share = |times_alpha| {
        let minimum_threshold = Bytes(4_000);
        let decision = Decision::Probabilistic(ProbabilisticDecision { minimum_threshold, times_alpha });
        let mut deflected = 0;
        for seed in 0..2_000 {
            let settings = PreemptiveDeflectionSettings { decision, ..settings() };
            let mut bench = switch_with(TEN, preemptive(&settings, seed));
            arrive(&mut bench, [1, 1, 1, 1, 0, 0, 0]);
            let before = decisions(&bench)[0];
            assert_eq!(before, 0, "a packet of relative priority 0 is never deflected so");
            arrive(&mut bench, [9]);
            bench.finish();
            deflected += decisions(&bench)[0];
        }
        deflected as f64 / 2_000.0
    };
    // R = 1, (7 - 4) / (10 - 4): a half; the standard deviation of the share is 0.011.
    assert!((share(false) - 0.5).abs() < 0.045, "{}", share(false));
    assert!((share(true) - 0.25).abs() < 0.04, "{}", share(true));
}

#[test]
fn a_retransmission_is_twice_as_urgent() {
    let mut bench = bench(settings());
    arrive(&mut bench, [50; 6]);
    let mut again = packet();
    let mark = PriorityMark { rank_bytes: 90, retransmissions: 1, ..PriorityMark::default() };
    again.push_shim(mark).expect("it carries no other shim");
    bench.arrive(Time::ZERO, HOST, again);
    arrive(&mut bench, [90]);
    bench.finish();
    assert_eq!(decisions(&bench)[0], 1, "90 halved is below 50, and 90 is not");
}

#[test]
fn the_capacity_is_the_queues_own_or_any_number_or_what_the_shared_buffer_grants() {
    // The queue's own limit is 10,000; the buffer of 12,000 grants a queue the free bytes.
    let hardware = Hardware { buffer: BufferPolicy::Shared { capacity_bytes: 12_000, alpha: 1.0 }, ..TEN };
    let run = |count: u64, capacity| {
        let mut bench = switch_with(hardware, preemptive(&PreemptiveDeflectionSettings { capacity, ..settings() }, 1));
        // A nanosecond apart. The first packet goes on the line at once.
        (0..=count).for_each(|number| bench.arrive(Time(number * 1_000), HOST, ranked(1)));
        bench.arrive(Time(100_000), HOST, ranked(9));
        decisions(&bench)[0]
    };
    assert_eq!(run(3, Capacity::default()), 0, "3 of 10");
    assert_eq!(run(3, constant(5_000)), 1, "3 of 5");
    assert_eq!(run(3, CURRENT_THRESHOLD), 0, "3 of 12 - 3");
    assert_eq!(run(5, Capacity::default()), 0, "5 of 10");
    assert_eq!(run(5, CURRENT_THRESHOLD), 1, "5 of 12 - 5");
    assert_eq!(run(5, constant(10_000)), 0);
}

fn any_priority() -> impl Strategy<Value = RelativePriority> {
    let quantile = (1u32..30, 1u32..21, any::<bool>(), any::<bool>()).prop_map(|(window, sample_every, of, by)| {
        let of = if of { QuantileOf::Evaluated } else { QuantileOf::Enqueued };
        let divide_by = if by { DivideBy::Fill } else { DivideBy::Window };
        RelativePriority::Quantile(QuantileSettings { window, sample_every, of, divide_by })
    });
    let distribution = (any::<bool>(), any::<bool>()).prop_map(|(is_exact, has_tables)| {
        let mean = if is_exact { Mean::Exact } else { Mean::MovingAverage };
        by_mean(mean, if has_tables { Arithmetic::Tables } else { Arithmetic::Exact })
    });
    prop_oneof![quantile, distribution]
}

proptest! {
    /// For any arrivals and decisions: no packet vanishes, is counted twice or goes to another host, and no packet is
    /// forwarded after its time to live.
    #[test]
    fn packets_leave_by_their_port_or_to_a_neighbour_or_end_for_a_reason(
        arrivals in prop::collection::vec((0u64..1_500, 0usize..4, 0u32..100_000, 64u32..=1_518, 0u8..4), 1..200),
        relative_priority in any_priority(), alpha in 0.0f64..=1.0, candidates in 1u8..=2, memory in any::<bool>(),
        draw_own_port in any::<bool>(), to_arrival_port in any::<bool>(), bytes in 1_518u64..20_000,
        is_probabilistic in any::<bool>(), is_ideal in any::<bool>(), shares in any::<bool>(),
        out_faces_switch in any::<bool>(), capacity in prop::sample::select(vec![
            Capacity::default(), CURRENT_THRESHOLD, constant(9_000)
        ]), seed in any::<u64>(), gap_ns in prop::option::of((1u64..5_000, any::<bool>())),
    ) {
        let occupancy = gap_ns.map_or(Occupancy::default(), |(gap_ns, sees_full_at_once)| {
            Occupancy::UpdateGap(UpdateGap { gap: Duration::from_ns(gap_ns), sees_full_at_once })
        });
        let decision = if is_probabilistic {
            let minimum_threshold = Bytes(bytes / 3);
            Decision::Probabilistic(ProbabilisticDecision { minimum_threshold, times_alpha: false })
        } else {
            Decision::Threshold(ThresholdDecision {})
        };
        let buffer = if shares { BufferPolicy::Shared { capacity_bytes: 30_000, alpha: 1.0 } } else { BufferPolicy::Static };
        let hardware = Hardware { limit: QueueLimit::Bytes(bytes), buffer, out_faces_switch, is_ideal, ..HARDWARE };
        let run = || {
            let settings = PreemptiveDeflectionSettings {
                ports: Vec::new(), relative_priority, alpha, decision, capacity, occupancy, candidates, memory, draw_own_port,
                to_arrival_port,
            };
            let mut bench = switch_with(hardware, preemptive(&settings, seed));
            let packet = |&(gap_ns, from, rank, frame_bytes, ttl)| (gap_ns, from, Packet { frame_bytes, ttl, ..ranked(rank) });
            arrive_by(&mut bench, arrivals.iter().map(packet));
            bench
        };
        let bench = run();
        let count = |reason| bench.reasons().iter().filter(|&&ended| ended == reason).count();
        prop_assert_eq!(bench.world.left.len() + bench.world.ended.len(), arrivals.len());
        let hosts: Vec<PortId> = vec![HOST, OTHER_HOST];
        prop_assert!(detours(&bench).iter().all(|(port, _)| !hosts.contains(port)));
        let expired = arrivals.iter().filter(|arrival| arrival.4 <= 1).count();
        prop_assert_eq!(count(DropReason::TimeToLive), expired);
        let knows_what_fits = gap_ns.is_none_or(|(_, sees_full_at_once)| sees_full_at_once);
        let refused = count(DropReason::QueueFull) + count(DropReason::BufferFull);
        prop_assert!(refused == 0 || !knows_what_fits, "{} refused", refused);
        prop_assert_eq!(of_out(&bench, "packets_seen") as usize, arrivals.len() - expired);
        let detoured = of_out(&bench, "packets_detoured") as usize;
        prop_assert!(detoured == bench.count_sent_by(&NEIGHBOURS) || !knows_what_fits && detoured > bench.count_sent_by(&NEIGHBOURS));
        prop_assert!(draw_own_port && out_faces_switch || of_out(&bench, "packets_stayed") == 0);
        let given_up = of_out(&bench, "packets_given_up") + of_out(&bench, "packets_with_nowhere_to_go");
        prop_assert_eq!(count(DropReason::Mechanism), given_up as usize);
        prop_assert_eq!(&run().world.left, &bench.world.left, "the same seed, the same way");
    }
}
