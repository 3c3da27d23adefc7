//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; Linux's tcp_bbr.c where the draft is older).
//!
//! The path is described by two numbers: the rate at which its bottleneck delivers ([`bandwidth`], the largest sample of
//! ten round trips) and its round-trip time without queues (the smallest of ten seconds). The sender paces at a multiple
//! of the rate and lets a multiple of their product be in flight; [`modes`] decides which multiples, [`window`] follows
//! the product and answers losses, [`aggregation`] makes room where acknowledgements come in bunches.
//!
//! # Exceptions
//! - The estimate of a token-bucket policer's rate (long-term sampling in Linux) is left out.
//! - The largest sample of ten round trips is exact; Linux keeps the best three of ten.
//! - Round-trip times are never discounted as delayed by the receiver.
//! - What waits in the network card is in flight; Linux subtracts what pacing will have sent by the time it leaves.

mod aggregation;
mod bandwidth;
mod modes;
mod window;

#[cfg(test)]
mod tests;

use super::{AckEvent, CongestionControl, ModelEvent, Window};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::pacing::quantum_segments;
use crate::transport::tcp::sender::CongestionState;
use aggregation::AckAggregation;
use bandwidth::Bandwidth;
use hitless_engine::{RandomStreams, Stream};
use hitless_wire::{BitRate, Duration, Time};
use modes::Mode;

/// Parameters of BBR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrConfig {
    /// Gain of rate and window while the bottleneck's rate is sought: 2 / ln 2, which doubles the rate in each round
    /// trip (draft, section 4.3.2.1: BBRHighGain).
    pub startup_gain: f64,
    /// Gain of the window once the rate is known (draft, section 4.2.3.2: 2).
    pub window_gain: f64,
    /// How long the smallest round-trip time is believed, and so how often the flight is drained to measure it (draft,
    /// section 4.1.2.1: RTpropFilterLen, 10 s).
    pub rtprop_window: Duration,
    /// How long the flight stays drained at least (draft, section 4.3.5: ProbeRTTDuration, 200 ms).
    pub probe_rtt_duration: Duration,
    /// By how much of the estimate the pace stays below it, so that a queue drains (Linux: 1 %; the draft has none).
    pub pacing_margin: f64,
    /// Whether the window makes room for acknowledgements that come in bunches (Linux since 5.1; the draft has none).
    pub ack_aggregation: bool,
}

impl Default for BbrConfig {
    fn default() -> Self {
        Self {
            startup_gain: 2.885,
            window_gain: 2.0,
            rtprop_window: Duration::from_seconds(10),
            probe_rtt_duration: Duration::from_ms(200),
            pacing_margin: 0.01,
            ack_aggregation: true,
        }
    }
}

/// What BBR does at the moment (BBR.state).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BbrState {
    /// It looks for the bottleneck's rate.
    Startup,
    /// It drains the queue that this made.
    Drain,
    /// It cycles around the rate.
    ProbeBandwidth,
    /// It drains the flight to measure the round-trip time.
    ProbeRtt,
}

/// What BBR believes of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathModel {
    /// What it does about it.
    pub state: BbrState,
    /// Payload per second that the bottleneck delivers; zero before the first sample (BBR.BtlBw).
    pub bytes_per_second: f64,
    /// Round-trip time without queues; [`Duration::MAX`] before the first sample (BBR.RTprop).
    pub rtprop: Duration,
}

/// The round-trip time that is assumed before the first sample (Linux: 1 ms).
const NOMINAL_RTT: Duration = Duration::from_ms(1);

/// BBR's state.
#[derive(Clone, Debug)]
pub(in super::super) struct Bbr {
    config: BbrConfig,
    mode: Mode,
    bandwidth: Bandwidth,
    /// BBR.RTprop; [`Duration::MAX`] before the first sample.
    rtprop: Duration,
    /// BBR.rtprop_stamp.
    rtprop_at: Time,
    /// Startup is over: the rate stopped growing (BBR.filled_pipe).
    pipe_is_full: bool,
    /// BBR.full_bw, in bytes per second.
    full_bytes_per_second: f64,
    /// BBR.full_bw_count.
    rounds_without_growth: u32,
    /// Sending goes on after a pause; until then a stale round-trip time is no reason to drain (BBR.idle_restart).
    resumed_from_idle: bool,
    aggregation: AckAggregation,
    /// Window to go back to after a recovery or a drained flight (BBR.prior_cwnd).
    saved_window_bytes: u64,
    /// The sender's state at the acknowledgement before.
    previous_state: CongestionState,
    /// The first round trip of a recovery: as much goes out as arrives (draft, section 4.2.3.4).
    conserves_packets: bool,
    pacing_rate: BitRate,
    /// A round-trip time was known when the pacing rate was set.
    has_seen_rtt: bool,
    segment_bytes: u64,
    most_segments_per_burst: Option<u32>,
    /// Where in the cycle of gains a flow begins.
    stream: Stream,
}

