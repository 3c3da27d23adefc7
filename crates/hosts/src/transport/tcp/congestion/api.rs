//! What a congestion control is asked and told, and the window that it moves.

use crate::transport::tcp::delivery_rate::RateSample;
use hitless_core::wire::{BitRate, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an acknowledgement adds to the congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum WindowGrowth {
    /// All bytes that it delivers in slow start, a segment for each window of them afterwards (RFC 3465 without its
    /// limit L), as in Linux.
    ByteCounting,
    /// If it acknowledges new data: in slow start that, but at most a segment, and afterwards mss * mss / window (RFC
    /// 5681, equations 2 and 3).
    PerAck,
}

/// What the sender does about congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub enum CongestionState {
    /// Nothing: the window grows.
    #[default]
    Open,
    /// Congestion was echoed: the window shrinks to the threshold (CWR).
    Cwr,
    /// A loss was found: lost segments are sent again while the window shrinks.
    Recovery,
    /// The retransmission timer ran out: slow start over what was lost.
    Loss,
}

/// What tells of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport::tcp) enum CongestionSign {
    /// An echo of marks.
    Ece,
    /// A loss that was found without a timeout.
    Loss,
    /// A retransmission timeout.
    Rto,
}

/// The congestion window and what bounds it, all in bytes.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct Window {
    /// cwnd.
    pub cwnd_bytes: u64,
    /// ssthresh.
    pub ssthresh_bytes: u64,
    /// One full segment.
    pub mss_bytes: u64,
    /// The threshold never falls below this.
    pub min_ssthresh_bytes: u64,
    /// The window never grows above this.
    pub max_cwnd_bytes: u64,
    /// How acknowledgements make it grow.
    pub growth: WindowGrowth,
}

impl Window {
    /// The window in segments.
    pub(super) fn segments(&self) -> f64 {
        self.cwnd_bytes as f64 / self.mss_bytes as f64
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd_bytes < self.ssthresh_bytes
    }

    /// Grows by up to `bytes`, not beyond the threshold; returns what is left for congestion avoidance.
    ///
    /// RFC 5681 counts at most a segment per acknowledgement (equation 2), which then is not left for congestion
    /// avoidance even above the threshold; byte counting counts all that was delivered.
    #[inline]
    pub(super) fn slow_start(&mut self, bytes: u64) -> u64 {
        if self.growth == WindowGrowth::PerAck {
            self.grow(bytes.min(self.mss_bytes));
            return 0;
        }
        let room = self.ssthresh_bytes.saturating_sub(self.cwnd_bytes);
        let growth = bytes.min(room);
        self.grow(growth);
        bytes - growth
    }

    /// Grows by `bytes`, not beyond the maximum.
    #[inline]
    pub(super) fn grow(&mut self, bytes: u64) {
        self.cwnd_bytes = self.cwnd_bytes.saturating_add(bytes).min(self.max_cwnd_bytes);
    }

    /// A reduction is over (RFC 5681, section 3.2, step 6; RFC 9937, section 6.2).
    pub fn deflate(&mut self) {
        self.cwnd_bytes = self.ssthresh_bytes;
    }

    /// Data follows after `idle` without any in flight: halves the window for each timeout that passed, down to the
    /// initial window (RFC 2861, section 3).
    pub fn restart(&mut self, idle: Duration, timeout: Duration, initial_segments: u64) {
        let floor_bytes = (initial_segments * self.mss_bytes).min(self.cwnd_bytes);
        let halvings = (idle / timeout).min(63);
        if halvings > 0 && self.ssthresh_bytes != u64::MAX {
            self.ssthresh_bytes = self.ssthresh_bytes.max(self.cwnd_bytes / 4 * 3);
        }
        self.cwnd_bytes = (self.cwnd_bytes >> halvings).max(floor_bytes);
        debug_assert!(self.cwnd_bytes >= floor_bytes && self.cwnd_bytes > 0, "a window of nothing");
    }

    /// `bytes` as a threshold: not below the minimum.
    pub(super) fn clamp_ssthresh(&self, bytes: u64) -> u64 {
        bytes.max(self.min_ssthresh_bytes)
    }
}

/// Grows a window by a segment for each window of bytes acknowledged (RFC 3465, section 2.1), or by RFC 5681's equation
/// 3 for each acknowledgement.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct AdditiveIncrease {
    acknowledged_bytes: u64,
}

