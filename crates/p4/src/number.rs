//! Integers in the three sizes of computations. BMv2 computes with unbounded integers and truncates to the target
//! field; here, `compile` selects the smallest size with the same result.

use bnum::{BInt, BUint};
use num_traits::{CheckedRem, CheckedShl, CheckedShr, PrimInt, WrappingAdd, WrappingMul, WrappingSub};

use crate::bits::{self, Slot};

pub const WIDE_WORDS: usize = 34;
/// Maximum width of a program's field in bits.
pub const FIELD_BITS_MAX: u32 = 2048;

/// A number of 2176 bits, for fields of up to 2048 bits.
pub type Wide = BInt<WIDE_WORDS>;

/// Creates a [`Wide`] from bytes, most significant first; bytes beyond 272 are discarded.
pub fn wide(bytes: &[u8]) -> Wide {
    bytes.iter().fold(Wide::ZERO, |value, &byte| (value << 8) | Wide::from(byte))
}

/// A two's complement number of fixed size; overflow wraps.
pub trait Number: PrimInt + WrappingAdd + WrappingSub + WrappingMul + CheckedRem + CheckedShl + CheckedShr {
    /// Reads the field of `bytes` at `slot`; of a wider field, only the low bits.
    fn read(bytes: &[u8], slot: Slot) -> Self;
    /// Writes the low bits to the field of `bytes` at `slot`.
    fn write(&self, bytes: &mut [u8], slot: Slot);
    /// The low bits of a constant.
    fn constant(of: &Wide) -> Self;
    /// Creates an unsigned number from words, least significant first.
    fn from_words(words: &[u64]) -> Self;
    /// The word at this index, sign-extended.
    fn word(&self, number: usize) -> u64;

    fn small(value: u64) -> Self {
        Self::from_words(&[value])
    }

    /// Left shift by any number of bits.
    fn left(self, by: u64) -> Self {
        u32::try_from(by).ok().and_then(|by| self.checked_shl(by)).unwrap_or_else(Self::zero)
    }

    /// Right shift by any number of bits, with sign extension.
    fn right(self, by: u64) -> Self {
        let sign = || if self < Self::zero() { !Self::zero() } else { Self::zero() };
        u32::try_from(by).ok().and_then(|by| self.checked_shr(by)).unwrap_or_else(sign)
    }

    /// The number as an index or an amount; negative and too large numbers become the maximum.
    fn index(&self) -> u64 {
        if *self < Self::zero() || *self > Self::one().left(62) {
            return u64::MAX;
        }
        self.word(0)
    }

    /// The low `width` bits as a two's complement number.
    fn wrap(&self, width: u64) -> Self {
        if width == 0 {
            return Self::zero();
        }
        // Flipping the sign bit and subtracting it again extends the sign.
        let half = Self::one().left(width - 1);
        let mask = half.left(1).wrapping_sub(&Self::one());
        ((*self & mask) ^ half).wrapping_sub(&half)
    }

    /// The number clamped to the range of `width` bits.
    fn saturate(&self, width: u64, is_signed: bool) -> Self {
        let (zero, one) = (Self::zero(), Self::one());
        let (least, most) = match (is_signed, width) {
            (_, 0) => (zero, zero),
            (true, _) => (zero.wrapping_sub(&one.left(width - 1)), one.left(width - 1).wrapping_sub(&one)),
            (false, _) => (zero, one.left(width).wrapping_sub(&one)),
        };
        if *self < least {
            least
        } else if *self > most {
            most
        } else {
            *self
        }
    }
}

