//! The hash functions of v1model, as BMv2 computes them.

use crate::bits;

/// A cyclic redundancy check of up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc {
    /// Bits.
    pub width: u32,
    /// Its polynomial.
    pub polynomial: u64,
    /// What it begins with.
    pub initial: u64,
    /// What it is xored with at the end.
    pub final_xor: u64,
    /// The least significant bit of a byte is first, and the result is turned round.
    pub reflects: bool,
}

/// How a hash is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A cyclic redundancy check.
    Crc(Crc),
    /// The Internet checksum (RFC 1071).
    Checksum,
    /// Words of 16 bits, xored.
    Xor16,
    /// Words of 32 bits, xored.
    Xor32,
    /// The first 64 bits.
    Identity,
    /// The next random number.
    Random,
    /// The next number.
    RoundRobin,
}

const fn crc(width: u32, polynomial: u64, initial: u64, final_xor: u64, reflects: bool) -> Crc {
    Crc { width, polynomial, initial, final_xor, reflects }
}

const CRC16: Crc = crc(16, 0x8005, 0, 0, true);
const CRC32: Crc = crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true);
const CCITT: Crc = crc(16, 0x1021, 0xffff, 0, false);
const CRC8: Crc = crc(8, 0x07, 0, 0, false);
const CRC64: Crc = crc(64, 0x1b, 0, 0, true);

impl Algorithm {
    /// The one that a document calls `name`.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "crc16" | "crc16_custom" => Self::Crc(CRC16),
            "crc32" | "crc32_custom" => Self::Crc(CRC32),
            "crcCCITT" => Self::Crc(CCITT),
            "crc8_custom" => Self::Crc(CRC8),
            "crc64_custom" => Self::Crc(CRC64),
            "csum16" | "cksum16" => Self::Checksum,
            "xor16" => Self::Xor16,
            "xor32" => Self::Xor32,
            "identity" => Self::Identity,
            "random" => Self::Random,
            "round_robin" => Self::RoundRobin,
            _ => return None,
        })
    }
}

impl Crc {
    /// The check of `bytes`, eight bits at a time.
    pub fn of(&self, bytes: &[u8]) -> u64 {
        let top = 64 - self.width;
        let polynomial = self.polynomial << top;
        let mut rest = self.initial << top;
        for &byte in bytes {
            let byte = if self.reflects { byte.reverse_bits() } else { byte };
            rest ^= u64::from(byte) << 56;
            for _ in 0..8 {
                let carries = rest >> 63 == 1;
                rest = (rest << 1) ^ if carries { polynomial } else { 0 };
            }
        }
        let result = if self.reflects { rest.reverse_bits() } else { rest >> top };
        (result ^ self.final_xor) & (u64::MAX >> top)
    }
}

/// The Internet checksum of `bytes`; a last odd byte counts as the upper half of a word.
pub fn internet_checksum(bytes: &[u8]) -> u16 {
    let mut sum = 0u64;
    let mut chunks = bytes.chunks_exact(4);
    for chunk in &mut chunks {
        sum += u64::from(u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
    }
    let mut last = [0; 4];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    sum += u64::from(u32::from_be_bytes(last));
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn xor(bytes: &[u8], width: usize) -> u64 {
    bytes.chunks(width).fold(0, |value, chunk| value ^ bits::read(chunk, 0, 8 * width))
}

/// The value of a hash of `input`; `next` gives the next number of those that depend on none.
pub fn hash(algorithm: Algorithm, input: &[u8], next: &mut u64) -> u64 {
    match algorithm {
        Algorithm::Crc(crc) => crc.of(input),
        Algorithm::Checksum => internet_checksum(input).into(),
        Algorithm::Xor16 => xor(input, 2),
        Algorithm::Xor32 => xor(input, 4),
        Algorithm::Identity => input.iter().take(8).fold(0, |value, &byte| (value << 8) | u64::from(byte)),
        Algorithm::Random => random(next),
        Algorithm::RoundRobin => {
            *next += 1;
            *next - 1
        }
    }
}

/// The next number of a generator whose state is a counter (SplitMix64).
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values that catalogues of these functions give for "123456789".
    #[test]
    fn checks_have_their_published_values() {
        let of = |name: &str| match Algorithm::of(name) {
            Some(Algorithm::Crc(crc)) => crc.of(b"123456789"),
            _ => panic!("{name} is no check"),
        };
        assert_eq!(of("crc16"), 0xbb3d, "CRC-16/ARC");
        assert_eq!(of("crc32"), 0xcbf4_3926, "CRC-32/ISO-HDLC");
        assert_eq!(of("crcCCITT"), 0x29b1, "CRC-16/IBM-3740");
        assert_eq!(of("crc8_custom"), 0xf4, "CRC-8/SMBUS");
    }

    /// The example of RFC 1071, section 3.
    #[test]
    fn the_internet_checksum_is_that_of_the_rfc() {
        assert_eq!(internet_checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(internet_checksum(&[0xab]), !0xab00);
    }
}
