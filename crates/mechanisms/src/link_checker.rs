//! Checks the guarantees of a protected link, independently of the protocol's own numbers.
//!
//! Every packet that enters the link gets a [`hitless_core::wire::shim::CheckNumber`], which no mechanism reads and
//! which takes no room on the wire. At the far end the checker records the order and the copies of delivered packets.

use std::collections::VecDeque;

/// The window below the highest number that distinguishes late packets from duplicates.
const WINDOW: usize = 1 << 16;

#[derive(Debug, Default, Hash, hitless_core::state::Value)]
pub struct Checker {
    /// One past the highest number delivered.
    next: u64,
    /// Whether numbers below `next` were delivered, newest at the back.
    seen: VecDeque<bool>,
    pub delivered: u64,
    pub duplicates: u64,
    /// Packets delivered after a later one.
    pub reordered: u64,
    /// Numbers that left the window without having been delivered.
    missed: u64,
}

impl Checker {
    /// Records the delivery of packet `number` (32 bits of the count).
    pub fn deliver(&mut self, number: u32) {
        let ahead = i64::from(number.wrapping_sub(self.next as u32) as i32);
        if ahead >= 0 {
            (0..ahead).for_each(|_| self.shift(false));
            self.shift(true);
            self.delivered += 1;
            return;
        }
        let position = self.seen.len() as i64 + ahead;
        match usize::try_from(position).ok().and_then(|index| self.seen.get_mut(index)) {
            Some(seen) if !*seen => {
                *seen = true;
                self.delivered += 1;
                self.reordered += 1;
            }
            _ => self.duplicates += 1,
        }
    }

    /// Counts undelivered packets with numbers below `next` (32 bits of the count) as lost.
    pub fn skip_to(&mut self, next: u32) {
        let ahead = i64::from(next.wrapping_sub(self.next as u32) as i32);
        (0..ahead).for_each(|_| self.shift(false));
    }

    /// The count of packets that were never delivered although a later one was.
    pub fn lost(&self) -> u64 {
        self.missed + self.seen.iter().filter(|&&seen| !seen).count() as u64
    }

    fn shift(&mut self, seen: bool) {
        self.next += 1;
        self.seen.push_back(seen);
        if self.seen.len() > WINDOW && self.seen.pop_front() == Some(false) {
            self.missed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: &[u32]) -> (u64, u64, u64, u64) {
        let mut checker = Checker::default();
        numbers.iter().for_each(|&number| checker.deliver(number));
        (checker.delivered, checker.duplicates, checker.reordered, checker.lost())
    }

    #[test]
    fn counts_what_was_delivered_twice_late_or_never() {
        assert_eq!(check(&[0, 1, 2]), (3, 0, 0, 0));
        assert_eq!(check(&[0, 2, 1]), (3, 0, 1, 0));
        assert_eq!(check(&[0, 2]), (2, 0, 0, 1));
        assert_eq!(check(&[0, 1, 1, 2]), (3, 1, 0, 0));
        assert_eq!(check(&[0, 2, 1, 1]), (3, 1, 1, 0));
    }

    #[test]
    fn what_is_skipped_is_lost_unless_it_came() {
        let mut checker = Checker::default();
        [0, 2].into_iter().for_each(|number| checker.deliver(number));
        [5, 5, 1].into_iter().for_each(|next| checker.skip_to(next));
        checker.deliver(5);
        assert_eq!((checker.delivered, checker.duplicates, checker.reordered, checker.lost()), (3, 0, 0, 3));
    }

    #[test]
    fn a_number_that_leaves_the_window_is_lost_for_good() {
        let mut checker = Checker::default();
        checker.deliver(1);
        (2..2 + WINDOW as u32).for_each(|number| checker.deliver(number));
        assert_eq!(checker.lost(), 1);
        checker.deliver(0);
        assert_eq!((checker.lost(), checker.duplicates), (1, 1));
    }

    #[test]
    fn a_packet_is_told_from_a_duplicate_as_long_as_it_is_in_the_window() {
        for (behind, is_known) in [(WINDOW as u32 - 1, true), (WINDOW as u32, false)] {
            let mut checker = Checker::default();
            (1..=behind).for_each(|number| checker.deliver(number));
            checker.deliver(0);
            assert_eq!((checker.reordered, checker.duplicates), (is_known.into(), (!is_known).into()), "{behind}");
        }
    }
}
