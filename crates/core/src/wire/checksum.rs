//! The Internet checksum, and the CRC of Ethernet.

use crc::{CRC_32_ISO_HDLC, Crc};

/// CRC-32 of Ethernet (IEEE 802.3, clause 3.2.9).
pub const CRC_32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Computes the Internet checksum of `bytes` before it is complemented (RFC 1071).
#[must_use]
pub fn ones_complement_sum(bytes: &[u8]) -> u16 {
    let mut sum = 0_u64;
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        sum += u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
    }
    let mut rest = [0; 4];
    rest[..words.remainder().len()].copy_from_slice(words.remainder());
    sum += u64::from(u32::from_be_bytes(rest));
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).expect("folded to 16 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 1071, section 3: the sum of its example.
    #[test]
    fn sum_of_the_rfc() {
        assert_eq!(ones_complement_sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
        // An odd last byte is the upper half of a word.
        assert_eq!(ones_complement_sum(&[0xab]), 0xab00);
    }
}
