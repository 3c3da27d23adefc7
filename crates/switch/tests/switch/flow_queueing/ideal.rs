//! Ideal fair queueing, compared with the oracle of bit-by-bit round robin, and its drops from a full buffer.

use hitless_core::wire::{BitRate, Time};
use hitless_switch::queueing::flow::{ClassWeights, IdealFqConfig};
use hitless_switch::{DropReason, EcnThreshold, FlowQueueing, QueueLimit};
use proptest::prelude::*;

use super::scheduler::{FlowScheduler, IDEAL, arriving, drain, offer, scheduler};
use crate::bit_by_bit::oracle::{Arrival, departures};

/// Weights by class; the class is the last octal digit of the flow's number.
const WEIGHTS: [u16; 8] = [1, 1, 2, 3, 7, 16, 1, 100];

/// Returns the departures of `schedule` from an unlimited ideal queue.
fn sent(schedule: &[Arrival], weights: ClassWeights, rate: BitRate) -> Vec<(usize, Time)> {
    let config = FlowQueueing::IdealFq(IdealFqConfig { weights, ..IDEAL });
    let mut scheduler = FlowScheduler::new(config, QueueLimit::Unlimited, EcnThreshold::Off, rate, 0);
    let (mut sent, mut next, mut free_at) = (Vec::new(), 0, Time::ZERO);
    while sent.len() < schedule.len() {
        if scheduler.packets() == 0 {
            free_at = free_at.max(schedule[next].at);
        }
        while let Some(arrival) = schedule.get(next).filter(|arrival| arrival.at <= free_at) {
            let class = (arrival.flow % 8) as u8;
            scheduler.offer(&arriving(next as u32, arrival.at, arrival.flow, class, arrival.bytes));
            next += 1;
        }
        let (entry, _) = scheduler.take(free_at).expect("a packet waits");
        sent.push((entry.packet.0 as usize, free_at));
        free_at += rate.time_for(u64::from(entry.frame_bytes));
    }
    sent
}

fn schedules(weights: [u16; 8]) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0u64), 5 => 0u64..4_000, 1 => 0u64..100_000];
    let bytes = prop_oneof![3 => 1u32..1_600, 1 => Just(64u32), 2 => Just(1_500u32)];
    prop::collection::vec((gap, 0u32..12, bytes), 1..120).prop_map(move |packets| {
        let mut now = Time::ZERO;
        let arrive = |(gap, flow, bytes): (u64, u32, u32)| {
            now.0 += gap;
            Arrival { at: now, flow, bytes, weight: weights[flow as usize % 8].into() }
        };
        packets.into_iter().map(arrive).collect()
    })
}

