//! Named random streams.
//!
//! Each use of randomness has a separate stream, derived from the run's seed and a name ("link 3 loss"). An additional
//! use therefore does not change the numbers of the others. The generator is PCG64 MCG, chosen explicitly because
//! results must not change with a library's default.

use rand::SeedableRng;

/// The generator of every stream: PCG XSL RR 128/64 (MCG), period 2^126.
pub type Stream = rand_pcg::Pcg64Mcg;

/// Derives streams from a seed by name.
#[derive(Clone, Copy, Debug, crate::state::Value)]
pub struct RandomStreams {
    seed: u64,
}

impl RandomStreams {
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the stream called `name`, from its beginning.
    pub fn stream(&self, name: &str) -> Stream {
        let name_hash = fnv1a(name.as_bytes());
        let mut state = self.seed;
        let mut bytes = [0; 16];
        for half in bytes.chunks_exact_mut(8) {
            state = mix(state ^ name_hash);
            half.copy_from_slice(&state.to_le_bytes());
        }
        Stream::from_seed(bytes)
    }
}

/// FNV-1a over 64 bits: stable across platforms and versions, unlike the standard hashers.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014), with its increment.
pub(crate) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    fn first_numbers(seed: u64, name: &str) -> [u64; 4] {
        let mut stream = RandomStreams::new(seed).stream(name);
        std::array::from_fn(|_| stream.next_u64())
    }

    #[test]
    fn a_stream_depends_on_seed_and_name_only() {
        assert_eq!(first_numbers(1, "link 0 loss"), first_numbers(1, "link 0 loss"));
        assert_ne!(first_numbers(1, "link 0 loss"), first_numbers(2, "link 0 loss"));
        assert_ne!(first_numbers(1, "link 0 loss"), first_numbers(1, "link 1 loss"));
    }

    #[test]
    fn the_numbers_never_change_between_versions() {
        assert_eq!(first_numbers(1, "pinned"), PINNED);
    }

    const PINNED: [u64; 4] =
        [416_865_824_001_765_395, 9_865_638_627_112_694_611, 10_286_955_988_198_217_797, 15_626_189_087_401_779_820];
}
