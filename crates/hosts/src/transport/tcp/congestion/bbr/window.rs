//! BBR's congestion window (draft, section 4.2.3).

use super::state::{Bbr, Mode};
use crate::transport::tcp::congestion::api::{AckSample, CongestionState, Window};
use hitless_core::wire::Duration;

/// Minimum window in segments, so that delayed acknowledgements do not stop the flow (BBRMinPipeCwnd).
const SMALLEST_SEGMENTS: u64 = 4;
/// Window in segments before a round-trip time is known, and delivery in segments before the window may shrink.
const INITIAL_SEGMENTS: u64 = 10;
/// Maximum room added for bursts of acknowledgements, as time at the bottleneck's rate (Linux: bbr_extra_acked_max_us).
const MOST_AGGREGATION: Duration = Duration::from_ms(100);

impl Bbr {
    pub(super) fn smallest_window(mss_bytes: u64) -> u64 {
        SMALLEST_SEGMENTS * mss_bytes
    }

    /// Returns rate times round-trip time, times `gain`.
    fn product_bytes(&self, gain: f64) -> u64 {
        if self.rtprop == Duration::MAX {
            return INITIAL_SEGMENTS * self.mss_bytes;
        }
        (gain * self.bytes_per_second() * self.rtprop.as_seconds()).ceil() as u64
    }

    /// Rounds to whole segments (draft, section 4.2.3.2: BBRInflight). Adds room for three bursts: in the sending host,
    /// in the receiving host, and on the path. The result is even, for receivers that acknowledge every other segment.
    fn quantised(&self, bytes: u64) -> u64 {
        let segments = bytes.div_ceil(self.mss_bytes) + 3 * self.quantum_segments();
        // So that probing exceeds small products too (Linux, bbr_quantization_budget).
        let probe = if self.probes_up() { 2 } else { 0 };
        (segments.next_multiple_of(2) + probe) * self.mss_bytes
    }

    /// Returns the target for the flight at `gain`.
    pub(super) fn target_bytes(&self, gain: f64) -> u64 {
        self.quantised(self.product_bytes(gain))
    }

    fn aggregation_bytes(&self) -> u64 {
        // As in Linux (bbr_ack_aggregation_cwnd), only once startup has found the rate.
        if !self.pipe_is_full {
            return 0;
        }
        let most = self.bytes_per_second() * MOST_AGGREGATION.as_seconds();
        self.aggregation.most_bytes().min(most as u64)
    }

    pub(super) fn update_bandwidth(&mut self, event: &AckSample) {
        self.bandwidth.update(event.sample.as_ref(), event.total_delivered_bytes);
        if self.bandwidth.round_starts() {
            // Conservation lasts for the first round trip of a recovery only (draft, section 4.2.3.4).
            self.conserves_packets = false;
        }
    }

    pub(super) fn update_aggregation(&mut self, window: &Window, event: &AckSample) {
        if event.delivered_bytes == 0 || event.sample.is_none() {
            return;
        }
        if self.bandwidth.round_starts() {
            self.aggregation.end_round();
        }
        let (rate, window_bytes) = (self.bytes_per_second(), window.cwnd_bytes);
        self.aggregation.update(event.now, event.delivered_bytes, rate, window_bytes, self.mss_bytes);
    }

    /// Saves the window (draft, section 4.2.3.4: BBRSaveCwnd).
    pub(super) fn save_window(&mut self, window: &Window) {
        // In these states the window is lowered on purpose, so the saved one must not follow it.
        let recovers = is_recovering(self.previous_state) || matches!(self.mode, Mode::ProbeRtt { .. });
        let floor_bytes = if recovers { self.saved_window_bytes } else { 0 };
        self.saved_window_bytes = window.cwnd_bytes.max(floor_bytes);
    }

    /// Sets the window (draft, section 4.2.3.6: BBRSetCwnd).
    pub(super) fn set_window(&mut self, window: &mut Window, event: &AckSample) {
        if event.delivered_bytes > 0 && !self.recover_or_restore(window, event) {
            self.approach_target(window, event);
        }
        window.cwnd_bytes = window.cwnd_bytes.min(window.max_cwnd_bytes);
        assert!(window.cwnd_bytes > 0, "a window of nothing");
        // BBRModulateCwndForProbeRTT (draft, section 4.2.3.5).
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            window.cwnd_bytes = window.cwnd_bytes.min(Self::smallest_window(self.mss_bytes));
        }
    }

    fn approach_target(&self, window: &mut Window, event: &AckSample) {
        let target_bytes = self.quantised(self.product_bytes(self.window_gain()) + self.aggregation_bytes());
        let grown_bytes = window.cwnd_bytes + event.delivered_bytes;
        // Before the pipe is full the window only grows, as in slow start (draft, section 4.2.3.6: BBRSetCwnd).
        if self.pipe_is_full {
            window.cwnd_bytes = grown_bytes.min(target_bytes);
        } else if window.cwnd_bytes < target_bytes || event.total_delivered_bytes < INITIAL_SEGMENTS * self.mss_bytes {
            window.cwnd_bytes = grown_bytes;
        }
        window.cwnd_bytes = window.cwnd_bytes.max(Self::smallest_window(self.mss_bytes));
    }

    /// Changes the window for a recovery (draft, section 4.2.3.4: BBRModulateCwndForRecovery). Returns whether packets
    /// are conserved.
    fn recover_or_restore(&mut self, window: &mut Window, event: &AckSample) -> bool {
        let (before, state) = (self.previous_state, event.state);
        // Lost packets have left the network, so the window shrinks by them.
        if event.lost_bytes > 0 {
            window.cwnd_bytes = window.cwnd_bytes.saturating_sub(event.lost_bytes).max(self.mss_bytes);
        }
        if state == CongestionState::Recovery && before != CongestionState::Recovery {
            self.conserves_packets = true;
            self.bandwidth.end_round_after(event.total_delivered_bytes);
            // Packet conservation: one segment is sent per segment delivered.
            window.cwnd_bytes = event.flight_bytes + event.delivered_bytes;
        } else if is_recovering(before) && !is_recovering(state) {
            self.conserves_packets = false;
            window.cwnd_bytes = window.cwnd_bytes.max(self.saved_window_bytes);
        }
        self.previous_state = state;
        if self.conserves_packets {
            window.cwnd_bytes = window.cwnd_bytes.max(event.flight_bytes + event.delivered_bytes);
        }
        self.conserves_packets
    }
}

fn is_recovering(state: CongestionState) -> bool {
    matches!(state, CongestionState::Recovery | CongestionState::Loss)
}
