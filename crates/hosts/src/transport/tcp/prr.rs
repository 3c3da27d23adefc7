//! Proportional rate reduction (RFC 9937): it lowers the window to the threshold over one round trip.

/// PRR's state; in bytes.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct ProportionalRateReduction {
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    sent: u64,
    /// RecoverFS.
    flight_at_start: u64,
}

/// Bytes in flight, and bytes held back by pacing alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pipe {
    pub bytes: u64,
    pub held_bytes: u64,
}

impl ProportionalRateReduction {
    /// Starts a reduction with `flight_bytes` in flight (RFC 9937, section 6.1): including the data that the current
    /// acknowledgement delivers, without data SACKed before.
    pub fn start(flight_bytes: u64) -> Self {
        // Avoids division by zero if nothing is in flight.
        Self { delivered: 0, sent: 0, flight_at_start: flight_bytes.max(1) }
    }

    #[inline]
    pub fn sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Counts data that left the network without being delivered, because only its header arrived. PRR is about
    /// conservation of packets, so this counts as delivered.
    pub fn left(&mut self, bytes: u64) {
        self.delivered += bytes;
    }

    /// Returns the congestion window after an acknowledgement (RFC 9937, section 6.2).
    ///
    /// `safe` means that it advanced in order and showed no further loss (SafeACK). Data allowed earlier but held back
    /// by pacing counts as sent: PRR assumes that allowed data is sent at once, and would forget it.
    #[inline]
    pub fn window_bytes(&mut self, delivered: u64, pipe: Pipe, threshold: u64, safe: bool, segment: u64) -> u64 {
        self.delivered += delivered;
        let (pipe, sent) = (pipe.bytes + pipe.held_bytes, self.sent + pipe.held_bytes);
        // Above the threshold the sending rate falls in proportion, so that the flight reaches the threshold after a
        // round trip (RFC 9937, section 6.2).
        let allowance = if pipe > threshold {
            (self.delivered * threshold).div_ceil(self.flight_at_start).saturating_sub(sent)
        } else {
            // Below the threshold: packet conservation (PRR-CRB), plus a segment after a safe acknowledgement
            // (PRR-SSRB).
            let conservative = self.delivered.saturating_sub(sent).max(delivered);
            (conservative + if safe { segment } else { 0 }).min(threshold - pipe)
        };
        // The retransmission that starts a recovery is always allowed (RFC 9937, section 6.2: forced if prr_out is 0).
        let allowance = if sent == 0 { allowance.max(segment) } else { allowance };
        pipe + allowance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1_000;

    fn pipe(segments: u64, held: u64) -> Pipe {
        Pipe { bytes: segments * SEGMENT, held_bytes: held * SEGMENT }
    }

    /// The first example of RFC 9937: 20 segments in flight, the first lost, threshold 10. After the retransmission one
    /// segment is sent for every two acknowledged, until the flight reaches the threshold.
    #[test]
    fn a_single_loss_halves_the_rate_over_one_round_trip() {
        let mut prr = ProportionalRateReduction::start(20 * SEGMENT);
        let mut in_flight = 19;
        let mut sent = Vec::new();
        for _ in 0..19 {
            in_flight -= 1;
            let window = prr.window_bytes(SEGMENT, pipe(in_flight, 0), 10 * SEGMENT, false, SEGMENT);
            let segments = window / SEGMENT - in_flight;
            prr.sent(segments * SEGMENT);
            in_flight += segments;
            sent.push(segments);
        }
        assert_eq!(sent, [1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1]);
        assert_eq!(in_flight, 10);
    }

    /// Below the threshold, the delivered bytes are replaced, plus one segment if recovery makes progress.
    #[test]
    fn below_the_threshold_the_flight_is_kept_or_grows_by_a_segment() {
        // (pipe, safe, window)
        let table = [(4, false, 5), (4, true, 6), (9, true, 10), (10, true, 10)];
        for (in_flight, safe, window) in table {
            let mut prr = ProportionalRateReduction::start(20 * SEGMENT);
            prr.window_bytes(8 * SEGMENT, pipe(in_flight, 0), 10 * SEGMENT, false, SEGMENT);
            prr.sent(8 * SEGMENT);
            let bytes = prr.window_bytes(SEGMENT, pipe(in_flight, 0), 10 * SEGMENT, safe, SEGMENT);
            assert_eq!(bytes, window * SEGMENT, "pipe {in_flight}, safe {safe}");
        }
    }

    /// The next acknowledgement allows the same, whether the allowed data was sent or is held back.
    #[test]
    fn what_the_pacing_holds_back_is_not_lost() {
        for (in_flight, threshold) in [(2, 10), (2, 6), (12, 10), (15, 10)] {
            for held in 0..=2 {
                let mut prr = ProportionalRateReduction::start(20 * SEGMENT);
                prr.window_bytes(8 * SEGMENT, pipe(4, 0), threshold * SEGMENT, false, SEGMENT);
                prr.sent((6 - held) * SEGMENT);
                let window =
                    prr.window_bytes(SEGMENT, pipe(in_flight - held, held), threshold * SEGMENT, true, SEGMENT);
                let mut all_sent = ProportionalRateReduction::start(20 * SEGMENT);
                all_sent.window_bytes(8 * SEGMENT, pipe(4, 0), threshold * SEGMENT, false, SEGMENT);
                all_sent.sent(6 * SEGMENT);
                let expected = all_sent.window_bytes(SEGMENT, pipe(in_flight, 0), threshold * SEGMENT, true, SEGMENT);
                assert_eq!(window, expected, "{in_flight} in flight, {held} held back, threshold {threshold}");
            }
        }
    }
}
