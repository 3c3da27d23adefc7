//! Acknowledgements that come in bunches: how much more than the bottleneck's rate delivers arrives at once.
//!
//! Linux since 5.1; the draft has nothing of it. Without this room the window runs dry between two bunches.

use hitless_core::wire::Time;

/// Round trips for which each of the two maxima is kept in turn.
const WINDOW_ROUNDS: u32 = 5;
/// After so many segments an epoch begins anew.
const EPOCH_SEGMENTS: u64 = 1 << 20;

/// What was acknowledged beyond the rate, as a maximum over five to ten round trips.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct AckAggregation {
    epoch_began_at: Time,
    epoch_bytes: u64,
    /// The maxima of the present and of the former window.
    extra_bytes: [u64; 2],
    rounds: u32,
}

impl AckAggregation {
    /// What is acknowledged from now on is compared with the rate.
    pub fn begin_epoch(&mut self, now: Time) {
        self.epoch_began_at = now;
        self.epoch_bytes = 0;
    }

    /// A round trip began.
    pub fn end_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= WINDOW_ROUNDS {
            self.rounds = 0;
            self.extra_bytes = [0, self.extra_bytes[0]];
        }
    }

    /// `delivered_bytes` were acknowledged at `now`, while the bottleneck delivers `bytes_per_second`.
    pub fn update(&mut self, now: Time, delivered_bytes: u64, bytes_per_second: f64, window_bytes: u64, segment: u64) {
        let mut expected_bytes = (bytes_per_second * now.saturating_since(self.epoch_began_at).as_seconds()) as u64;
        let ends = self.epoch_bytes + delivered_bytes >= EPOCH_SEGMENTS * segment;
        if self.epoch_bytes <= expected_bytes || ends {
            self.begin_epoch(now);
            expected_bytes = 0;
        }
        self.epoch_bytes += delivered_bytes;
        let extra_bytes = self.epoch_bytes.saturating_sub(expected_bytes).min(window_bytes);
        self.extra_bytes[0] = self.extra_bytes[0].max(extra_bytes);
    }

    /// The most that was acknowledged beyond the rate.
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
        // A million bytes per second: one in a microsecond. (at us, acknowledged, most beyond the rate)
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
