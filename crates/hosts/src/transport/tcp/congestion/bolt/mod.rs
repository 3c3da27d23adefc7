//! Bolt (Arslan et al., NSDI 2023): switches tell the sender how to change its window.
//!
//! A switch with a long queue notifies the sender at once with a separate packet. The window then shrinks by a segment,
//! at a rate given by the flow's share of the queue (section 3.1). A switch with spare bandwidth, or with flows about
//! to end, leaves INC on a packet, and the window grows by a segment when INC returns (sections 3.2 and 3.3). In
//! addition, the window grows by a segment per round-trip time. [`hitless_core::wire::bolt`] has the packet formats.
//!
//! # Exceptions
//! - The sender looks up when the notified packet was sent, instead of having this time echoed. A notification about a
//!   packet acknowledged in the meantime is ignored.
//! - TCP detects and repairs losses; there is no go-back-N.
//! - As for every control here, the window only grows while it limits the sender (RFC 7661).

#[cfg(test)]
mod tests;

use super::api::{AckEvent, AckSample, CongestionControl, CongestionSign, Window};
use super::fractional::FractionalWindow;
use hitless_core::wire::{BoltFlags, CongestionNotice, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The flow's share of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum BoltReaction {
    /// The queue times the flow's fraction of the link's rate (algorithm 3).
    Share,
    /// The queue divided by that fraction, as in the simulator of Practical Packet Deflection.
    InverseShare,
}

/// Settings of Bolt's senders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct BoltTransportSettings {
    /// Growth of the window in segments per round-trip time, in addition to the increases granted by switches.
    #[schemars(range(min = 0.000001, max = 1000.0))]
    pub ai: f64,
    /// Minimum window in segments. Below 1, one packet leaves per round-trip time divided by the window.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub min_cwnd: f64,
    /// Maximum window in segments; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1000000.0))]
    pub max_cwnd: Option<f64>,
    /// Share of a congested queue that a flow drains: it removes a segment from its window once per (time to the switch
    /// and back / share in packets).
    pub reaction: BoltReaction,
    /// Weight of the newest sample in the round-trip time for the flow's rate and gaps.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub rtt_gain: f64,
}

impl Default for BoltTransportSettings {
    fn default() -> Self {
        Self { ai: 1.0, min_cwnd: 0.01, max_cwnd: None, reaction: BoltReaction::Share, rtt_gain: 0.25 }
    }
}

#[derive(Clone, Debug, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct Bolt {
    config: BoltTransportSettings,
    /// cwnd.
    pub(super) window: FractionalWindow,
    /// last_dec_time: time of the last notification that decreased the window.
    decremented_at: Option<Time>,
    /// Time of the last response to a loss.
    halved_at: Option<Time>,
    /// seq_no_at_last_ai: the window grows when this has been acknowledged.
    grows_after: u64,
    /// Whether an acknowledgement has arrived.
    has_seen_ack: bool,
}

impl Bolt {
    pub fn new(bolt: BoltTransportSettings, window: &Window) -> Self {
        Self {
            config: bolt,
            window: FractionalWindow::new(window, bolt.min_cwnd, bolt.rtt_gain),
            decremented_at: None,
            halved_at: None,
            grows_after: 0,
            has_seen_ack: false,
        }
    }

    /// Returns the part of the queue that this flow must drain, in segments; with `Share` at most the whole queue.
    fn target(&self, notice: &CongestionNotice, mss_bytes: u64, ago: Duration) -> f64 {
        let queued = f64::from(notice.queue_bytes) / mss_bytes as f64;
        // Before the first acknowledgement only the time to the switch and back is known.
        let rtt = if self.window.rtt == Duration::ZERO { ago } else { self.window.rtt };
        let bytes_per_second = self.window.segments * mss_bytes as f64 / rtt.as_seconds();
        let share = (bytes_per_second * 8.0 / notice.rate.as_bps() as f64).min(1.0);
        match self.config.reaction {
            BoltReaction::Share => queued * share,
            BoltReaction::InverseShare => queued / share,
        }
    }

    /// Handles a notification (algorithm 3, HandleSrc); a window of at most a segment is halved, as in the authors'
    /// simulator.
    pub fn on_congestion_notice(&mut self, window: &mut Window, now: Time, notice: &CongestionNotice, ago: Duration) {
        if self.window.segments <= 1.0 {
            self.window.segments /= 2.0;
        } else {
            let interval_ps = ago.as_ps() as f64 / self.target(notice, window.mss_bytes, ago);
            let is_due = |last: Time| now.saturating_since(last).as_ps() as f64 >= interval_ps;
            if self.decremented_at.is_none_or(is_due) {
                self.decremented_at = Some(now);
                self.window.segments -= 1.0;
            }
        }
        self.window.bound(window);
    }

    /// Returns the flags of a data packet (section 3.2): FIRST until an acknowledgement has arrived; LAST if the
    /// remaining data fits into the window, because the flow then needs no more.
    pub fn data_option(&self, window: &Window, remaining_bytes: Option<u64>) -> u8 {
        let first = if self.has_seen_ack { BoltFlags::default() } else { BoltFlags::FIRST };
        let flags = BoltFlags::BOLT.with(first);
        let asks = match remaining_bytes {
            // A retransmission requests nothing: its first transmission has been answered.
            None => BoltFlags::default(),
            Some(bytes) if bytes <= window.cwnd_bytes => BoltFlags::LAST,
            Some(_) => BoltFlags::INC,
        };
        flags.with(asks).0
    }
}

impl CongestionControl for Bolt {
    fn increase(&mut self, _window: &mut Window, _event: &AckEvent) {}

    /// Handles an acknowledgement (algorithm 3, HandleAck).
    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        if event.rtt != Duration::ZERO {
            self.window.note_rtt(event.rtt);
        }
        self.has_seen_ack |= event.delivered_bytes > 0;
        if event.cwnd_limited {
            self.window.segments += f64::from(event.increases);
        }
        // All data sent before the last increase is acknowledged: a round trip has passed.
        if event.snd_una > self.grows_after {
            self.grows_after = event.snd_nxt;
            self.window.segments += if event.cwnd_limited { self.config.ai } else { 0.0 };
        }
        self.window.bound(window);
    }

    /// Halves the window for a loss or a timeout, at most once per round-trip time.
    fn on_recovery(&mut self, window: &mut Window, _sign: CongestionSign, now: Time) {
        if self.window.is_round_over(self.halved_at, now) {
            self.halved_at = Some(now);
            self.window.segments /= 2.0;
        }
        self.window.bound(window);
    }

    /// Remembers the window at the start of a reduction; Bolt does not use a threshold.
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
