//! The order of service of queues, in tables.

use super::super::{GroupDiscipline, LatePackets, QueueLimit};
use super::*;

fn scheduler(queues: &[(u8, u32)]) -> QueuedScheduler {
    let config = |&(priority, quantum_bytes): &(u8, u32)| QueueConfig {
        quantum_bytes,
        ..QueueConfig::normal(QueueLimit::Packets(100)).with_priority(priority)
    };
    QueuedScheduler::new(&queues.iter().map(config).collect::<Vec<_>>(), None)
}

fn fill(scheduler: &mut QueuedScheduler, queue: u8, frame_bytes: u32, count: usize) {
    for _ in 0..count {
        let entry = Entry::new(PacketHandle(0), frame_bytes, Time::ZERO);
        assert_eq!(scheduler.offer(QueueId(queue), 0, entry), Offer::Queued { mark: false });
    }
}

fn drain(scheduler: &mut QueuedScheduler) -> Vec<u8> {
    let next = || match scheduler.take() {
        Dequeued::Packet(queue, _) => Some(queue.0),
        Dequeued::Rotating(_) | Dequeued::Nothing => None,
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn a_pause_of_a_class_stops_what_mechanisms_hold_of_hosts_and_not_their_own() {
    let normal = QueueConfig::normal(QueueLimit::Unlimited);
    let mut scheduler = QueuedScheduler::new(&[normal, normal, normal.of_mechanism()], None);
    (0..3).for_each(|queue| fill(&mut scheduler, queue, 100, 1));
    scheduler.set_mixed_paused(&[QueueId(0); 8], |_| true);
    assert_eq!(scheduler.ready, 0b101);
    scheduler.hold_hosts_but(&[QueueId(1)]);
    assert_eq!(scheduler.ready, 0b100, "held is one thing, and paused another");
    scheduler.set_mixed_paused(&[QueueId(0); 8], |_| false);
    assert_eq!(scheduler.ready, 0b110);
    scheduler.release_hosts();
    assert_eq!(scheduler.ready, 0b111);
}

#[test]
fn a_higher_level_goes_first_whatever_its_number() {
    let mut scheduler = scheduler(&[(1, 1_500), (9, 1_500), (5, 1_500)]);
    for queue in 0..3 {
        fill(&mut scheduler, queue, 100, 2);
    }
    assert_eq!(drain(&mut scheduler), [1, 1, 2, 2, 0, 0]);
}

#[test]
fn deficit_round_robin_shares_bytes_not_packets() {
    let mut scheduler = scheduler(&[(1, 1_500), (1, 1_500)]);
    fill(&mut scheduler, 0, 1_500, 3);
    fill(&mut scheduler, 1, 500, 9);
    let order = drain(&mut scheduler);
    let first_eight = &order[..8];
    assert_eq!(first_eight.iter().filter(|&&queue| queue == 0).count(), 2, "{order:?}");
    assert_eq!(order.len(), 12);
}

#[test]
fn a_closed_queue_stays_closed_though_its_partner_resumes_it() {
    let mut scheduler = scheduler(&[(9, 1_500), (1, 1_500)]);
    scheduler.close_all_but(&[QueueId(1)]);
    fill(&mut scheduler, 0, 100, 1);
    fill(&mut scheduler, 1, 100, 1);
    scheduler.pause(QueueId(0));
    scheduler.resume(QueueId(0));
    assert_eq!(drain(&mut scheduler), [1]);
    scheduler.pause(QueueId(0));
    scheduler.open_all();
    assert!(scheduler.is_paused(QueueId(0)) && !scheduler.has_ready(), "the partner has not resumed it");
    scheduler.resume(QueueId(0));
    assert_eq!(drain(&mut scheduler), [0]);
}

#[test]
fn a_paused_queue_waits_and_lets_others_pass() {
    let mut scheduler = scheduler(&[(9, 1_500), (1, 1_500)]);
    fill(&mut scheduler, 0, 100, 1);
    fill(&mut scheduler, 1, 100, 1);
    scheduler.pause(QueueId(0));
    assert_eq!(drain(&mut scheduler), [1]);
    assert!(!scheduler.has_ready());
    scheduler.resume(QueueId(0));
    assert_eq!(drain(&mut scheduler), [0]);
}

#[test]
fn a_queue_scheduled_by_credit_sends_what_was_granted() {
    let mut scheduler = scheduler(&[(1, 1_500)]);
    scheduler.schedule_by_credit(QueueId(0));
    fill(&mut scheduler, 0, 100, 3);
    assert_eq!(drain(&mut scheduler), Vec::<u8>::new());
    scheduler.grant(QueueId(0), 2);
    assert_eq!(drain(&mut scheduler), [0, 0]);
    scheduler.grant(QueueId(0), 2);
    assert_eq!(drain(&mut scheduler), [0]);
    fill(&mut scheduler, 0, 100, 2);
    assert_eq!(drain(&mut scheduler), [0]);
}

#[test]
fn a_held_packet_counts_but_is_served_only_when_released() {
    let mut scheduler = scheduler(&[(1, 1_500)]);
    let entry = Entry::new(PacketHandle(7), 100, Time::ZERO);
    assert!(scheduler.hold(QueueId(0), entry));
    assert_eq!((scheduler.depth_bytes(QueueId(0)), scheduler.packets(), scheduler.take()), (100, 1, Dequeued::Nothing));
    fill(&mut scheduler, 0, 100, 1);
    assert_eq!(drain(&mut scheduler), [0]);
    scheduler.release(QueueId(0), 0, entry);
    assert_eq!(scheduler.take(), Dequeued::Packet(QueueId(0), entry));
    assert_eq!((scheduler.depth_bytes(QueueId(0)), scheduler.packets()), (0, 0));
}

#[test]
fn depth_returns_to_zero() {
    let mut scheduler = scheduler(&[(1, 1_500)]);
    fill(&mut scheduler, 0, 700, 3);
    assert_eq!(scheduler.depth_bytes(QueueId(0)), 2_100);
    drain(&mut scheduler);
    assert_eq!(
        (scheduler.depth_bytes(QueueId(0)), scheduler.peak_bytes(QueueId(0)), scheduler.packets()),
        (0, 2_100, 0)
    );
}

const DEFICIT: GroupDiscipline = GroupDiscipline::DeficitRoundRobin { quantum_bytes: 1_000_000_000 };
const ROTATING: GroupDiscipline =
    GroupDiscipline::RotatingStrictPriority { late: LatePackets::NamedQueue, step: Duration::ZERO };

/// Creates a queue for each of `priorities`, then a group of four queues with normal priority.
fn with_group(priorities: &[u8], discipline: GroupDiscipline, limit: QueueLimit) -> QueuedScheduler {
    let queue = |&priority: &u8| QueueConfig::normal(QueueLimit::Unlimited).with_priority(priority);
    let queues: Vec<_> = priorities.iter().map(queue).collect();
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    let group = QueueGroup { queues: 4, queue, discipline, limit, idle_round_time: None, classes: 0b10 };
    QueuedScheduler::new(&queues, Some(group))
}

/// Puts a packet of `round` into its queue of the group that starts at queue `first`.
fn offer(scheduler: &mut QueuedScheduler, first: u8, round: u8, frame_bytes: u32) -> Offer {
    let entry = Entry::new(PacketHandle(u32::from(round)), frame_bytes, Time::ZERO);
    scheduler.offer(QueueId(first + round % 4), round, entry)
}

/// Returns the rounds of the packets in order of service.
fn served(scheduler: &mut QueuedScheduler) -> Vec<u32> {
    let next = || match scheduler.take() {
        Dequeued::Packet(_, entry) => Some(entry.packet.0),
        Dequeued::Rotating(_) | Dequeued::Nothing => None,
    };
    std::iter::from_fn(next).collect()
}

fn round(scheduler: &mut QueuedScheduler) -> u64 {
    scheduler.rounds(Time::ZERO).expect("the scheduler has a group").current
}

#[test]
fn a_group_serves_round_after_round_and_passes_empty_queues() {
    for discipline in [ROTATING, DEFICIT] {
        let mut scheduler = with_group(&[100], discipline, QueueLimit::Unlimited);
        [2, 0, 0, 3]
            .into_iter()
            .for_each(|packet| assert_eq!(offer(&mut scheduler, 1, packet, 100), Offer::Queued { mark: false }));
        assert_eq!(round(&mut scheduler), 0);
        assert!(matches!(scheduler.take(), Dequeued::Packet(QueueId(1), _)));
        assert_eq!(round(&mut scheduler), 0, "one packet of round 0 is left");
        assert!(matches!(scheduler.take(), Dequeued::Packet(QueueId(1), _)));
        assert_eq!(round(&mut scheduler), 1, "{discipline:?}: round 0 is over, and nobody must choose yet");
        offer(&mut scheduler, 1, 4, 100);
        assert_eq!(served(&mut scheduler), [2, 3, 4], "{discipline:?}");
        assert_eq!(round(&mut scheduler), 5);
        let counters = scheduler.group_counters().expect("the scheduler has a group");
        assert_eq!((counters.rotations, counters.queued, counters.served), (5, 5, 5), "{discipline:?}");
    }
}

#[test]
fn a_group_of_one_queue_that_is_drained_goes_once_around() {
    for discipline in [ROTATING, DEFICIT] {
        let mut scheduler = with_group(&[100], discipline, QueueLimit::Unlimited);
        offer(&mut scheduler, 1, 0, 100);
        served(&mut scheduler);
        offer(&mut scheduler, 1, 4, 100);
        assert_eq!((served(&mut scheduler), round(&mut scheduler)), (vec![4], 5), "{discipline:?}");
    }
}

#[test]
fn halves_are_served_by_strict_priority_until_they_are_swapped() {
    let mut scheduler = with_group(&[100], GroupDiscipline::SwappedHalves, QueueLimit::Unlimited);
    for round in [3, 2, 1, 0, 1] {
        offer(&mut scheduler, 1, round, 100);
    }
    assert!(matches!(scheduler.take(), Dequeued::Packet(_, entry) if entry.packet.0 == 0));
    scheduler.swap_halves();
    assert_eq!(scheduler.group_counters().expect("a group").left_behind, 2);
    offer(&mut scheduler, 1, 5, 100);
    assert_eq!(served(&mut scheduler), [2, 3, 1, 1, 5], "rounds 2 and 3 first; round 5 behind what is left of round 1");
    assert_eq!(
        (round(&mut scheduler), scheduler.waits_for_swap()),
        (4, true),
        "what was left of round 1 is not of round 5"
    );
}

#[test]
fn halves_are_swapped_at_an_empty_port_too() {
    let mut scheduler = with_group(&[100], GroupDiscipline::SwappedHalves, QueueLimit::Unlimited);
    let rounds = |scheduler: &mut QueuedScheduler| {
        let rounds = scheduler.rounds(Time::ZERO).expect("the scheduler has a group");
        (rounds.oldest, rounds.current)
    };
    for packet in 0..4 {
        assert_eq!((rounds(&mut scheduler), scheduler.waits_for_swap()), ((0, packet.into()), packet >= 2));
        offer(&mut scheduler, 1, packet, 100);
        assert_eq!(served(&mut scheduler), [u32::from(packet)]);
    }
    for (oldest, waits) in [(2, true), (4, false)] {
        scheduler.swap_halves();
        assert_eq!((rounds(&mut scheduler), scheduler.waits_for_swap()), ((oldest, 4), waits));
    }
    assert_eq!(scheduler.group_counters().expect("a group").left_behind, 0);
}

#[test]
fn a_group_is_one_queue_to_the_others() {
    // On a higher level than the group, on its level and on a lower one; the group has the numbers after them.
    let mut scheduler = with_group(&[120, 100, 80], ROTATING, QueueLimit::Unlimited);
    let entry = |frame_bytes| Entry::new(PacketHandle(90), frame_bytes, Time::ZERO);
    for _ in 0..2 {
        for queue in 0..3 {
            scheduler.offer(QueueId(queue), 0, entry(1_518));
        }
    }
    for round in [0, 1, 2, 3] {
        offer(&mut scheduler, 3, round, 1_518);
    }
    let next = || match scheduler.take() {
        Dequeued::Packet(queue, _) => Some(queue.0),
        _ => None,
    };
    let order: Vec<u8> = std::iter::from_fn(next).collect();
    assert_eq!(order, [0, 0, 3, 1, 4, 1, 5, 6, 2, 2]);
}

#[test]
fn what_waits_in_a_group_is_seen_beside_what_waits_outside() {
    let mut scheduler = with_group(&[100], ROTATING, QueueLimit::Unlimited);
    fill(&mut scheduler, 0, 100, 1);
    for round in [0, 3, 3, 1] {
        offer(&mut scheduler, 1, round, 100);
    }
    let mut seen = Vec::new();
    scheduler.each_waiting(|packet| seen.push(packet.0));
    assert_eq!(seen, [0, 0, 1, 3, 3], "in the order of the queues; the packets of the group are numbered by round");
}

#[test]
fn the_limit_of_a_group_is_for_its_queues_only() {
    let mut scheduler = with_group(&[100], ROTATING, QueueLimit::Bytes(300));
    assert_eq!([0, 1, 2, 3].map(|round| offer(&mut scheduler, 1, round, 100)).last(), Some(&Offer::GroupFull));
    let entry = Entry::new(PacketHandle(9), 1_000, Time::ZERO);
    assert_eq!(scheduler.offer(QueueId(0), 0, entry), Offer::Queued { mark: false });
    assert_eq!((scheduler.group_bytes(), scheduler.group_packets(), scheduler.packets()), (300, 3, 4));
    let counters = scheduler.group_counters().expect("a group");
    assert_eq!((counters.refused, counters.peak_bytes), (1, 300));
}

#[test]
fn a_pause_of_one_queue_of_a_group_stops_them_all() {
    let mut scheduler = with_group(&[100], ROTATING, QueueLimit::Unlimited);
    offer(&mut scheduler, 1, 0, 100);
    scheduler.pause(QueueId(2));
    offer(&mut scheduler, 1, 1, 100);
    assert_eq!(served(&mut scheduler), Vec::<u32>::new());
    scheduler.resume(QueueId(3));
    assert_eq!(served(&mut scheduler), [0, 1]);
}

#[test]
fn a_pause_of_another_class_does_not_stop_a_group() {
    for (paused, expected) in [(0b101, vec![0]), (0b111, vec![])] {
        let mut scheduler = with_group(&[100], ROTATING, QueueLimit::Unlimited);
        offer(&mut scheduler, 1, 0, 100);
        scheduler.set_mixed_paused(&[QueueId(0); 8], |classes| classes & paused != 0);
        assert_eq!(served(&mut scheduler), expected, "{paused:#b}");
    }
}

#[test]
fn packets_that_are_late_or_early_for_their_round_are_counted() {
    let mut scheduler = with_group(&[100], ROTATING, QueueLimit::Unlimited);
    for round in 0..3 {
        offer(&mut scheduler, 1, round, 100);
    }
    served(&mut scheduler);
    for round in [2, 3, 6, 7] {
        offer(&mut scheduler, 1, round, 100);
    }
    let counters = scheduler.group_counters().expect("a group");
    assert_eq!((counters.late, counters.early), (1, 1), "in round 3 there are queues for 3 to 6");
    let late = GroupDiscipline::RotatingStrictPriority { late: LatePackets::ServedQueue, step: Duration::ZERO };
    let mut scheduler = with_group(&[100], late, QueueLimit::Unlimited);
    offer(&mut scheduler, 1, 0, 100);
    served(&mut scheduler);
    for round in [2, 0] {
        offer(&mut scheduler, 1, round, 100);
    }
    assert_eq!(served(&mut scheduler), [0, 2]);
}

#[test]
fn an_idle_group_goes_on_where_it_is_told_to() {
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    let idle_round_time = Some(Duration::from_ns(10));
    let limit = QueueLimit::Unlimited;
    let group = QueueGroup { queues: 4, queue, discipline: ROTATING, limit, idle_round_time, classes: u8::MAX };
    let mut scheduler = QueuedScheduler::new(&[queue], Some(group));
    let at = |ns| Time::ZERO + Duration::from_ns(ns);
    let round = |scheduler: &mut QueuedScheduler, ns| scheduler.rounds(at(ns)).expect("a group").current;
    assert_eq!([round(&mut scheduler, 0), round(&mut scheduler, 25), round(&mut scheduler, 30)], [0, 2, 3]);
    let entry = Entry::new(PacketHandle(3), 100, at(30));
    scheduler.offer(QueueId(1 + 3), 3, entry);
    assert_eq!(round(&mut scheduler, 90), 3, "a group with a packet does not go on by itself");
    scheduler.take();
    scheduler.busy_until = at(200);
    assert_eq!([round(&mut scheduler, 190), round(&mut scheduler, 215)], [4, 5], "idle from the end of the frame on");
}

#[test]
fn the_most_bytes_of_a_queue_and_of_a_group_stay_when_it_has_been_emptied() {
    let mut single = scheduler(&[(1, 1_500)]);
    fill(&mut single, 0, 1_000, 3);
    drain(&mut single);
    fill(&mut single, 0, 100, 1);
    assert_eq!(single.peak_bytes(QueueId(0)), 3_000);
}

/// An entry counts the packets that waited in its queue at arrival, and no others.
#[test]
fn an_entry_counts_the_packets_that_waited_before_it() {
    let mut scheduler = scheduler(&[(1, 1_500), (9, 1_500)]);
    fill(&mut scheduler, 0, 100, 2);
    fill(&mut scheduler, 1, 100, 1);
    let mut before = || match scheduler.take() {
        Dequeued::Packet(queue, entry) => (queue.0, entry.packets_before),
        other => panic!("{other:?}"),
    };
    assert_eq!([before(), before()], [(1, 0), (0, 0)]);
    fill(&mut scheduler, 0, 100, 1);
    assert_eq!(scheduler.waiting_packets(QueueId(0)), 2);
    let last = (scheduler.take(), scheduler.take());
    assert!(matches!(last.1, Dequeued::Packet(_, Entry { packets_before: 1, .. })), "{last:?}");
}
