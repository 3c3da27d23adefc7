//! Congestion control: how the window grows on acknowledgements and where it falls on congestion.
//!
//! Most algorithms decide two things, growth and the slow start threshold. When a reduction happens, and how the
//! window gets down to the threshold, is the sender's business. An algorithm that sets the window by itself follows each
//! acknowledgement instead: with a sample of the delivery rate if it models the path (BBR), else with a round-trip time
//! (Swift, Bolt). Dispatch is by enum, so that the compiler sees through it.

mod bbr;
mod bolt;
mod cubic;
mod dctcp;
mod fractional;
mod hystart;
mod newreno;
mod swift;

pub use bbr::{BbrConfig, BbrState, PathModel};
pub use bolt::{BoltConfig, Reaction};
pub use cubic::CubicConfig;
pub use dctcp::{DctcpConfig, DctcpEstimate};
pub use hystart::HystartConfig;
pub use swift::SwiftConfig;

use super::config::{CongestionControlConfig, TcpConfig, WindowGrowth};
use super::delivery_rate::RateSample;
use super::sender::CongestionState;
use bbr::Bbr;
use bolt::Bolt;
use cubic::Cubic;
use dctcp::Dctcp;
use hitless_engine::Stream;
use hitless_wire::{BitRate, CongestionNotice, Duration, Time};
use newreno::NewReno;
use swift::Swift;

/// The congestion window and what bounds it, all in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// cwnd.
    pub congestion_bytes: u64,
    /// ssthresh.
    pub threshold_bytes: u64,
    /// One full segment.
    pub segment_bytes: u64,
    /// The threshold never falls below this.
    pub minimum_bytes: u64,
    /// The window never grows above this.
    pub maximum_bytes: u64,
    /// How acknowledgements make it grow.
    pub growth: WindowGrowth,
}

impl Window {
    /// The window of a new connection.
    pub fn new(config: &TcpConfig) -> Self {
        let segment_bytes = u64::from(config.mss_bytes);
        let maximum_bytes = config.max_window_bytes.unwrap_or(u64::MAX);
        Self {
            congestion_bytes: (segment_bytes * u64::from(config.initial_window_segments)).min(maximum_bytes),
            // RFC 5681, section 3.1: arbitrarily high at first.
            threshold_bytes: u64::MAX,
            segment_bytes,
            minimum_bytes: segment_bytes * u64::from(config.minimum_window_segments),
            maximum_bytes,
            growth: config.window_growth,
        }
    }

    /// The window in segments.
    fn segments(&self) -> f64 {
        self.congestion_bytes as f64 / self.segment_bytes as f64
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.congestion_bytes < self.threshold_bytes
    }

    /// Grows by up to `bytes`, not beyond the threshold; answers what is left for congestion avoidance.
    ///
    /// RFC 5681 counts at most a segment per acknowledgement (equation 2), which then is not left for congestion
    /// avoidance even above the threshold; byte counting counts all that was delivered.
    #[inline]
    fn slow_start(&mut self, bytes: u64) -> u64 {
        if self.growth == WindowGrowth::PerAck {
            self.grow(bytes.min(self.segment_bytes));
            return 0;
        }
        let room = self.threshold_bytes.saturating_sub(self.congestion_bytes);
        let growth = bytes.min(room);
        self.grow(growth);
        bytes - growth
    }

    #[inline]
    fn grow(&mut self, bytes: u64) {
        self.congestion_bytes = self.congestion_bytes.saturating_add(bytes).min(self.maximum_bytes);
    }

    /// Data follows after `idle` without any in flight: halves the window for each timeout that passed, down to the
    /// initial window (RFC 2861, section 3).
    pub fn restart(&mut self, idle: Duration, timeout: Duration, initial_segments: u64) {
        let floor_bytes = (initial_segments * self.segment_bytes).min(self.congestion_bytes);
        let halvings = (idle / timeout).min(63);
        if halvings > 0 && self.threshold_bytes != u64::MAX {
            self.threshold_bytes = self.threshold_bytes.max(self.congestion_bytes / 4 * 3);
        }
        self.congestion_bytes = (self.congestion_bytes >> halvings).max(floor_bytes);
    }

