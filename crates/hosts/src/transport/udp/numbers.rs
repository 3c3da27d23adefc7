//! Which datagrams have been seen: a sliding window over their numbers.

const WORDS: usize = 32;

/// Numbers further than this below the highest one cannot be told from duplicates any more.
pub const WINDOW: u64 = 64 * WORDS as u64;

/// What a number means that has just arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Higher than all before it.
    Newest,
    /// New, but a higher number came before it.
    Late,
    /// Seen before.
    Duplicate,
    /// Below the window: late or a duplicate, nobody knows.
    Unknown,
}

/// Remembers the last [`WINDOW`] numbers.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct NumberWindow {
    /// One beyond the highest number seen.
    end: u64,
    /// Bit `n % WINDOW` stands for number `n`, for the numbers `[end - WINDOW, end)`.
    seen: [u64; WORDS],
}

impl NumberWindow {
    /// Notes that `number` has arrived.
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
            for skipped in self.end..=number {
                let (word, bit) = Self::place(skipped);
                self.seen[word] &= !bit;
            }
        }
        self.end = number + 1;
    }

    /// Sets the bit of `number`; returns whether it was set.
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
