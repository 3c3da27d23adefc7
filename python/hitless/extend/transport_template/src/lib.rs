//! Short Queue: a congestion control of TCP that keeps the queueing delay near a target.
//!
//! A sketch to change. `ShortQueueSettings` has the fields of the scenario, `impl OwnCongestion` is the interface to
//! scenarios, and `impl CongestionControl` has the calls of the sender.

use hitless_core::settings::quantity::Text;
use hitless_core::state::Value;
use hitless_core::wire::{Duration, Time};
use hitless_hosts::transport::tcp::congestion::{
    AckEvent, AckSample, Behaviour, CongestionControl, CongestionSign, OwnCongestion, Window,
};
use hitless_scenario::kind::Registry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Registers the congestion controls of this crate: a line for each.
pub fn register(kinds: Registry) -> Registry {
    kinds.with_congestion::<ShortQueue>()
}

/// Parameters. These comments are the documentation that `hitless scenario schema` prints.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema, Value)]
#[serde(deny_unknown_fields, default)]
pub struct ShortQueueSettings {
    /// Queueing delay above which the window shrinks: the round-trip time minus its minimum.
    // `Text` reads and writes a quantity with its unit: "20 us".
    #[serde(with = "Text::<Duration>")]
    pub target: Duration,
    /// Segments that the window grows by in a round trip.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub increase: f64,
    /// Factor of the window for a delay above the target, at most once per round trip.
    #[schemars(range(min = 0.1, max = 0.99))]
    pub decrease: f64,
}

impl Default for ShortQueueSettings {
    fn default() -> Self {
        Self { target: Duration::from_us(20), increase: 1.0, decrease: 0.8 }
    }
}

/// Short Queue on one connection.
#[derive(Clone, Debug, Value)]
pub struct ShortQueue {
    settings: ShortQueueSettings,
    /// The window, with fractions of a byte.
    cwnd_bytes: f64,
    /// Minimum round-trip time so far.
    min_rtt: Duration,
    /// Newest round-trip time.
    rtt: Duration,
    /// Time of the last decrease; before the first one the window doubles in a round trip.
    decreased_at: Option<Time>,
}

impl ShortQueue {
    /// Multiplies the window by `factor`, unless a round trip has not yet passed since the last decrease.
    fn decrease(&mut self, now: Time, factor: f64) {
        if self.decreased_at.is_none_or(|last| now.saturating_since(last) >= self.rtt) {
            self.cwnd_bytes *= factor;
            self.decreased_at = Some(now);
        }
    }

    /// Copies the window to the sender, at least a segment.
    fn put(&mut self, window: &mut Window) {
        let most_bytes = window.max_cwnd_bytes as f64;
        self.cwnd_bytes = self.cwnd_bytes.max(window.mss_bytes as f64).min(most_bytes);
        window.cwnd_bytes = self.cwnd_bytes as u64;
    }
}

impl OwnCongestion for ShortQueue {
    /// Value of `kind` in `congestion = { kind = "..." }`.
    const NAME: &'static str = "short-queue";
    const SUMMARY: &'static str = "Short Queue keeps the queueing delay near a target.";
    /// The sender takes the window as it is. `Behaviour::GROWS` is for controls like NewReno.
    const BEHAVIOUR: Behaviour = Behaviour::SETS;

    type Settings = ShortQueueSettings;

    fn new(settings: &ShortQueueSettings, window: &Window) -> Self {
        Self {
            settings: *settings,
            cwnd_bytes: window.cwnd_bytes as f64,
            min_rtt: Duration::MAX,
            rtt: Duration::ZERO,
            decreased_at: None,
        }
    }

    /// Checks the settings beyond their ranges; each problem has the name of the field, and the rule.
    fn check(settings: &ShortQueueSettings) -> Vec<(String, String)> {
        let wrong = settings.target == Duration::ZERO;
        wrong.then(|| ("target".into(), "must be above zero".into())).into_iter().collect()
    }
}

impl CongestionControl for ShortQueue {
    /// Handles every acknowledgement.
    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        if event.rtt > Duration::ZERO {
            self.rtt = event.rtt;
            self.min_rtt = self.min_rtt.min(event.rtt);
            let delivered = event.delivered_bytes as f64;
            if event.rtt - self.min_rtt > self.settings.target {
                self.decrease(event.now, self.settings.decrease);
            } else if !event.cwnd_limited {
                // The application limits the flight: a larger window would have no effect now, and too much later.
            } else if self.decreased_at.is_none() {
                self.cwnd_bytes += delivered;
            } else {
                self.cwnd_bytes += self.settings.increase * window.mss_bytes as f64 * delivered / self.cwnd_bytes;
            }
        }
        self.put(window);
    }

    /// Handles a loss or a retransmission timeout.
    fn on_recovery(&mut self, window: &mut Window, sign: CongestionSign, now: Time) {
        match sign {
            CongestionSign::Rto => self.cwnd_bytes = 0.0,
            CongestionSign::Loss | CongestionSign::Ece => self.decrease(now, 0.5),
        }
        self.put(window);
    }

    /// Handles the undo of a reduction that was not needed: the sender has restored its window.
    fn on_undo(&mut self, window: &mut Window) {
        self.cwnd_bytes = window.cwnd_bytes as f64;
    }

    /// Only a control that does not set the window needs these two.
    fn increase(&mut self, _window: &mut Window, _event: &AckEvent) {}

    fn ssthresh(&mut self, window: &Window, _sign: CongestionSign) -> u64 {
        window.ssthresh_bytes
    }
}
