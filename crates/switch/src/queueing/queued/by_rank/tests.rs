//! Queues served by rank, compared with a list that is sorted at each step.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, QueueId, Time};
use proptest::prelude::*;

use super::super::{Dequeued, QueueConfig};
use super::*;
use crate::queueing::{BufferPolicy, EcnThreshold, QueueLimit, QueueOrder};

const QUEUE: QueueId = QueueId(0);

fn scheduler(limit: QueueLimit) -> QueuedScheduler {
    QueuedScheduler::new(&[QueueConfig::normal(limit).with_order(QueueOrder::ByRank)], None)
}

fn entry(number: u32, frame_bytes: u32, now: Time) -> Entry {
    Entry::new(PacketHandle(number), frame_bytes, now)
}

/// Offers packets of these ranks, of 100 bytes each, numbered from 0.
fn offer_all(scheduler: &mut QueuedScheduler, ranks: &[u32], claim: Claim) -> Vec<bool> {
    let mut buffer = SharedBuffer::new(BufferPolicy::Static);
    let (first, now) = (scheduler.packets() as u32, Time::ZERO);
    let offer =
        |(&rank, number)| scheduler.offer_by_rank(QUEUE, rank, entry(number, 100, now), claim, &mut buffer).is_ok();
    ranks.iter().zip(first..).map(offer).collect()
}

fn evicted(scheduler: &mut QueuedScheduler) -> Vec<u32> {
    let list = scheduler.take_evicted();
    let numbers = list.iter().map(|entry| entry.packet.0).collect();
    scheduler.put_back(list);
    numbers
}

