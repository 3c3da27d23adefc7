use std::collections::HashMap;

/// Assigns unique seconds. The published simulator moves an event with a used second ahead by 1 s until a second is
/// free. This does the same in nearly constant time instead of a search.
#[derive(Debug, Default)]
pub struct Slots {
    /// Maps a used second to a later one that can be free. Never iterated over.
    next: HashMap<u64, u64>,
}

impl Slots {
    /// Takes the first free second at or after `wanted_s`.
    ///
    /// # Panics
    /// If all later seconds are used; readers of files refuse times beyond [`crate::trace::LATEST_S`].
    pub fn take(&mut self, wanted_s: u64) -> u64 {
        let mut free_s = wanted_s;
        while let Some(&next_s) = self.next.get(&free_s) {
            free_s = next_s;
        }
        let after_s = free_s.checked_add(1).expect("time ends before 2^64 seconds");
        self.next.insert(free_s, after_s);
        self.shorten(wanted_s, free_s, after_s);
        free_s
    }

    /// Makes every used second on the path from `start_s` to `end_s` point to the second after the end, so that later
    /// lookups are short.
    fn shorten(&mut self, start_s: u64, end_s: u64, after_s: u64) {
        let mut at_s = start_s;
        while at_s < end_s {
            let next_s = self.next.insert(at_s, after_s);
            at_s = next_s.expect("every second on the way was used");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn the_slot_is_the_one_that_a_search_finds(wanted in prop::collection::vec(0u64..40, 0..60)) {
            let (mut slots, mut used) = (Slots::default(), BTreeSet::new());
            for wanted_s in wanted {
                let expected = (wanted_s..).find(|second| !used.contains(second)).unwrap();
                used.insert(expected);
                prop_assert_eq!(slots.take(wanted_s), expected);
            }
        }
    }

    #[test]
    fn a_hundred_thousand_wishes_for_one_second_are_quick() {
        let mut slots = Slots::default();
        let last = (0..100_000).map(|_| slots.take(7)).last();
        assert_eq!(last, Some(100_006));
    }
}
