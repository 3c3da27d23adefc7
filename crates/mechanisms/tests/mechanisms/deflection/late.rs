//! Late knowledge of ingress: by an update gap, and by control packets.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Duration, PortId, Time};
use hitless_mechanisms::deflection::priority::{Arithmetic, DistributionSettings, Mean, RelativePriority};
use hitless_mechanisms::deflection::{
    ControlPackets, Occupancy, PreemptiveDeflectionSettings, SimpleDeflectionSettings, UpdateGap,
};
use hitless_mechanisms::{PreemptiveDeflection, SimpleDeflection};
use hitless_switch::{DepthVisibility, DropReason, QueueLimit};

use super::world::{HARDWARE, HOST, Hardware, OUT, of_out, packet, ranked, switch_with};
use crate::one_switch::OneSwitch;

const TEN: Hardware = Hardware { limit: QueueLimit::Bytes(10_000), is_ideal: true, ..HARDWARE };
/// A recirculation port, the latencies of a Tofino, and depths that only egress sees.
const REAL: Hardware = Hardware {
    limit: QueueLimit::Bytes(10_000),
    recirculation_ports: 1,
    depth_visibility: DepthVisibility::Egress,
    ..HARDWARE
};
const US: u64 = 1_000_000;

fn gap(microseconds: u64) -> Occupancy {
    Occupancy::UpdateGap(UpdateGap { gap: Duration::from_us(microseconds), sees_full_at_once: false })
}

const fn control_packets(packets: u16) -> Occupancy {
    Occupancy::ControlPackets(ControlPackets { packets: Some(packets) })
}

fn recirculation_ports(hardware: Hardware) -> Vec<PortId> {
    (6..6 + hardware.recirculation_ports as u16).map(PortId).collect()
}

fn simple(hardware: Hardware, occupancy: Occupancy) -> OneSwitch {
    let stream = RandomStreams::new(1).stream("simple deflection");
    let settings = SimpleDeflectionSettings { occupancy, ..SimpleDeflectionSettings::default() };
    switch_with(hardware, SimpleDeflection::new(vec![OUT], &settings, recirculation_ports(hardware), stream))
}

fn preemptive(hardware: Hardware, occupancy: Occupancy, mean: Mean, gain: f64) -> OneSwitch {
    let stream = RandomStreams::new(1).stream("preemptive deflection");
    let distribution = DistributionSettings { mean, gain, arithmetic: Arithmetic::Exact };
    let settings = PreemptiveDeflectionSettings {
        relative_priority: RelativePriority::Distribution(distribution),
        alpha: 0.5,
        occupancy,
        ..PreemptiveDeflectionSettings::default()
    };
    switch_with(hardware, PreemptiveDeflection::new(&[OUT], &settings, recirculation_ports(hardware), stream))
}

/// Twelve packets at once fill a queue of ten, and another packet every 816 ns, the time of a packet, keeps it full.
fn keep_full(bench: &mut OneSwitch, until_us: u64) {
    (0..12).for_each(|_| bench.arrive(Time::ZERO, HOST, packet()));
    let mut at = Time(816_000);
    while at < Time(until_us * US) {
        bench.arrive(at, HOST, packet());
        at += Duration::from_ns(816);
    }
}

#[test]
fn until_the_next_tick_a_queue_that_has_filled_up_seems_empty() {
    let mut bench = simple(TEN, gap(10));
    keep_full(&mut bench, 12);
    bench.finish();
    // Two of the twelve packets and those before the tick find no room; those after it are deflected.
    let refused = bench.world.ended.len();
    assert!(refused >= 2 && bench.reasons().iter().all(|&reason| reason == DropReason::QueueFull), "{refused}");
    assert!(of_out(&bench, "packets_detoured") >= 1);
    let mut blind = simple(TEN, gap(1_000));
    keep_full(&mut blind, 12);
    blind.finish();
    assert_eq!(of_out(&blind, "packets_detoured"), 0);
}

#[test]
fn egress_keeps_the_last_value_of_a_queue_that_nothing_leaves() {
    let mut bench = simple(TEN, gap(10));
    keep_full(&mut bench, 12);
    // The queue runs empty, and the last departing packet reports it.
    bench.arrive(Time(40 * US), HOST, packet());
    let before = of_out(&bench, "packets_detoured");
    bench.arrive(Time(60 * US), HOST, packet());
    bench.finish();
    assert_eq!(of_out(&bench, "packets_detoured"), before);
}

