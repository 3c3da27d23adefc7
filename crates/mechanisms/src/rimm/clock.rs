//! Times in registers: nanoseconds of the switch's timestamp.

use hitless_core::wire::Duration;
use hitless_switch::RegisterCell;

const BITS: u32 = 48;

/// A time in a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Stamp(u64);

impl RegisterCell for Stamp {
    const BITS: u32 = BITS;
}

impl Stamp {
    pub const fn new(timestamp_ns: u64) -> Self {
        Self(timestamp_ns & ((1 << BITS) - 1))
    }

    /// Nanoseconds from `self` to `now`, if that is less than a turn of the clock (78 hours).
    pub const fn until(self, now: Stamp) -> u64 {
        now.0.wrapping_sub(self.0) & ((1 << BITS) - 1)
    }
}

/// A duration in ticks of the timestamp; at least one, so that a time above zero stays above zero.
pub fn ticks(duration: Duration) -> u64 {
    (duration.as_ps() / 1_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_has_wrapped_is_still_the_later_one() {
        let before = Stamp::new((1 << BITS) - 5);
        let after = Stamp::new((1 << BITS) + 10);
        assert_eq!((before.until(after), Stamp::new(3).until(Stamp::new(3))), (15, 0));
    }

    #[test]
    fn a_time_above_zero_has_a_tick_and_others_are_rounded_down() {
        let of = |time_ps| ticks(Duration::from_ps(time_ps));
        assert_eq!([0, 1, 999, 1_000, 2_999, 3_000].map(of), [1, 1, 1, 1, 2, 3]);
    }
}
