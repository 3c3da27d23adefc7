//! How many there are of each value, with the least and the greatest at hand.

use std::collections::BTreeMap;

/// A multiset of values.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    counts: BTreeMap<u64, u32>,
}

impl Tally {
    /// Adds one `value`.
    pub fn add(&mut self, value: u64) {
        *self.counts.entry(value).or_insert(0) += 1;
    }

    /// Takes out one `value`.
    ///
    /// # Panics
    /// When there is none.
    pub fn remove(&mut self, value: u64) {
        let count = self.counts.get_mut(&value).expect("only what was added is taken out");
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&value);
        }
    }

    /// Replaces one `before` by one `after`.
    pub fn change(&mut self, before: u64, after: u64) {
        if before != after {
            self.remove(before);
            self.add(after);
        }
    }

    /// The least value.
    pub fn least(&self) -> Option<u64> {
        self.counts.first_key_value().map(|(&value, _)| value)
    }

    /// The greatest value.
    pub fn greatest(&self) -> Option<u64> {
        self.counts.last_key_value().map(|(&value, _)| value)
    }
}
