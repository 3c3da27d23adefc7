//! A queue with permanently numbered entries: the scoreboard's segments.

use hitless_core::state::{Damaged, Reader, Value, Writer};

/// A growing ring. Entries are numbered from 0. An entry's slot is its number modulo the capacity, a power of two, so
/// indexing needs no bounds check.
#[derive(Clone, Debug)]
pub(super) struct Ring<T> {
    slots: Box<[T]>,
    /// Number of the first entry.
    first: u64,
    /// Number of the next entry.
    next: u64,
}

const INITIAL_CAPACITY: usize = 16;

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: vec![T::default(); INITIAL_CAPACITY].into(), first: 0, next: 0 }
    }
}

/// Includes all slots, because rings that belong together grow together.
impl<T: Value> Value for Ring<T> {
    fn write(&self, out: &mut Writer) {
        let Self { slots, first, next } = self;
        out.value(slots);
        out.value(first);
        out.value(next);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let ring = Self { slots: from.value()?, first: from.value()?, next: from.value()? };
        let fits = ring.next.checked_sub(ring.first).is_some_and(|count| count <= ring.slots.len() as u64);
        if fits && ring.slots.len().is_power_of_two() { Ok(ring) } else { Err(from.damaged("a ring")) }
    }
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.slots.len() - 1)
    }

    /// Number of the first entry, or of the next one if the ring is empty.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    #[inline]
    pub fn len(&self) -> u64 {
        self.next - self.first
    }

    /// Returns whether the next entry needs more slots.
    #[inline]
    pub fn is_full(&self) -> bool {
        // Not `==`: from `>=` the compiler learns that there are slots.
        self.len() >= self.slots.len() as u64
    }

    #[inline]
    pub fn get(&self, number: u64) -> Option<&T> {
        if number < self.first || number >= self.next {
            return None;
        }
        Some(&self.slots[self.slot(number)])
    }

    /// Returns the entry for changes.
    pub fn get_mut(&mut self, number: u64) -> &mut T {
        assert!((self.first..self.next).contains(&number), "entry {number} is not in the ring");
        &mut self.slots[self.slot(number)]
    }

    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(self.first)
    }

    #[inline]
    pub fn push(&mut self, entry: T) {
        if self.is_full() {
            self.grow();
        }
        debug_assert!(self.slots.len().is_power_of_two() && !self.is_full(), "no slot is free");
        self.slots[self.slot(self.next)] = entry;
        self.next += 1;
    }

    /// Drops the first entry.
    #[inline]
    pub fn pop(&mut self) {
        assert!(self.first < self.next, "the ring is empty");
        self.first += 1;
    }

    #[cold]
    pub fn grow(&mut self) {
        // With one more bit in the mask, an entry keeps its slot or moves by the old capacity.
        self.slots = [&*self.slots, &*self.slots].concat().into();
    }

    /// Returns the number of the first entry that is not `before`; entries that are must come first.
    pub fn partition_point(&self, before: impl Fn(&T) -> bool) -> u64 {
        let (mut low, mut high) = (self.first, self.next);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(&self.slots[self.slot(middle)]) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_numbers_while_the_ring_turns_and_grows() {
        let mut ring = Ring::<u64>::default();
        for number in 0..1_000 {
            ring.push(number);
            if number % 3 == 2 {
                ring.pop();
            }
            assert_eq!(ring.front(), Some(&ring.first()));
            assert_eq!(ring.get(number), Some(&number));
        }
        assert_eq!((ring.first(), ring.next(), ring.len()), (333, 1_000, 667));
        assert_eq!((ring.get(332), ring.get(1_000)), (None, None));
        assert_eq!(ring.partition_point(|&entry| entry < 500), 500);
        assert_eq!(ring.partition_point(|_| true), 1_000);
        *ring.get_mut(700) = 7;
        assert_eq!(ring.get(700), Some(&7));
    }

    #[test]
    #[should_panic(expected = "not in the ring")]
    fn an_entry_that_is_gone_cannot_be_changed() {
        Ring::<u64>::default().get_mut(0);
    }
}