fn expected(schedule: &[Arrival], rate: BitRate) -> Vec<(usize, Time)> {
    departures(schedule, rate).iter().map(|left| (left.arrival, left.begins_at)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_leave_in_the_order_of_bit_by_bit_round_robin(schedule in schedules([1; 8]), gbps in 100u64..4_000) {
        let rate = BitRate::from_gbps(gbps);
        prop_assert_eq!(sent(&schedule, ClassWeights::EQUAL, rate), expected(&schedule, rate));
    }

    #[test]
    fn weighted_flows_leave_in_the_order_of_weighted_round_robin(schedule in schedules(WEIGHTS), gbps in 100u64..4_000) {
        let rate = BitRate::from_gbps(gbps);
        prop_assert_eq!(sent(&schedule, ClassWeights(WEIGHTS), rate), expected(&schedule, rate));
    }
}

fn full_of(frames: &[(u32, u32)], charge_drops: bool) -> FlowScheduler {
    let config = FlowQueueing::IdealFq(IdealFqConfig { charge_drops, ..IDEAL });
    let mut scheduler = scheduler(config, QueueLimit::Packets(frames.len() as u32));
    for (number, &(flow, bytes)) in frames.iter().enumerate() {
        assert_eq!(offer(&mut scheduler, &arriving(number as u32, Time::ZERO, flow, 0, bytes)), []);
    }
    scheduler
}

#[test]
fn when_the_buffer_is_full_the_largest_finish_number_goes_queued_or_not() {
    type Case = (&'static str, &'static [(u32, u32)], (u32, u32), (u32, DropReason), &'static [u32]);
    let table: &[Case] = &[
        ("a new flow's packet evicts", &[(0, 100), (0, 100), (0, 100)], (1, 100), (2, DropReason::Evicted), &[0, 3, 1]),
        ("of the same flow the new one goes", &[(0, 100), (0, 100)], (0, 100), (2, DropReason::QueueFull), &[0, 1]),
        ("a large one is refused", &[(0, 100), (1, 100)], (2, 300), (2, DropReason::QueueFull), &[0, 1]),
        ("of equals the last to come goes", &[(0, 100), (1, 100)], (2, 100), (2, DropReason::QueueFull), &[0, 1]),
    ];
    for (name, frames, (flow, bytes), given_up, left) in table {
        let mut scheduler = full_of(frames, false);
        let newest = frames.len() as u32;
        assert_eq!(offer(&mut scheduler, &arriving(newest, Time::ZERO, *flow, 0, *bytes)), [*given_up], "{name}");
        assert_eq!(drain(&mut scheduler, Time::ZERO), *left, "{name}");
    }
}

#[test]
fn a_flow_pays_for_what_it_lost_only_if_it_is_to() {
    for (charge_drops, order) in [(false, [3, 4]), (true, [4, 3])] {
        let mut scheduler = full_of(&[(0, 100), (1, 100)], charge_drops);
        assert_eq!(offer(&mut scheduler, &arriving(2, Time::ZERO, 0, 0, 400)), [(2, DropReason::QueueFull)]);
        scheduler.take(Time::ZERO);
        // It ends in round 1600, or in round 4800 if the flow is charged for the dropped 400 bytes.
        assert_eq!(offer(&mut scheduler, &arriving(3, Time::ZERO, 0, 0, 100)), []);
        scheduler.take(Time::ZERO);
        assert_eq!(offer(&mut scheduler, &arriving(4, Time::ZERO, 2, 0, 300)), []);
        assert_eq!(drain(&mut scheduler, Time::ZERO), order, "charge: {charge_drops}");
    }
}

#[test]
fn a_flow_that_lost_a_packet_goes_on_where_the_one_before_it_ended() {
    let mut scheduler = full_of(&[(0, 100), (0, 100), (0, 100)], false);
    assert_eq!(offer(&mut scheduler, &arriving(3, Time::ZERO, 1, 0, 150)), [(2, DropReason::Evicted)]);
    assert_eq!(scheduler.take(Time::ZERO).map(|(entry, _)| entry.packet.0), Some(0));
    // It also ends in round 2400, before the 310 bytes that end in round 2480.
    assert_eq!(offer(&mut scheduler, &arriving(4, Time::ZERO, 0, 0, 100)), []);
    scheduler.take(Time::ZERO);
    assert_eq!(offer(&mut scheduler, &arriving(5, Time::ZERO, 2, 0, 310)), []);
    assert_eq!(drain(&mut scheduler, Time::ZERO), [1, 4, 5]);
}

#[test]
fn room_is_not_made_for_a_packet_that_would_never_fit() {
    let mut scheduler = scheduler(FlowQueueing::IdealFq(IDEAL), QueueLimit::Bytes(1_000));
    assert_eq!(offer(&mut scheduler, &arriving(0, Time::ZERO, 0, 0, 900)), []);
    assert_eq!(offer(&mut scheduler, &arriving(1, Time::ZERO, 1, 0, 1_001)), [(1, DropReason::QueueFull)]);
    assert_eq!(drain(&mut scheduler, Time::ZERO), [0]);
}

#[test]
fn a_flow_is_marked_that_is_so_many_rounds_ahead_and_no_other() {
    let config = FlowQueueing::IdealFq(IdealFqConfig { mark_rounds: Some(8 * 300), ..IDEAL });
    let mut scheduler = scheduler(config, QueueLimit::Unlimited);
    let marks: Vec<bool> = (0..4).map(|number| scheduler.offer(&arriving(number, Time::ZERO, 0, 0, 100))).collect();
    assert_eq!(marks, [false, false, true, true]);
    assert!(!scheduler.offer(&arriving(9, Time::ZERO, 1, 0, 299)));
}

#[test]
fn a_threshold_of_depth_is_that_of_the_flow() {
    let config = FlowQueueing::IdealFq(IDEAL);
    let rate = BitRate::from_gbps(1_000);
    let mut scheduler = FlowScheduler::new(config, QueueLimit::Unlimited, EcnThreshold::Packets(2), rate, 0);
    let marks: Vec<bool> = (0..3).map(|number| scheduler.offer(&arriving(number, Time::ZERO, 0, 0, 100))).collect();
    assert_eq!(marks, [false, false, true]);
    assert!(!scheduler.offer(&arriving(9, Time::ZERO, 1, 0, 100)));
}

#[test]
fn what_a_frame_costs_beyond_itself_counts() {
    let config = FlowQueueing::IdealFq(IDEAL);
    let rate = BitRate::from_gbps(1_000);
    for (overhead_bytes, order) in [(0, [1, 2, 3, 0]), (20, [0, 1, 2, 3])] {
        let mut scheduler = FlowScheduler::new(config, QueueLimit::Unlimited, EcnThreshold::Off, rate, overhead_bytes);
        scheduler.offer(&arriving(0, Time::ZERO, 0, 0, 220));
        (1..4).for_each(|number| {
            scheduler.offer(&arriving(number, Time::ZERO, 1, 0, 70));
        });
        let found = drain(&mut scheduler, Time::ZERO);
        let place = |packets: &[u32]| packets.iter().position(|&packet| packet == 0);
        assert_eq!(place(&found), place(&order).map(|place| place.max(2)), "{overhead_bytes}: {found:?}");
    }
}
