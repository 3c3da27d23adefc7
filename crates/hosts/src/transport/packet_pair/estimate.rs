//! The flow's share of its bottleneck, estimated from the gaps.

use hitless_core::wire::Duration;

use super::settings::PacketPairSettings;

/// Segments that a flow keeps queued at its bottleneck, so that gaps are measured behind them: half of AFQ's marking
/// threshold in rounds. Chosen; in figure 10(c) of the paper a flow queues at most five packets.
const QUEUED_SEGMENTS: f64 = 4.0;
/// Round trips to correct the bytes in flight. Chosen.
const CORRECTION_ROUND_TRIPS: f64 = 0.5;
/// Maximum part of the rate that is skipped. Chosen: some pairs must remain to measure.
const SKIPPED_MAX: f64 = 0.9;
/// Maximum part of linkRate that is injected ("a few packets", section 5). Chosen.
const INJECTED_MAX: f64 = 0.1;

/// Moving average over gaps, and the rate and window that follow from it (figure 13).
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct ShareEstimate {
    /// Picoseconds for a full segment; zero before the first.
    gap_ps: f64,
    gain: f64,
    mss_bytes: f64,
    window_factor: f64,
    longest_pair: u32,
}

impl ShareEstimate {
    pub fn new(config: &PacketPairSettings) -> Self {
        let mss_bytes = config.mss.0 as f64;
        let PacketPairSettings { gap_gain: gain, window_factor, longest_pair, .. } = *config;
        Self { gap_ps: 0.0, gain, mss_bytes, window_factor, longest_pair }
    }

    /// Whether a gap is known: state NORMAL of figure 13, otherwise STARTUP.
    #[inline]
    pub fn is_known(&self) -> bool {
        self.gap_ps > 0.0
    }

    /// Discards the estimate: it no longer predicts the flow's share.
    pub fn forget(&mut self) {
        self.gap_ps = 0.0;
    }

    /// Adds a gap; zero is ignored.
    #[inline]
    pub fn sample(&mut self, gap: Duration) {
        if gap == Duration::ZERO {
            return;
        }
        let newest_ps = gap.as_ps() as f64;
        self.gap_ps = if self.is_known() { self.gap_ps + self.gain * (newest_ps - self.gap_ps) } else { newest_ps };
    }

    /// Returns the payload bytes per second of the flow's share (linkRate); zero if unknown.
    pub fn bytes_per_second(&self) -> f64 {
        if self.is_known() { self.mss_bytes / self.gap_ps * 1e12 } else { 0.0 }
    }

    /// Returns the segments from the first packet of a measured pair to its second. The average is over the last round
    /// trip (section 5): GAIN averages over 1 / GAIN pairs; if more fit in a round trip, each pair is longer by that
    /// factor.
    pub fn segments_to_measure(&self, base_rtt: Duration) -> u32 {
        if !self.is_known() || base_rtt == Duration::MAX {
            return 1;
        }
        let pairs = base_rtt.as_ps() as f64 / (2.0 * self.gap_ps);
        ((pairs * self.gain) as u32).clamp(1, self.longest_pair)
    }

    /// Returns the time between the starts of two measured pairs longer than two packets: GAIN of a round trip.
    pub fn time_between_measures(&self, base_rtt: Duration) -> Duration {
        Duration::from_ps((base_rtt.as_ps() as f64 * self.gain) as u64)
    }

    /// Returns the time for `bytes` at the throttled and corrected rate: linkRate * (1 - alpha / 2 + correction).
    #[inline]
    pub fn time_for(&self, bytes: f64, alpha: f64, in_flight_bytes: u64, base_rtt: Duration) -> Duration {
        let throttled = 1.0 - alpha / 2.0;
        let factor = throttled + self.correction(throttled, in_flight_bytes, base_rtt);
        Duration::from_ps((bytes / self.mss_bytes * self.gap_ps / factor).ceil() as u64)
    }

    /// Returns the correction of Keshav's control law, as a part of linkRate: cycles are skipped or packets injected
    /// until the bytes in flight match the throttled rate and a few packets are queued at the bottleneck. Zero if a
    /// round trip holds too few pairs to skip a cycle.
    fn correction(&self, throttled: f64, in_flight_bytes: u64, base_rtt: Duration) -> f64 {
        if self.segments_to_measure(base_rtt) == 1 {
            return 0.0;
        }
        let fills_bytes = self.mss_bytes * base_rtt.as_ps() as f64 / self.gap_ps;
        let wanted_bytes = throttled * fills_bytes + QUEUED_SEGMENTS * self.mss_bytes;
        let missing = (wanted_bytes - in_flight_bytes as f64) / fills_bytes;
        (missing / CORRECTION_ROUND_TRIPS).clamp(-SKIPPED_MAX * throttled, INJECTED_MAX)
    }

    /// Returns the maximum bytes in flight when a pair begins: CWND_FACTOR * linkRate * minRTT.
    #[inline]
    pub fn window_bytes(&self, base_rtt: Duration) -> u64 {
        (self.window_factor * self.mss_bytes * base_rtt.as_ps() as f64 / self.gap_ps) as u64
    }
}
