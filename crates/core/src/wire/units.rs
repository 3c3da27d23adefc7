//! Newtypes for time, bytes and rates.
//!
//! Time is counted in integer picoseconds: one byte at 100 Gb/s takes exactly 80 ps, at 400 Gb/s exactly 20 ps, and 64
//! bits reach seven months, so rounding never enters a simulation.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// A point in time: picoseconds since the start of the run (simulated clock) or of the process (wall clock).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct Time(pub u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct Duration(pub u64);

impl Time {
    pub const ZERO: Time = Time(0);
    /// Later than every event.
    pub const NEVER: Time = Time(u64::MAX);

    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start, rounded to the nearest representable number.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND as f64
    }

    /// Time elapsed since `earlier`; zero if `earlier` is later than `self`.
    pub const fn saturating_since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The first multiple of `period` (counted from the start) at or after `self`.
    pub const fn round_up_to(self, period: Duration) -> Time {
        Time(self.0.div_ceil(period.0) * period.0)
    }
}

impl Duration {
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run.
    pub const MAX: Duration = Duration(u64::MAX);

    pub const fn from_ps(count: u64) -> Self {
        Self(count)
    }

    pub const fn from_ns(count: u64) -> Self {
        Self(count * 1_000)
    }

    pub const fn from_us(count: u64) -> Self {
        Self(count * 1_000_000)
    }

    pub const fn from_ms(count: u64) -> Self {
        Self(count * 1_000_000_000)
    }

    pub const fn from_seconds(count: u64) -> Self {
        Self(count * PS_PER_SECOND)
    }

    /// Converts seconds, rounded to the nearest picosecond; negative and not-a-number become zero.
    pub fn from_seconds_f64(seconds: f64) -> Self {
        Self((seconds * PS_PER_SECOND as f64).round() as u64)
    }

    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds, rounded to the nearest representable number.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND as f64
    }

    /// The difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// The product with a fraction, rounded to the nearest picosecond.
    pub fn scaled(self, factor: f64) -> Duration {
        Duration((self.0 as f64 * factor).round() as u64)
    }
}

/// Implements operators on the numbers inside.
macro_rules! operators {
    ($($left:ident $sign:tt $right:ident = $output:ident: $operator:ident, $name:ident;)+) => {$(
        impl $operator<$right> for $left {
            type Output = $output;
            fn $name(self, rhs: $right) -> $output {
                $output(self.0 $sign rhs.0)
            }
        }
    )+};
}

operators! {
    Time + Duration = Time: Add, add;
    Time - Time = Duration: Sub, sub;
    Duration + Duration = Duration: Add, add;
    Duration - Duration = Duration: Sub, sub;
    Duration % Duration = Duration: Rem, rem;
    Bytes + Bytes = Bytes: Add, add;
    Bytes - Bytes = Bytes: Sub, sub;
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, rhs: Duration) {
        self.0 += rhs.0;
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, rhs: Duration) {
        self.0 += rhs.0;
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, rhs: u64) -> Duration {
        Duration(self.0 * rhs)
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, rhs: u64) -> Duration {
        Duration(self.0 / rhs)
    }
}

impl Div for Duration {
    type Output = u64;
    fn div(self, rhs: Duration) -> u64 {
        self.0 / rhs.0
    }
}

