//! Deficit round robin per flow and stochastic fairness queueing.

use hitless_core::wire::{BitRate, Duration, Time};
use hitless_switch::queueing::flow::{ClassWeights, DrrConfig, SfqConfig};
use hitless_switch::{DropReason, EcnThreshold, FlowQueueing, QueueLimit};
use proptest::prelude::*;

use super::scheduler::{DRR, FlowScheduler, SFQ, arriving, drain, offer, scheduler};

/// Returns the bytes that each of `flows` backlogged flows has sent when the first of them runs out of packets.
fn sent_while_all_wait(scheduler: &mut FlowScheduler, frames: &[Vec<u32>], class_of: impl Fn(usize) -> u8) -> Vec<u64> {
    let most = frames.iter().map(Vec::len).max().unwrap_or(0);
    for place in 0..most {
        for (flow, frames) in frames.iter().enumerate() {
            if let Some(&bytes) = frames.get(place) {
                scheduler.offer(&arriving(flow as u32, Time::ZERO, flow as u32, class_of(flow), bytes));
            }
        }
    }
    let mut left: Vec<usize> = frames.iter().map(Vec::len).collect();
    let mut sent = vec![0; frames.len()];
    while left.iter().all(|&left| left > 0) {
        let Some((entry, _)) = scheduler.take(Time::ZERO) else { break };
        let flow = entry.packet.0 as usize;
        sent[flow] += u64::from(entry.frame_bytes);
        left[flow] -= 1;
    }
    sent
}

fn backlogs() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(64u32..=1_518, 20..60), 2..8)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Shreedhar and Varghese 1995, theorem on fairness: backlogged flows differ by no more than a quantum and the
    /// largest frame each way.
    #[test]
    fn backlogged_flows_get_the_same_but_for_a_turn(frames in backlogs(), quantum_bytes in 1_518u32..6_000) {
        let mut scheduler = scheduler(FlowQueueing::Drr(DrrConfig { quantum_bytes, ..DRR }), QueueLimit::Unlimited);
        let sent = sent_while_all_wait(&mut scheduler, &frames, |_| 0);
        let (least, most) = (sent.iter().min().copied(), sent.iter().max().copied());
        let bound = u64::from(quantum_bytes) + 2 * 1_518;
        prop_assert!(most.zip(least).is_some_and(|(most, least)| most - least <= bound), "{sent:?}");
    }

    #[test]
    fn weights_divide_the_line_but_for_a_turn(frames in backlogs()) {
        let weights = ClassWeights([1, 2, 4, 1, 1, 1, 1, 1]);
        let mut scheduler = scheduler(FlowQueueing::Drr(DrrConfig { weights, ..DRR }), QueueLimit::Unlimited);
        let sent = sent_while_all_wait(&mut scheduler, &frames, |flow| (flow % 3) as u8);
        let per_weight: Vec<u64> = sent.iter().enumerate().map(|(flow, sent)| sent / [1, 2, 4][flow % 3]).collect();
        let (least, most) = (per_weight.iter().min().copied(), per_weight.iter().max().copied());
        prop_assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 3 * 1_518), "{sent:?}");
    }

    /// A flow that uses at most its share of the buffer loses no packet, whatever other flows do.
    #[test]
    fn a_full_buffer_takes_from_the_longest_queue(frames in prop::collection::vec((0u32..6, 64u32..=1_518), 1..200)) {
        let limit = 20_000;
        let mut scheduler = scheduler(FlowQueueing::Drr(DRR), QueueLimit::Bytes(limit));
        let (mut bytes, mut waiting) = ([0u64; 6], 0u64);
        for (number, &(flow, frame_bytes)) in frames.iter().enumerate() {
            bytes[flow as usize] += u64::from(frame_bytes);
            waiting += u64::from(frame_bytes);
            for (ended, _) in offer(&mut scheduler, &arriving(number as u32, Time::ZERO, flow, 0, frame_bytes)) {
                let (flow, frame_bytes) = frames[ended as usize];
                prop_assert_eq!(Some(bytes[flow as usize]), bytes.iter().max().copied());
                bytes[flow as usize] -= u64::from(frame_bytes);
                waiting -= u64::from(frame_bytes);
            }
            prop_assert!(waiting <= limit && scheduler.depth_bytes() == waiting);
        }
    }

    #[test]
    fn packets_of_a_flow_stay_in_order(frames in prop::collection::vec((0u32..9, 64u32..=1_518), 1..100), is_sfq: bool) {
        let config = if is_sfq { FlowQueueing::Sfq(SFQ) } else { FlowQueueing::Drr(DRR) };
        let mut scheduler = scheduler(config, QueueLimit::Packets(30));
        let mut last = [0; 9];
        for (number, &(flow, frame_bytes)) in frames.iter().enumerate() {
            offer(&mut scheduler, &arriving(number as u32, Time::ZERO, flow, 0, frame_bytes));
        }
        for number in drain(&mut scheduler, Time::ZERO) {
            let last = &mut last[frames[number as usize].0 as usize];
            prop_assert!(*last <= number);
            *last = number;
        }
    }
}

#[test]
fn a_turn_sends_what_the_deficit_covers_and_an_empty_queue_keeps_none() {
    let config = FlowQueueing::Drr(DrrConfig { quantum_bytes: 500, ..DRR });
    let mut scheduler = scheduler(config, QueueLimit::Unlimited);
    // Figure 2 of the paper, in other numbers: the large frame waits for two quanta.
    for (number, flow, bytes) in [(0, 0, 700), (1, 1, 300), (2, 1, 300), (3, 1, 300), (4, 0, 100)] {
        scheduler.offer(&arriving(number, Time::ZERO, flow, 0, bytes));
    }
    assert_eq!(drain(&mut scheduler, Time::ZERO), [1, 0, 4, 2, 3]);
}

