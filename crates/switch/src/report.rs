//! What a mechanism tells about itself at the end of a run.

use hdrhistogram::Histogram;
use hitless_wire::Time;

/// Scope, quantity, and its value from each of these times on.
pub type Series = (String, &'static str, Vec<(Time, u64)>);

/// Counters and histograms of one mechanism on one switch.
#[derive(Default)]
pub struct Report {
    /// The mechanism's name.
    pub mechanism: &'static str,
    /// `(scope, counter, value)`; the scope names the port or link that the counter belongs to.
    pub counters: Vec<(String, &'static str, u64)>,
    /// `(scope, quantity with its unit, values)`.
    pub histograms: Vec<(String, &'static str, Histogram<u64>)>,
    /// `(scope, quantity, its value from each of these times on)`.
    pub series: Vec<Series>,
    /// Promises that were broken, each in one sentence.
    pub violated_invariants: Vec<String>,
    /// Whether the mechanism did anything at all: one that was switched on and never acted is reported.
    pub acted: bool,
}

impl Report {
    /// An empty report of `mechanism`.
    pub fn new(mechanism: &'static str) -> Self {
        Self { mechanism, ..Self::default() }
    }

    /// Counters of the whole switch. The mechanism acted if one of them is above zero.
    pub fn of_counters<const N: usize>(mechanism: &'static str, counters: [(&'static str, u64); N]) -> Self {
        let mut report = Self { acted: counters.iter().any(|(_, value)| *value > 0), ..Self::new(mechanism) };
        counters.into_iter().for_each(|(counter, value)| report.count("switch", counter, value));
        report
    }

    /// Adds a counter.
    pub fn count(&mut self, scope: &str, counter: &'static str, value: u64) {
        self.counters.push((scope.to_owned(), counter, value));
    }
}
