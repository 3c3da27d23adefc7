//! A transmitter's clock: the line rate with an offset of a few parts per million.

use crate::wire::units::{BitRate, Duration};

/// Maximum clock offset of a transmitter, in parts per billion: 100 ppm (IEEE 802.3, for example clauses 4.4.2 and
/// 82.2).
pub const CLOCK_OFFSET_MAX_PPB: i32 = 100_000;

/// Minimum line rate: below it the time of a frame of 64 KB does not fit in 64 bits.
pub const RATE_MIN: BitRate = match BitRate::from_bps(2_000) {
    Some(rate) => rate,
    None => unreachable!(),
};

const FRACTION_BITS: u32 = 16;
const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// Duration of one byte on a line by the clock of its transmitter, in units of 2^-16 ps: exact to 1.6 ppm at 800 Gb/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct LineClock {
    byte_time: u64,
}

impl LineClock {
    /// Makes a clock that is fast by `offset_ppb` parts per billion; 0 is an ideal clock.
    ///
    /// # Panics
    /// With an offset beyond [`CLOCK_OFFSET_MAX_PPB`] or a rate below [`RATE_MIN`].
    pub fn off_by(rate: BitRate, offset_ppb: i32) -> Self {
        assert!(offset_ppb.abs() <= CLOCK_OFFSET_MAX_PPB, "a clock is off by at most 100 ppm, not {offset_ppb} ppb");
        assert!(rate >= RATE_MIN, "a line of {rate} is slower than {RATE_MIN}");
        let per_billion = (1_000_000_000 + i64::from(offset_ppb)) as u128;
        let byte_time =
            ((8 * PS_PER_SECOND) << FRACTION_BITS) * 1_000_000_000 / (u128::from(rate.as_bps()) * per_billion);
        Self { byte_time: byte_time as u64 }
    }

    /// Time to put `bytes` on the wire, rounded up to picoseconds.
    #[inline(always)]
    pub const fn time_for(self, bytes: u32) -> Duration {
        Duration((bytes as u64 * self.byte_time + ((1 << FRACTION_BITS) - 1)) >> FRACTION_BITS)
    }
}

/// The time of frames on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTiming {
    pub clock: LineClock,
    /// Preamble and gap of each frame.
    pub overhead_bytes: u32,
}

impl LineTiming {
    /// Time of a frame on the line.
    pub const fn time_for(self, frame_bytes: u32) -> Duration {
        self.clock.time_for(frame_bytes + self.overhead_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ideal_clock_takes_as_long_as_the_rate_says() {
        for bps in [2_000, 10_000_000, 1_000_000_000, 3_000_000_000, 25_000_000_000, 800_000_000_000] {
            let rate = BitRate::from_bps(bps).unwrap();
            for bytes in [1, 84, 1_538, 9_038] {
                assert_eq!(
                    LineClock::off_by(rate, 0).time_for(bytes),
                    rate.time_for(u64::from(bytes)),
                    "{bps} b/s, {bytes} B"
                );
            }
        }
    }

    #[test]
    fn a_clock_that_is_100_ppm_fast_sends_10001_frames_where_10000_are_due() {
        let rate = BitRate::from_gbps(100);
        for (offset_ppb, ps) in [(100_000, 12_302_768), (-100_000, 12_305_230), (0, 12_304_000)] {
            assert_eq!(LineClock::off_by(rate, offset_ppb).time_for(153_800).as_ps(), ps, "{offset_ppb} ppb");
        }
    }

    #[test]
    #[should_panic(expected = "at most 100 ppm")]
    fn no_clock_is_worse_than_the_standard_allows() {
        LineClock::off_by(BitRate::from_gbps(1), 100_001);
    }
}
