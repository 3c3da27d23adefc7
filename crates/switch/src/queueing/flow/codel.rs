//! CoDel: a queue that has had too much delay for too long signals it, ever more often (RFC 8289). Whole numbers only.

use hitless_core::wire::{Duration, Time};

use super::entry::Waiting;

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// Acceptable delay of a queue that does not empty.
    pub target: Duration,
    /// How long the delay must have been above the target before anything is done: in the order of a round-trip time.
    pub interval: Duration,
    /// A queue with no more bytes than these is left alone: the largest frame.
    pub small_queue_bytes: u32,
    /// Packets that can be marked are marked where others are dropped (RFC 8290, section 5.2.6).
    pub marks: bool,
}

/// A packet that has been taken from its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub packet: Waiting,
    /// What is left in the queue.
    pub bytes_left: u64,
}

/// What CoDel knows of one queue; names and rules are those of RFC 8289, section 5.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct Codel {
    /// When the delay will have been above the target for an interval; none: it is not above.
    first_above_at: Option<Time>,
    is_dropping: bool,
    drop_next_at: Time,
    /// Signals since the queue began to give them, and what they were when it last began.
    count: u32,
    last_count: u32,
}

impl Codel {
    /// Takes the next packet that is to be sent, and whether it is to be marked. `next` takes the first packet of the
    /// queue, `dropped` gets those that are not to be sent.
    #[inline]
    pub fn take(
        &mut self,
        config: &CodelConfig,
        now: Time,
        mut next: impl FnMut() -> Option<Head>,
        mut dropped: impl FnMut(Waiting),
    ) -> Option<(Waiting, bool)> {
        let head = next();
        let is_late = self.is_late(config, now, head);
        let packet = head?.packet;
        if !self.is_dropping {
            return if is_late { self.begin(config, now, packet, next, dropped) } else { Some((packet, false)) };
        }
        self.is_dropping = is_late;
        let mut packet = packet;
        while self.is_dropping && now >= self.drop_next_at {
            self.count += 1;
            if config.marks && packet.can_mark {
                self.drop_next_at = self.law(config, self.drop_next_at);
                return Some((packet, true));
            }
            dropped(packet);
            let head = next();
            self.is_dropping = self.is_late(config, now, head);
            if self.is_dropping {
                self.drop_next_at = self.law(config, self.drop_next_at);
            }
            packet = head?.packet;
        }
        Some((packet, false))
    }

    /// The first signal of a queue that has been late for an interval.
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
            self.is_late(config, now, head);
            head.map(|head| (head.packet, false))
        };
        self.is_dropping = true;
        // A rate that controlled the queue a short time ago is a good one to go on with.
        let delta = self.count.saturating_sub(self.last_count);
        let was_recently = now.saturating_since(self.drop_next_at) < config.interval * 16;
        self.count = if delta > 1 && was_recently { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next_at = self.law(config, now);
        taken
    }

    /// Whether the delay has been above the target for at least an interval.
    #[inline]
    fn is_late(&mut self, config: &CodelConfig, now: Time, head: Option<Head>) -> bool {
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

    /// The next signal comes an interval divided by the root of their number after `from` (RFC 8289, section 5).
    fn law(&self, config: &CodelConfig, from: Time) -> Time {
        from + interval_by_root(config.interval, self.count)
    }
}

/// `interval / sqrt(count)`, with a root of 16 binary digits behind the point, rounded down: the same everywhere.
fn interval_by_root(interval: Duration, count: u32) -> Duration {
    let root = (u64::from(count) << 32).isqrt();
    Duration((u128::from(interval.as_ps()) << 16).div_euclid(u128::from(root.max(1))) as u64)
}

#[cfg(test)]
#[path = "codel/tests.rs"]
mod tests;