#[test]
fn a_deficit_of_just_the_frame_sends_it_and_what_an_emptied_queue_had_left_is_gone() {
    let config = FlowQueueing::Drr(DrrConfig { quantum_bytes: 500, ..DRR });
    // (flow, bytes) of the waiting packets, and their order of departure.
    let table = [
        ([(0, 500), (0, 500), (1, 400), (1, 100)], [0, 2, 3, 1]),
        ([(0, 100), (1, 100), (2, 100), (3, 100)], [0, 1, 2, 3]),
    ];
    for (frames, order) in table {
        let mut scheduler = scheduler(config, QueueLimit::Unlimited);
        for (number, (flow, bytes)) in (0..).zip(frames) {
            scheduler.offer(&arriving(number, Time::ZERO, flow, 0, bytes));
        }
        assert_eq!(drain(&mut scheduler, Time::ZERO), order, "{frames:?}");
    }
    let mut scheduler = scheduler(config, QueueLimit::Unlimited);
    scheduler.offer(&arriving(0, Time::ZERO, 0, 0, 100));
    assert_eq!(drain(&mut scheduler, Time::ZERO), [0]);
    scheduler.offer(&arriving(1, Time::ZERO, 0, 0, 900));
    scheduler.offer(&arriving(2, Time::ZERO, 1, 0, 300));
    assert_eq!(drain(&mut scheduler, Time::ZERO), [2, 1], "the first has no 400 bytes left from before");
}

#[test]
fn a_class_without_a_weight_is_served_with_one_and_the_peak_stays() {
    let config = FlowQueueing::Drr(DrrConfig { weights: ClassWeights([0; 8]), ..DRR });
    let mut scheduler = scheduler(config, QueueLimit::Unlimited);
    (0..2).for_each(|number| assert!(!scheduler.offer(&arriving(number, Time::ZERO, number, 0, 1_000))));
    assert_eq!(drain(&mut scheduler, Time::ZERO), [0, 1]);
    scheduler.offer(&arriving(2, Time::ZERO, 0, 0, 100));
    assert_eq!(scheduler.peak_bytes(), 2_000);
}

/// Returns the packets that share a queue with flow 0, among flows `0..flows`.
fn sharing(config: SfqConfig, flows: u32, now: Time) -> Vec<u32> {
    let mut scheduler = scheduler(FlowQueueing::Sfq(config), QueueLimit::Packets(flows));
    for flow in 0..flows {
        scheduler.offer(&arriving(flow, now, flow, 0, 1_500));
    }
    // With quanta of one frame a queue sends one frame per turn, so the first frames of all queues come first.
    drain(&mut scheduler, now)
}

#[test]
fn with_one_queue_it_is_a_fifo_and_with_many_more_than_flows_a_round_robin() {
    let one = SfqConfig { queues: 1, ..SFQ };
    assert_eq!(sharing(one, 20, Time::ZERO), (0..20).collect::<Vec<_>>());
    let mut scheduler = scheduler(FlowQueueing::Sfq(SfqConfig { queues: 65_536, ..SFQ }), QueueLimit::Unlimited);
    for number in 0..30 {
        scheduler.offer(&arriving(number, Time::ZERO, number / 10, 0, 1_518));
    }
    let order = drain(&mut scheduler, Time::ZERO);
    assert_eq!(order[..6], [0, 10, 20, 1, 11, 21]);
}

#[test]
fn flows_meet_other_flows_after_a_perturbation_and_behind_another_salt() {
    let perturbed = SfqConfig { perturbation: Some(Duration::from_ms(10)), ..SFQ };
    let before = sharing(perturbed, 100, Time::ZERO);
    assert_eq!(before, sharing(perturbed, 100, Time(9_999_999_999)));
    assert_ne!(before, sharing(perturbed, 100, Time(10_000_000_000)));
    assert_ne!(before, sharing(SfqConfig { salt: 8, ..SFQ }, 100, Time::ZERO));
    assert_eq!(sharing(SFQ, 100, Time::ZERO), sharing(SFQ, 100, Time(u64::MAX / 2)));
}

#[test]
fn a_newcomer_takes_room_from_the_longest_queue_in_sfq_too() {
    let mut scheduler = scheduler(FlowQueueing::Sfq(SfqConfig { queues: 65_536, ..SFQ }), QueueLimit::Packets(5));
    for number in 0..5 {
        assert_eq!(offer(&mut scheduler, &arriving(number, Time::ZERO, 0, 0, 1_000)), []);
    }
    assert_eq!(offer(&mut scheduler, &arriving(5, Time::ZERO, 1, 0, 1_000)), [(4, DropReason::Evicted)]);
    assert_eq!(offer(&mut scheduler, &arriving(6, Time::ZERO, 0, 0, 1_000)), [(6, DropReason::QueueFull)]);
}

#[test]
fn a_threshold_of_depth_is_that_of_the_queue() {
    for config in [FlowQueueing::Drr(DRR), FlowQueueing::Sfq(SfqConfig { queues: 65_536, ..SFQ })] {
        let rate = BitRate::from_gbps(10);
        let mut scheduler = FlowScheduler::new(config, QueueLimit::Unlimited, EcnThreshold::Bytes(2_000), rate, 20);
        let marks: Vec<bool> =
            (0..4).map(|number| scheduler.offer(&arriving(number, Time::ZERO, 0, 0, 1_000))).collect();
        assert_eq!(marks, [false, false, true, true]);
        assert!(!scheduler.offer(&arriving(9, Time::ZERO, 1, 0, 1_000)));
    }
}
