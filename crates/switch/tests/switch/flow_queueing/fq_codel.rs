//! FQ-CoDel: turns, and drops from a full queue. CoDel has unit tests next to its code.

use hitless_core::wire::{Duration, Time};
use hitless_switch::queueing::flow::{CodelConfig, FqCodelConfig};
use hitless_switch::{DropReason, FlowQueueing, QueueLimit};

use super::scheduler::{FlowScheduler, arriving, drain, ended, offer, scheduler};

const CODEL: CodelConfig = CodelConfig {
    target: Duration::from_ms(5),
    interval: Duration::from_ms(100),
    small_queue_bytes: 1_514,
    marks: true,
};

const CONFIG: FqCodelConfig =
    FqCodelConfig { flows: 65_536, quantum_bytes: 1_514, limit_packets: 10_240, drop_batch: 64, codel: CODEL, salt: 3 };

fn with(config: FqCodelConfig, packets: &[(u32, u32)]) -> FlowScheduler {
    let mut scheduler = scheduler(FlowQueueing::FqCodel(config), QueueLimit::Unlimited);
    for (number, &(flow, bytes)) in packets.iter().enumerate() {
        assert_eq!(offer(&mut scheduler, &arriving(number as u32, Time::ZERO, flow, 0, bytes)), []);
    }
    scheduler
}

#[test]
fn queues_take_turns_by_credit_and_new_ones_go_first() {
    let mut scheduler = with(CONFIG, &[(0, 1_000), (0, 1_000), (0, 1_000), (1, 1_000), (1, 1_000)]);
    // Each sends until its credit is spent: two frames of 1000 of 1514.
    let first: Vec<u32> = (0..2).filter_map(|_| scheduler.take(Time::ZERO)).map(|(entry, _)| entry.packet.0).collect();
    assert_eq!(first, [0, 1]);
    // Flow 0 is an old queue now; flow 1 and later flows are new.
    scheduler.offer(&arriving(9, Time::ZERO, 2, 0, 100));
    assert_eq!(drain(&mut scheduler, Time::ZERO), [3, 4, 9, 2]);
}

#[test]
fn a_flow_that_sends_one_packet_at_a_time_does_not_stay_new() {
    let mut scheduler = with(CONFIG, &[(0, 1_500), (0, 1_500), (0, 1_500), (0, 1_500)]);
    scheduler.take(Time::ZERO);
    scheduler.take(Time::ZERO);
    scheduler.offer(&arriving(10, Time::ZERO, 1, 0, 1_514));
    assert_eq!(scheduler.take(Time::ZERO).map(|(entry, _)| entry.packet.0), Some(10), "a new queue goes first");
    scheduler.offer(&arriving(11, Time::ZERO, 1, 0, 1_500));
    let order = drain(&mut scheduler, Time::ZERO);
    assert_ne!(order[0], 11, "its second packet finds the queue among the old ones: {order:?}");
}

#[test]
fn a_full_queue_loses_half_of_the_fattest_from_the_head_or_a_batch() {
    for (drop_batch, lost) in [(64, &[0, 1, 2][..]), (2, &[0, 1]), (1, &[0])] {
        let config = FqCodelConfig { limit_packets: 6, drop_batch, ..CONFIG };
        let packets = [(0, 1_000), (0, 1_000), (0, 1_000), (0, 1_000), (0, 1_000), (1, 64)];
        let mut scheduler = with(config, &packets);
        let ended = offer(&mut scheduler, &arriving(6, Time::ZERO, 1, 0, 64));
        let expected: Vec<_> = lost.iter().map(|&number| (number, DropReason::Evicted)).collect();
        assert_eq!(ended, expected, "a batch of {drop_batch}");
    }
}

#[test]
fn the_limit_of_the_port_holds_too() {
    let mut scheduler = scheduler(FlowQueueing::FqCodel(CONFIG), QueueLimit::Bytes(3_000));
    for number in 0..3 {
        assert_eq!(offer(&mut scheduler, &arriving(number, Time::ZERO, 0, 0, 1_000)), []);
    }
    assert_eq!(offer(&mut scheduler, &arriving(3, Time::ZERO, 0, 0, 1_000)).len(), 2);
    assert_eq!((scheduler.packets(), scheduler.depth_bytes()), (2, 2_000));
}

#[test]
fn a_queue_with_too_much_delay_drops_when_it_is_served_and_the_accounts_close() {
    let packets: Vec<_> = (0..400).map(|_| (0, 1_000)).collect();
    let mut scheduler = with(CONFIG, &packets);
    let (mut sent, mut dropped) = (0, Vec::new());
    for ms in 0..1_000 {
        sent += usize::from(scheduler.take(Time::ZERO + Duration::from_ms(ms)).is_some());
        dropped.extend(ended(&mut scheduler));
        assert_eq!(sent + dropped.len() + scheduler.packets(), 400);
    }
    assert!(dropped.len() == 5 && dropped.iter().all(|&(_, reason)| reason == DropReason::QueueingDelay));
    assert_eq!((scheduler.packets(), scheduler.depth_bytes()), (0, 0));
}

#[test]
fn few_queues_are_shared() {
    let one = FqCodelConfig { flows: 1, ..CONFIG };
    let mut scheduler = with(one, &[(0, 1_514), (1, 1_514), (0, 1_514), (2, 1_514)]);
    assert_eq!(drain(&mut scheduler, Time::ZERO), [0, 1, 2, 3]);
}
