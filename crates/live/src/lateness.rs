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

    /// How often something was later than the slack.
    pub const fn misses(&self) -> u64 {
        self.misses
    }

    /// The latest.
    pub fn worst_ns(&self) -> u64 {
        self.histogram.max()
    }

    /// All of them.
    pub const fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
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

impl From<&Lateness> for LatenessStatus {
    fn from(lateness: &Lateness) -> Self {
        let histogram = lateness.histogram();
        Self {
            count: histogram.len(),
            misses: lateness.misses(),
            median_ns: histogram.value_at_quantile(0.5),
            p999_ns: histogram.value_at_quantile(0.999),
            worst_ns: lateness.worst_ns(),
        }
    }
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
        assert_eq!((lateness.misses(), lateness.histogram().len()), (2, 4));
        assert!((5_000..5_010).contains(&lateness.worst_ns()), "{}", lateness.worst_ns());
    }
}