#[test]
fn whether_a_queue_is_full_may_be_known_at_once_while_its_depth_is_late() {
    let occupancy = Occupancy::UpdateGap(UpdateGap { gap: Duration::from_us(1_000), sees_full_at_once: true });
    let mut bench = preemptive(TEN, occupancy, Mean::Exact, 0.02);
    (0..12).for_each(|_| bench.arrive(Time::ZERO, HOST, ranked(9)));
    bench.finish();
    assert_eq!((of_out(&bench, "packets_over_threshold"), of_out(&bench, "packets_of_full_queue")), (0, 2));
    assert_eq!(bench.reasons(), []);
}

#[test]
fn depth_and_mean_come_with_the_tick() {
    for mean in [Mean::Exact, Mean::MovingAverage] {
        let over = |microseconds| {
            let mut bench = preemptive(TEN, gap(microseconds), mean, 0.02);
            (0..9).for_each(|_| bench.arrive(Time::ZERO, HOST, ranked(100)));
            // At 1 us seven of the nine packets wait: the threshold of a rank far above the mean is five packets.
            (0..3).for_each(|number| bench.arrive(Time(US + 500_000 + number), HOST, ranked(1_000_000)));
            bench.finish();
            of_out(&bench, "packets_over_threshold")
        };
        assert_eq!((over(1), over(1_000)), (3, 0), "{mean:?}");
    }
}

#[test]
fn control_packets_go_round_in_the_time_that_the_hardware_takes() {
    let mut bench = simple(REAL, control_packets(0));
    bench.finish_by(Time(1_000 * US), 6);
    // 200 + 200 + 20 ns of latency, and 7.36 ns for 92 bytes at 100 Gbps.
    let report = bench.report();
    let (_, quantity, between) = &report.histograms[0];
    assert_eq!((quantity.key, between.min(), between.max()), ("update_gap_ns", 427, 427));
    assert_eq!(bench.counter("switch", "control_packets"), 6, "one for each queue");
    let rounds = bench.counter("switch", "control_packet_recirculations");
    assert!((rounds as i64 - 6 * 1_000_000 / 427).abs() < 20, "{rounds}");
}

#[test]
fn too_many_control_packets_queue_at_their_recirculation_port() {
    let between = |packets, recirculation_ports: usize| {
        let mut bench = simple(Hardware { recirculation_ports, ..REAL }, control_packets(packets));
        bench.finish_by(Time(100 * US), usize::from(packets));
        bench.report().histograms[0].2.mean()
    };
    assert!((between(50, 1) - 427.0).abs() < 1.0);
    // 512 times 7.36 ns; half of it on two ports.
    assert!((between(512, 1) - 3_768.0).abs() < 10.0, "{}", between(512, 1));
    assert!((between(512, 2) - 1_884.0).abs() < 10.0, "{}", between(512, 2));
}

#[test]
fn ingress_learns_of_a_full_queue_by_a_control_packet() {
    let mut bench = simple(REAL, control_packets(0));
    keep_full(&mut bench, 12);
    bench.finish_by(Time(100 * US), 6);
    let (refused, detoured) = (bench.world.ended.len(), of_out(&bench, "packets_detoured"));
    assert!(refused >= 2 && detoured >= 1, "{refused} refused, {detoured} deflected");
    let report = bench.report();
    let ages =
        &report.histograms.iter().find(|histogram| histogram.1.key == "occupancy_age_ns").expect("it is measured").2;
    // From the read in egress to ingress it takes 20 ns, 200 ns and 7 ns; the next report comes 427 ns later.
    assert!(ages.min() >= 227 && ages.max() <= 227 + 428, "{} to {}", ages.min(), ages.max());
}

#[test]
fn a_moving_average_goes_to_egress_with_its_packet_and_back_with_a_control_packet() {
    let mut bench = preemptive(REAL, control_packets(0), Mean::MovingAverage, 1.0);
    (0..9).for_each(|_| bench.arrive(Time::ZERO, HOST, ranked(100)));
    // Ingress knows seven packets and a mean of 100 by then. The threshold is 9.95 packets for rank 1, and five packets
    // for rank 1,000,000.
    bench.arrive(Time(2 * US), HOST, ranked(1));
    bench.arrive(Time(2 * US), HOST, ranked(1_000_000));
    bench.finish_by(Time(100 * US), 6);
    assert_eq!(of_out(&bench, "packets_over_threshold"), 1);
}
