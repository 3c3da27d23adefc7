//! The sending card's rate limiter for a connection.

use hitless_core::wire::{BitRate, Time};

use super::config::RoceSettings;
use super::dcqcn::ReactionPoint;

/// DCQCN's rate, and the departure of the next packet.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Pace {
    point: ReactionPoint,
    overhead_bytes: u32,
    /// Time when the last packet was passed to the card, and its length on the link.
    sent_at: Time,
    wire_bytes: u64,
    /// Time of the next check; [`Time::NEVER`] if no packet waits.
    wake_at: Time,
}

impl Pace {
    /// Creates the rate limiter of a connection on a card that sends at `line_rate`, if `config` has one.
    pub fn new(config: &RoceSettings, line_rate: BitRate) -> Option<Self> {
        let point = ReactionPoint::new(config.dcqcn?, line_rate);
        let overhead_bytes = config.wire_overhead_bytes;
        Some(Self { point, overhead_bytes, sent_at: Time::ZERO, wire_bytes: 0, wake_at: Time::NEVER })
    }

    /// Decides whether a packet may be sent. If not, [`Self::wake_at`] is the time to ask again: when the current rate
    /// allows it, or when the rate increases.
    pub fn admit(&mut self, now: Time) -> bool {
        let Some(rate) = self.point.rate(now) else { return true };
        let goes_at = self.sent_at + rate.time_for(self.wire_bytes);
        if now >= goes_at {
            return true;
        }
        self.wake_at = goes_at.min(self.point.rises_at());
        false
    }

    /// Records that no packet waits.
    pub fn stop_waiting(&mut self) {
        self.wake_at = Time::NEVER;
    }

    pub fn sent(&mut self, now: Time, frame_bytes: u32) {
        self.sent_at = now;
        self.wire_bytes = u64::from(frame_bytes + self.overhead_bytes);
        self.point.sent(now, u64::from(frame_bytes));
    }

    pub fn cut(&mut self, now: Time) {
        self.point.cut(now);
    }

    /// Returns the rate on the wire; `None` at line rate.
    pub fn rate(&mut self, now: Time) -> Option<BitRate> {
        self.point.rate(now)
    }

    pub fn wake_at(&self) -> Time {
        self.wake_at
    }
}
