//! What BBR keeps, and the pace that follows from it.

use super::aggregation::AckAggregation;
use super::bandwidth::Bandwidth;
use crate::transport::tcp::congestion::api::{CongestionState, Window};
use crate::transport::tcp::pacing::quantum_segments;
use crate::transport::tcp::settings::TcpSettings;
use hitless_core::engine::{RandomStreams, Stream};
use hitless_core::wire::{BitRate, Duration, Time};

/// The round-trip time that is assumed before the first sample (Linux: 1 ms).
const NOMINAL_RTT: Duration = Duration::from_ms(1);

/// Gain of rate and window while the bottleneck's rate is sought: 2 / ln 2, which doubles the rate in each round trip
/// (draft, section 4.3.2.1: BBRHighGain).
pub(super) const STARTUP_GAIN: f64 = 2.885;
/// By how much of the estimate the pace stays below it, so that a queue drains (Linux; the draft has none).
const PACING_MARGIN: f64 = 0.01;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) enum Mode {
    /// The rate doubles in each round trip until the bottleneck's is found.
    Startup,
    /// The queue that startup made is drained.
    Drain,
    /// The cycle of gains around 1.
    ProbeBandwidth {
        /// BBR.cycle_index.
        phase: usize,
        /// BBR.cycle_stamp.
        since: Time,
    },
    /// The flight is drained to measure the round-trip time.
    ProbeRtt {
        /// BBR.probe_rtt_done_stamp: set when the flight is small.
        until: Option<Time>,
        /// BBR.probe_rtt_round_done.
        round_is_over: bool,
    },
}

/// What BBR believes of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathModel {
    /// Payload per second that the bottleneck delivers; zero before the first sample (BBR.BtlBw).
    pub bytes_per_second: f64,
    /// Round-trip time without queues; [`Duration::MAX`] before the first sample (BBR.RTprop).
    pub rtprop: Duration,
}

/// BBR's state.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct Bbr {
    /// How long the smallest round-trip time is believed.
    pub(super) rtprop_window: Duration,
    /// How long the flight stays drained at least to measure it.
    pub(super) probe_rtt_duration: Duration,
    pub(super) mode: Mode,
    pub(super) bandwidth: Bandwidth,
    /// BBR.RTprop; [`Duration::MAX`] before the first sample.
    pub(super) rtprop: Duration,
    /// BBR.rtprop_stamp.
    pub(super) rtprop_at: Time,
    /// Startup is over: the rate stopped growing (BBR.filled_pipe).
    pub(super) pipe_is_full: bool,
    /// BBR.full_bw, in bytes per second.
    pub(super) full_bytes_per_second: f64,
    /// BBR.full_bw_count.
    pub(super) rounds_without_growth: u32,
    /// Sending goes on after a pause; until then a stale round-trip time is no reason to drain (BBR.idle_restart).
    pub(super) resumed_from_idle: bool,
    pub(super) aggregation: AckAggregation,
    /// Window to go back to after a recovery or a drained flight (BBR.prior_cwnd).
    pub(super) saved_window_bytes: u64,
    /// The sender's state at the acknowledgement before.
    pub(super) previous_state: CongestionState,
    /// The first round trip of a recovery: as much goes out as arrives (draft, section 4.2.3.4).
    pub(super) conserves_packets: bool,
    pub(super) pacing_rate: BitRate,
    /// A round-trip time was known when the pacing rate was set.
    pub(super) has_seen_rtt: bool,
    pub(super) mss_bytes: u64,
    pub(super) most_segments_per_burst: Option<u32>,
    /// Where in the cycle of gains a flow begins.
    pub(super) stream: Stream,
}

impl Bbr {
    /// BBR at the start of a connection.
    pub fn new(config: &TcpSettings, window: &Window) -> Self {
        let rate = STARTUP_GAIN * window.cwnd_bytes as f64 / NOMINAL_RTT.as_seconds();
        Self {
            rtprop_window: config.bbr_rtprop_window,
            probe_rtt_duration: config.bbr_probe_rtt_duration,
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
            most_segments_per_burst: config.burst_segments,
            stream: RandomStreams::new(0).stream("congestion control"),
        }
    }

    /// What it believes of the path.
    pub fn path_model(&self) -> PathModel {
        PathModel { bytes_per_second: self.bytes_per_second(), rtprop: self.rtprop }
    }

    /// Draws from `stream` from now on.
    pub fn draw_from(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// The rate at which the bottleneck delivers, in bytes per second; zero before the first sample (BBR.BtlBw).
    pub(super) fn bytes_per_second(&self) -> f64 {
        self.bandwidth.largest()
    }

    /// Segments that are released together.
    pub(super) fn quantum_segments(&self) -> u64 {
        quantum_segments(self.pacing_rate, self.mss_bytes, self.most_segments_per_burst)
    }

    /// Draft, section 4.2.1: BBRSetPacingRateWithGain. In startup the rate only grows.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = bit_rate(gain * self.bytes_per_second() * (1.0 - PACING_MARGIN));
        if self.pipe_is_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Before there is a sample of the rate: the window in the first round-trip time.
    pub(super) fn set_pacing_rate_from_rtt(&mut self, window: &Window, rtt: Duration) {
        self.has_seen_rtt = true;
        let bytes_per_second = window.cwnd_bytes as f64 / rtt.as_seconds();
        self.pacing_rate = bit_rate(STARTUP_GAIN * bytes_per_second);
    }
}

/// A rate that is not zero.
const SLOWEST: BitRate = match BitRate::from_bps(1_000) {
    Some(rate) => rate,
    None => panic!("a rate of zero"),
};

/// The nearest rate that is not zero.
fn bit_rate(bytes_per_second: f64) -> BitRate {
    BitRate::from_bps((bytes_per_second * 8.0) as u64).unwrap_or(SLOWEST)
}
