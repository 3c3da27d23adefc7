//! The delay timer (section III-C, algorithm 1).

use hitless_switch::{Context, Environment};
use hitless_wire::Duration;

/// A clock of n bits of nanoseconds, which wraps.
///
/// Where algorithm 1 takes two equal timestamps for a whole turn of the clock, they are no time apart here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    mask: u32,
}

impl Clock {
    /// A clock of 1 to 32 bits.
    ///
    /// # Panics
    /// With any other number of bits.
    pub fn new(bits: u32) -> Self {
        assert!((1..=32).contains(&bits), "a clock of 1 to 32 bits, not {bits}");
        Self { mask: u32::MAX >> (32 - bits) }
    }

    /// What the clock shows.
    pub fn now_ns<E: Environment>(self, context: &Context<'_, E>) -> u32 {
        context.timestamp_ns() as u32 & self.mask
    }

    /// The time from `start_ns` to `now_ns`, which is less than a turn of the clock.
    pub const fn elapsed_ns(self, start_ns: u32, now_ns: u32) -> u32 {
        now_ns.wrapping_sub(start_ns) & self.mask
    }

    /// After how many ticks `duration` is surely over, with both ends cut to nanoseconds.
    ///
    /// # Panics
    /// When the clock turns over in less than twice the time: a copy could be taken for a young one.
    pub fn ticks(self, duration: Duration) -> u32 {
        let ticks = duration.as_ps().div_ceil(1_000) + 1;
        assert!(ticks <= u64::from(self.mask / 2), "{duration:?} is too long for a clock of {} ns", self.mask);
        ticks as u32
    }

    /// Half a turn: the longest time that can be told from a short one.
    pub const fn half_turn_ns(self) -> u32 {
        self.mask / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_when_the_clock_wraps() {
        let clock = Clock::new(16);
        for (start, now, elapsed) in [(0, 0, 0), (10, 15, 5), (65_530, 4, 10), (1, 0, 65_535)] {
            assert_eq!(clock.elapsed_ns(start, now), elapsed, "from {start} to {now}");
        }
        assert_eq!(Clock::new(32).elapsed_ns(u32::MAX, 1), 2);
    }

    #[test]
    fn a_duration_is_over_only_when_it_surely_is() {
        assert_eq!(Clock::new(32).ticks(Duration::from_ps(30_000_001)), 30_002);
    }

    #[test]
    #[should_panic(expected = "too long")]
    fn a_delay_beyond_half_a_turn_is_refused() {
        Clock::new(16).ticks(Duration::from_us(40));
    }
}
