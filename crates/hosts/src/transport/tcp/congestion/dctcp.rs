//! DCTCP (RFC 8257): the window shrinks in proportion to the fraction of marked bytes.

use super::api::{AckEvent, AdditiveIncrease, CongestionControl, CongestionSign, Window, WindowGrowth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time of updates to DCTCP's estimate of the fraction of marked bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum DctcpEstimate {
    /// At the end of each window (RFC 8257, section 3.3).
    EachWindow,
    /// At the first echo after the end of a window. A time without marks does not change it: as in the simulators of
    /// Vertigo and of Practical Packet Deflection.
    AtEchoes,
}

/// Settings of DCTCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct DctcpSettings {
    /// Weight of the newest window in the estimate of marking, g (RFC 8257, section 3.3: 1/16).
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub gain: f64,
    /// Time of updates to the estimate of marking.
    pub estimate: DctcpEstimate,
    /// Growth of the window per acknowledgement.
    pub window_growth: WindowGrowth,
    /// Grow the window only while it limits the sender (RFC 7661). Otherwise every acknowledgement grows it, even
    /// beyond the receive window (RFC 5681 as written, and INET).
    pub window_validation: bool,
}

impl Default for DctcpSettings {
    fn default() -> Self {
        Self {
            gain: 1.0 / 16.0,
            estimate: DctcpEstimate::EachWindow,
            window_growth: WindowGrowth::ByteCounting,
            window_validation: true,
        }
    }
}

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct Dctcp {
    avoidance: AdditiveIncrease,
    /// DCTCP.BytesAcked.
    acknowledged_bytes: u64,
    /// DCTCP.BytesMarked.
    marked_bytes: u64,
    /// DCTCP.WindowEnd.
    window_end: u64,
    /// DCTCP.Alpha: the estimated fraction of marked bytes.
    pub alpha: f64,
    gain: f64,
    estimate: DctcpEstimate,
}

impl Dctcp {
    pub fn new(DctcpSettings { gain, estimate, .. }: DctcpSettings) -> Self {
        Self {
            avoidance: AdditiveIncrease::default(),
            acknowledged_bytes: 0,
            marked_bytes: 0,
            window_end: 0,
            // RFC 8257, section 4.2.
            alpha: 1.0,
            gain,
            estimate,
        }
    }

    /// Ends a window (RFC 8257, section 3.3, steps 5 to 8).
    fn end_window(&mut self, next: u64) {
        let fraction = self.marked_bytes as f64 / self.acknowledged_bytes as f64;
        assert!(self.marked_bytes <= self.acknowledged_bytes, "more marked than acknowledged");
        self.alpha = self.alpha * (1.0 - self.gain) + self.gain * fraction;
        assert!((0.0..=1.0).contains(&self.alpha), "alpha {}", self.alpha);
        self.window_end = next;
        self.acknowledged_bytes = 0;
        self.marked_bytes = 0;
    }
}

impl CongestionControl for Dctcp {
    #[inline(always)]
    fn on_ack(&mut self, event: &AckEvent) {
        // RFC 8257, section 3.3, steps 2 and 3.
        self.acknowledged_bytes += event.delivered_bytes;
        if event.ece {
            self.marked_bytes += event.delivered_bytes;
        }
        // Step 4. A window without delivered bytes gives no estimate.
        let is_due = event.ece || self.estimate == DctcpEstimate::EachWindow;
        if is_due && event.snd_una > self.window_end && self.acknowledged_bytes > 0 {
            self.end_window(event.snd_nxt);
        }
    }

    /// Grows the window as in RFC 5681 (RFC 8257, section 3.3).
    #[inline(always)]
    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        let mut bytes = event.delivered_bytes;
        if window.in_slow_start() {
            bytes = window.slow_start(bytes);
        }
        self.avoidance.grow(window, bytes);
    }

    /// Returns cwnd * (1 - alpha / 2) for an echo (RFC 8257, section 3.3, step 9); a loss is handled as in conventional
    /// TCP (section 3.4).
    fn ssthresh(&mut self, window: &Window, sign: CongestionSign) -> u64 {
        window.clamp_ssthresh(match sign {
            CongestionSign::Ece => window.cwnd_bytes - (window.cwnd_bytes as f64 * self.alpha * 0.5) as u64,
            CongestionSign::Loss | CongestionSign::Rto => window.cwnd_bytes / 2,
        })
    }

    /// A reduction by alpha does not replace the halving after a loss.
    fn loss_reduces_after_ece(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::{Congestion, TcpSettings};
    use hitless_core::wire::{Duration, Time};

    fn acknowledge(dctcp: &mut Dctcp, acknowledged: u64, ece: bool) {
        // The next window ends on the tenth packet from here.
        let (now, next, rtt) = (Time(acknowledged), acknowledged + 9_500, Duration::from_us(30));
        dctcp.on_ack(&AckEvent { now, delivered_bytes: 1_000, snd_una: acknowledged, snd_nxt: next, rtt, ece });
    }

    #[test]
    fn alpha_moves_by_a_sixteenth_of_the_difference_each_window() {
        let mut dctcp = Dctcp { alpha: 0.0, ..Dctcp::new(DctcpSettings::default()) };
        acknowledge(&mut dctcp, 1_000, false);
        // (marked packets of ten, alpha)
        let table = [(0, 0.0), (10, 0.0625), (10, 0.12109), (0, 0.11353), (5, 0.13768)];
        for (window, (marked, alpha)) in table.into_iter().enumerate() {
            for packet in 0..10 {
                acknowledge(&mut dctcp, window as u64 * 10_000 + packet * 1_000 + 2_000, packet < marked);
            }
            assert!((dctcp.alpha - alpha).abs() < 1e-5, "window {window}: {} against {alpha}", dctcp.alpha);
        }
    }

    #[test]
    fn an_estimate_at_echoes_counts_the_windows_since_the_last_one_together() {
        let mut dctcp = Dctcp::new(DctcpSettings { estimate: DctcpEstimate::AtEchoes, ..DctcpSettings::default() });
        acknowledge(&mut dctcp, 1_000, true);
        assert!((dctcp.alpha - 1.0).abs() < 1e-9);
        // Three windows without marks: nothing moves.
        (2..=30).for_each(|packet| acknowledge(&mut dctcp, packet * 1_000, false));
        assert!((dctcp.alpha - 1.0).abs() < 1e-9);
        // One of thirty packets was marked.
        acknowledge(&mut dctcp, 31_000, true);
        let expected = 15.0 / 16.0 + 1.0 / 16.0 / 30.0;
        assert!((dctcp.alpha - expected).abs() < 1e-9, "{} against {expected}", dctcp.alpha);
        // A second echo of the same window waits for its end.
        acknowledge(&mut dctcp, 32_000, true);
        assert!((dctcp.alpha - expected).abs() < 1e-9);
    }

    #[test]
    fn the_window_shrinks_by_half_of_alpha() {
        let mut window = TcpSettings::with(Congestion::Dctcp(DctcpSettings::default())).window();
        window.cwnd_bytes = 100_000;
        for (alpha, threshold) in [(0.0, 100_000), (0.1, 95_000), (0.5, 75_000), (1.0, 50_000)] {
            let mut dctcp = Dctcp { alpha, ..Dctcp::new(DctcpSettings::default()) };
            assert_eq!(dctcp.ssthresh(&window, CongestionSign::Ece), threshold, "alpha {alpha}");
            assert_eq!(dctcp.ssthresh(&window, CongestionSign::Loss), 50_000);
        }
    }
}
