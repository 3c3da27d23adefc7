//! The state of BBR, and its pacing rate.

use super::aggregation::AckAggregation;
use super::bandwidth::Bandwidth;
use crate::transport::tcp::congestion::api::{CongestionState, Window};
use crate::transport::tcp::pacing::quantum_segments;
use hitless_core::engine::{RandomStreams, Stream};
use hitless_core::settings::quantity::Text;
use hitless_core::wire::{BitRate, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of BBR.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct BbrSettings {
    /// Lifetime of the minimum round-trip time, and so the interval at which BBR drains the flight to measure it
    /// (draft, section 4.1.2.1: RTpropFilterLen).
    #[serde(with = "Text::<Duration>")]
    pub rtprop_window: Duration,
    /// Time for which BBR then keeps the flight at four segments (draft, section 4.3.5: ProbeRTTDuration).
    #[serde(with = "Text::<Duration>")]
    pub probe_rtt_duration: Duration,
}

impl Default for BbrSettings {
    fn default() -> Self {
        Self { rtprop_window: Duration::from_seconds(10), probe_rtt_duration: Duration::from_ms(200) }
    }
}

/// Round-trip time assumed before the first sample (Linux: 1 ms).
const NOMINAL_RTT: Duration = Duration::from_ms(1);

/// Gain of rate and window in startup: 2 / ln 2, which doubles the rate in each round trip (draft, section 4.3.2.1:
/// BBRHighGain).
pub(super) const STARTUP_GAIN: f64 = 2.885;
/// Share of the estimate left free so that a queue drains (Linux: bbr_pacing_margin_percent; not in the draft).
const PACING_MARGIN: f64 = 0.01;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) enum Mode {
    /// The rate doubles in each round trip until the bottleneck's rate is found.
    Startup,
    /// The queue from startup is drained.
    Drain,
    /// Gains cycle around 1.
    ProbeBandwidth {
        /// BBR.cycle_index.
        phase: usize,
        /// BBR.cycle_stamp.
        since: Time,
    },
    /// The flight is drained to measure the round-trip time.
    ProbeRtt {
        /// BBR.probe_rtt_done_stamp: set once the flight is small.
        until: Option<Time>,
        /// BBR.probe_rtt_round_done.
        round_is_over: bool,
    },
}

/// BBR's model of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathModel {
    /// Payload bytes per second of the bottleneck; zero before the first sample (BBR.BtlBw).
    pub bytes_per_second: f64,
    /// Round-trip time without queues; [`Duration::MAX`] before the first sample (BBR.RTprop).
    pub rtprop: Duration,
}

#[derive(Clone, Debug, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct Bbr {
    pub(super) rtprop_window: Duration,
    pub(super) probe_rtt_duration: Duration,
    pub(super) mode: Mode,
    pub(super) bandwidth: Bandwidth,
    /// BBR.RTprop; [`Duration::MAX`] before the first sample.
    pub(super) rtprop: Duration,
    /// BBR.rtprop_stamp.
    pub(super) rtprop_at: Time,
    /// Whether startup is over because the rate stopped growing (BBR.filled_pipe).
    pub(super) pipe_is_full: bool,
    /// BBR.full_bw, in bytes per second.
    pub(super) full_bytes_per_second: f64,
    /// BBR.full_bw_count.
    pub(super) rounds_without_growth: u32,
    /// Whether sending resumed after a pause; until it is reset, a stale round-trip time does not cause draining
    /// (BBR.idle_restart).
    pub(super) resumed_from_idle: bool,
    pub(super) aggregation: AckAggregation,
    /// Window to restore after a recovery or a drained flight (BBR.prior_cwnd).
    pub(super) saved_window_bytes: u64,
    /// State of the sender at the previous acknowledgement.
    pub(super) previous_state: CongestionState,
    /// Whether this is the first round trip of a recovery, which sends only as much as was delivered (draft, section
    /// 4.2.3.4).
    pub(super) conserves_packets: bool,
    pub(super) pacing_rate: BitRate,
    /// Whether the round-trip time was known when the pacing rate was set.
    pub(super) has_seen_rtt: bool,
    pub(super) mss_bytes: u64,
    pub(super) most_segments_per_burst: Option<u32>,
    /// Random stream for the first phase of the cycle of gains.
    pub(super) stream: Stream,
}

impl Bbr {
    pub fn new(bbr: BbrSettings, most_segments_per_burst: Option<u32>, window: &Window) -> Self {
        // BBRInitPacingRate of the draft, section 4.2.1.
        let rate = STARTUP_GAIN * window.cwnd_bytes as f64 / NOMINAL_RTT.as_seconds();
        Self {
            rtprop_window: bbr.rtprop_window,
            probe_rtt_duration: bbr.probe_rtt_duration,
            mode: Mode::Startup,
            bandwidth: Bandwidth::default(),
            rtprop: Duration::MAX,
            rtprop_at: Time::ZERO,
            pipe_is_full: false,
            full_bytes_per_second: 0.0,
            rounds_without_growth: 0,
            resumed_from_idle: false,
            aggregation: AckAggregation::default(),
            saved_window_bytes: 0,
            previous_state: CongestionState::Open,
            conserves_packets: false,
            pacing_rate: bit_rate(rate),
            has_seen_rtt: false,
            mss_bytes: window.mss_bytes,
            most_segments_per_burst,
            stream: RandomStreams::new(0).stream("congestion control"),
        }
    }

    pub fn path_model(&self) -> PathModel {
        PathModel { bytes_per_second: self.bytes_per_second(), rtprop: self.rtprop }
    }

    pub fn draw_from(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// Returns the bottleneck's rate in bytes per second; zero before the first sample (BBR.BtlBw).
    pub(super) fn bytes_per_second(&self) -> f64 {
        self.bandwidth.largest()
    }

    /// Returns the number of segments released together.
    pub(super) fn quantum_segments(&self) -> u64 {
        quantum_segments(self.pacing_rate, self.mss_bytes, self.most_segments_per_burst)
    }

    /// Sets the pacing rate (draft, section 4.2.1: BBRSetPacingRateWithGain). In startup the rate only grows.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = bit_rate(gain * self.bytes_per_second() * (1.0 - PACING_MARGIN));
        // Samples of startup underestimate the bottleneck, so they must not slow the sender down.
        if self.pipe_is_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Sets the pacing rate before there is a rate sample: the window per first round-trip time.
    pub(super) fn set_pacing_rate_from_rtt(&mut self, window: &Window, rtt: Duration) {
        self.has_seen_rtt = true;
        let bytes_per_second = window.cwnd_bytes as f64 / rtt.as_seconds();
        self.pacing_rate = bit_rate(STARTUP_GAIN * bytes_per_second);
    }
}

/// Minimum rate that is not zero.
const SLOWEST: BitRate = match BitRate::from_bps(1_000) {
    Some(rate) => rate,
    None => panic!("a rate of zero"),
};

/// Returns the nearest rate that is not zero.
fn bit_rate(bytes_per_second: f64) -> BitRate {
    BitRate::from_bps((bytes_per_second * 8.0) as u64).unwrap_or(SLOWEST)
}
