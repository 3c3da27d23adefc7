//! AFQ for some classes of a port. The class of a flow is its number modulo 256.

use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::{Packet, QueueId, Time};
use hitless_mechanisms::afq::{AfqLate, AfqPort, AfqSettings, AfqSketch, FlowKey, UpdateRule};
use hitless_switch::{BufferPolicy, DropReason, EcnThreshold, PortConfig, QueueConfig, QueueLimit};
use proptest::prelude::*;

use super::schedulers::{DEFICIT, architecture, stepping, two_groups};
use super::shares::{LENGTH_BYTES, load};
use super::world::{
    Arrival, BYTE, IN, OUT, PORT, Run, arrival, ideal, packet, plain_port, rotating, run_ideal, run_on, schedules,
    settings, switch_with, together,
};
use crate::one_switch::OneSwitch;

/// A port with a queue for each class, on rising levels or all on one level with turns of 1,518 bytes.
fn port(classes: u8, is_strict: bool) -> PortConfig {
    let queue = |class| {
        let level = if is_strict { class } else { 0 };
        QueueConfig::normal(QueueLimit::Unlimited).with_priority(QueueConfig::NORMAL_PRIORITY + level)
    };
    let class_queue = std::array::from_fn(|class| QueueId((class as u8).min(classes - 1)));
    PortConfig { queues: (0..classes).map(queue).collect(), class_queue, ..plain_port() }
}

fn at(classes: u8, class: u8) -> AfqPort {
    let queue = PORT.queue.with_priority(QueueConfig::NORMAL_PRIORITY + class);
    AfqPort { classes, queue, ..PORT }
}

/// Bytes of each of `flows` while the line was loaded, as parts of the line.
fn parts(run: &Run, flows: &[u32]) -> Vec<f64> {
    let sent = run.sent_bytes(1_024, Time::ZERO + BYTE * LENGTH_BYTES);
    flows.iter().map(|&flow| sent[flow as usize] as f64 / LENGTH_BYTES as f64).collect()
}

