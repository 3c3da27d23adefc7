//! The hash functions of ECMP, written here because results must not change with a library's default.

use hitless_core::engine::identity::fmix32;

/// Hashes a 5-tuple for [`hitless_core::wire::Packet::flow_hash`]: MurmurHash3_x86_32's mixing over its four words.
///
/// The two directions of a connection have different hashes, as in real switches.
pub const fn flow_hash(source: u32, destination: u32, source_port: u16, destination_port: u16, protocol: u8) -> u32 {
    let ports = (source_port as u32) << 16 | destination_port as u32;
    let mut hash = murmur3_round(0, source);
    hash = murmur3_round(hash, destination);
    hash = murmur3_round(hash, ports);
    hash = murmur3_round(hash, protocol as u32);
    fmix32(hash ^ 16)
}

const fn murmur3_round(hash: u32, word: u32) -> u32 {
    let word = word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

/// Maps a 32-bit hash to `0..count` by the high bits of the product (Lemire 2016), without a division.
#[inline]
pub(super) const fn reduce(hash: u32, count: u32) -> u32 {
    ((hash as u64 * count as u64) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn murmur3_gives_its_published_value() {
        // "aaaa" with seed 0x9747b28c, from the usual test vectors.
        assert_eq!(fmix32(murmur3_round(0x9747_b28c, u32::from_le_bytes(*b"aaaa")) ^ 4), 0x5a97_808a);
    }

    #[test]
    fn the_flow_hash_never_changes_between_versions() {
        let pinned = [
            ((0, 0, 0, 0, 0), 0x8134_cdf8),
            ((3, 7, 10_000, 80, 6), 0xa893_28a7),
            ((7, 3, 80, 10_000, 6), 0x41f6_4846),
        ];
        for ((source, destination, source_port, destination_port, protocol), hash) in pinned {
            assert_eq!(flow_hash(source, destination, source_port, destination_port, protocol), hash);
        }
    }

    #[test]
    fn reduce_covers_the_range_evenly() {
        assert_eq!(reduce(0, 7), 0);
        assert_eq!(reduce(u32::MAX, 7), 6);
        assert_eq!(reduce(1 << 31, 8), 4);
    }
}
