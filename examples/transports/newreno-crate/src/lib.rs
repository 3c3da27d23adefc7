//! NewReno (RFC 5681) as a congestion control outside of the tree.

use hitless_core::state::Value;
use hitless_hosts::transport::tcp::congestion::{
    AckEvent, AdditiveIncrease, CongestionControl, CongestionSign, OwnCongestion, Window,
};
use hitless_scenario::kind::Registry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Registers the congestion control.
pub fn register(kinds: Registry) -> Registry {
    kinds.with_congestion::<NewReno>()
}

/// Parameters of NewReno.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewRenoSettings {
    /// Divisor of the window after a loss.
    #[schemars(range(min = 1.1))]
    pub divisor: f64,
}

impl Default for NewRenoSettings {
    fn default() -> Self {
        Self { divisor: 2.0 }
    }
}

/// NewReno on one connection.
#[derive(Clone, Debug, Value)]
pub struct NewReno {
    divisor: f64,
    avoidance: AdditiveIncrease,
}

impl OwnCongestion for NewReno {
    const NAME: &'static str = "newreno-crate";
    const SUMMARY: &'static str = "NewReno (RFC 5681), outside of the tree.";

    type Settings = NewRenoSettings;

    fn new(settings: &NewRenoSettings, _window: &Window) -> Self {
        Self { divisor: settings.divisor, avoidance: AdditiveIncrease::default() }
    }
}

impl CongestionControl for NewReno {
    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        let delivered = event.delivered_bytes;
        let left = if window.in_slow_start() { window.slow_start(delivered) } else { delivered };
        self.avoidance.grow(window, left);
    }

    fn ssthresh(&mut self, window: &Window, _sign: CongestionSign) -> u64 {
        window.clamp_ssthresh((window.cwnd_bytes as f64 / self.divisor) as u64)
    }
}
