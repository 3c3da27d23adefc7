//! The trace hash: equal for two runs exactly if they processed the same events in the same order.

use crate::engine::random::mix;

/// A running hash of all recorded words; their order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct TraceHash {
    state: u64,
}

impl Default for TraceHash {
    fn default() -> Self {
        // "hitless!" in ASCII.
        Self { state: 0x6869_746c_6573_7321 }
    }
}

impl TraceHash {
    /// Folds two words (the time of an event and its order key, or a packet's fields) into the hash.
    #[inline(always)]
    pub fn record(&mut self, first: u64, second: u64) {
        // An odd factor keeps all bits of the state even if `second` is zero; the last step adds the bit that `| 1`
        // hides.
        let product = u128::from(self.state ^ first) * u128::from(second | 1);
        self.state = (product as u64 ^ (product >> 64) as u64).rotate_left(23) ^ second;
    }

    pub const fn value(&self) -> u64 {
        mix(self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash_of(words: &[(u64, u64)]) -> u64 {
        let mut hash = TraceHash::default();
        words.iter().for_each(|&(first, second)| hash.record(first, second));
        hash.value()
    }

    #[test]
    fn order_and_content_change_the_hash() {
        let original = hash_of(&[(1, 2), (3, 4)]);
        assert_eq!(original, hash_of(&[(1, 2), (3, 4)]));
        for other in [[(3, 4), (1, 2)], [(2, 1), (3, 4)], [(1, 2), (3, 5)], [(1, 2), (4, 4)]] {
            assert_ne!(original, hash_of(&other));
        }
    }
}
