//! The firing of a host's timers: exactly, or at a tick of its timer interrupt.

use hitless_core::wire::{Duration, Time};

/// The timer interrupt of a host.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct TickClock {
    tick: Duration,
    /// Added to a time to align ticks with multiples of the period.
    shift: Duration,
}

impl TickClock {
    /// Creates a clock that ticks at `phase`, `phase + tick`, ...; a `tick` of zero is an exact clock.
    pub fn new(tick: Duration, phase: Duration) -> Self {
        let shift = if tick == Duration::ZERO { Duration::ZERO } else { tick.saturating_sub(phase % tick) };
        Self { tick, shift }
    }

    /// Returns whether timers fire on the picosecond.
    #[inline]
    pub fn is_exact(&self) -> bool {
        self.tick == Duration::ZERO
    }

    /// Returns when a timer armed at `now` for `timeout` fires.
    ///
    /// Like the first level of Linux's timer wheel: the timeout counts in whole ticks, rounded up, from the start of
    /// the current tick. One more tick is added so that the timer is never early.
    #[inline]
    pub fn deadline(&self, now: Time, timeout: Duration) -> Time {
        if self.is_exact() {
            return now + timeout;
        }
        let current = (now.0 + self.shift.0) / self.tick.0;
        let ticks = timeout.0.div_ceil(self.tick.0);
        Time((current + ticks + 1) * self.tick.0 - self.shift.0)
    }

    /// Returns two ticks, which Linux adds to timeouts near its clock's resolution (TCP_TIMEOUT_MIN); zero if exact.
    #[inline]
    pub fn slack(&self) -> Duration {
        self.tick * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_clock_adds() {
        let clock = TickClock::new(Duration::ZERO, Duration::from_us(3));
        assert_eq!(clock.deadline(Time(5), Duration(7)), Time(12));
    }

    #[test]
    fn a_timeout_of_n_ticks_fires_between_n_and_n_plus_one_ticks_later() {
        // (phase, armed at, timeout, fires at), all in microseconds with a tick of 1000.
        let table = [
            (0, 0, 1000, 2000),
            (0, 1, 1000, 2000),
            (0, 999, 1000, 2000),
            (0, 1000, 1000, 3000),
            (0, 500, 1, 2000),
            (0, 500, 1001, 3000),
            (300, 0, 1000, 1300),
            (300, 299, 1000, 1300),
            (300, 300, 1000, 2300),
            (1300, 300, 1000, 2300),
        ];
        for (phase, armed, timeout, fires) in table {
            let clock = TickClock::new(Duration::from_ms(1), Duration::from_us(phase));
            let deadline = clock.deadline(Time(armed * 1_000_000), Duration::from_us(timeout));
            assert_eq!(deadline, Time(fires * 1_000_000), "phase {phase}, armed {armed}, timeout {timeout}");
        }
    }
}
