//! The sending card's rate limiter of a connection.

use hitless_core::wire::{BitRate, Time};

use super::config::RoceSettings;
use super::dcqcn::ReactionPoint;

/// DCQCN's rate, and when it lets the next packet go.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Pace {
    point: ReactionPoint,
    overhead_bytes: u32,
    /// The last packet: when it was handed to the card, and what it takes on the link.
    sent_at: Time,
    wire_bytes: u64,
    /// When to ask again; [`Time::NEVER`] when nothing waits for the pace.
    wake_at: Time,
}

impl Pace {
    /// The pace of a connection on a card that sends at `line_rate`, if `config` has one.
    pub fn new(config: &RoceSettings, line_rate: BitRate) -> Option<Self> {
        let point = ReactionPoint::new(config.dcqcn?, line_rate);
        let overhead_bytes = config.wire_overhead_bytes;
        Some(Self { point, overhead_bytes, sent_at: Time::ZERO, wire_bytes: 0, wake_at: Time::NEVER })
    }

    /// Whether a packet may go; if not, [`Self::wake_at`] says when to ask again: when the rate as it is lets it go, or
    /// when the rate rises.
    pub fn lets_go(&mut self, now: Time) -> bool {
        let Some(rate) = self.point.rate(now) else { return true };
        let goes_at = self.sent_at + rate.time_for(self.wire_bytes);
        if now >= goes_at {
            return true;
        }
        self.wake_at = goes_at.min(self.point.rises_at());
        false
    }

    /// Nothing waits for the pace, for now.
    pub fn stop_waiting(&mut self) {
        self.wake_at = Time::NEVER;
    }

    /// A frame goes.
    pub fn sent(&mut self, now: Time, frame_bytes: u32) {
        self.sent_at = now;
        self.wire_bytes = u64::from(frame_bytes + self.overhead_bytes);
        self.point.sent(now, u64::from(frame_bytes));
    }

    /// A congestion notification has come.
    pub fn cut(&mut self, now: Time) {
        self.point.cut(now);
    }

    /// The rate on the wire; `None` at line rate.
    pub fn rate(&mut self, now: Time) -> Option<BitRate> {
        self.point.rate(now)
    }

    /// When a packet that waits for the pace may go.
    pub fn wake_at(&self) -> Time {
        self.wake_at
    }
}
