//! Counts of values, with fast access to minimum and maximum.

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
    pub fn add(&mut self, value: T) {
        *self.counts.entry(value).or_insert(0) += 1;
    }

    /// Removes one `value`.
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

    pub fn has(&self, value: T) -> bool {
        self.counts.contains_key(&value)
    }

    pub fn least(&self) -> Option<T> {
        self.counts.first_key_value().map(|(&value, _)| value)
    }

    pub fn greatest(&self) -> Option<T> {
        self.counts.last_key_value().map(|(&value, _)| value)
    }
}
