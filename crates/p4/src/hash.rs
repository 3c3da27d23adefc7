//! The hash functions of v1model, equal to BMv2's.

use crate::bits;

/// A cyclic redundancy check (CRC) of up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc {
    /// Width in bits.
    pub width: u32,
    /// The polynomial.
    pub polynomial: u64,
    /// The initial value.
    pub initial: u64,
    /// The value xored with the result.
    pub final_xor: u64,
    /// Whether input bytes and result are bit-reversed.
    pub reflects: bool,
}

/// A hash algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A cyclic redundancy check.
    Crc(Crc),
    /// The Internet checksum (RFC 1071).
    Checksum,
    /// The xor of all 16-bit words.
    Xor16,
    /// The xor of all 32-bit words.
    Xor32,
    /// The first 64 bits of the input.
    Identity,
    /// The next random number, independent of the input.
    Random,
    /// The next value of a counter, independent of the input.
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
    /// The algorithm with this name in the document.
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
    /// The CRC of `bytes`, eight bits at a time.
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

/// The Internet checksum of `bytes`; an odd last byte is the upper half of a word.
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

/// The hash of `input`; `next` is the state of the algorithms that ignore their input.
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

/// The next number of SplitMix64, a generator with a counter as its state.
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

    /// The check values for "123456789" in CRC catalogues.
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
