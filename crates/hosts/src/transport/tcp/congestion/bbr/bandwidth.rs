//! The rate of the bottleneck: the maximum delivery rate of the last ten round trips; and the count of round trips.

use crate::transport::tcp::delivery_rate::RateSample;
use std::collections::VecDeque;

/// Lifetime of a sample in round trips (draft, section 4.1.1.3: BtlBwFilterLen).
const WINDOW_ROUNDS: u64 = 10;

/// Counts round trips, and keeps the samples that are or can become the maximum.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct Bandwidth {
    /// BBR.round_count.
    round: u64,
    /// A round trip ends at the acknowledgement of a segment sent after this many bytes had been delivered
    /// (BBR.next_round_delivered).
    next_round_delivered_bytes: u64,
    /// Whether the current acknowledgement started a round trip (BBR.round_start).
    round_starts: bool,
    /// Rounds and their samples in bytes per second, in descending order.
    samples: VecDeque<(u64, f64)>,
}

impl Bandwidth {
    /// Returns the maximum sample in bytes per second; zero before the first.
    pub fn largest(&self) -> f64 {
        self.samples.front().map_or(0.0, |&(_, bytes_per_second)| bytes_per_second)
    }

    pub fn round_starts(&self) -> bool {
        self.round_starts
    }

    /// Ends the current round trip when data sent from `delivered_bytes` onwards is acknowledged.
    pub fn end_round_after(&mut self, delivered_bytes: u64) {
        self.next_round_delivered_bytes = delivered_bytes;
    }

    /// Updates round and rate (draft, section 4.1.1.3: BBRUpdateRound and BBRUpdateBtlBw). `delivered_bytes` is the
    /// total of the connection.
    pub fn update(&mut self, sample: Option<&RateSample>, delivered_bytes: u64) {
        self.round_starts = false;
        let Some(sample) = sample else { return };
        // The acknowledged segment was sent after the round had begun, so a round trip has passed.
        if sample.prior_delivered_bytes >= self.next_round_delivered_bytes {
            self.next_round_delivered_bytes = delivered_bytes;
            self.round += 1;
            self.round_starts = true;
        }
        let bytes_per_second = sample.bytes_per_second();
        // An application-limited sample is only a lower bound, so it counts only if it exceeds the known rate.
        if !sample.app_limited || bytes_per_second >= self.largest() {
            self.add(bytes_per_second);
        }
    }

    fn add(&mut self, bytes_per_second: f64) {
        // A monotonic queue: a sample that the new one reaches can never become the maximum again.
        while self.samples.back().is_some_and(|&(_, smaller)| smaller <= bytes_per_second) {
            self.samples.pop_back();
        }
        assert!(bytes_per_second.is_finite() && bytes_per_second >= 0.0, "a rate of {bytes_per_second}");
        self.samples.push_back((self.round, bytes_per_second));
        debug_assert!(self.samples.iter().is_sorted_by(|before, after| before.1 > after.1), "samples rise");
        while self.samples.front().is_some_and(|&(round, _)| round + WINDOW_ROUNDS < self.round) {
            self.samples.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::wire::Duration;
    use proptest::prelude::*;

    /// Creates a sample of `rate` bytes per second; its segment was sent after `prior` bytes.
    fn sample(rate: u64, prior: u64, app_limited: bool) -> RateSample {
        let (delivered_bytes, interval) = (rate, Duration::from_seconds(1));
        RateSample { delivered_bytes, interval, prior_delivered_bytes: prior, app_limited }
    }

    #[test]
    fn a_round_trip_ends_with_what_was_sent_after_it_began() {
        let mut bandwidth = Bandwidth::default();
        // (total delivered, delivered when it was sent, whether a round trip starts)
        let table =
            [(1, 0, true), (2, 0, false), (3, 0, false), (4, 1, true), (5, 2, false), (6, 3, false), (7, 4, true)];
        for (delivered, prior, starts) in table {
            bandwidth.update(Some(&sample(10, prior, false)), delivered);
            assert_eq!(bandwidth.round_starts(), starts, "{delivered} delivered");
        }
        bandwidth.update(None, 8);
        assert!(!bandwidth.round_starts());
    }

    #[test]
    fn an_application_limited_sample_counts_only_upwards() {
        let mut bandwidth = Bandwidth::default();
        for (rate, app_limited, largest) in [(10, false, 10.0), (5, true, 10.0), (12, true, 12.0), (8, false, 12.0)] {
            bandwidth.update(Some(&sample(rate, 0, app_limited)), 1);
            assert_eq!(bandwidth.largest(), largest);
        }
    }

    proptest! {
        #[test]
        fn the_largest_of_ten_rounds_is_that_of_a_full_search(
            rates in prop::collection::vec((1u64..100, any::<bool>()), 1..80),
        ) {
            let (mut bandwidth, mut all) = (Bandwidth::default(), Vec::new());
            for (delivered, (rate, ends_round)) in (1..).zip(rates) {
                let prior = if ends_round { bandwidth.next_round_delivered_bytes } else { 0 };
                bandwidth.update(Some(&sample(rate, prior, false)), delivered);
                all.push((bandwidth.round, rate as f64));
                let recent = all.iter().filter(|(round, _)| round + WINDOW_ROUNDS >= bandwidth.round);
                let largest = recent.map(|&(_, rate)| rate).fold(0.0, f64::max);
                prop_assert_eq!(bandwidth.largest(), largest);
            }
        }
    }
}
