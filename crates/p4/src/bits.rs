//! Bit fields in bytes: reads, writes and copies at any bit offset, most significant bit first as on the wire.

/// The position of a field in an array of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// First bit, counted from the start of the array.
    pub bit: u32,
    pub width: u32,
    /// Whether the field is a two's complement number.
    pub is_signed: bool,
}

/// Reads `width` bits (at most 64) from `bit` on; bits beyond the end of `bytes` are 0.
#[inline]
pub fn read(bytes: &[u8], bit: usize, width: usize) -> u64 {
    let (start, offset) = (bit / 8, bit % 8);
    if width == 0 || width > 64 {
        return 0;
    }
    if offset + width <= 64
        && let Some(chunk) = bytes.get(start..).and_then(|rest| rest.first_chunk::<8>())
    {
        return (u64::from_be_bytes(*chunk) << offset) >> (64 - width);
    }
    let mut word = 0u128;
    for place in start..start + 16 {
        word = (word << 8) | u128::from(bytes.get(place).copied().unwrap_or(0));
    }
    ((word << offset) >> (128 - width)) as u64
}

/// Writes the low `width` bits (at most 64) of `value` from `bit` on; bits beyond the end of `bytes` are discarded.
#[inline]
pub fn write(bytes: &mut [u8], bit: usize, width: usize, value: u64) {
    let (start, offset) = (bit / 8, bit % 8);
    if width == 0 || width > 64 {
        return;
    }
    if offset + width <= 64
        && let Some(chunk) = bytes.get_mut(start..).and_then(|rest| rest.first_chunk_mut::<8>())
    {
        let shift = 64 - width - offset;
        let mask = (u64::MAX >> (64 - width)) << shift;
        let word = u64::from_be_bytes(*chunk);
        *chunk = ((word & !mask) | ((value << shift) & mask)).to_be_bytes();
        return;
    }
    let shift = 128 - width - offset;
    let mask = (u128::from(u64::MAX >> (64 - width))) << shift;
    let (new, mask) = (((u128::from(value) << shift) & mask).to_be_bytes(), mask.to_be_bytes());
    for (place, (new, mask)) in new.into_iter().zip(mask).enumerate() {
        if let Some(byte) = bytes.get_mut(start + place) {
            *byte = (*byte & !mask) | new;
        }
    }
}

/// Copies `count` bits; by bytes if both ends are aligned.
#[inline]
pub fn copy(to: &mut [u8], to_bit: usize, from: &[u8], from_bit: usize, count: usize) {
    let mut done = 0;
    if to_bit.is_multiple_of(8) && from_bit.is_multiple_of(8) {
        let bytes = count / 8;
        let (to_at, from_at) = (to_bit / 8, from_bit / 8);
        if let (Some(to), Some(from)) = (to.get_mut(to_at..to_at + bytes), from.get(from_at..from_at + bytes)) {
            to.copy_from_slice(from);
            done = bytes * 8;
        }
    }
    while done < count {
        let now = (count - done).min(56);
        write(to, to_bit + done, now, read(from, from_bit + done, now));
        done += now;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reference implementation, bit by bit.
    fn slow(bytes: &[u8], bit: usize, width: usize) -> u64 {
        (bit..bit + width).fold(0, |value, at| {
            let byte = bytes.get(at / 8).copied().unwrap_or(0);
            (value << 1) | u64::from((byte >> (7 - at % 8)) & 1)
        })
    }

    proptest! {
        #[test]
        fn a_field_is_read_bit_by_bit(bytes in prop::collection::vec(any::<u8>(), 0..40), bit in 0usize..200,
                                      width in 0usize..=64) {
            prop_assert_eq!(read(&bytes, bit, width), slow(&bytes, bit, width));
        }

        #[test]
        fn a_write_changes_its_bits_alone(bytes in prop::collection::vec(any::<u8>(), 24..40), bit in 0usize..120,
                                          width in 1usize..=64, value: u64) {
            let mut written = bytes.clone();
            write(&mut written, bit, width, value);
            prop_assert_eq!(read(&written, bit, width), value & (u64::MAX >> (64 - width)));
            for other in (0..bytes.len() * 8).filter(|other| !(bit..bit + width).contains(other)) {
                prop_assert_eq!(slow(&written, other, 1), slow(&bytes, other, 1), "bit {}", other);
            }
        }

        #[test]
        fn a_copy_is_that_of_each_bit(from in prop::collection::vec(any::<u8>(), 30..40), to_bit in 0usize..30,
                                      from_bit in 0usize..30, count in 0usize..150) {
            let mut to = vec![0xa5; 40];
            copy(&mut to, to_bit, &from, from_bit, count);
            for at in 0..count {
                prop_assert_eq!(slow(&to, to_bit + at, 1), slow(&from, from_bit + at, 1));
            }
            prop_assert_eq!(slow(&to, to_bit + count, 30), slow(&[0xa5; 40], to_bit + count, 30));
        }
    }
}
