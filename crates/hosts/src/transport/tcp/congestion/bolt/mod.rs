//! Bolt (Arslan et al., NSDI 2023): switches tell the sender what to do with its window.
//!
//! A switch with a long queue tells the sender at once, by a packet of its own, and the window shrinks by a segment,
//! as often as the flow's part of the queue asks for (section 3.1). A switch with bandwidth to spare, or that knows
//! of flows about to end, leaves INC on a packet, and the window grows by a segment when it comes back (sections 3.2
//! and 3.3). Beside that it grows by a segment in a round-trip time. [`hitless_core::wire::bolt`] has what is said.
//!
//! # Exceptions
//! - When the packet that met the queue was sent, the sender looks up instead of having it echoed: a notice about a
//!   packet that has been acknowledged meanwhile is passed over.
//! - Losses are found and repaired by TCP, not by going back to the first.
//! - As for every control here, the window only grows while it limits the sender (RFC 7661).

#[cfg(test)]
mod tests;

use super::api::{AckEvent, AckSample, CongestionControl, CongestionSign, Window};
use super::fractional::FractionalWindow;
use hitless_core::wire::{BoltFlags, CongestionNotice, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A flow's part of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum BoltReaction {
    /// The queue times the flow's part of the link's rate (algorithm 3).
    Share,
    /// The queue divided by it, as in the simulator of Practical Packet Deflection.
    InverseShare,
}

/// Parameters of Bolt's senders (section 3, algorithm 3). Where the paper gives no value, defaults are those of the
/// simulator that its authors published. Notices from switches are counted as congestion echoes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct BoltTransportSettings {
    /// Segments that the window grows by in a round-trip time, beside what switches grant.
    #[schemars(range(min = 0.000001, max = 1000.0))]
    pub ai: f64,
    /// Least window in segments. Below 1, a packet leaves in each round-trip time divided by the window.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub min_cwnd: f64,
    /// Largest window in segments; left out: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1000000.0))]
    pub max_cwnd: Option<f64>,
    /// What of a congested queue a flow holds its own: it takes a segment off its window in each time to the switch and
    /// back divided by so many packets.
    pub reaction: BoltReaction,
    /// Weight of the newest sample in the round-trip time by which the flow's rate and gaps are computed.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub rtt_gain: f64,
}

impl Default for BoltTransportSettings {
    fn default() -> Self {
        Self { ai: 1.0, min_cwnd: 0.01, max_cwnd: None, reaction: BoltReaction::Share, rtt_gain: 0.25 }
    }
}

/// Bolt's state.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct Bolt {
    config: BoltTransportSettings,
    /// cwnd.
    pub(super) window: FractionalWindow,
    /// last_dec_time: of a notice.
    decremented_at: Option<Time>,
    /// When a loss was last answered.
    halved_at: Option<Time>,
    /// seq_no_at_last_ai: the window grows when this has been acknowledged.
    grows_after: u64,
    /// An acknowledgement has come.
    has_seen_ack: bool,
}

impl Bolt {
    /// Bolt at the start of a connection.
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

    /// The part of the queue that is this flow's to drain, in segments; not above all of it where shares are shares.
    fn target(&self, notice: &CongestionNotice, mss_bytes: u64, ago: Duration) -> f64 {
        let queued = f64::from(notice.queue_bytes) / mss_bytes as f64;
        // Before the first acknowledgement the time to the switch and back is all that is known.
        let rtt = if self.window.rtt == Duration::ZERO { ago } else { self.window.rtt };
        let bytes_per_second = self.window.segments * mss_bytes as f64 / rtt.as_seconds();
        let share = (bytes_per_second * 8.0 / notice.rate.as_bps() as f64).min(1.0);
        match self.config.reaction {
            BoltReaction::Share => queued * share,
            BoltReaction::InverseShare => queued / share,
        }
    }

    /// Algorithm 3, HandleSrc; a window of a segment or less is halved, as in the authors' simulator.
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

    /// Section 3.2: FIRST until an acknowledgement has come, LAST when the rest fits the window, which asks for no
    /// more.
    pub fn data_option(&self, window: &Window, remaining_bytes: Option<u64>) -> u8 {
        let first = if self.has_seen_ack { BoltFlags::default() } else { BoltFlags::FIRST };
        let flags = BoltFlags::BOLT.with(first);
        let asks = match remaining_bytes {
            // A repetition asks for nothing: what it was the first time has been answered.
            None => BoltFlags::default(),
            Some(bytes) if bytes <= window.cwnd_bytes => BoltFlags::LAST,
            Some(_) => BoltFlags::INC,
        };
        flags.with(asks).0
    }
}

impl CongestionControl for Bolt {
    fn increase(&mut self, _window: &mut Window, _event: &AckEvent) {}

    /// Algorithm 3, HandleAck.
    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        if event.rtt != Duration::ZERO {
            self.window.note_rtt(event.rtt);
        }
        self.has_seen_ack |= event.delivered_bytes > 0;
        if event.cwnd_limited {
            self.window.segments += f64::from(event.increases);
        }
        if event.snd_una > self.grows_after {
            self.grows_after = event.snd_nxt;
            self.window.segments += if event.cwnd_limited { self.config.ai } else { 0.0 };
        }
        self.window.bound(window);
    }

    /// A loss and a timeout take half, once in a round-trip time.
    fn on_recovery(&mut self, window: &mut Window, _sign: CongestionSign, now: Time) {
        if self.window.is_round_over(self.halved_at, now) {
            self.halved_at = Some(now);
            self.window.segments /= 2.0;
        }
        self.window.bound(window);
    }

    /// There is no threshold. It is asked for when a reduction begins.
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