impl AdditiveIncrease {
    /// `bytes` were acknowledged.
    #[inline]
    pub fn grow(&mut self, window: &mut Window, bytes: u64) {
        debug_assert!(window.cwnd_bytes > 0, "a window of nothing");
        if window.growth == WindowGrowth::PerAck {
            if bytes > 0 {
                // Equation 3; a result of 0 counts as 1.
                window.grow((window.mss_bytes * window.mss_bytes / window.cwnd_bytes).max(1));
            }
            return;
        }
        if self.acknowledged_bytes >= window.cwnd_bytes {
            // Credit from before a reduction counts for one segment, as in Linux.
            self.acknowledged_bytes = 0;
            window.grow(window.mss_bytes);
        }
        self.acknowledged_bytes += bytes;
        while self.acknowledged_bytes >= window.cwnd_bytes {
            self.acknowledged_bytes -= window.cwnd_bytes;
            window.grow(window.mss_bytes);
        }
    }
}

/// What an acknowledgement says, for congestion control.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport::tcp) struct AckEvent {
    /// Now.
    pub now: Time,
    /// Bytes that this acknowledgement reports delivered for the first time, selectively or in order.
    pub delivered_bytes: u64,
    /// First byte not acknowledged in order.
    pub snd_una: u64,
    /// First byte not sent yet.
    pub snd_nxt: u64,
    /// Round-trip time of the newest packet it acknowledges; zero when unknown.
    pub rtt: Duration,
    /// It echoes congestion (ECE).
    pub ece: bool,
}

/// What an acknowledgement says, for an algorithm that sets the window by itself.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::transport::tcp) struct AckSample {
    /// Now.
    pub now: Time,
    /// The sender's state after the acknowledgement.
    pub state: CongestionState,
    /// Bytes that this acknowledgement reports delivered for the first time.
    pub delivered_bytes: u64,
    /// The same over the life of the connection; 0 without samples of the delivery rate.
    pub total_delivered_bytes: u64,
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
    pub cwnd_limited: bool,
    /// Switches that the newest data packet had passed; 0 when unknown.
    pub hops: u8,
    /// Packets that switches let ask for a larger window.
    pub increases: u8,
    /// First byte not acknowledged in order.
    pub snd_una: u64,
    /// First byte not sent yet.
    pub snd_nxt: u64,
}

/// What every algorithm is told and asked.
pub(in crate::transport::tcp) trait CongestionControl {
    /// Every acknowledgement, whatever the sender's state.
    fn on_ack(&mut self, _event: &AckEvent) {}
    /// Grows the window: called when the window limits the sender and no reduction is under way.
    fn increase(&mut self, window: &mut Window, event: &AckEvent);
    /// The threshold after a sign of congestion; for most an echo is as bad as a loss (RFC 3168, section 6.1.2).
    fn ssthresh(&mut self, window: &Window, sign: CongestionSign) -> u64;
    /// Whether a loss during the reduction that an echo began lowers the threshold once more.
    fn loss_reduces_after_ece(&self) -> bool {
        false
    }
    /// A recovery begins after a loss, or whatever the state before it after a timeout, with room for one segment.
    fn on_recovery(&mut self, _window: &mut Window, _sign: CongestionSign, _now: Time) {}
    /// The handshake took `rtt`.
    fn on_established(&mut self, _window: &Window, _rtt: Duration) {}
    /// The application or the receiver, and not the window, limited the data that is acknowledged `now`.
    fn on_limited(&mut self, _now: Time) {}
    /// Data is sent again after `idle` without any in flight.
    fn on_restart(&mut self, _window: &mut Window, _now: Time, _idle: Duration) {}
    /// A reduction turned out to be wrong; the window is what it was before it.
    fn on_undo(&mut self, _window: &mut Window) {}
    /// Every acknowledgement, for an algorithm that sets the window by itself.
    fn on_ack_sample(&mut self, _window: &mut Window, _event: &AckSample) {}
    /// Keeps the flight down on purpose: samples of the delivery rate say no more than an application's.
    fn is_app_limited(&self) -> bool {
        false
    }
    /// The rate to pace payload at; `None` when the algorithm has no opinion.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }
}
