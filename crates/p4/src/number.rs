//! Integers in the three sizes of computations. BMv2 computes with unbounded integers and truncates to the target
//! field; here, `compile` selects the smallest size with the same result.

use std::cmp::Ordering;

use crate::bits::{self, Slot};

/// Number of 64-bit words in a [`Wide`].
pub const WIDE_WORDS: usize = 34;
/// Maximum width of a program's field in bits.
pub const FIELD_BITS_MAX: u32 = 2048;

/// A two's complement number of fixed size; overflow wraps.
pub trait Number: Clone + PartialEq {
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
    /// Sum.
    fn add(&self, other: &Self) -> Self;
    /// Difference.
    fn sub(&self, other: &Self) -> Self;
    /// Product.
    fn mul(&self, other: &Self) -> Self;
    /// Quotient of nonnegative numbers, rounded down; 0 for division by 0.
    fn div(&self, other: &Self) -> Self;
    /// Remainder of that division.
    fn rem(&self, other: &Self) -> Self;
    /// Bitwise and.
    fn and(&self, other: &Self) -> Self;
    /// Bitwise or.
    fn or(&self, other: &Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(&self, other: &Self) -> Self;
    /// Bitwise complement.
    fn not(&self) -> Self;
    /// Left shift.
    fn shl(&self, by: u64) -> Self;
    /// Right shift with sign extension.
    fn shr(&self, by: u64) -> Self;
    /// Comparison.
    fn order(&self, other: &Self) -> Ordering;

    /// Creates a number from a `u64`.
    fn small(value: u64) -> Self {
        Self::from_words(&[value])
    }

    /// Whether the number is negative.
    fn is_negative(&self) -> bool {
        self.order(&Self::small(0)) == Ordering::Less
    }

    /// Whether the number is 0.
    fn is_zero(&self) -> bool {
        *self == Self::small(0)
    }

    /// The number as an index or an amount; negative and too large numbers become the maximum.
    fn index(&self) -> u64 {
        if self.is_negative() || self.order(&Self::small(1).shl(62)) == Ordering::Greater {
            return u64::MAX;
        }
        self.word(0)
    }

    /// The low `width` bits as a two's complement number.
    fn wrap(&self, width: u64) -> Self {
        if width == 0 {
            return Self::small(0);
        }
        let half = Self::small(1).shl(width - 1);
        let mask = half.shl(1).sub(&Self::small(1));
        self.and(&mask).xor(&half).sub(&half)
    }

    /// The number clamped to the range of `width` bits.
    fn saturate(&self, width: u64, is_signed: bool) -> Self {
        let one = Self::small(1);
        let (least, most) = match (is_signed, width) {
            (_, 0) => (Self::small(0), Self::small(0)),
            (true, _) => (Self::small(0).sub(&one.shl(width - 1)), one.shl(width - 1).sub(&one)),
            (false, _) => (Self::small(0), one.shl(width).sub(&one)),
        };
        if self.order(&least) == Ordering::Less {
            least
        } else if self.order(&most) == Ordering::Greater {
            most
        } else {
            self.clone()
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
                (0..$words).rev().fold(0, |high: $unsigned, word| (high << 32 << 32) | of.0[word] as $unsigned) as $type
            }

            fn from_words(words: &[u64]) -> Self {
                let words = words.iter().take($words as usize).enumerate();
                words.fold(0, |value, (place, &word)| value | ((word as $unsigned) << (64 * place))) as $type
            }

            fn word(&self, number: usize) -> u64 {
                let by = (64 * number as u32).min(<$type>::BITS - 1);
                (*self >> by) as u64
            }

            #[inline]
            fn add(&self, other: &Self) -> Self {
                self.wrapping_add(*other)
            }

            #[inline]
            fn sub(&self, other: &Self) -> Self {
                self.wrapping_sub(*other)
            }

            #[inline]
            fn mul(&self, other: &Self) -> Self {
                self.wrapping_mul(*other)
            }

            fn div(&self, other: &Self) -> Self {
                self.checked_div(*other).unwrap_or(0)
            }

            fn rem(&self, other: &Self) -> Self {
                self.checked_rem(*other).unwrap_or(0)
            }

            #[inline]
            fn and(&self, other: &Self) -> Self {
                self & other
            }

            #[inline]
            fn or(&self, other: &Self) -> Self {
                self | other
            }

            #[inline]
            fn xor(&self, other: &Self) -> Self {
                self ^ other
            }

            #[inline]
            fn not(&self) -> Self {
                !self
            }

            #[inline]
            fn shl(&self, by: u64) -> Self {
                if by < u64::from(<$type>::BITS) { self << by } else { 0 }
            }

            #[inline]
            fn shr(&self, by: u64) -> Self {
                self >> by.min(u64::from(<$type>::BITS) - 1)
            }

            #[inline]
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
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

/// A number of 2176 bits, least significant word first, for fields of up to 2048 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wide(pub [u64; WIDE_WORDS]);

impl Wide {
    /// Zero.
    pub const ZERO: Self = Self([0; WIDE_WORDS]);

    /// Creates a number from bytes, most significant first; bytes beyond 272 are discarded.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut value = Self::ZERO;
        for (place, &byte) in bytes.iter().rev().take(8 * WIDE_WORDS).enumerate() {
            value.0[place / 8] |= u64::from(byte) << (8 * (place % 8));
        }
        value
    }

    /// Number of significant bits, taken as unsigned.
    pub fn bit_length(&self) -> u32 {
        let top = self.0.iter().rposition(|&word| word != 0);
        top.map_or(0, |top| 64 * top as u32 + 64 - self.0[top].leading_zeros())
    }

    fn zip(&self, other: &Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|place| of(self.0[place], other.0[place])))
    }

