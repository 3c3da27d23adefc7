//! Aggregation of acknowledgements: the excess of a burst of acknowledgements over the bottleneck's rate.
//!
//! From Linux since 5.1; the draft does not have it. Without this extra room the window is exhausted between two
//! bursts.

use hitless_core::wire::Time;

/// Round trips per window of the maximum; two windows are kept (Linux: bbr_extra_acked_win_rtts).
const WINDOW_ROUNDS: u32 = 5;
/// Number of segments after which a new epoch starts (Linux: bbr_ack_epoch_acked_reset_thresh).
const EPOCH_SEGMENTS: u64 = 1 << 20;

/// Bytes acknowledged beyond the rate: a maximum over five to ten round trips.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct AckAggregation {
    epoch_began_at: Time,
    epoch_bytes: u64,
    /// Maxima of the current and the previous window.
    extra_bytes: [u64; 2],
    rounds: u32,
}

impl AckAggregation {
    /// Starts comparing acknowledgements with the rate from `now`.
    pub fn begin_epoch(&mut self, now: Time) {
        self.epoch_began_at = now;
        self.epoch_bytes = 0;
    }

    pub fn end_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= WINDOW_ROUNDS {
            self.rounds = 0;
            self.extra_bytes = [0, self.extra_bytes[0]];
        }
    }

    /// Handles `delivered_bytes` acknowledged at `now`, at a bottleneck rate of `bytes_per_second`.
    pub fn update(&mut self, now: Time, delivered_bytes: u64, bytes_per_second: f64, window_bytes: u64, segment: u64) {
        let mut expected_bytes = (bytes_per_second * now.saturating_since(self.epoch_began_at).as_seconds()) as u64;
        let ends = self.epoch_bytes + delivered_bytes >= EPOCH_SEGMENTS * segment;
        // The acknowledgements no longer exceed the rate, so the burst is over.
        if self.epoch_bytes <= expected_bytes || ends {
            self.begin_epoch(now);
            expected_bytes = 0;
        }
        self.epoch_bytes += delivered_bytes;
        // A burst cannot exceed the window (Linux: bbr_update_ack_aggregation).
        let extra_bytes = self.epoch_bytes.saturating_sub(expected_bytes).min(window_bytes);
        self.extra_bytes[0] = self.extra_bytes[0].max(extra_bytes);
    }

    /// Returns the maximum number of bytes acknowledged beyond the rate.
    pub fn most_bytes(&self) -> u64 {
        self.extra_bytes[0].max(self.extra_bytes[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::wire::Duration;

    #[test]
    fn a_bunch_is_what_exceeds_the_rate() {
        let mut aggregation = AckAggregation::default();
        // A million bytes per second is one per microsecond. (at us, acknowledged, maximum beyond the rate)
        let table = [(100, 10, 10), (101, 10, 19), (102, 10, 28), (200, 10, 28), (201, 40, 49)];
        for (time_us, bytes, most) in table {
            let now = Time::ZERO + Duration::from_us(time_us);
            aggregation.update(now, bytes, 1e6, u64::MAX, 1);
            assert_eq!(aggregation.most_bytes(), most, "at {time_us} us");
        }
        (0..WINDOW_ROUNDS).for_each(|_| aggregation.end_round());
        assert_eq!(aggregation.most_bytes(), 49, "the former window counts");
        (0..WINDOW_ROUNDS).for_each(|_| aggregation.end_round());
        assert_eq!(aggregation.most_bytes(), 0);
    }
}
