//! Wrapping 16-bit numbers, with an era bit that distinguishes consecutive turns.

use std::fmt;

use hitless_switch::RegisterCell;

/// The turn of the 16-bit number space; toggles at each wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub enum Era {
    /// The first turn, the third, ...
    #[default]
    Even,
    /// The second turn, the fourth, ...
    Odd,
}

/// A number with its era.
impl RegisterCell for SequenceNumber {
    const BITS: u32 = u16::BITS + 1;
}

impl Era {
    pub(super) const fn from_bit(bit: u8) -> Self {
        if bit & 1 == 0 { Era::Even } else { Era::Odd }
    }

    pub(super) const fn bit(self) -> u8 {
        match self {
            Era::Even => 0,
            Era::Odd => 1,
        }
    }
}

/// A 16-bit sequence number with its era bit (paper, section 3.5, "Handling seqNo Wrap-around").
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct SequenceNumber {
    pub(super) value: u16,
    pub(super) era: Era,
}

impl SequenceNumber {
    pub const RANGE: u32 = 1 << 16;

    pub const fn new(value: u16, era: Era) -> Self {
        Self { value, era }
    }

    /// The 16 bits on the wire, also the index into register arrays of [`Self::RANGE`] entries.
    pub const fn value(self) -> u16 {
        self.value
    }

    pub const fn era(self) -> Era {
        self.era
    }

    /// The number `count` steps ahead; the era toggles at each wrap.
    #[inline]
    pub const fn plus(self, count: u16) -> Self {
        let (value, wrapped) = self.value.overflowing_add(count);
        Self { value, era: Era::from_bit(self.era.bit() ^ wrapped as u8) }
    }

    #[inline]
    pub const fn previous(self) -> Self {
        let (value, wrapped) = self.value.overflowing_sub(1);
        Self { value, era: Era::from_bit(self.era.bit() ^ wrapped as u8) }
    }

    /// The number of steps from `other` forward to this number, on the circle of both eras: below 131,072.
    ///
    /// Unlike [`Self::ahead_of`] it is right for any two numbers, including forged ones.
    pub const fn steps_from(self, other: Self) -> u32 {
        // The circle of 2^17 numbers divides 2^32, so that the wrapped difference has the right remainder.
        self.position().wrapping_sub(other.position()) % (2 * Self::RANGE)
    }

    /// [`Self::steps_from`] with a sign: from -65,536 (half the circle) to 65,535.
    pub const fn offset_from(self, other: Self) -> i32 {
        let steps = self.steps_from(other) as i32;
        const RANGE: i32 = SequenceNumber::RANGE as i32;
        if steps < RANGE { steps } else { steps - 2 * RANGE }
    }

    const fn position(self) -> u32 {
        (self.era.bit() as u32) << 16 | self.value as u32
    }

    /// The distance of this number ahead of `other`; negative if it is behind.
    ///
    /// The paper's era correction: numbers of different eras are both moved back by half the range before they are
    /// compared. Right if the two are less than half the range (32,768) apart.
    #[inline]
    pub const fn ahead_of(self, other: Self) -> i32 {
        let (left, right) = if self.era.bit() == other.era.bit() {
            (self.value, other.value)
        } else {
            const HALF: u16 = (SequenceNumber::RANGE / 2) as u16;
            (self.value.wrapping_sub(HALF), other.value.wrapping_sub(HALF))
        };
        left as i32 - right as i32
    }
}

impl fmt::Debug for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, if self.era == Era::Odd { "'" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(position: u32) -> SequenceNumber {
        SequenceNumber::new(position as u16, Era::from_bit((position >> 16) as u8))
    }

    proptest! {
        #[test]
        fn era_correction_orders_numbers_less_than_half_a_range_apart(start in 0u32..1 << 17, gap in 0u32..32_768) {
            let (near, far) = (number(start), number((start + gap) % (1 << 17)));
            prop_assert_eq!(far.ahead_of(near), gap as i32);
            prop_assert_eq!(near.ahead_of(far), -(gap as i32));
            prop_assert_eq!((far.offset_from(near), near.offset_from(far)), (gap as i32, -(gap as i32)));
        }

        #[test]
        fn steps_lead_from_any_number_to_any_other(start in 0u32..1 << 17, steps in 0u32..1 << 17) {
            prop_assert_eq!(number((start + steps) % (1 << 17)).steps_from(number(start)), steps);
        }

        #[test]
        fn plus_walks_the_seventeen_bit_circle(start in 0u32..1 << 17, count in any::<u16>()) {
            prop_assert_eq!(number(start).plus(count), number((start + u32::from(count)) % (1 << 17)));
            prop_assert_eq!(number(start).plus(1).previous(), number(start));
        }
    }
}