    fn divide(&self, other: &Self) -> (Self, Self) {
        let (mut quotient, mut rest) = (Self::ZERO, Self::ZERO);
        if other.is_zero() {
            return (quotient, rest);
        }
        for bit in (0..self.bit_length() as usize).rev() {
            rest = rest.shl(1);
            rest.0[0] |= (self.0[bit / 64] >> (bit % 64)) & 1;
            if rest.order(other) != Ordering::Less {
                rest = rest.sub(other);
                quotient.0[bit / 64] |= 1 << (bit % 64);
            }
        }
        (quotient, rest)
    }
}

impl Number for Wide {
    fn read(bytes: &[u8], slot: Slot) -> Self {
        let mut value = Self::ZERO;
        let (mut end, mut left) = ((slot.bit + slot.width) as usize, slot.width as usize);
        for word in &mut value.0 {
            let now = left.min(64);
            *word = bits::read(bytes, end - now, now);
            end -= now;
            left -= now;
        }
        if slot.is_signed { value.wrap(u64::from(slot.width)) } else { value }
    }

    fn write(&self, bytes: &mut [u8], slot: Slot) {
        write_words(|word| self.word(word), bytes, slot);
    }

    fn constant(of: &Wide) -> Self {
        *of
    }

    fn from_words(words: &[u64]) -> Self {
        Self(std::array::from_fn(|place| words.get(place).copied().unwrap_or(0)))
    }

    fn word(&self, number: usize) -> u64 {
        self.0.get(number).copied().unwrap_or(if self.is_negative() { u64::MAX } else { 0 })
    }

    fn add(&self, other: &Self) -> Self {
        let mut carry = false;
        Self(std::array::from_fn(|place| {
            let (sum, first) = self.0[place].overflowing_add(other.0[place]);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            carry = first | second;
            sum
        }))
    }

    fn sub(&self, other: &Self) -> Self {
        self.add(&other.not()).add(&Self::small(1))
    }

    fn mul(&self, other: &Self) -> Self {
        let mut product = Self::ZERO;
        for low in (0..WIDE_WORDS).filter(|&low| self.0[low] != 0) {
            let mut carry = 0u128;
            for high in 0..WIDE_WORDS - low {
                let sum =
                    u128::from(self.0[low]) * u128::from(other.0[high]) + u128::from(product.0[low + high]) + carry;
                product.0[low + high] = sum as u64;
                carry = sum >> 64;
            }
        }
        product
    }

    fn div(&self, other: &Self) -> Self {
        self.divide(other).0
    }

    fn rem(&self, other: &Self) -> Self {
        self.divide(other).1
    }

    fn and(&self, other: &Self) -> Self {
        self.zip(other, |one, other| one & other)
    }

    fn or(&self, other: &Self) -> Self {
        self.zip(other, |one, other| one | other)
    }

    fn xor(&self, other: &Self) -> Self {
        self.zip(other, |one, other| one ^ other)
    }

    fn not(&self) -> Self {
        Self(self.0.map(|word| !word))
    }

    fn shl(&self, by: u64) -> Self {
        let Ok(by) = usize::try_from(by) else { return Self::ZERO };
        let (words, bits) = (by / 64, by % 64);
        let at = |place: Option<usize>| place.and_then(|place| self.0.get(place)).copied().unwrap_or(0);
        Self(std::array::from_fn(|place| {
            let (high, low) = (at(place.checked_sub(words)), at(place.checked_sub(words.saturating_add(1))));
            if bits == 0 { high } else { (high << bits) | (low >> (64 - bits)) }
        }))
    }

    fn shr(&self, by: u64) -> Self {
        let by = usize::try_from(by).unwrap_or(usize::MAX).min(64 * WIDE_WORDS);
        let (words, bits) = (by / 64, by % 64);
        Self(std::array::from_fn(|place| {
            let (low, high) = (self.word(place + words), self.word(place + words + 1));
            if bits == 0 { low } else { (low >> bits) | (high << (64 - bits)) }
        }))
    }

    fn order(&self, other: &Self) -> Ordering {
        let signs = other.is_negative().cmp(&self.is_negative());
        signs.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    fn is_negative(&self) -> bool {
        self.0[WIDE_WORDS - 1] >> 63 == 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wide(value: i128) -> Wide {
        let fill = if value < 0 { u64::MAX } else { 0 };
        let mut words = [fill; WIDE_WORDS];
        (words[0], words[1]) = (value as u64, (value >> 64) as u64);
        Wide(words)
    }

    proptest! {
        #[test]
        fn wide_numbers_compute_as_128_bits_do(one: i64, other: i64, by in 0u64..60, width in 1u64..60) {
            let (a, b) = (i128::from(one), i128::from(other));
            prop_assert_eq!(wide(a).add(&wide(b)), wide(a + b));
            prop_assert_eq!(wide(a).sub(&wide(b)), wide(a - b));
            prop_assert_eq!(wide(a).mul(&wide(b)), wide(a * b));
            prop_assert_eq!(wide(a).shl(by), wide(a << by));
            prop_assert_eq!(wide(a).shr(by), wide(a >> by));
            prop_assert_eq!(wide(a).order(&wide(b)), a.cmp(&b));
            prop_assert_eq!(wide(a).wrap(width), wide(Number::wrap(&a, width)));
            prop_assert_eq!(wide(a).saturate(width, true), wide(a.saturate(width, true)));
            let (a, b) = (a.abs(), b.abs());
            prop_assert_eq!(wide(a).div(&wide(b)), wide(a.checked_div(b).unwrap_or(0)));
            prop_assert_eq!(wide(a).rem(&wide(b)), wide(a.checked_rem(b).unwrap_or(0)));
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
