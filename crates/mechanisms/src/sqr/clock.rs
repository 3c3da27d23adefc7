//! The delay timer (section III-C, algorithm 1).

use hitless_core::wire::Duration;
use hitless_switch::Context;

/// A clock of n bits of nanoseconds, which wraps.
///
/// Algorithm 1, lines 3 to 6, takes two equal timestamps for a whole turn of the clock. Here the elapsed time is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    mask: u32,
}

impl Clock {
    /// A clock of 1 to 32 bits.
    pub fn new(bits: u32) -> Self {
        assert!((1..=32).contains(&bits), "a clock of 1 to 32 bits, not {bits}");
        Self { mask: u32::MAX >> (32 - bits) }
    }

    pub fn now_ns(self, context: &Context<'_>) -> u32 {
        context.timestamp_ns() as u32 & self.mask
    }

    /// The time from `start_ns` to `now_ns`, which is less than a turn of the clock.
    pub const fn elapsed_ns(self, start_ns: u32, now_ns: u32) -> u32 {
        now_ns.wrapping_sub(start_ns) & self.mask
    }

    /// The number of ticks after which `duration` is surely over, with both ends truncated to nanoseconds.
    pub fn ticks(self, duration: Duration) -> u32 {
        assert!(duration <= self.longest(), "{duration:?} is too long for a clock of {} ns", self.mask);
        // One tick more, because a start that is rounded down makes the copy look up to a nanosecond older.
        (duration.as_ps().div_ceil(1_000) + 1) as u32
    }

    /// The longest measurable time, slightly below half a turn: a longer one could be taken for a short one.
    pub const fn longest(self) -> Duration {
        Duration::from_ns((self.mask / 2).saturating_sub(1) as u64)
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
    fn the_longest_delay_can_be_counted() {
        for bits in 2..=32 {
            let clock = Clock::new(bits);
            assert_eq!(clock.ticks(clock.longest()), u32::MAX >> (32 - bits) >> 1);
        }
    }

    #[test]
    #[should_panic(expected = "too long")]
    fn a_delay_beyond_half_a_turn_is_refused() {
        Clock::new(16).ticks(Duration::from_us(40));
    }
}