    /// `bytes` as a threshold: not below the minimum.
    fn threshold(&self, bytes: u64) -> u64 {
        bytes.max(self.minimum_bytes)
    }
}

/// Grows a window by a segment for each window of bytes acknowledged (RFC 3465, section 2.1), or by RFC 5681's equation 3
/// for each acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct AdditiveIncrease {
    acknowledged_bytes: u64,
}

impl AdditiveIncrease {
    #[inline]
    fn grow(&mut self, window: &mut Window, bytes: u64) {
        if window.growth == WindowGrowth::PerAck {
            if bytes > 0 {
                // Equation 3; a result of 0 counts as 1.
                window.grow((window.segment_bytes * window.segment_bytes / window.congestion_bytes).max(1));
            }
            return;
        }
        if self.acknowledged_bytes >= window.congestion_bytes {
            // Credit from before a reduction counts for one segment, as in Linux.
            self.acknowledged_bytes = 0;
            window.grow(window.segment_bytes);
        }
        self.acknowledged_bytes += bytes;
        while self.acknowledged_bytes >= window.congestion_bytes {
            self.acknowledged_bytes -= window.congestion_bytes;
            window.grow(window.segment_bytes);
        }
    }
}

/// What an acknowledgement says, for congestion control.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckEvent {
    /// Now.
    pub now: Time,
    /// Bytes that this acknowledgement reports delivered for the first time, selectively or in order.
    pub delivered_bytes: u64,
    /// First byte not acknowledged in order.
    pub acknowledged: u64,
    /// First byte not sent yet.
    pub next: u64,
    /// Round-trip time of the newest packet it acknowledges; zero when unknown.
    pub rtt: Duration,
    /// It echoes congestion (ECE).
    pub echo: bool,
}

/// What an acknowledgement says, for an algorithm that sets the window by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelEvent {
    /// Now.
    pub now: Time,
    /// The sender's state after the acknowledgement.
    pub state: CongestionState,
    /// Bytes that this acknowledgement reports delivered for the first time.
    pub delivered_bytes: u64,
    /// The same over the life of the connection; 0 without samples of the delivery rate.
    pub delivered_in_all_bytes: u64,
    /// Bytes that it shows to be lost.
    pub lost_bytes: u64,
    /// Bytes in the network before it.
    pub prior_flight_bytes: u64,
    /// Bytes in the network after it.
    pub flight_bytes: u64,
    /// Round-trip time of the newest packet it acknowledges; zero when unknown.
    pub rtt: Duration,
    /// Smoothed round-trip time, once there was a sample.
    pub smoothed_rtt: Option<Duration>,
    /// Sample of the delivery rate, if there is one.
    pub sample: Option<RateSample>,
    /// Whether the window, or the gap between packets, had held back more than what it acknowledges.
    pub limited: bool,
    /// Switches that the newest data packet had passed; 0 when unknown.
    pub hops: u8,
    /// Packets that switches let ask for a larger window.
    pub increases: u8,
    /// First byte not acknowledged in order.
    pub acknowledged: u64,
    /// First byte not sent yet.
    pub next: u64,
}

