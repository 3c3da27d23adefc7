//! The driver's clock, its way of waiting, and statistics of lateness.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::interfaces::{MonotonicTime, monotonic_ns, wait_readable};

/// A clock that never goes back.
pub trait Clock {
    fn now(&self) -> MonotonicTime;

    /// Waits until one of `ports` is readable or `until` is reached, whichever comes first; can return early.
    fn wait(&mut self, ports: &[BorrowedFd<'_>], until: MonotonicTime);
}

/// The kernel's `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now(&self) -> MonotonicTime {
        MonotonicTime(monotonic_ns())
    }

    fn wait(&mut self, ports: &[BorrowedFd<'_>], until: MonotonicTime) {
        let left_ns = until.0.saturating_sub(self.now().0);
        // A failed wait is like an early return; an error of an interface shows at its next use.
        let _ = wait_readable(ports, Duration::from_nanos(left_ns));
    }
}

/// Lateness of actions at a port, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Lateness {
    slack_ns: u64,
    histogram: Histogram<u64>,
    misses: u64,
}

/// Maximum recorded lateness: a minute. Larger values count as this.
const HIGHEST_NS: u64 = 60_000_000_000;

impl Lateness {
    /// Starts without records; actions later than `slack_ns` count as misses.
    pub fn new(slack_ns: u64) -> Self {
        let histogram = Histogram::new_with_max(HIGHEST_NS, 3).expect("valid bounds");
        Self { slack_ns, histogram, misses: 0 }
    }

    pub fn record(&mut self, due_ns: u64, done_ns: u64) {
        let late_ns = done_ns.saturating_sub(due_ns);
        self.misses += u64::from(late_ns > self.slack_ns);
        self.histogram.saturating_record(late_ns);
    }

    pub fn status(&self) -> LatenessStatus {
        LatenessStatus {
            count: self.histogram.len(),
            misses: self.misses,
            median_ns: self.histogram.value_at_quantile(0.5),
            p999_ns: self.histogram.value_at_quantile(0.999),
            worst_ns: self.histogram.max(),
        }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct LatenessStatus {
    pub count: u64,
    pub misses: u64,
    pub median_ns: u64,
    pub p999_ns: u64,
    pub worst_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_what_is_later_than_the_slack() {
        let mut lateness = Lateness::new(100);
        for (due, done) in [(50, 40), (50, 150), (50, 151), (0, 5_000)] {
            lateness.record(due, done);
        }
        let LatenessStatus { misses, count, worst_ns, .. } = lateness.status();
        assert_eq!((misses, count), (2, 4));
        assert!((5_000..5_010).contains(&worst_ns), "{worst_ns}");
    }
}