fn drain(scheduler: &mut QueuedScheduler) -> Vec<u32> {
    let next = || match scheduler.take() {
        Dequeued::Packet(_, entry) => Some(entry.packet.0),
        _ => None,
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn the_smallest_rank_goes_first_and_equal_ranks_as_they_came() {
    let mut scheduler = scheduler(QueueLimit::Unlimited);
    offer_all(&mut scheduler, &[5, 3, 5, 0, 3, 9], Claim::OnlyIfItFits);
    assert_eq!(drain(&mut scheduler), [3, 1, 4, 0, 2, 5]);
}

#[test]
fn only_larger_ranks_make_room_and_only_if_that_is_enough() {
    let mut scheduler = scheduler(QueueLimit::Bytes(300));
    let mut buffer = SharedBuffer::new(BufferPolicy::Static);
    let mut offer = |number, rank, frame_bytes, claim| {
        let result = scheduler.offer_by_rank(QUEUE, rank, entry(number, frame_bytes, Time::ZERO), claim, &mut buffer);
        (result.is_ok(), evicted(&mut scheduler))
    };
    for (number, rank) in [(0, 5), (1, 7), (2, 9)] {
        assert_eq!(offer(number, rank, 100, Claim::OnlyIfItFits), (true, vec![]));
    }
    assert_eq!(offer(3, 9, 100, Claim::OnlyIfItFits), (false, vec![]), "an equal rank stays");
    assert_eq!(offer(3, 6, 250, Claim::OnlyIfItFits), (false, vec![]), "two would not be enough");
    assert_eq!(offer(3, 6, 200, Claim::OnlyIfItFits), (true, vec![2, 1]), "two are");
    assert_eq!(offer(4, 5, 250, Claim::AtAnyPrice), (false, vec![3]), "at any price the worst go, also in vain");
}

#[test]
fn the_mark_goes_by_the_depth_that_is_left() {
    let config = QueueConfig::normal(QueueLimit::Packets(2)).with_ecn(EcnThreshold::Packets(1));
    let mut scheduler = QueuedScheduler::new(&[config.with_order(QueueOrder::ByRank)], None);
    let mut buffer = SharedBuffer::new(BufferPolicy::Static);
    let mut offer =
        |rank| scheduler.offer_by_rank(QUEUE, rank, entry(0, 100, Time::ZERO), Claim::OnlyIfItFits, &mut buffer);
    assert_eq!([offer(7), offer(7), offer(3)], [Ok(false), Ok(true), Ok(true)]);
}

#[test]
fn a_packet_that_was_held_takes_its_place_when_it_is_released() {
    let mut scheduler = scheduler(QueueLimit::Packets(3));
    offer_all(&mut scheduler, &[5, 7], Claim::OnlyIfItFits);
    assert!(scheduler.hold(QUEUE, entry(9, 100, Time::ZERO)));
    assert_eq!(
        offer_all(&mut scheduler, &[8], Claim::OnlyIfItFits),
        [false],
        "what is held counts, and cannot be driven out"
    );
    scheduler.release(QUEUE, 6, entry(9, 100, Time::ZERO));
    assert_eq!(drain(&mut scheduler), [0, 9, 1]);
}

/// An oracle for the queue that sorts all packets at each step.
struct Slow {
    limit: QueueLimit,
    policy: BufferPolicy,
    /// Rank, number and bytes; numbers increase.
    waiting: Vec<(u32, u32, u32)>,
    serving_bytes: Option<u32>,
}

impl Slow {
    fn bytes(&self) -> u64 {
        self.waiting.iter().map(|&(.., bytes)| u64::from(bytes)).sum()
    }

    /// Returns whether the waiting packets would be a legal state if the packet with this number had come last.
    fn is_legal(&self, number: u32) -> bool {
        let Some(&(_, _, own_bytes)) = self.waiting.iter().find(|packet| packet.1 == number) else { return true };
        let others = self.bytes() - u64::from(own_bytes);
        let shared = match self.policy {
            BufferPolicy::Static => true,
            BufferPolicy::Shared { capacity_bytes, alpha } => {
                let free = capacity_bytes.saturating_sub(others);
                u64::from(own_bytes) <= free && self.bytes() as f64 <= alpha * free as f64
            }
        };
        let serving_bytes = u64::from(self.serving_bytes.unwrap_or(0));
        shared
            && match self.limit {
                QueueLimit::Unlimited => true,
                QueueLimit::Packets(most) => {
                    self.waiting.len() + usize::from(self.serving_bytes.is_some()) <= most as usize
                }
                QueueLimit::Bytes(most) => self.bytes() + serving_bytes <= most,
            }
    }

    /// Inserts the packet and evicts the last ones until the rest is legal; returns the evicted packets.
    fn at_any_price(&mut self, rank: u32, number: u32, bytes: u32) -> Vec<u32> {
        self.waiting.push((rank, number, bytes));
        self.waiting.sort();
        let mut gone = Vec::new();
        while !self.is_legal(number) {
            gone.extend(self.waiting.pop().map(|(_, number, _)| number));
        }
        gone
    }

    fn offer(&mut self, rank: u32, number: u32, bytes: u32, claim: Claim) -> Vec<u32> {
        let before = self.waiting.clone();
        let gone = self.at_any_price(rank, number, bytes);
        if claim == Claim::OnlyIfItFits && gone.contains(&number) {
            self.waiting = before;
            return vec![number];
        }
        gone
    }
}

#[derive(Clone, Debug)]
enum Step {
    Offer { rank: u32, bytes: u32, at_any_price: bool },
    Serve,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let offer = (0u32..6, 64u32..1_519, any::<bool>());
    let offer = offer.prop_map(|(rank, bytes, at_any_price)| Step::Offer { rank, bytes, at_any_price });
    prop::collection::vec(prop_oneof![3 => offer, 1 => Just(Step::Serve)], 1..300)
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    let packets = (1u32..12).prop_map(QueueLimit::Packets);
    let bytes = (1_000u64..12_000).prop_map(QueueLimit::Bytes);
    prop_oneof![packets, bytes, Just(QueueLimit::Unlimited)]
}

fn policies() -> impl Strategy<Value = BufferPolicy> {
    let shared = (3_000u64..20_000, 1u32..5);
    let shared = shared
        .prop_map(|(capacity_bytes, halves)| BufferPolicy::Shared { capacity_bytes, alpha: f64::from(halves) / 2.0 });
    prop_oneof![Just(BufferPolicy::Static), shared]
}

proptest! {
    /// The queue serves, evicts and refuses the same packets in the same order as the oracle, and the buffer counts the
    /// waiting bytes. Each service lasts until the next.
    #[test]
    fn a_queue_by_rank_is_a_sorted_list(steps in steps(), limit in limits(), policy in policies()) {
        let mut scheduler = scheduler(limit);
        let mut buffer = SharedBuffer::new(policy);
        let mut slow = Slow { limit, policy, waiting: Vec::new(), serving_bytes: None };
        let mut now = Time::ZERO;
        for (number, step) in (0u32..).zip(&steps) {
            now += Duration::from_ns(1);
            match *step {
                Step::Offer { rank, bytes, at_any_price } => {
                    let claim = if at_any_price { Claim::AtAnyPrice } else { Claim::OnlyIfItFits };
                    let offered = scheduler.offer_by_rank(QUEUE, rank, entry(number, bytes, now), claim, &mut buffer);
                    let mut gone = evicted(&mut scheduler);
                    gone.extend(offered.is_err().then_some(number));
                    prop_assert_eq!(gone, slow.offer(rank, number, bytes, claim));
                }
                Step::Serve => {
                    let served = match scheduler.take() {
                        Dequeued::Packet(_, entry) => Some((entry.packet.0, entry.frame_bytes)),
                        _ => None,
                    };
                    served.iter().for_each(|&(_, bytes)| buffer.give_back(bytes));
                    scheduler.busy_until = if served.is_some() { Time::NEVER } else { now };
                    let expected = (!slow.waiting.is_empty()).then(|| slow.waiting.remove(0));
                    prop_assert_eq!(served, expected.map(|(_, number, bytes)| (number, bytes)));
                    slow.serving_bytes = served.map(|(_, bytes)| bytes);
                }
            }
            prop_assert_eq!(scheduler.packets(), slow.waiting.len());
            prop_assert_eq!((scheduler.depth_bytes(QUEUE), buffer.used_bytes()), (slow.bytes(), slow.bytes()));
            prop_assert_eq!((scheduler.has_ready(), scheduler.occupied() == 1), (!slow.waiting.is_empty(), !slow.waiting.is_empty()));
        }
    }
}
