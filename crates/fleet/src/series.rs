//! The records of a year, in the published simulator's columns.

/// Time counted before the first event and after the last one: 4 days.
pub const MARGIN_S: u64 = 4 * 24 * 3_600;

/// The state of a network at one time, in the published columns. Capacities are in Gb/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// Sum of the loss rates of all links that are up.
    pub total_penalty: f64,
    /// The same sum after protection by LinkGuardian.
    pub total_effective_penalty: f64,
    /// Mean number of paths from a ToR to the spines.
    pub avg_per_tor_paths: f64,
    /// Minimum number of paths of a ToR.
    pub min_per_tor_paths: u64,
    pub avg_per_pod_capacity: f64,
    pub min_per_pod_capacity: f64,
    /// Maximum loss rate of a link, protected or not.
    pub max_link_loss_rate: f64,
    pub curr_disabled_links: u64,
    pub curr_corrupting_links: u64,
    /// Maximum number of ports of a switch pipe that run LinkGuardian.
    pub max_lg_ports_per_pipe: u64,
}

/// The state after each event: `states[n]` is valid from `times_s[n]`. The first state is the one before any event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Seconds; the first is 4 days before the first event and can be negative.
    pub times_s: Vec<i64>,
    pub states: Vec<Metrics>,
}

impl Series {
    pub fn push(&mut self, time_s: i64, state: Metrics) {
        self.times_s.push(time_s);
        self.states.push(state);
    }

    /// Returns rows as the published simulator writes them, so that lines between points are steps. They are: the first
    /// state; for each event the states before and after it, both at its time; the last state again, 4 days later.
    pub fn published_rows(&self) -> impl Iterator<Item = (i64, &Metrics)> {
        let first = self.times_s.first().copied().zip(self.states.first());
        let steps = self.times_s.iter().skip(1).zip(self.states.windows(2));
        let steps = steps.flat_map(|(&time_s, pair)| [(time_s, &pair[0]), (time_s, &pair[1])]);
        let last = self.times_s.last().map(|&time_s| time_s + MARGIN_S as i64).zip(self.states.last());
        first.into_iter().chain(steps).chain(last)
    }
}