macro_rules! narrow {
    ($type:ty, $unsigned:ty, $words:expr) => {
        impl Number for $type {
            #[inline]
            fn read(bytes: &[u8], slot: Slot) -> Self {
                let mut value: $unsigned = 0;
                let (mut end, mut left) = ((slot.bit + slot.width) as usize, slot.width as usize);
                for word in 0..$words {
                    let now = left.min(64);
                    value |= (bits::read(bytes, end - now, now) as $unsigned).wrapping_shl(64 * word);
                    end -= now;
                    left -= now;
                    if left == 0 {
                        break;
                    }
                }
                let room = <$unsigned>::BITS.saturating_sub(slot.width);
                if slot.is_signed { ((value << room) as $type) >> room } else { value as $type }
            }

            #[inline]
            fn write(&self, bytes: &mut [u8], slot: Slot) {
                if slot.width <= 64 {
                    return bits::write(bytes, slot.bit as usize, slot.width as usize, *self as u64);
                }
                write_words(|word| self.word(word), bytes, slot);
            }

            #[inline]
            fn constant(of: &Wide) -> Self {
                // Two shifts by 32, because a single shift by 64 is an error for the 64-bit type.
                (0..$words).rev().fold(0, |high: $unsigned, word| (high << 32 << 32) | of.word(word) as $unsigned)
                    as $type
            }

            fn from_words(words: &[u64]) -> Self {
                let words = words.iter().take($words as usize).enumerate();
                words.fold(0, |value, (place, &word)| value | ((word as $unsigned) << (64 * place))) as $type
            }

            fn word(&self, number: usize) -> u64 {
                let by = (64 * number as u32).min(<$type>::BITS - 1);
                (*self >> by) as u64
            }
        }
    };
}

narrow!(i64, u64, 1);
narrow!(i128, u128, 2);

fn write_words(word: impl Fn(usize) -> u64, bytes: &mut [u8], slot: Slot) {
    let (mut end, mut left, mut number) = ((slot.bit + slot.width) as usize, slot.width as usize, 0);
    while left > 0 {
        let now = left.min(64);
        bits::write(bytes, end - now, now, word(number));
        end -= now;
        left -= now;
        number += 1;
    }
}

impl Number for Wide {
    fn read(bytes: &[u8], slot: Slot) -> Self {
        let (mut words, mut end, mut left) = ([0; WIDE_WORDS], (slot.bit + slot.width) as usize, slot.width as usize);
        for word in &mut words {
            let now = left.min(64);
            *word = bits::read(bytes, end - now, now);
            end -= now;
            left -= now;
        }
        let value = Self::from_words(&words);
        if slot.is_signed { value.wrap(u64::from(slot.width)) } else { value }
    }

    fn write(&self, bytes: &mut [u8], slot: Slot) {
        write_words(|word| self.word(word), bytes, slot);
    }

    fn constant(of: &Wide) -> Self {
        *of
    }

    fn from_words(words: &[u64]) -> Self {
        let digits = std::array::from_fn(|place| words.get(place).copied().unwrap_or(0));
        Self::from_bits(BUint::from_digits(digits))
    }

    fn word(&self, number: usize) -> u64 {
        self.as_bits().digits().get(number).copied().unwrap_or(if self.is_negative() { u64::MAX } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wide(value: i128) -> Wide {
        Wide::from(value)
    }

    proptest! {
        #[test]
        fn wide_numbers_shift_and_fit_as_128_bits_do(value: i64, by in 0u64..60, width in 1u64..60) {
            let value = i128::from(value);
            prop_assert_eq!(wide(value).left(by), wide(value.left(by)));
            prop_assert_eq!(wide(value).right(by), wide(value.right(by)));
            prop_assert_eq!(wide(value).right(by << 8), wide(value.right(by << 8)));
            prop_assert_eq!(wide(value).index(), value.index());
            prop_assert_eq!(wide(value).wrap(width), wide(Number::wrap(&value, width)));
            for is_signed in [false, true] {
                prop_assert_eq!(wide(value).saturate(width, is_signed), wide(value.saturate(width, is_signed)));
            }
        }

        #[test]
        fn all_sizes_read_and_write_alike(value: u64, bit in 0u32..70, width in 1u32..=128, is_signed: bool) {
            let slot = Slot { bit, width, is_signed };
            let mut bytes = [[0u8; 40]; 3];
            let value = u128::from(value) * 0x1_0000_0001_0000_0001;
            (value as i128).write(&mut bytes[0], slot);
            wide(value as i128).write(&mut bytes[1], slot);
            prop_assert_eq!(bytes[0], bytes[1]);
            prop_assert_eq!(wide(i128::read(&bytes[0], slot)), if is_signed || width < 128 {
                Wide::read(&bytes[0], slot)
            } else {
                wide(i128::constant(&Wide::read(&bytes[0], slot)))
            });
            if width <= 64 {
                (value as i64).write(&mut bytes[2], slot);
                prop_assert_eq!(bytes[0], bytes[2]);
            }
        }
    }
}
