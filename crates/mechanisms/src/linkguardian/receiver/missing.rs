//! Missing numbers: they have not arrived although later ones have.

use std::collections::VecDeque;

use crate::linkguardian::headers::SequenceNumber;
use hitless_core::wire::{Duration, Time};

/// The maximum number of awaited numbers. More at a time are not losses of a usable link: a timeout then gives up all
/// but the last of them.
const AWAITED_MAX: usize = 256;
/// The maximum number of remembered numbers; the oldest are forgotten first.
const REMEMBERED_MAX: usize = 2_048;

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct MissingNumber {
    pub sequence: SequenceNumber,
    pub since: Time,
    pub is_awaited: bool,
}

#[derive(Debug, Default, hitless_core::state::Value)]
pub struct Missing(VecDeque<MissingNumber>);

impl Missing {
    pub fn note(&mut self, first: SequenceNumber, count: u32, since: Time, is_awaited: bool) {
        let entry = |offset| MissingNumber { sequence: first.plus(offset as u16), since, is_awaited };
        self.0.extend((0..count).map(entry));
        while self.0.len() > REMEMBERED_MAX {
            self.0.pop_front();
        }
    }

    pub fn take(&mut self, sequence: SequenceNumber) -> Option<MissingNumber> {
        let position = self.0.iter().position(|missing| missing.sequence == sequence)?;
        self.0.remove(position)
    }

    /// Removes a number that has arrived if nothing waits for it; otherwise returns `None`.
    pub fn take_unawaited(&mut self, sequence: SequenceNumber) -> Option<MissingNumber> {
        let position = self.0.iter().position(|missing| missing.sequence == sequence && !missing.is_awaited)?;
        self.0.remove(position)
    }

    /// The first number that others wait for.
    pub fn first_awaited(&self) -> Option<SequenceNumber> {
        self.awaited().next().map(|missing| missing.sequence)
    }

    /// Ends all waits; missing numbers may still arrive.
    pub fn await_none(&mut self) {
        self.0.iter_mut().for_each(|missing| missing.is_awaited = false);
    }

    /// Removes awaited numbers before `next`: they have arrived after all, although not as repairs. Returns their
    /// count.
    pub fn forget_awaited_before(&mut self, next: SequenceNumber) -> u64 {
        let before = self.0.len();
        let is_over = |missing: &MissingNumber| missing.is_awaited && missing.sequence.offset_from(next) < 0;
        if self.awaited().next().is_some_and(is_over) {
            self.0.retain(|missing| !is_over(missing));
        }
        (before - self.0.len()) as u64
    }

    /// The count of numbers that others wait for.
    pub fn awaited_count(&self) -> u64 {
        self.awaited().count() as u64
    }

    /// Removes numbers that can no longer arrive, because in non-blocking mode no timeout gives them up.
    pub fn forget_older_than(&mut self, patience: Duration, now: Time) {
        while self.0.front().is_some_and(|missing| now.saturating_since(missing.since) > patience) {
            self.0.pop_front();
        }
    }

    /// The last of the numbers that are given up together if there are too many to be losses.
    pub fn last_of_crowd(&self) -> Option<SequenceNumber> {
        // The maximum number of awaited numbers stays awaited.
        let crowd = self.awaited().count().checked_sub(AWAITED_MAX + 1)?;
        self.awaited().nth(crowd).map(|missing| missing.sequence)
    }

    /// The last of the numbers that follow `first` without a gap and were found missing no later.
    pub fn last_found_with(&self, first: SequenceNumber) -> SequenceNumber {
        let mut entries = self.awaited().skip_while(|missing| missing.sequence != first);
        let Some(front) = entries.next() else { return first };
        let following = entries
            .zip(1..)
            .take_while(|(missing, ahead)| missing.sequence == first.plus(*ahead) && missing.since <= front.since);
        following.last().map_or(first, |(missing, _)| missing.sequence)
    }

    /// Ends the waits for `last` and the numbers before it.
    pub fn give_up_through(&mut self, last: SequenceNumber) {
        self.forget_awaited_before(last.plus(1));
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn any(&self, holds: impl Fn(SequenceNumber) -> bool) -> bool {
        self.0.iter().any(|missing| holds(missing.sequence))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = &MissingNumber> {
        self.0.iter()
    }

    fn awaited(&self) -> impl Iterator<Item = &MissingNumber> {
        self.0.iter().filter(|missing| missing.is_awaited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: u16) -> SequenceNumber {
        SequenceNumber::default().plus(value)
    }

    #[test]
    fn as_many_as_can_be_are_remembered_and_the_oldest_go_first() {
        let mut missing = Missing::default();
        missing.note(number(0), REMEMBERED_MAX as u32, Time(0), true);
        assert_eq!((missing.len(), missing.first_awaited()), (REMEMBERED_MAX, Some(number(0))));
        missing.note(number(9_000), 1, Time(1), true);
        assert_eq!((missing.len(), missing.first_awaited()), (REMEMBERED_MAX, Some(number(1))));
    }

    #[test]
    fn numbers_found_missing_together_are_given_up_together() {
        let mut missing = Missing::default();
        for (first, count, since) in [(3, 1, 100), (4, 80, 100), (84, 1, 101), (90, 2, 90)] {
            missing.note(number(first), count, Time(since), true);
        }
        for (first, last) in [(2, 2), (3, 83), (50, 83), (84, 84), (90, 91)] {
            assert_eq!(missing.last_found_with(number(first)), number(last), "{first}");
        }
    }

    #[test]
    fn a_missing_number_is_forgotten_when_its_time_is_over_and_those_before_the_next_one() {
        let mut missing = Missing::default();
        missing.note(number(5), 3, Time(100), true);
        missing.forget_older_than(Duration(50), Time(150));
        missing.forget_awaited_before(number(6));
        assert_eq!(missing.iter().map(|missing| missing.sequence).collect::<Vec<_>>(), [number(6), number(7)]);
        missing.forget_older_than(Duration(50), Time(151));
        assert_eq!(missing.len(), 0);
    }
}
