//! How many there are of each value, with the least and the greatest at hand.

use std::collections::BTreeMap;

/// A multiset of values.
#[derive(Clone, Debug)]
pub struct Tally<T = u64> {
    counts: BTreeMap<T, u32>,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self { counts: BTreeMap::new() }
    }
}

impl<T: Copy + Ord> Tally<T> {
    /// Adds one `value`.
    pub fn add(&mut self, value: T) {
        *self.counts.entry(value).or_insert(0) += 1;
    }

    /// Takes out one `value`.
    ///
    /// # Panics
    /// When there is none.
    pub fn remove(&mut self, value: T) {
        let count = self.counts.get_mut(&value).expect("only what was added is taken out");
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&value);
        }
    }

    /// Replaces one `before` by one `after`.
    pub fn change(&mut self, before: T, after: T) {
        if before != after {
            self.remove(before);
            self.add(after);
        }
    }

    /// Whether there is one `value`.
    pub fn has(&self, value: T) -> bool {
        self.counts.contains_key(&value)
    }

    /// The least value.
    pub fn least(&self) -> Option<T> {
        self.counts.first_key_value().map(|(&value, _)| value)
    }

    /// The greatest value.
    pub fn greatest(&self) -> Option<T> {
        self.counts.last_key_value().map(|(&value, _)| value)
    }
}
