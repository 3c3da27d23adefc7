//! The interface of congestion control algorithms, and the window that they change.

use crate::transport::tcp::delivery_rate::RateSample;
use hitless_core::engine::Stream;
use hitless_core::wire::{BitRate, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Growth of the congestion window per acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum WindowGrowth {
    /// In slow start all delivered bytes, afterwards one segment per window of them (RFC 3465 without its limit L), as
    /// in Linux.
    ByteCounting,
    /// Only if it acknowledges new data: in slow start these bytes, at most a segment; afterwards mss * mss / window
    /// (RFC 5681, equations 2 and 3).
    PerAck,
}

/// The congestion state of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub enum CongestionState {
    /// No congestion: the window grows.
    #[default]
    Open,
    /// Congestion was echoed: the window shrinks to the threshold (CWR).
    Cwr,
    /// A loss was detected: lost segments are retransmitted while the window shrinks.
    Recovery,
    /// The retransmission timer expired: slow start over the lost segments.
    Loss,
}

/// A sign of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionSign {
    /// An ECN echo.
    Ece,
    /// A loss detected without a timeout.
    Loss,
    /// A retransmission timeout.
    Rto,
}

/// The congestion window and its bounds, in bytes.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub struct Window {
    /// cwnd.
    pub cwnd_bytes: u64,
    /// ssthresh.
    pub ssthresh_bytes: u64,
    /// Length of a full segment.
    pub mss_bytes: u64,
    /// Minimum of the threshold.
    pub min_ssthresh_bytes: u64,
    /// Maximum of the window.
    pub max_cwnd_bytes: u64,
    /// Growth per acknowledgement.
    pub growth: WindowGrowth,
}

impl Window {
    /// Returns the window in segments.
    pub fn segments(&self) -> f64 {
        self.cwnd_bytes as f64 / self.mss_bytes as f64
    }

    /// Returns whether the window is below the threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd_bytes < self.ssthresh_bytes
    }

    /// Grows by up to `bytes`, at most to the threshold; returns the bytes left for congestion avoidance.
    ///
    /// RFC 5681 counts at most a segment per acknowledgement (equation 2), and leaves nothing for congestion avoidance
    /// even above the threshold; byte counting counts all delivered bytes.
    #[inline(always)]
    pub fn slow_start(&mut self, bytes: u64) -> u64 {
        if self.growth == WindowGrowth::PerAck {
            self.grow(bytes.min(self.mss_bytes));
            return 0;
        }
        let room = self.ssthresh_bytes.saturating_sub(self.cwnd_bytes);
        let growth = bytes.min(room);
        self.grow(growth);
        bytes - growth
    }

    /// Grows by `bytes`, at most to the maximum.
    #[inline]
    pub fn grow(&mut self, bytes: u64) {
        self.cwnd_bytes = self.cwnd_bytes.saturating_add(bytes).min(self.max_cwnd_bytes);
    }

    /// Sets the window to the threshold at the end of a reduction (RFC 5681, section 3.2, step 6; RFC 9937, section
    /// 6.2).
    pub fn deflate(&mut self) {
        self.cwnd_bytes = self.ssthresh_bytes;
    }

    /// Restarts after `idle` without data in flight: halves the window for each timeout in this time, down to the
    /// initial window (RFC 2861, section 3).
    pub fn restart(&mut self, idle: Duration, timeout: Duration, initial_segments: u64) {
        let floor_bytes = (initial_segments * self.mss_bytes).min(self.cwnd_bytes);
        let halvings = (idle / timeout).min(63);
        // RFC 2861, section 3: remember three quarters of the window, so that slow start gets back there.
        if halvings > 0 && self.ssthresh_bytes != u64::MAX {
            self.ssthresh_bytes = self.ssthresh_bytes.max(self.cwnd_bytes / 4 * 3);
        }
        self.cwnd_bytes = (self.cwnd_bytes >> halvings).max(floor_bytes);
        assert!(self.cwnd_bytes >= floor_bytes && self.cwnd_bytes > 0, "a window of nothing");
    }

    /// Returns `bytes` as a threshold, at least the minimum.
    pub fn clamp_ssthresh(&self, bytes: u64) -> u64 {
        bytes.max(self.min_ssthresh_bytes)
    }
}