fn assert_parts(run: &Run, flows: &[u32], expected: &[f64]) {
    for (part, expected) in parts(run, flows).into_iter().zip(expected) {
        assert!((part / expected - 1.0).abs() < 0.02, "{part} instead of {expected}: {flows:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Class 1 is fair queued; classes 0 and 2 have queues below and above it.
    #[test]
    fn other_classes_are_served_by_priority_and_in_order(
        schedule in schedules(6, 20_000, 150),
        scheduler in prop_oneof![
            Just(rotating(AfqLate::ServedQueue)), Just(stepping(10)), Just(DEFICIT), Just(two_groups(0, 500)),
            Just(two_groups(2_000, 500)),
        ],
        ingress_ns in prop_oneof![Just(0u64), 1u64..400],
        fair in prop_oneof![Just(0b010u8), Just(0b110), Just(0b011)],
    ) {
        // Two flows of each class.
        let class = |flow: u32| flow % 3;
        let of_class = |sent: &Arrival| Arrival { flow: class(sent.flow) + sent.flow / 3 * 256, ..*sent };
        let schedule: Vec<_> = schedule.iter().map(of_class).collect();
        let settings = AfqSettings { scheduler, ..settings(16, 1_518) };
        let at = at(fair, fair.trailing_zeros() as u8);
        let run = run_on(port(3, true), at, architecture(ingress_ns), settings, BufferPolicy::Static, &schedule);
        let is_fair = |flow: u32| fair >> (flow % 256) & 1 == 1;
        // Classes that are fair queued have the level of the lowest of them.
        let level = |flow: u32| if is_fair(flow) { fair.trailing_zeros() } else { flow % 256 };
        for class in (0..3).filter(|&class| !is_fair(class)) {
            let own: Vec<_> = run.departures.iter().filter(|gone| gone.flow % 256 == class).collect();
            prop_assert!(own.is_sorted_by_key(|gone| gone.arrival), "class {}", class);
            prop_assert_eq!(own.len(), schedule.iter().filter(|sent| sent.flow % 256 == class).count());
        }
        let latency = architecture(ingress_ns).ingress_latency;
        for (place, gone) in run.departures.iter().enumerate() {
            let duration = BYTE * u64::from(gone.bytes);
            let overtaken = run.departures[place..].iter().filter(|other| level(other.flow) > level(gone.flow));
            for other in overtaken {
                let queued_at = schedule[other.arrival].at + latency;
                prop_assert!(queued_at + duration >= gone.ends_at, "{:?} before {:?}", gone, other);
            }
        }
    }
}

#[test]
fn fair_classes_share_fairly_what_higher_classes_leave() {
    // Class 1 above takes 20 %; two flows of class 0 want more than the rest.
    let load = load(&[(1, 20), (0, 100), (256, 60)]);
    let run = run_on(port(2, true), at(0b01, 0), ideal(), settings(32, 1_518), BufferPolicy::Static, &load);
    assert_parts(&run, &[1, 0, 256], &[0.2, 0.4, 0.4]);
    let sent = load.iter().filter(|sent| sent.flow != 1).count() as u64;
    let assigned = run.count("packets_assigned") + run.count("packets_dropped_too_far_ahead");
    assert_eq!(assigned, sent, "packets of the higher class pass no sketch");
}

#[test]
fn fair_classes_have_one_turn_for_each_queue_that_they_replace() {
    // Classes 0 and 1 are fair queued, class 2 is not; all three have a third of the line.
    let load = load(&[(0, 100), (256, 60), (1, 80), (2, 100)]);
    let two_turns = QueueConfig { quantum_bytes: 2 * 1_518, ..PORT.queue };
    let at = AfqPort { queue: two_turns, ..at(0b011, 0) };
    let run = run_on(port(3, false), at, ideal(), settings(32, 1_518), BufferPolicy::Static, &load);
    assert_parts(&run, &[0, 256, 1], &[2.0 / 9.0; 3]);
    let by_class = AfqSettings { flow_key: FlowKey::Class, ..settings(32, 1_518) };
    let run = run_on(port(3, false), at, ideal(), by_class, BufferPolicy::Static, &load);
    let of_class_0: f64 = parts(&run, &[0, 256]).iter().sum();
    assert!((of_class_0 * 3.0 - 1.0).abs() < 0.02, "{of_class_0}");
}

/// The flow is charged for 60 packets although only 4 have room, and is then too far ahead for all rounds.
#[test]
fn a_flow_that_is_too_far_ahead_is_served_although_another_class_fills_the_line() {
    let sketch = AfqSketch { update: UpdateRule::Increment, ..AfqSketch::default() };
    let settings = AfqSettings { sketch, ..settings(8, 1_000) };
    let mut schedule = together((0..60).map(|_| (0, 500)));
    schedule.extend((1..400).map(|packet| arrival(packet * 1_000, 1, 1_000)));
    schedule.extend((0..20).map(|packet| arrival(100_300 + packet * 5_000, 0, 500)));
    schedule.sort_by_key(|arrival| arrival.at);
    let at = AfqPort { limit: QueueLimit::Bytes(2_000), ..at(0b01, 0) };
    let run = run_on(port(2, false), at, ideal(), settings, BufferPolicy::Static, &schedule);
    let served = run.departures.iter().filter(|gone| gone.flow == 0).count();
    assert!(served == 24 && run.count("packets_taken_when_idle") > 0, "{served}");
}

#[test]
fn other_classes_keep_their_marks_and_their_limits() {
    let mut port = port(2, true);
    port.queues[1] = QueueConfig { limit: QueueLimit::Bytes(3_064), ..port.queues[1] };
    port.queues[1].ecn = EcnThreshold::Bytes(1_500);
    let at = AfqPort { limit: QueueLimit::Bytes(2_000), ..at(0b01, 0) };
    let schedule = together((0..10).map(|packet| (packet % 2, 1_000)));
    let run = run_on(port, at, ideal(), settings(16, 1_000), BufferPolicy::Static, &schedule);
    let (queue, group) = (run.drops[&DropReason::QueueFull], run.drops[&DropReason::BufferFull]);
    assert_eq!((queue, group), (2, 3), "5 KB of each class, beside 3 KB of class 1 and 2 KB of AFQ");
    assert_eq!(run.count("packets_refused_by_traffic_manager"), 3);
    let marked: Vec<_> = run.departures.iter().filter(|gone| gone.is_marked).map(|gone| gone.flow).collect();
    assert_eq!(marked, [1]);
}

#[test]
fn a_pause_stops_only_what_holds_packets_of_its_class() {
    // Class 1 is not fair queued; classes 0 and 2 are.
    for (paused, passing) in [(0, vec![1]), (1, vec![0, 2]), (2, vec![1])] {
        let mut one = switch_with(port(3, false), at(0b101, 0), ideal(), settings(8, 1_518), BufferPolicy::Static);
        let pause = |frame: PauseFrame| {
            let mut packet = Packet { frame_bytes: 64, ..packet(&arrival(0, 0, 64)) };
            packet.push_shim(frame).expect("the packet has no other header");
            packet
        };
        one.arrive(Time::ZERO, OUT, pause(PauseFrame::pause(paused)));
        (0..3).for_each(|flow| one.arrive(Time::ZERO + BYTE, IN, packet(&arrival(0, flow, 1_000))));
        let flows = |one: &OneSwitch| {
            let mut flows: Vec<_> = one.world.left.iter().map(|left| left.packet.flow.0).collect();
            flows.sort_unstable();
            flows
        };
        one.run_until(Time::ZERO + BYTE * 10_000);
        assert_eq!(flows(&one), passing, "class {paused}");
        let other = u8::from(paused != 1);
        one.arrive(Time::ZERO + BYTE * 10_000, OUT, pause(PauseFrame::resume(other)));
        one.run_until(Time::ZERO + BYTE * 20_000);
        assert_eq!(flows(&one), passing, "a resume of class {other}, and not of class {paused}");
        one.arrive(Time::ZERO + BYTE * 20_000, OUT, pause(PauseFrame::resume(paused)));
        one.run_until(Time::NEVER);
        assert_eq!(flows(&one), [0, 1, 2], "class {paused}");
    }
}

/// Weights do not make a hierarchy: with 1/3 for each of its three flows a class has half of the line only while all
/// send.
#[test]
fn weights_by_the_number_of_flows_do_not_share_between_classes_first() {
    let weighed = AfqSettings { class_weights: vec![1.0, 1.0 / 3.0], ..settings(32, 1_518) };
    let flows = [(0, 100), (1, 100), (257, 100), (513, 100)];
    let run = run_ideal(weighed.clone(), &load(&flows));
    assert_parts(&run, &[0, 1, 257, 513], &[1.0 / 2.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]);
    let run = run_ideal(weighed, &load(&flows[..2]));
    assert_parts(&run, &[0, 1], &[0.75, 0.25]);
}