/// What every algorithm answers.
pub(super) trait CongestionControl {
    /// Every acknowledgement, whatever the sender's state.
    fn acknowledged(&mut self, _event: &AckEvent) {}
    /// Grows the window: called when the window limits the sender and no reduction is under way.
    fn increase(&mut self, window: &mut Window, event: &AckEvent);
    /// The threshold after packet loss found without a timeout.
    fn threshold_on_loss(&mut self, window: &Window) -> u64;
    /// The threshold after an echo of congestion; by default an echo is as bad as a loss (RFC 3168, section 6.1.2).
    fn threshold_on_echo(&mut self, window: &Window) -> u64 {
        self.threshold_on_loss(window)
    }
    /// The threshold after a retransmission timeout.
    fn threshold_on_timeout(&mut self, window: &Window) -> u64 {
        self.threshold_on_loss(window)
    }
    /// Whether a loss during the reduction that an echo began lowers the threshold once more.
    fn loss_adds_to_echo(&self) -> bool {
        false
    }
    /// A retransmission timeout, whatever the state before it; the window has room for one segment.
    fn timed_out(&mut self, _window: &mut Window, _now: Time) {}
    /// A loss was found without a timeout.
    fn lost(&mut self, _window: &mut Window, _now: Time) {}
    /// The handshake took `rtt`.
    fn opened(&mut self, _window: &Window, _rtt: Duration) {}
    /// Data is sent again after `idle` without any in flight.
    fn resumed(&mut self, _window: &mut Window, _now: Time, _idle: Duration) {}
    /// A reduction turned out to be wrong; the window is what it was before it.
    fn undone(&mut self, _window: &mut Window) {}
    /// Every acknowledgement, for an algorithm that sets the window by itself.
    fn follow(&mut self, _window: &mut Window, _event: &ModelEvent) {}
    /// Keeps the flight down on purpose: samples of the delivery rate say no more than an application's.
    fn limits_like_an_application(&self) -> bool {
        false
    }
    /// The rate to pace payload at; `None` when the algorithm has no opinion.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }
    /// A switch tells of congestion; the packet that met it was sent `ago`.
    fn notified(&mut self, _window: &mut Window, _now: Time, _notice: &CongestionNotice, _ago: Duration) {}
    /// What a data packet tells switches; of new data, `remaining_bytes` are to be sent from its first byte on.
    fn data_option(&self, _window: &Window, _remaining_bytes: Option<u64>) -> u8 {
        0
    }
    /// The least time from one packet to the next, for a window that holds less than a segment.
    fn packet_gap(&self) -> Option<Duration> {
        None
    }
    /// The congestion window, where it may be less than the segment that [`Window`] has room for.
    fn window_bytes(&self, window: &Window) -> u64 {
        window.congestion_bytes
    }
}

/// One of the algorithms.
#[derive(Clone, Debug)]
pub(super) enum Algorithm {
    NewReno(NewReno),
    Cubic(Cubic),
    Dctcp(Dctcp),
    /// Boxed: it is many times as large as the others.
    Bbr(Box<Bbr>),
    /// Boxed as well.
    Swift(Box<Swift>),
    /// Boxed as well.
    Bolt(Box<Bolt>),
}

macro_rules! dispatch {
    ($self:expr, $algorithm:ident => $call:expr) => {
        match $self {
            Algorithm::NewReno($algorithm) => $call,
            Algorithm::Cubic($algorithm) => $call,
            Algorithm::Dctcp($algorithm) => $call,
            Algorithm::Bbr($algorithm) => $call,
            Algorithm::Swift($algorithm) => $call,
            Algorithm::Bolt($algorithm) => $call,
        }
    };
}

impl Algorithm {
    /// The algorithm that `config` asks for.
    pub fn new(config: &TcpConfig) -> Self {
        match config.congestion_control {
            CongestionControlConfig::NewReno => Self::NewReno(NewReno::default()),
            CongestionControlConfig::Cubic(cubic) => Self::Cubic(Cubic::new(cubic)),
            CongestionControlConfig::Dctcp(dctcp) => Self::Dctcp(Dctcp::new(dctcp)),
            CongestionControlConfig::Bbr(bbr) => Self::Bbr(Box::new(Bbr::new(bbr, config))),
            CongestionControlConfig::Swift(swift) => Self::Swift(Box::new(Swift::new(swift, config))),
            CongestionControlConfig::Bolt(bolt) => Self::Bolt(Box::new(Bolt::new(bolt, config))),
        }
    }

