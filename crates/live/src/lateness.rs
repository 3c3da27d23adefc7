//! By how much the driver was late: measured, never fed back.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Lateness of what was due at a port, in nanoseconds.
#[derive(Clone, Debug)]
pub struct Lateness {
    slack_ns: u64,
    histogram: Histogram<u64>,
    misses: u64,
}

/// What is beyond counts as this much: a minute.
const HIGHEST_NS: u64 = 60_000_000_000;

impl Lateness {
    /// Nothing has been late; a miss is what is later than `slack_ns`.
    pub fn new(slack_ns: u64) -> Self {
        let histogram = Histogram::new_with_max(HIGHEST_NS, 3).expect("valid bounds");
        Self { slack_ns, histogram, misses: 0 }
    }

    /// Something due at `due_ns` was done at `done_ns`.
    pub fn record(&mut self, due_ns: u64, done_ns: u64) {
        let late_ns = done_ns.saturating_sub(due_ns);
        self.misses += u64::from(late_ns > self.slack_ns);
        self.histogram.saturating_record(late_ns);
    }

    /// In short.
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

/// Lateness in short.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LatenessStatus {
    /// Things that were due.
    pub count: u64,
    /// Later than the slack.
    pub misses: u64,
    /// Half were no later.
    pub median_ns: u64,
    /// 99.9 % were no later.
    pub p999_ns: u64,
    /// The latest.
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
