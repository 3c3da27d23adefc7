//! Check sums of headers.

/// Sums 16-bit words as RFC 1071 does; an odd last byte is padded with a zero.
pub fn sum(bytes: &[u8]) -> u32 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let words: u32 = pairs.iter().map(|&pair| u32::from(u16::from_be_bytes(pair))).sum();
    words + rest.first().map_or(0, |&last| u32::from(last) << 8)
}

/// The Internet checksum of words with this sum (RFC 1071).
pub const fn internet(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The CRC-32 of Ethernet (IEEE 802.3, clause 3.2.9), over parts that follow each other.
pub struct Crc32(u32);

impl Crc32 {
    pub const fn new() -> Self {
        Self(u32::MAX)
    }

    #[must_use]
    pub fn over(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |crc, &byte| crc.byte(byte))
    }

    #[must_use]
    pub fn over_zeros(self, count: u32) -> Self {
        (0..count).fold(self, |crc, _| crc.byte(0))
    }

    const fn byte(self, byte: u8) -> Self {
        Self(TABLE[((self.0 ^ byte as u32) & 0xff) as usize] ^ self.0 >> 8)
    }

    /// Returns the bytes as sent, lowest first.
    pub const fn bytes(self) -> [u8; 4] {
        (!self.0).to_le_bytes()
    }
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut number = 0;
    while number < table.len() {
        let mut crc = number as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[number] = crc;
        number += 1;
    }
    table
};

/// FNV-1a over 32 bits.
pub fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_values_are_those_of_the_standards() {
        assert_eq!(Crc32::new().over(b"123456789").bytes(), 0xcbf4_3926_u32.to_le_bytes());
        assert_eq!(Crc32::new().over(&[0; 9]).bytes(), Crc32::new().over_zeros(9).bytes());
        // RFC 1071, section 3.
        assert_eq!(internet(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), !0xddf2);
        assert_eq!(internet(sum(&[0xff])), 0x00ff);
        // The FNV reference's vector for "foobar".
        assert_eq!(hash(b"foobar"), 0xbf9c_f968);
    }
}
