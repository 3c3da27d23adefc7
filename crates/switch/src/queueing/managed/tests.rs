//! The order in which queues are served, by tables.

use super::super::{GroupDiscipline, LatePackets, QueueLimit};
use super::*;

fn lane(queues: &[(u8, u32)]) -> ManagedLane {
    let config = |&(priority, quantum_bytes): &(u8, u32)| QueueConfig {
        quantum_bytes,
        ..QueueConfig::normal(QueueLimit::Packets(100)).with_priority(priority)
    };
    ManagedLane::new(&queues.iter().map(config).collect::<Vec<_>>(), None)
}

fn fill(lane: &mut ManagedLane, queue: u8, frame_bytes: u32, count: usize) {
    for _ in 0..count {
        let entry = Entry { packet: PacketHandle(0), frame_bytes, enqueued_at: Time::ZERO };
        assert_eq!(lane.offer(QueueId(queue), 0, entry), Offer::Queued { mark: false });
    }
}

fn drain(lane: &mut ManagedLane) -> Vec<u8> {
    let next = || match lane.take() {
        Taken::Packet(queue, _) => Some(queue.0),
        Taken::Rotating(_) | Taken::Nothing => None,
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn a_higher_level_goes_first_whatever_its_number() {
    let mut lane = lane(&[(1, 1_500), (9, 1_500), (5, 1_500)]);
    for queue in 0..3 {
        fill(&mut lane, queue, 100, 2);
    }
    assert_eq!(drain(&mut lane), [1, 1, 2, 2, 0, 0]);
}

#[test]
fn deficit_round_robin_shares_bytes_not_packets() {
    let mut lane = lane(&[(1, 1_500), (1, 1_500)]);
    fill(&mut lane, 0, 1_500, 3);
    fill(&mut lane, 1, 500, 9);
    let order = drain(&mut lane);
    let first_eight = &order[..8];
    assert_eq!(first_eight.iter().filter(|&&queue| queue == 0).count(), 2, "{order:?}");
    assert_eq!(order.len(), 12);
}

#[test]
fn a_closed_queue_stays_closed_though_its_partner_resumes_it() {
    let mut lane = lane(&[(9, 1_500), (1, 1_500)]);
    lane.close_all_but(&[QueueId(1)]);
    fill(&mut lane, 0, 100, 1);
    fill(&mut lane, 1, 100, 1);
    lane.pause(QueueId(0));
    lane.resume(QueueId(0));
    assert_eq!(drain(&mut lane), [1]);
    lane.pause(QueueId(0));
    lane.open_all();
    assert!(lane.is_paused(QueueId(0)) && !lane.has_ready(), "the partner has not resumed it");
    lane.resume(QueueId(0));
    assert_eq!(drain(&mut lane), [0]);
}

#[test]
fn a_paused_queue_waits_and_lets_others_pass() {
    let mut lane = lane(&[(9, 1_500), (1, 1_500)]);
    fill(&mut lane, 0, 100, 1);
    fill(&mut lane, 1, 100, 1);
    lane.pause(QueueId(0));
    assert_eq!(drain(&mut lane), [1]);
    assert!(!lane.has_ready());
    lane.resume(QueueId(0));
    assert_eq!(drain(&mut lane), [0]);
}

#[test]
fn a_queue_scheduled_by_credit_sends_what_was_granted() {
    let mut lane = lane(&[(1, 1_500)]);
    lane.schedule_by_credit(QueueId(0));
    fill(&mut lane, 0, 100, 3);
    assert_eq!(drain(&mut lane), []);
    lane.grant(QueueId(0), 2);
    assert_eq!(drain(&mut lane), [0, 0]);
    lane.grant(QueueId(0), 2);
    assert_eq!(drain(&mut lane), [0]);
    fill(&mut lane, 0, 100, 2);
    assert_eq!(drain(&mut lane), [0]);
}

#[test]
fn a_held_packet_counts_but_is_served_only_when_released() {
    let mut lane = lane(&[(1, 1_500)]);
    let entry = Entry { packet: PacketHandle(7), frame_bytes: 100, enqueued_at: Time::ZERO };
    assert!(lane.hold(QueueId(0), entry));
    assert_eq!((lane.depth_bytes(QueueId(0)), lane.packets(), lane.take()), (100, 1, Taken::Nothing));
    fill(&mut lane, 0, 100, 1);
    assert_eq!(drain(&mut lane), [0]);
    lane.release(QueueId(0), 0, entry);
    assert_eq!(lane.take(), Taken::Packet(QueueId(0), entry));
    assert_eq!((lane.depth_bytes(QueueId(0)), lane.packets()), (0, 0));
}

#[test]
fn depth_returns_to_zero() {
    let mut lane = lane(&[(1, 1_500)]);
    fill(&mut lane, 0, 700, 3);
    assert_eq!(lane.depth_bytes(QueueId(0)), 2_100);
    drain(&mut lane);
    assert_eq!((lane.depth_bytes(QueueId(0)), lane.peak_bytes(QueueId(0)), lane.packets()), (0, 2_100, 0));
}

const DEFICIT: GroupDiscipline = GroupDiscipline::DeficitRoundRobin { quantum_bytes: 1_000_000_000 };
const ROTATING: GroupDiscipline =
    GroupDiscipline::RotatingStrictPriority { late: LatePackets::NamedQueue, step: Duration::ZERO };

/// One queue of each of `priorities`, and after them a group of four of normal priority.
fn with_group(priorities: &[u8], discipline: GroupDiscipline, limit: QueueLimit) -> ManagedLane {
    let queue = |&priority: &u8| QueueConfig::normal(QueueLimit::Unlimited).with_priority(priority);
    let queues: Vec<_> = priorities.iter().map(queue).collect();
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    ManagedLane::new(&queues, Some(QueueGroup { queues: 4, queue, discipline, limit, idle_round_time: None }))
}

/// Puts a packet of `round` into its queue; the group's first is `first`.
fn offer(lane: &mut ManagedLane, first: u8, round: u8, frame_bytes: u32) -> Offer {
    let entry = Entry { packet: PacketHandle(u32::from(round)), frame_bytes, enqueued_at: Time::ZERO };
    lane.offer(QueueId(first + round % 4), round, entry)
}

/// The rounds in which packets are served, one after the other.
fn served(lane: &mut ManagedLane) -> Vec<u32> {
    let next = || match lane.take() {
        Taken::Packet(_, entry) => Some(entry.packet.0),
        Taken::Rotating(_) | Taken::Nothing => None,
    };
    std::iter::from_fn(next).collect()
}

fn round(lane: &mut ManagedLane) -> u64 {
    lane.rounds(Time::ZERO).expect("the lane has a group").current
}

#[test]
fn a_group_serves_round_after_round_and_passes_empty_queues() {
    for discipline in [ROTATING, DEFICIT] {
        let mut lane = with_group(&[100], discipline, QueueLimit::Unlimited);
        [2, 0, 0, 3]
            .into_iter()
            .for_each(|packet| assert_eq!(offer(&mut lane, 1, packet, 100), Offer::Queued { mark: false }));
        assert_eq!(round(&mut lane), 0);
        assert!(matches!(lane.take(), Taken::Packet(QueueId(1), _)));
        assert_eq!(round(&mut lane), 0, "one packet of round 0 is left");
        assert!(matches!(lane.take(), Taken::Packet(QueueId(1), _)));
        assert_eq!(round(&mut lane), 1, "{discipline:?}: round 0 is over, and nobody must choose yet");
        offer(&mut lane, 1, 4, 100);
        assert_eq!(served(&mut lane), [2, 3, 4], "{discipline:?}");
        assert_eq!(round(&mut lane), 5);
        let counters = lane.group_counters().expect("the lane has a group");
        assert_eq!((counters.rotations, counters.queued, counters.served), (5, 5, 5), "{discipline:?}");
    }
}

#[test]
fn a_group_of_one_queue_that_is_drained_goes_once_around() {
    for discipline in [ROTATING, DEFICIT] {
        let mut lane = with_group(&[100], discipline, QueueLimit::Unlimited);
        offer(&mut lane, 1, 0, 100);
        served(&mut lane);
        offer(&mut lane, 1, 4, 100);
        assert_eq!((served(&mut lane), round(&mut lane)), (vec![4], 5), "{discipline:?}");
    }
}

#[test]
fn halves_are_served_by_strict_priority_until_they_are_swapped() {
    let mut lane = with_group(&[100], GroupDiscipline::SwappedHalves, QueueLimit::Unlimited);
    for round in [3, 2, 1, 0, 1] {
        offer(&mut lane, 1, round, 100);
    }
    assert!(matches!(lane.take(), Taken::Packet(_, entry) if entry.packet.0 == 0));
    lane.swap_halves();
    assert_eq!(lane.group_counters().expect("a group").left_behind, 2);
    offer(&mut lane, 1, 5, 100);
    assert_eq!(served(&mut lane), [2, 3, 1, 1, 5], "rounds 2 and 3 first; round 5 behind what is left of round 1");
    assert_eq!((round(&mut lane), lane.waits_for_swap()), (4, true), "what was left of round 1 is not of round 5");
}

#[test]
fn halves_are_swapped_at_an_empty_port_too() {
    let mut lane = with_group(&[100], GroupDiscipline::SwappedHalves, QueueLimit::Unlimited);
    let rounds = |lane: &mut ManagedLane| {
        let rounds = lane.rounds(Time::ZERO).expect("the lane has a group");
        (rounds.oldest, rounds.current)
    };
    for packet in 0..4 {
        assert_eq!((rounds(&mut lane), lane.waits_for_swap()), ((0, packet.into()), packet >= 2));
        offer(&mut lane, 1, packet, 100);
        assert_eq!(served(&mut lane), [u32::from(packet)]);
    }
    for (oldest, waits) in [(2, true), (4, false)] {
        lane.swap_halves();
        assert_eq!((rounds(&mut lane), lane.waits_for_swap()), ((oldest, 4), waits));
    }
    assert_eq!(lane.group_counters().expect("a group").left_behind, 0);
}

#[test]
fn a_group_is_one_queue_to_the_others() {
    // Above, beside and below the group, which is numbered after them.
    let mut lane = with_group(&[120, 100, 80], ROTATING, QueueLimit::Unlimited);
    let entry = |frame_bytes| Entry { packet: PacketHandle(90), frame_bytes, enqueued_at: Time::ZERO };
    for _ in 0..2 {
        for queue in 0..3 {
            lane.offer(QueueId(queue), 0, entry(1_518));
        }
    }
    for round in [0, 1, 2, 3] {
        offer(&mut lane, 3, round, 1_518);
    }
    let next = || match lane.take() {
        Taken::Packet(queue, _) => Some(queue.0),
        _ => None,
    };
    let order: Vec<u8> = std::iter::from_fn(next).collect();
    assert_eq!(order, [0, 0, 3, 1, 4, 1, 5, 6, 2, 2]);
}

#[test]
fn what_waits_in_a_group_is_seen_beside_what_waits_outside() {
    let mut lane = with_group(&[100], ROTATING, QueueLimit::Unlimited);
    fill(&mut lane, 0, 100, 1);
    for round in [0, 3, 3, 1] {
        offer(&mut lane, 1, round, 100);
    }
    let mut seen = Vec::new();
    lane.each_waiting(|packet| seen.push(packet.0));
    assert_eq!(seen, [0, 0, 1, 3, 3], "in the order of the queues; the packets of the group are numbered by round");
}

#[test]
fn the_limit_of_a_group_is_for_its_queues_only() {
    let mut lane = with_group(&[100], ROTATING, QueueLimit::Bytes(300));
    assert_eq!([0, 1, 2, 3].map(|round| offer(&mut lane, 1, round, 100)).last(), Some(&Offer::GroupFull));
    let entry = Entry { packet: PacketHandle(9), frame_bytes: 1_000, enqueued_at: Time::ZERO };
    assert_eq!(lane.offer(QueueId(0), 0, entry), Offer::Queued { mark: false });
    assert_eq!((lane.group_bytes(), lane.group_packets(), lane.packets()), (300, 3, 4));
    let counters = lane.group_counters().expect("a group");
    assert_eq!((counters.refused, counters.peak_bytes), (1, 300));
}

#[test]
fn a_pause_of_one_queue_of_a_group_stops_them_all() {
    let mut lane = with_group(&[100], ROTATING, QueueLimit::Unlimited);
    offer(&mut lane, 1, 0, 100);
    lane.set_group_paused(true);
    offer(&mut lane, 1, 1, 100);
    assert_eq!(served(&mut lane), Vec::<u32>::new());
    lane.resume(QueueId(3));
    assert_eq!(served(&mut lane), [0, 1]);
}

#[test]
fn packets_that_are_late_or_early_for_their_round_are_counted() {
    let mut lane = with_group(&[100], ROTATING, QueueLimit::Unlimited);
    for round in 0..3 {
        offer(&mut lane, 1, round, 100);
    }
    served(&mut lane);
    for round in [2, 3, 6, 7] {
        offer(&mut lane, 1, round, 100);
    }
    let counters = lane.group_counters().expect("a group");
    assert_eq!((counters.late, counters.early), (1, 1), "in round 3 there are queues for 3 to 6");
    let late = GroupDiscipline::RotatingStrictPriority { late: LatePackets::ServedQueue, step: Duration::ZERO };
    let mut lane = with_group(&[100], late, QueueLimit::Unlimited);
    offer(&mut lane, 1, 0, 100);
    served(&mut lane);
    for round in [2, 0] {
        offer(&mut lane, 1, round, 100);
    }
    assert_eq!(served(&mut lane), [0, 2]);
}

#[test]
fn an_idle_group_goes_on_where_it_is_told_to() {
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    let idle_round_time = Some(Duration::from_ns(10));
    let limit = QueueLimit::Unlimited;
    let group = QueueGroup { queues: 4, queue, discipline: ROTATING, limit, idle_round_time };
    let mut lane = ManagedLane::new(&[queue], Some(group));
    let at = |ns| Time::ZERO + Duration::from_ns(ns);
    let round = |lane: &mut ManagedLane, ns| lane.rounds(at(ns)).expect("a group").current;
    assert_eq!([round(&mut lane, 0), round(&mut lane, 25), round(&mut lane, 30)], [0, 2, 3]);
    let entry = Entry { packet: PacketHandle(3), frame_bytes: 100, enqueued_at: at(30) };
    lane.offer(QueueId(1 + 3), 3, entry);
    assert_eq!(round(&mut lane, 90), 3, "a group with a packet does not go on by itself");
    lane.take();
    lane.busy_until = at(200);
    assert_eq!([round(&mut lane, 190), round(&mut lane, 215)], [4, 5], "idle from the end of the frame on");
}
