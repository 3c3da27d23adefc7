//! Completes frames from a packet socket: a checksum that the sender's kernel left to its network card, and a VLAN tag
//! that the receiver's kernel removed.

use hitless_core::wire::checksum::ones_complement_sum;

pub const ADDRESSES_BYTES: usize = 12;
pub const HEADER_BYTES: usize = 14;
pub const TAG_BYTES: usize = 4;
/// The type of a VLAN tag, IEEE 802.1Q.
pub const TAG_TYPE: u16 = 0x8100;

/// The place of an incomplete checksum: it covers the frame from `start` and is stored `offset` bytes after that. The
/// field already contains the sum of the pseudo-header (`CHECKSUM_PARTIAL` of Linux).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// First byte of the sum.
    pub start: usize,
    /// Offset of the checksum, relative to `start`.
    pub offset: usize,
}

impl PartialChecksum {
    /// Completes the checksum of `frame`; returns false if it would be outside the frame.
    #[must_use]
    pub fn complete(self, frame: &mut [u8]) -> bool {
        let Some(covered) = frame.get_mut(self.start..) else { return false };
        if covered.len() < self.offset + 2 {
            return false;
        }
        let sum = match !ones_complement_sum(covered) {
            // In UDP zero means "no checksum" (RFC 768); all ones is an equal number in ones' complement.
            0 => 0xffff,
            sum => sum,
        };
        covered[self.offset..self.offset + 2].copy_from_slice(&sum.to_be_bytes());
        true
    }
}

/// Inserts a VLAN tag into the frame that starts at `start` of `room`, by moving the addresses forward by
/// [`TAG_BYTES`]. Returns the new start; `None` without enough room.
#[must_use]
pub fn insert_tag(room: &mut [u8], start: usize, tag_type: u16, tag: u16) -> Option<usize> {
    let new_start = start.checked_sub(TAG_BYTES)?;
    if room.len() < start + ADDRESSES_BYTES {
        return None;
    }
    room.copy_within(start..start + ADDRESSES_BYTES, new_start);
    let at = new_start + ADDRESSES_BYTES;
    room[at..at + 2].copy_from_slice(&tag_type.to_be_bytes());
    room[at + 2..at + 4].copy_from_slice(&tag.to_be_bytes());
    Some(new_start)
}

/// Returns the maximum length of `frame` on a link of `mtu_bytes`, headers included; a tag does not count.
pub fn limit_bytes(frame: &[u8], mtu_bytes: usize) -> usize {
    let is_tagged = frame.get(ADDRESSES_BYTES..HEADER_BYTES) == Some(&TAG_TYPE.to_be_bytes());
    mtu_bytes + HEADER_BYTES + if is_tagged { TAG_BYTES } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_tag_goes_between_addresses_and_type() {
        let mut room = *b"....ddddddssssssTTpayload";
        let start = insert_tag(&mut room, 4, TAG_TYPE, 0x6005).expect("four bytes of room");
        assert_eq!(&room[start..], b"ddddddssssss\x81\x00\x60\x05TTpayload");
        assert_eq!(insert_tag(&mut room, 3, TAG_TYPE, 1), None);
    }

    #[test]
    fn a_tagged_frame_may_be_longer() {
        let mut frame = [0; 64];
        assert_eq!(limit_bytes(&frame, 1500), 1514);
        frame[12] = 0x81;
        assert_eq!(limit_bytes(&frame, 1500), 1518);
        assert_eq!(limit_bytes(&frame[..13], 1500), 1514);
    }

    fn slow_sum(bytes: &[u8]) -> u16 {
        bytes.chunks(2).fold(0_u16, |sum, pair| {
            let word = u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]);
            let (sum, carry) = sum.overflowing_add(word);
            sum + u16::from(carry)
        })
    }

    proptest! {
        #[test]
        fn the_sum_is_that_of_the_slow_way(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(ones_complement_sum(&bytes), slow_sum(&bytes));
        }

        /// A receiver sums the covered bytes, checksum included, and must get all ones.
        #[test]
        fn a_completed_checksum_is_right(
            mut frame in prop::collection::vec(any::<u8>(), 64..200), start in 0_usize..60, half in 0_usize..30,
        ) {
            let partial = PartialChecksum { start, offset: half * 2 };
            let pseudo = 0x1234_u16;
            let Some(field) = frame.get_mut(start + half * 2..start + half * 2 + 2) else { return Ok(()) };
            field.copy_from_slice(&pseudo.to_be_bytes());
            prop_assert!(partial.complete(&mut frame));
            let mut all = pseudo.to_be_bytes().to_vec();
            all.extend_from_slice(&frame[start..]);
            prop_assert_eq!(ones_complement_sum(&all), 0xffff);
        }

        #[test]
        fn nothing_outside_of_the_frame_is_touched(start in 0_usize..100, offset in 0_usize..100) {
            let mut frame = [7; 64];
            let inside = start + offset + 2 <= 64;
            prop_assert_eq!(PartialChecksum { start, offset }.complete(&mut frame), inside);
        }
    }
}
