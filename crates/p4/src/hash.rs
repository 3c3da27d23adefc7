//! The hash functions of v1model, equal to BMv2's.

use crc::{CRC_8_SMBUS, CRC_16_ARC, CRC_16_IBM_3740, Crc};
use hitless_core::wire::checksum::{CRC_32, ones_complement_sum};

use crate::bits;

pub static CRC_16: Crc<u16> = Crc::<u16>::new(&CRC_16_ARC);
static CRC_CCITT: Crc<u16> = Crc::<u16>::new(&CRC_16_IBM_3740);
static CRC_8: Crc<u8> = Crc::<u8>::new(&CRC_8_SMBUS);
// The polynomial of ISO 3309 without inversions. The catalogue of `crc` has it only with them (CRC-64/GO-ISO).
static CRC_64: Crc<u64> = Crc::<u64>::new(&crc::Algorithm {
    width: 64,
    poly: 0x1b,
    init: 0,
    refin: true,
    refout: true,
    xorout: 0,
    check: 0x46a5_a938_8a5b_effe,
    residue: 0,
});

#[derive(Clone, Copy, Debug)]
pub enum Algorithm {
    Crc(fn(&[u8]) -> u64),
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

impl Algorithm {
    /// The algorithm with this name in the document.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            "crc16" | "crc16_custom" => Self::Crc(|input| CRC_16.checksum(input).into()),
            "crc32" | "crc32_custom" => Self::Crc(|input| CRC_32.checksum(input).into()),
            "crcCCITT" => Self::Crc(|input| CRC_CCITT.checksum(input).into()),
            "crc8_custom" => Self::Crc(|input| CRC_8.checksum(input).into()),
            "crc64_custom" => Self::Crc(|input| CRC_64.checksum(input)),
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

fn xor(bytes: &[u8], width: usize) -> u64 {
    bytes.chunks(width).fold(0, |value, chunk| value ^ bits::read(chunk, 0, 8 * width))
}

/// The hash of `input`; `next` is the state of the algorithms that ignore their input.
pub fn hash(algorithm: Algorithm, input: &[u8], next: &mut u64) -> u64 {
    match algorithm {
        Algorithm::Crc(of) => of(input),
        Algorithm::Checksum => u64::from(!ones_complement_sum(input)),
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

    #[test]
    fn the_check_value_of_the_crc_of_64_bits_is_right() {
        assert_eq!(CRC_64.checksum(b"123456789"), CRC_64.algorithm.check);
    }
}
