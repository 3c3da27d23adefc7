//! Swift (Kumar et al., SIGCOMM 2020): the window follows the difference between the round-trip time and a target.
//!
//! The target grows with the number of hops and with decreasing window (section 3.5). Below the target the window grows
//! by a fixed amount per round-trip time. Above it the window shrinks in proportion to the excess, at most once per
//! round-trip time (algorithm 1). The window can be less than a segment; packets then leave with a gap of the
//! round-trip time divided by the window (section 3.4).
//!
//! # Exceptions
//! - Algorithm 1 records the time of a decrease if the window is not above its previous value. Taken literally, each
//!   acknowledgement above the target that may not decrease the window delays the next decrease by another round-trip
//!   time. Here the time is recorded when the window shrinks, as in htsim.
//! - The delay is the whole round-trip time. Swift subtracts the delay of the two endpoints and controls it by a second
//!   window (section 3.3). The stacks of our hosts delay packets, but not more under load, so that window would have no
//!   effect.
//! - An acknowledgement without a round-trip time (a duplicate without SACK) changes nothing; its delivered bytes count
//!   with the next one that has it.
//! - As for every control here, the window only grows while it limits the sender (RFC 7661).

#[cfg(test)]
mod tests;

use super::api::{AckEvent, AckSample, CongestionControl, CongestionSign, Window};
use super::fractional::FractionalWindow;
use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of Swift.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct SwiftSettings {
    /// Target delay for a path without switches and a large window.
    #[serde(with = "Text::<Duration>")]
    pub base_target: Duration,
    /// Target delay added per switch on the path, h-bar.
    #[serde(with = "Text::<Duration>")]
    pub per_hop: Duration,
    /// Maximum target delay added for a small window: flow scaling, so that many flows share fairly.
    #[serde(with = "Text::<Duration>")]
    pub fs_range: Duration,
    /// Maximum window in segments that adds all of fs_range.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub fs_min_cwnd: f64,
    /// Minimum window in segments that adds nothing; above fs_min_cwnd.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub fs_max_cwnd: f64,
    /// Growth of the window below the target, in segments per round-trip time.
    #[schemars(range(min = 0.000001, max = 1000.0))]
    pub ai: f64,
    /// Factor of a decrease: the window shrinks by this times the fraction of the delay that exceeds the target.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub beta: f64,
    /// Maximum fraction of the window that a decrease removes; a loss and a timeout remove this fraction.
    #[schemars(range(min = 0.000001, max = 0.999999))]
    pub max_mdf: f64,
    /// Minimum window in segments. Below 1, one packet leaves per round-trip time divided by the window.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub min_cwnd: f64,
    /// Maximum window in segments; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1000000.0))]
    pub max_cwnd: Option<f64>,
    /// Number of consecutive timeouts that reset the window to min_cwnd, RETX_RESET_THRESHOLD.
    #[schemars(range(min = 1, max = 1000000))]
    pub retransmit_reset_threshold: u32,
    /// Weight of the newest sample in the round-trip time that spaces decreases and packets.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub rtt_gain: f64,
}

impl Default for SwiftSettings {
    fn default() -> Self {
        Self {
            base_target: Duration::from_us(25),
            per_hop: Duration::from_us(1),
            fs_range: Duration::from_us(100),
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 100.0,
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            min_cwnd: 0.01,
            max_cwnd: None,
            retransmit_reset_threshold: 5,
            rtt_gain: 0.25,
        }
    }
}

#[derive(Clone, Debug, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct Swift {
    config: SwiftSettings,
    /// alpha of section 3.5, in picoseconds.
    scale_ps: f64,
    /// beta of section 3.5, in picoseconds.
    offset_ps: f64,
    /// fcwnd.
    pub(super) window: FractionalWindow,
    /// t_last_decrease.
    decreased_at: Option<Time>,
    /// retransmit_cnt.
    timeouts_in_a_row: u32,
    /// Segments delivered by acknowledgements without a round-trip time.
    unmeasured_segments: f64,
}