impl Bbr {
    /// BBR at the start of a connection.
    pub fn new(bbr: BbrConfig, config: &TcpConfig) -> Self {
        let segment_bytes = u64::from(config.mss_bytes);
        let window_bytes = segment_bytes * u64::from(config.initial_window_segments);
        let rate = bbr.startup_gain * window_bytes as f64 / NOMINAL_RTT.as_seconds();
        Self {
            config: bbr,
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
            segment_bytes,
            most_segments_per_burst: config.segments_per_burst,
            stream: RandomStreams::new(0).stream("congestion control"),
        }
    }

    /// What it believes of the path.
    pub fn path_model(&self) -> PathModel {
        let state = match self.mode {
            Mode::Startup => BbrState::Startup,
            Mode::Drain => BbrState::Drain,
            Mode::ProbeBandwidth { .. } => BbrState::ProbeBandwidth,
            Mode::ProbeRtt { .. } => BbrState::ProbeRtt,
        };
        PathModel { state, bytes_per_second: self.bytes_per_second(), rtprop: self.rtprop }
    }

    /// Draws from `stream` from now on.
    pub fn draw_from(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// The rate at which the bottleneck delivers, in bytes per second; zero before the first sample (BBR.BtlBw).
    fn bytes_per_second(&self) -> f64 {
        self.bandwidth.largest()
    }

    /// Segments that are released together.
    fn quantum_segments(&self) -> u64 {
        quantum_segments(self.pacing_rate, self.segment_bytes, self.most_segments_per_burst)
    }

    /// Draft, section 4.2.1: BBRSetPacingRateWithGain. In startup the rate only grows.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = bit_rate(gain * self.bytes_per_second() * (1.0 - self.config.pacing_margin));
        if self.pipe_is_full || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Before there is a sample of the rate: the window in the first round-trip time.
    fn set_pacing_rate_from_rtt(&mut self, window: &Window, rtt: Duration) {
        self.has_seen_rtt = true;
        let bytes_per_second = window.congestion_bytes as f64 / rtt.as_seconds();
        self.pacing_rate = bit_rate(self.config.startup_gain * bytes_per_second);
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

impl CongestionControl for Bbr {
    fn increase(&mut self, _window: &mut Window, _event: &AckEvent) {}

    /// Draft, section 4.4: BBRUpdateModelAndState and BBRUpdateControlParameters, on every acknowledgement.
    fn follow(&mut self, window: &mut Window, event: &ModelEvent) {
        self.update_bandwidth(event);
        self.update_aggregation(window, event);
        self.update_cycle(event);
        self.check_full_pipe(event);
        self.check_drain(event);
        self.update_rtprop(window, event);
        if let (false, Some(rtt)) = (self.has_seen_rtt, event.smoothed_rtt) {
            self.set_pacing_rate_from_rtt(window, rtt);
        }
        self.set_pacing_rate(self.pacing_gain());
        self.set_window(window, event);
    }

    fn opened(&mut self, window: &Window, rtt: Duration) {
        self.set_pacing_rate_from_rtt(window, rtt);
    }

    /// A loss or an echo as such moves nothing, but the window is remembered.
    fn threshold_on_loss(&mut self, window: &Window) -> u64 {
        self.save_window(window);
        window.threshold_bytes
    }

    fn timed_out(&mut self, _window: &mut Window, _now: Time) {
        self.previous_state = CongestionState::Loss;
        self.full_bytes_per_second = 0.0;
    }

    /// Draft, section 4.3.4.4: BBRHandleRestartFromIdle.
    fn resumed(&mut self, window: &mut Window, now: Time, _idle: Duration) {
        self.resumed_from_idle = true;
        self.aggregation.begin_epoch(now);
        match self.mode {
            Mode::ProbeBandwidth { .. } => self.set_pacing_rate(1.0),
            Mode::ProbeRtt { .. } => self.check_probe_rtt_done(window, now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn undone(&mut self, _window: &mut Window) {
        self.full_bytes_per_second = 0.0;
        self.rounds_without_growth = 0;
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(self.pacing_rate)
    }

    fn limits_like_an_application(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }
}