fn format_ps(ps: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const UNITS: [(u64, &str); 4] = [(PS_PER_SECOND, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")];
    for (scale, name) in UNITS {
        if ps >= scale {
            return write!(f, "{} {name}", ps as f64 / scale as f64);
        }
    }
    write!(f, "{ps} ps")
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_ps(self.0, f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Time({} ps)", self.0)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_ps(self.0, f)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Duration({} ps)", self.0)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct Bytes(pub u64);

impl Bytes {
    pub const ZERO: Bytes = Bytes(0);

    /// `count` thousands of bytes (10^3).
    pub const fn from_kilobytes(count: u64) -> Self {
        Self(count * 1_000)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, rhs: Bytes) {
        self.0 += rhs.0;
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, rhs: Bytes) {
        self.0 -= rhs.0;
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

/// A rate in bits per second. Never zero: a link that carries nothing is down, not slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct BitRate {
    bps: u64,
    ps_per_byte: u64,
}

impl BitRate {
    /// `bps` bits per second; `None` for zero.
    pub const fn from_bps(bps: u64) -> Option<Self> {
        if bps == 0 {
            return None;
        }
        let ps_per_8_bits = 8 * PS_PER_SECOND;
        let ps_per_byte = if ps_per_8_bits.is_multiple_of(bps) { ps_per_8_bits / bps } else { 0 };
        Some(Self { bps, ps_per_byte })
    }

    /// Makes a rate of `gbps` thousand million bits per second.
    ///
    /// # Panics
    /// For zero: meant for constants.
    pub const fn from_gbps(gbps: u64) -> Self {
        match Self::from_bps(gbps * 1_000_000_000) {
            Some(rate) => rate,
            None => panic!("a rate of zero"),
        }
    }

    pub const fn as_bps(self) -> u64 {
        self.bps
    }

    /// Time to put `bytes` on the wire; exact if a byte takes a whole number of picoseconds, else rounded up.
    #[inline]
    pub const fn time_for(self, bytes: u64) -> Duration {
        if self.ps_per_byte == 0 { self.uneven_time_for(bytes) } else { Duration(bytes * self.ps_per_byte) }
    }

    /// Divides in 128 bits; a separate function, because the usual Ethernet rates do not need it.
    #[cold]
    #[inline(never)]
    const fn uneven_time_for(self, bytes: u64) -> Duration {
        Duration((bytes as u128 * 8 * PS_PER_SECOND as u128).div_ceil(self.bps as u128) as u64)
    }

    /// Whole bytes that fit in `span` at this rate.
    pub const fn bytes_in(self, span: Duration) -> Bytes {
        Bytes((span.0 as u128 * self.bps as u128 / (8 * PS_PER_SECOND as u128)) as u64)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1_000_000_000, "Gb/s"), (1_000_000, "Mb/s"), (1_000, "kb/s")];
        for (scale, name) in UNITS {
            if self.bps >= scale {
                return write!(f, "{} {name}", self.bps as f64 / scale as f64);
            }
        }
        write!(f, "{} b/s", self.bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_takes_a_whole_number_of_picoseconds_at_every_ethernet_rate() {
        let table = [(1, 8_000), (10, 800), (25, 320), (40, 200), (50, 160), (100, 80), (200, 40), (400, 20)];
        for (gbps, ps) in table {
            assert_eq!(BitRate::from_gbps(gbps).time_for(1), Duration(ps), "{gbps}G");
        }
    }

    #[test]
    fn an_uneven_rate_rounds_up() {
        let rate = BitRate::from_bps(3_000_000_000_000).unwrap();
        assert_eq!(rate.time_for(1), Duration(3));
        assert_eq!(rate.time_for(3), Duration(8));
    }

    #[test]
    fn bytes_in_inverts_time_for() {
        let rate = BitRate::from_gbps(100);
        assert_eq!(rate.bytes_in(rate.time_for(1538)), Bytes(1538));
    }

    #[test]
    fn round_up_keeps_a_multiple_and_lifts_the_rest() {
        let tick = Duration::from_ns(100);
        assert_eq!(Time(200_000).round_up_to(tick), Time(200_000));
        assert_eq!(Time(200_001).round_up_to(tick), Time(300_000));
    }

    #[test]
    fn display_picks_the_readable_unit() {
        assert_eq!(Duration::from_ns(1_500).to_string(), "1.5 us");
        assert_eq!(Time(999).to_string(), "999 ps");
        assert_eq!(BitRate::from_gbps(25).to_string(), "25 Gb/s");
    }
}