impl Swift {
    pub fn new(swift: SwiftSettings, window: &Window) -> Self {
        let (root_min, root_max) = (swift.fs_min_cwnd.sqrt(), swift.fs_max_cwnd.sqrt());
        let scale_ps = swift.fs_range.as_ps() as f64 / (1.0 / root_min - 1.0 / root_max);
        Self {
            config: swift,
            scale_ps,
            offset_ps: -scale_ps / root_max,
            window: FractionalWindow::new(window, swift.min_cwnd, swift.rtt_gain),
            decreased_at: None,
            timeouts_in_a_row: 0,
            unmeasured_segments: 0.0,
        }
    }

    /// Returns TargetDelay of section 3.5.
    fn target(&self, hops: u8) -> Duration {
        let scaling_ps = (self.scale_ps / self.window.segments.sqrt() + self.offset_ps).max(0.0);
        let scaling = Duration((scaling_ps as u64).min(self.config.fs_range.as_ps()));
        self.config.base_target + self.config.per_hop * u64::from(hops) + scaling
    }

    fn increase_for(&mut self, segments: f64) {
        let increase = self.config.ai * segments;
        let before = self.window.segments;
        // Algorithm 1: `ai` per round trip for windows above a segment, `ai` per acknowledged segment below.
        self.window.segments += if before >= 1.0 { increase / before } else { increase };
    }

    /// Decreases the window if can_decrease of algorithm 1 allows it: at most once per round-trip time.
    fn decrease(&mut self, now: Time, factor: f64) {
        if !self.window.is_round_over(self.decreased_at, now) {
            return;
        }
        let before = self.window.segments;
        self.window.segments = (before * factor).max(self.config.min_cwnd);
        if self.window.segments < before {
            self.decreased_at = Some(now);
        }
    }
}

impl CongestionControl for Swift {
    fn increase(&mut self, _window: &mut Window, _event: &AckEvent) {}

    /// Handles an acknowledgement (algorithm 1).
    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        if event.delivered_bytes > 0 {
            self.timeouts_in_a_row = 0;
        }
        self.unmeasured_segments += event.delivered_bytes as f64 / window.mss_bytes as f64;
        if event.rtt == Duration::ZERO {
            return;
        }
        self.window.note_rtt(event.rtt);
        let segments = std::mem::take(&mut self.unmeasured_segments);
        let target = self.target(event.hops);
        if event.rtt >= target {
            let excess = (event.rtt - target).as_ps() as f64 / event.rtt.as_ps() as f64;
            self.decrease(event.now, (1.0 - self.config.beta * excess).max(1.0 - self.config.max_mdf));
        } else if event.cwnd_limited {
            self.increase_for(segments);
        }
        self.window.bound(window);
    }

    /// Handles a fast recovery or a retransmission timeout (algorithm 1).
    fn on_recovery(&mut self, window: &mut Window, sign: CongestionSign, now: Time) {
        self.timeouts_in_a_row = if sign == CongestionSign::Rto { self.timeouts_in_a_row.saturating_add(1) } else { 0 };
        if self.timeouts_in_a_row < self.config.retransmit_reset_threshold {
            self.decrease(now, 1.0 - self.config.max_mdf);
        } else {
            if self.window.segments > self.config.min_cwnd {
                self.decreased_at = Some(now);
            }
            self.window.segments = self.config.min_cwnd;
        }
        self.window.bound(window);
    }

    /// Remembers the window at the start of a reduction; Swift does not use a threshold.
    fn ssthresh(&mut self, window: &Window, _sign: CongestionSign) -> u64 {
        self.window.remember();
        window.ssthresh_bytes
    }

    fn on_established(&mut self, _window: &Window, rtt: Duration) {
        self.window.note_rtt(rtt);
    }

    fn on_undo(&mut self, window: &mut Window) {
        self.window.undo(window);
    }
}
