//! Sequence numbers of received datagrams: a sliding window.

const WORDS: usize = 32;

/// Size of the window: lower numbers cannot be distinguished from duplicates.
pub const WINDOW: u64 = 64 * WORDS as u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Higher than all numbers before it.
    Newest,
    /// New, but after a higher number.
    Late,
    /// Already seen.
    Duplicate,
    /// Below the window: late or a duplicate.
    Unknown,
}

/// The last [`WINDOW`] numbers.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct NumberWindow {
    /// Highest number seen plus one.
    end: u64,
    /// Seen numbers in `[end - WINDOW, end)`; bit `n % WINDOW` is number `n`.
    seen: [u64; WORDS],
}

impl NumberWindow {
    /// Records the arrival of `number`.
    #[inline]
    pub fn insert(&mut self, number: u64) -> Arrival {
        if number >= self.end {
            self.advance(number);
            self.mark(number);
            return Arrival::Newest;
        }
        if self.end - number > WINDOW {
            return Arrival::Unknown;
        }
        if self.mark(number) { Arrival::Duplicate } else { Arrival::Late }
    }

    fn advance(&mut self, number: u64) {
        if number - self.end >= WINDOW {
            self.seen = [0; WORDS];
        } else {
            // These bits still belong to numbers that have left the window.
            for skipped in self.end..=number {
                let (word, bit) = Self::place(skipped);
                self.seen[word] &= !bit;
            }
        }
        self.end = number + 1;
    }

    /// Sets the bit of `number`; returns whether it was already set.
    fn mark(&mut self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        let was_set = self.seen[word] & bit != 0;
        self.seen[word] |= bit;
        was_set
    }

    const fn place(number: u64) -> (usize, u64) {
        ((number / 64) as usize % WORDS, 1 << (number % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_window_forgets_what_lies_far_behind() {
        let mut window = NumberWindow::default();
        let table = [
            (0, Arrival::Newest),
            (2, Arrival::Newest),
            (1, Arrival::Late),
            (1, Arrival::Duplicate),
            (WINDOW + 2, Arrival::Newest),
            (3, Arrival::Late),
            (2, Arrival::Unknown),
            (10 * WINDOW, Arrival::Newest),
            (10 * WINDOW - 1, Arrival::Late),
        ];
        for (number, expected) in table {
            assert_eq!(window.insert(number), expected, "{number}");
        }
    }

    proptest! {
        #[test]
        fn the_window_agrees_with_a_set(numbers in proptest::collection::vec(0u64..3 * WINDOW, 1..400)) {
            let mut window = NumberWindow::default();
            let mut seen = BTreeSet::new();
            for number in numbers {
                let highest = seen.last().copied();
                let expected = match highest {
                    Some(highest) if number <= highest && highest - number >= WINDOW => Arrival::Unknown,
                    Some(_) if seen.contains(&number) => Arrival::Duplicate,
                    Some(highest) if number < highest => Arrival::Late,
                    _ => Arrival::Newest,
                };
                seen.insert(number);
                prop_assert_eq!(window.insert(number), expected);
            }
        }
    }
}