/// Congestion avoidance: grows the window by a segment per window of acknowledged bytes (RFC 3465, section 2.1), or by
/// RFC 5681's equation 3 per acknowledgement.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub struct AdditiveIncrease {
    acknowledged_bytes: u64,
}

impl AdditiveIncrease {
    /// Grows the window for `bytes` acknowledged.
    #[inline(always)]
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

/// An acknowledgement, for every algorithm.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckEvent {
    /// Time of the acknowledgement.
    pub now: Time,
    /// Bytes that this acknowledgement reports delivered for the first time, by SACK or in order.
    pub delivered_bytes: u64,
    /// First byte not acknowledged in order.
    pub snd_una: u64,
    /// First unsent byte.
    pub snd_nxt: u64,
    /// Round-trip time of the newest acknowledged packet; zero if unknown.
    pub rtt: Duration,
    /// Whether it echoes congestion (ECE).
    pub ece: bool,
}

/// An acknowledgement, for an algorithm that sets the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// Time of the acknowledgement.
    pub now: Time,
    /// The sender's state after the acknowledgement.
    pub state: CongestionState,
    /// Bytes that this acknowledgement reports delivered for the first time.
    pub delivered_bytes: u64,
    /// Total bytes delivered on the connection; 0 without samples of the delivery rate.
    pub total_delivered_bytes: u64,
    /// Bytes newly detected as lost.
    pub lost_bytes: u64,
    /// Bytes in the network before the acknowledgement.
    pub prior_flight_bytes: u64,
    /// Bytes in the network after the acknowledgement.
    pub flight_bytes: u64,
    /// Round-trip time of the newest acknowledged packet; zero if unknown.
    pub rtt: Duration,
    /// Smoothed round-trip time, once there was a sample.
    pub smoothed_rtt: Option<Duration>,
    /// Sample of the delivery rate, if there is one.
    pub sample: Option<RateSample>,
    /// Whether the window, or the gap between packets, limited the sender when the acknowledged data was sent.
    pub cwnd_limited: bool,
    /// Number of switches that the newest data packet passed; 0 if unknown.
    pub hops: u8,
    /// Number of packets that switches allowed to increase the window.
    pub increases: u8,
    /// First byte not acknowledged in order.
    pub snd_una: u64,
    /// First unsent byte.
    pub snd_nxt: u64,
}

/// The interface of every algorithm.
pub trait CongestionControl {
    /// Handles every acknowledgement, in any state of the sender.
    fn on_ack(&mut self, _event: &AckEvent) {}
    /// Grows the window; called if the window limits the sender and no reduction is in progress.
    fn increase(&mut self, window: &mut Window, event: &AckEvent);
    /// Returns the threshold after a sign of congestion; for most algorithms an echo equals a loss (RFC 3168, section
    /// 6.1.2).
    fn ssthresh(&mut self, window: &Window, sign: CongestionSign) -> u64;
    /// Sets the random stream of the connection. Called before the first acknowledgement, for an algorithm that draws.
    fn draw_from(&mut self, _stream: Stream) {}
    /// Returns whether a loss during a reduction started by an echo lowers the threshold again.
    fn loss_reduces_after_ece(&self) -> bool {
        false
    }
    /// Starts a recovery: after a loss, or after a timeout in any state, with room for one segment.
    fn on_recovery(&mut self, _window: &mut Window, _sign: CongestionSign, _now: Time) {}
    /// Handles the end of the handshake, which took `rtt`.
    fn on_established(&mut self, _window: &Window, _rtt: Duration) {}
    /// Notes that the application or the receiver, not the window, limited the data acknowledged `now`.
    fn on_limited(&mut self, _now: Time) {}
    /// Handles new data after `idle` without data in flight.
    fn on_restart(&mut self, _window: &mut Window, _now: Time, _idle: Duration) {}
    /// Handles the undo of a spurious reduction; the window has already been restored.
    fn on_undo(&mut self, _window: &mut Window) {}
    /// Handles every acknowledgement, for an algorithm that sets the window.
    fn on_ack_sample(&mut self, _window: &mut Window, _event: &AckSample) {}
    /// Returns whether the flight is kept small on purpose; delivery rate samples then count as application-limited.
    fn is_app_limited(&self) -> bool {
        false
    }
    /// Returns the pacing rate of payload; `None` if the algorithm does not set one.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }
}
