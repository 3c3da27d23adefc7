//! What the gaps say: the flow's share of its bottleneck.

use hitless_wire::Duration;

use super::settings::PacketPairSettings;

/// The moving average over gaps, and what follows from it (figure 13).
#[derive(Clone, Copy, Debug, hitless_state::Value)]
pub(super) struct ShareEstimate {
    /// Picoseconds; zero before the first.
    gap_ps: f64,
    gain: f64,
    /// Bytes of payload that the flow gets through in a gap: a segment, or as many as fit a round.
    bytes_per_gap: f64,
    window_factor: f64,
}

impl ShareEstimate {
    /// No gap is known.
    pub fn new(config: &PacketPairSettings) -> Self {
        let frame_bytes = f64::from(config.full_frame_bytes());
        let segments_per_gap = (config.bytes_per_round.0 as f64 / frame_bytes).max(1.0);
        Self {
            gap_ps: 0.0,
            gain: config.gap_gain,
            bytes_per_gap: config.mss.0 as f64 * segments_per_gap,
            window_factor: config.window_factor,
        }
    }

    /// Whether a gap is known: state NORMAL of figure 13, otherwise STARTUP.
    #[inline]
    pub fn is_known(&self) -> bool {
        self.gap_ps > 0.0
    }

    /// What was measured says nothing of what comes.
    pub fn forget(&mut self) {
        self.gap_ps = 0.0;
    }

    /// Takes a gap; zero is none.
    #[inline]
    pub fn sample(&mut self, gap: Duration) {
        if gap == Duration::ZERO {
            return;
        }
        let newest_ps = gap.as_ps() as f64;
        self.gap_ps = if self.is_known() { self.gap_ps + self.gain * (newest_ps - self.gap_ps) } else { newest_ps };
    }

    /// Payload per second that the bottleneck has for the flow (linkRate), in bytes; zero when unknown.
    pub fn bytes_per_second(&self) -> f64 {
        if self.is_known() { self.bytes_per_gap / self.gap_ps * 1e12 } else { 0.0 }
    }

    /// How long `bytes` take at the rate after throttling: linkRate * (1 - alpha / 2).
    #[inline]
    pub fn time_for(&self, bytes: f64, alpha: f64) -> Duration {
        Duration::from_ps((bytes / self.bytes_per_gap * self.gap_ps / (1.0 - alpha / 2.0)).ceil() as u64)
    }

    /// What may be in flight when a pair begins: CWND_FACTOR * linkRate * minRTT.
    #[inline]
    pub fn window_bytes(&self, base_rtt: Duration) -> u64 {
        (self.window_factor * self.bytes_per_gap * base_rtt.as_ps() as f64 / self.gap_ps) as u64
    }
}
