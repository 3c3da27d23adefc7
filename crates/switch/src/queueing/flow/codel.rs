//! CoDel signals congestion when the delay of a queue has exceeded a target for an interval, and then at an increasing
//! rate (RFC 8289). This implementation uses integers only.

use hitless_core::wire::{Duration, Time};

use super::entry::Waiting;

/// CoDel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// Acceptable standing delay of a queue.
    pub target: Duration,
    /// Minimum time above the target before the first signal; about a round-trip time.
    pub interval: Duration,
    /// A queue with at most this many bytes gets no signal: the maximum frame length.
    pub small_queue_bytes: u32,
    /// Whether ECN-capable packets are marked instead of dropped (RFC 8290, section 5.2.6).
    pub marks: bool,
}

/// A packet taken from its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub packet: Waiting,
    /// Bytes left in the queue.
    pub bytes_left: u64,
}

/// CoDel's state for one queue; names and rules as in RFC 8289, section 5.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct Codel {
    /// Time when the delay will have exceeded the target for an interval; `None` while it does not exceed it.
    first_above_at: Option<Time>,
    is_dropping: bool,
    drop_next_at: Time,
    /// Signals since the queue started signalling, and that count at the last start.
    count: u32,
    last_count: u32,
}

impl Codel {
    /// Takes the next packet to send, and returns whether to mark it. `next` takes the first packet of the queue;
    /// `dropped` receives packets that are not sent.
    #[inline]
    pub fn take(
        &mut self,
        config: &CodelConfig,
        now: Time,
        mut next: impl FnMut() -> Option<Head>,
        mut dropped: impl FnMut(Waiting),
    ) -> Option<(Waiting, bool)> {
        let head = next();
        let is_late = self.watch_delay(config, now, head);
        let packet = head?.packet;
        if !self.is_dropping {
            return if is_late { self.begin(config, now, packet, next, dropped) } else { Some((packet, false)) };
        }
        // A delay below the target ends the dropping state at once.
        self.is_dropping = is_late;
        let mut packet = packet;
        while self.is_dropping && now >= self.drop_next_at {
            self.count += 1;
            if config.marks && packet.can_mark {
                // A mark is a signal like a drop, but the packet is sent, so the loop ends here (RFC 8290, section
                // 5.2.6).
                self.drop_next_at = self.law(config, self.drop_next_at);
                return Some((packet, true));
            }
            dropped(packet);
            let head = next();
            self.is_dropping = self.watch_delay(config, now, head);
            if self.is_dropping {
                // The next time follows the scheduled one, not `now`, so that late service does not slow the rate down
                // (RFC 8289, section 5.5).
                self.drop_next_at = self.law(config, self.drop_next_at);
            }
            packet = head?.packet;
        }
        Some((packet, false))
    }

    /// Gives the first signal of a queue that has been late for an interval.
    fn begin(
        &mut self,
        config: &CodelConfig,
        now: Time,
        packet: Waiting,
        mut next: impl FnMut() -> Option<Head>,
        mut dropped: impl FnMut(Waiting),
    ) -> Option<(Waiting, bool)> {
        let taken = if config.marks && packet.can_mark {
            Some((packet, true))
        } else {
            dropped(packet);
            let head = next();
            self.watch_delay(config, now, head);
            head.map(|head| (head.packet, false))
        };
        self.is_dropping = true;
        // A signal rate that controlled the queue recently is a good start.
        let delta = self.count.saturating_sub(self.last_count);
        let was_recently = now.saturating_since(self.drop_next_at) < config.interval * 16;
        self.count = if delta > 1 && was_recently { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next_at = self.law(config, now);
        taken
    }

    /// Follows the delay of the packet at the head; returns whether it has exceeded the target for a whole interval.
    #[inline]
    fn watch_delay(&mut self, config: &CodelConfig, now: Time, head: Option<Head>) -> bool {
        let is_above = |head: &Head| {
            let delay = now.saturating_since(head.packet.entry.enqueued_at);
            delay >= config.target && head.bytes_left > config.small_queue_bytes.into()
        };
        if !head.as_ref().is_some_and(is_above) {
            self.first_above_at = None;
            return false;
        }
        now >= *self.first_above_at.get_or_insert(now + config.interval)
    }

    /// Returns the time of the next signal: `interval / sqrt(count)` after `from` (RFC 8289, section 5).
    fn law(&self, config: &CodelConfig, from: Time) -> Time {
        from + interval_by_root(config.interval, self.count)
    }
}

/// Returns `interval / sqrt(count)` with 16 binary digits of the root after the point, rounded down: the same on every
/// platform.
fn interval_by_root(interval: Duration, count: u32) -> Duration {
    let root = (u64::from(count) << 32).isqrt();
    Duration((u128::from(interval.as_ps()) << 16).div_euclid(u128::from(root.max(1))) as u64)
}

#[cfg(test)]
#[path = "codel/tests.rs"]
mod tests;
