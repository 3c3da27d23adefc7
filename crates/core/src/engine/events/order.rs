//! The order of events of the same time.

use std::cmp::Ordering;

use crate::engine::random::mix;
use crate::wire::Time;

/// Position among the events of the same time: kind, then node, then sequence (see [`Ties`]).
///
/// The scheduler must make it unique among the events of one time; a tie is a bug and fails an assertion. The sequence
/// of an arrival is the port (a link delivers one packet at a time), and the sequence of a timer is a counter of its
/// node, so the key does not depend on how a fabric is partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct OrderKey(u64);

impl OrderKey {
    const NODE_BITS: u32 = 24;
    const SEQUENCE_BITS: u32 = 36;
    const SEQUENCE_MASK: u64 = (1 << Self::SEQUENCE_BITS) - 1;
    /// Stands for "no event was popped yet". No event has this key.
    pub(super) const NONE: Self = Self(u64::MAX);

    /// Makes the key of kind `kind` (below 16) at `node` (below 2^24) with the low 36 bits of `sequence`.
    #[inline]
    pub const fn new(kind: u8, node: u32, sequence: u64) -> Self {
        debug_assert!(kind < 16 && node < 1 << Self::NODE_BITS);
        Self((kind as u64) << 60 | (node as u64) << Self::SEQUENCE_BITS | sequence & Self::SEQUENCE_MASK)
    }

    const fn kind(self) -> u8 {
        (self.0 >> 60) as u8
    }

    const fn sequence(self) -> u64 {
        self.0 & Self::SEQUENCE_MASK
    }

    #[inline(always)]
    pub const fn node(self) -> u32 {
        (self.0 >> Self::SEQUENCE_BITS) as u32 & ((1 << Self::NODE_BITS) - 1)
    }

    /// The key as one word, for the trace.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// Decides the order of events of the same time: by key, except that events of one kind at one node are in random
/// order.
///
/// Those events are arrivals on different links. By key the link with the lower number would always be first, and link
/// numbers are arbitrary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ties {
    /// The kind that is put in random order, and the seed of that order.
    shuffled: Option<(u8, u64)>,
}

impl Ties {
    /// Breaks ties within `kind` at one node by a hash of `seed`, time and sequence.
    pub const fn shuffled(kind: u8, seed: u64) -> Self {
        Self { shuffled: Some((kind, seed)) }
    }

    /// Returns the rank among the events of `time`; different keys have different ranks.
    pub(super) fn rank(self, time: Time, order: OrderKey) -> u64 {
        let Some((_, seed)) = self.shuffled.filter(|&(kind, _)| kind == order.kind()) else { return order.0 };
        let random = mix(seed ^ mix(time.0));
        // Each step is invertible, so two sequences never get the same rank.
        let multiplied = |sequence: u64| sequence.wrapping_mul(random | 1) & OrderKey::SEQUENCE_MASK;
        let sequence = multiplied(order.sequence() ^ random >> (u64::BITS - OrderKey::SEQUENCE_BITS));
        let sequence = multiplied(sequence ^ sequence >> (OrderKey::SEQUENCE_BITS / 2));
        order.0 & !OrderKey::SEQUENCE_MASK | sequence
    }

    #[inline(always)]
    pub(super) fn precedes(&self, first: (Time, OrderKey), second: (Time, OrderKey)) -> bool {
        first.0 < second.0 || (first.0 == second.0 && self.precedes_at(first.0, first.1, second.1))
    }

    /// Compares a turn with the last event popped ([`OrderKey::NONE`] before the first).
    pub(super) fn compare_to_last(self, turn: (Time, OrderKey), last: (Time, OrderKey)) -> Ordering {
        if last.1 == OrderKey::NONE {
            return Ordering::Greater;
        }
        let ranks = || self.rank(turn.0, turn.1).cmp(&self.rank(last.0, last.1));
        turn.0.cmp(&last.0).then_with(ranks)
    }

    #[cold]
    #[inline(never)]
    fn precedes_at(&self, time: Time, first: OrderKey, second: OrderKey) -> bool {
        self.rank(time, first) < self.rank(time, second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_links_is_first_equally_often() {
        let ties = Ties::shuffled(1, 7);
        let mut first = [0; 5];
        for time in 0..10_000 {
            let rank = |&link: &u64| ties.rank(Time(time * 123_040), OrderKey::new(1, 3, link));
            let links = [4, 5, 6, 7, 900];
            let winner = links.iter().min_by_key(|&link| rank(link)).unwrap();
            first[links.iter().position(|link| link == winner).unwrap()] += 1;
        }
        assert!(first.iter().all(|count| (1_800..2_200).contains(count)), "{first:?}");
    }

    #[test]
    fn kind_and_node_come_before_chance_and_other_kinds_keep_their_sequence() {
        let ties = Ties::shuffled(1, 7);
        for time in (0..100).map(Time) {
            assert!(ties.rank(time, OrderKey::new(1, 3, 9)) < ties.rank(time, OrderKey::new(1, 4, 0)));
            assert!(ties.rank(time, OrderKey::new(1, 3, 9)) < ties.rank(time, OrderKey::new(2, 0, 0)));
            assert!(ties.rank(time, OrderKey::new(2, 3, 1)) < ties.rank(time, OrderKey::new(2, 3, 2)));
        }
    }

    #[test]
    fn no_two_sequences_of_one_time_have_the_same_rank() {
        let ties = Ties::shuffled(1, 99);
        for time in (0..200).map(|number| Time(number * 999)) {
            let mut ranks: Vec<u64> = (0..500).map(|link| ties.rank(time, OrderKey::new(1, 3, link))).collect();
            ranks.sort_unstable();
            ranks.dedup();
            assert_eq!(ranks.len(), 500);
        }
    }
}
