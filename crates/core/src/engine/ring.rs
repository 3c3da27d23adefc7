//! A queue in a ring buffer with a power-of-two size, so that finding a slot takes a mask and no comparison.

use crate::state::{Damaged, Reader, Value, Writer};

const FIRST_SLOTS: usize = 4;

/// A FIFO. It allocates only if it holds more elements than ever before, and nothing before its first use.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    /// Empty, or a power of two long.
    slots: Box<[T]>,
    /// Positions of the front and one past the back; they wrap around at 2^32.
    front: u32,
    back: u32,
}

impl<T: Copy + Default> Default for Ring<T> {
    fn default() -> Self {
        Self { slots: Box::default(), front: 0, back: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.back.wrapping_sub(self.front) as usize
    }

    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.back == self.front
    }

    /// Adds an element at the back.
    #[inline(always)]
    pub fn push(&mut self, value: T) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let slot = self.slot(self.back);
        self.slots[slot] = value;
        self.back = self.back.wrapping_add(1);
    }

    #[inline(always)]
    pub fn front(&self) -> Option<T> {
        (!self.is_empty()).then(|| self.slots[self.slot(self.front)])
    }

    /// Prefetches the slot at the front without a branch on the length. The value is meaningless if the ring is empty.
    #[inline(always)]
    pub fn at_front(&self) -> Option<T> {
        self.slots.get(self.slot(self.front)).copied()
    }

    /// Takes the element at the front.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let value = self.front()?;
        self.front = self.front.wrapping_add(1);
        Some(value)
    }

    /// Prefetches the slot of the next push; the value is meaningless.
    #[inline(always)]
    pub fn behind(&self) -> Option<T> {
        self.slots.get(self.slot(self.back)).copied()
    }

    /// Iterates over the elements, front first.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len() as u32).map(|offset| self.slots[self.slot(self.front.wrapping_add(offset))])
    }

    #[inline(always)]
    pub const fn clear(&mut self) {
        self.front = self.back;
    }

    #[inline(always)]
    fn slot(&self, position: u32) -> usize {
        // In 32 bits like positions, so the mask is one instruction away from the length.
        (position & (self.slots.len() as u32).wrapping_sub(1)) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let count = self.slots.len();
        assert!(self.len() == count, "a ring grows when it is full");
        let size = (count * 2).max(FIRST_SLOTS);
        let mut slots = Vec::with_capacity(size);
        if count > 0 {
            // Positions are masked with the size, so the elements move to the start of the larger ring.
            let (behind_end, front) = self.slots.split_at(self.slot(self.front));
            slots.extend_from_slice(front);
            slots.extend_from_slice(behind_end);
        }
        slots.resize(size, T::default());
        (self.slots, self.front, self.back) = (slots.into_boxed_slice(), 0, count as u32);
    }
}

/// Saves the elements in order; their positions in the ring do not matter.
impl<T: Copy + Default + Value> Value for Ring<T> {
    fn write(&self, out: &mut Writer) {
        out.value(&self.iter().collect::<Vec<T>>());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let mut ring = Self::default();
        from.value::<Vec<T>>()?.into_iter().for_each(|value| ring.push(value));
        Ok(ring)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_a_queue(steps in prop::collection::vec(prop_oneof![4 => 0_u8..1, 3 => 1_u8..2, 1 => 2_u8..3], 1..500)) {
            let mut ring = Ring { front: u32::MAX - 20, back: u32::MAX - 20, ..Ring::default() };
            let mut oracle = VecDeque::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0 => { ring.push(number); oracle.push_back(number); }
                    1 => prop_assert_eq!(ring.pop(), oracle.pop_front()),
                    _ if number % 16 == 0 => { ring.clear(); oracle.clear(); }
                    _ => {}
                }
                prop_assert!(ring.iter().eq(oracle.iter().copied()));
                prop_assert_eq!((ring.front(), ring.len()), (oracle.front().copied(), oracle.len()));
            }
        }
    }
}