    /// Whether it models the path: it wants samples of the delivery rate, and paces.
    pub fn models_the_path(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// Whether it sets the window by itself, which the sender's states then never shrink.
    #[inline]
    pub fn sets_the_window(&self) -> bool {
        matches!(self, Self::Bbr(_) | Self::Swift(_) | Self::Bolt(_))
    }

    /// What it believes of the path, if it models it.
    pub fn path_model(&self) -> Option<PathModel> {
        match self {
            Self::Bbr(bbr) => Some(bbr.path_model()),
            _ => None,
        }
    }

    /// Draws from `stream` from now on, if it draws at all.
    pub fn draw_from(&mut self, stream: Stream) {
        if let Self::Bbr(bbr) = self {
            bbr.draw_from(stream);
        }
    }

    /// DCTCP's estimate of the fraction of marked bytes.
    pub fn dctcp_alpha(&self) -> Option<f64> {
        match self {
            Self::Dctcp(dctcp) => Some(dctcp.alpha()),
            _ => None,
        }
    }
}

impl CongestionControl for Algorithm {
    #[inline]
    fn acknowledged(&mut self, event: &AckEvent) {
        dispatch!(self, algorithm => algorithm.acknowledged(event));
    }

    #[inline]
    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        match self {
            Self::NewReno(new_reno) => new_reno.increase(window, event),
            // Not inlined: a copy lets the event of the others stay in registers.
            Self::Cubic(cubic) => cubic.increase(window, &AckEvent { ..*event }),
            Self::Dctcp(dctcp) => dctcp.increase(window, event),
            Self::Bbr(bbr) => bbr.increase(window, event),
            Self::Swift(swift) => swift.increase(window, event),
            Self::Bolt(bolt) => bolt.increase(window, event),
        }
    }

    fn threshold_on_loss(&mut self, window: &Window) -> u64 {
        dispatch!(self, algorithm => algorithm.threshold_on_loss(window))
    }

    fn threshold_on_echo(&mut self, window: &Window) -> u64 {
        dispatch!(self, algorithm => algorithm.threshold_on_echo(window))
    }

    fn threshold_on_timeout(&mut self, window: &Window) -> u64 {
        dispatch!(self, algorithm => algorithm.threshold_on_timeout(window))
    }

    fn loss_adds_to_echo(&self) -> bool {
        dispatch!(self, algorithm => algorithm.loss_adds_to_echo())
    }

    fn timed_out(&mut self, window: &mut Window, now: Time) {
        dispatch!(self, algorithm => algorithm.timed_out(window, now));
    }

    fn lost(&mut self, window: &mut Window, now: Time) {
        dispatch!(self, algorithm => algorithm.lost(window, now));
    }

    fn opened(&mut self, window: &Window, rtt: Duration) {
        dispatch!(self, algorithm => algorithm.opened(window, rtt));
    }

    fn resumed(&mut self, window: &mut Window, now: Time, idle: Duration) {
        dispatch!(self, algorithm => algorithm.resumed(window, now, idle));
    }

    fn undone(&mut self, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.undone(window));
    }

    fn follow(&mut self, window: &mut Window, event: &ModelEvent) {
        dispatch!(self, algorithm => algorithm.follow(window, event));
    }

    fn limits_like_an_application(&self) -> bool {
        dispatch!(self, algorithm => algorithm.limits_like_an_application())
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        dispatch!(self, algorithm => algorithm.pacing_rate())
    }

    fn notified(&mut self, window: &mut Window, now: Time, notice: &CongestionNotice, ago: Duration) {
        dispatch!(self, algorithm => algorithm.notified(window, now, notice, ago));
    }

    fn data_option(&self, window: &Window, remaining_bytes: Option<u64>) -> u8 {
        dispatch!(self, algorithm => algorithm.data_option(window, remaining_bytes))
    }

    fn packet_gap(&self) -> Option<Duration> {
        dispatch!(self, algorithm => algorithm.packet_gap())
    }

    fn window_bytes(&self, window: &Window) -> u64 {
        dispatch!(self, algorithm => algorithm.window_bytes(window))
    }
}
