//! Proportional rate reduction (RFC 9937): the window on its way down to the threshold.

/// PRR's state; in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProportionalRateReduction {
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    sent: u64,
    /// RecoverFS.
    flight_at_start: u64,
}

hitless_state::value!(ProportionalRateReduction { delivered, sent, flight_at_start });

impl ProportionalRateReduction {
    /// A reduction begins with `flight_bytes` in flight (RFC 9937, section 6.1), counting what the current
    /// acknowledgement delivers but not what was sacked before.
    pub fn start(flight_bytes: u64) -> Self {
        // One byte guards the division when nothing is in flight.
        Self { delivered: 0, sent: 0, flight_at_start: flight_bytes.max(1) }
    }

    /// Data went out.
    #[inline]
    pub fn sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Data left the network that was not delivered: only its header came. For the conservation of packets, which is
    /// what PRR is about, that is the same.
    pub fn left(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// The congestion window after an acknowledgement (RFC 9937, section 6.2).
    ///
    /// `safe`: it advanced in order and showed no further loss (SafeACK).
    #[inline]
    pub fn window_bytes(&mut self, delivered: u64, pipe: u64, threshold: u64, safe: bool, segment: u64) -> u64 {
        self.delivered += delivered;
        let allowance = if pipe > threshold {
            (self.delivered * threshold).div_ceil(self.flight_at_start).saturating_sub(self.sent)
        } else {
            let conservative = self.delivered.saturating_sub(self.sent).max(delivered);
            (conservative + if safe { segment } else { 0 }).min(threshold - pipe)
        };
        // The retransmission that begins a recovery is always allowed.
        let allowance = if self.sent == 0 { allowance.max(segment) } else { allowance };
        pipe + allowance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1_000;

    /// As in the first example of RFC 9937: 20 segments in flight, the first lost, threshold 10. After the
    /// retransmission one segment is sent for every two acknowledged, until the flight reaches the threshold.
    #[test]
    fn a_single_loss_halves_the_rate_over_one_round_trip() {
        let mut prr = ProportionalRateReduction::start(20 * SEGMENT);
        let mut pipe = 19 * SEGMENT;
        let mut sent = Vec::new();
        for _ in 0..19 {
            pipe -= SEGMENT;
            let window = prr.window_bytes(SEGMENT, pipe, 10 * SEGMENT, false, SEGMENT);
            let segments = (window - pipe) / SEGMENT;
            prr.sent(segments * SEGMENT);
            pipe += segments * SEGMENT;
            sent.push(segments);
        }
        assert_eq!(sent, [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1]);
        assert_eq!(pipe, 10 * SEGMENT);
    }

    /// Below the threshold: as much as was delivered, one more when recovery makes progress.
    #[test]
    fn below_the_threshold_the_flight_is_kept_or_grows_by_a_segment() {
        // (pipe, safe, window)
        let table = [(4, false, 5), (4, true, 6), (9, true, 10), (10, true, 10)];
        for (pipe, safe, window) in table {
            let mut prr = ProportionalRateReduction::start(20 * SEGMENT);
            prr.window_bytes(8 * SEGMENT, pipe * SEGMENT, 10 * SEGMENT, false, SEGMENT);
            prr.sent(8 * SEGMENT);
            let bytes = prr.window_bytes(SEGMENT, pipe * SEGMENT, 10 * SEGMENT, safe, SEGMENT);
            assert_eq!(bytes, window * SEGMENT, "pipe {pipe}, safe {safe}");
        }
    }
}
