//! Probes of the tail, the second half of Sleek: after a pause without acknowledgements the sender asks for one.

use hitless_core::wire::{Duration, Time};

/// The probe of a connection.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct TailProbe {
    next_at: Time,
    is_due: bool,
    /// Time of the last probe.
    asked_at: Time,
    /// Packets below this were sent before the last probe.
    asked_below: u64,
    unanswered: u32,
}

impl TailProbe {
    pub const fn new() -> Self {
        Self { next_at: Time::NEVER, is_due: false, asked_at: Time::ZERO, asked_below: 0, unanswered: 0 }
    }

    pub const fn next_at(&self) -> Time {
        self.next_at
    }

    pub const fn is_armed(&self) -> bool {
        self.next_at.as_ps() != Time::NEVER.as_ps()
    }

    /// Begins a pause with an acknowledgement, or with the first packet in flight. With unsent data further packets
    /// bring acknowledgements, so the sender waits for longer (the authors' factors).
    pub fn wait(&mut self, now: Time, has_unsent: bool, base_rtt: Duration, target_delay: Duration) {
        self.next_at = now + if has_unsent { base_rtt * 3 } else { base_rtt + target_delay };
    }

    /// Ends the wait: nothing is in flight.
    pub fn disarm(&mut self) {
        self.next_at = Time::NEVER;
        // A probe that was not sent gets no answer.
        self.unanswered = self.unanswered.saturating_sub(self.take().into());
    }

    /// Asks for an acknowledgement of the packets below `next`, and waits for five round trips (the authors' factor).
    pub fn ask(&mut self, now: Time, next: u64, base_rtt: Duration) {
        self.is_due = true;
        self.asked_at = now;
        self.asked_below = next;
        self.unanswered = self.unanswered.saturating_add(1);
        self.next_at = now + base_rtt * 5;
    }

    /// Returns whether a probe is due, and takes it.
    pub const fn take(&mut self) -> bool {
        std::mem::replace(&mut self.is_due, false)
    }

    /// Returns the time of the last probe, and the end of the packets before it, if an answer proves a loss: it met no
    /// queue that could still hold them. The answer to an earlier one of several probes proves nothing.
    pub fn answered(&mut self, now: Time, slowest: Duration) -> Option<(Time, u64)> {
        let is_only = std::mem::replace(&mut self.unanswered, 0) == 1;
        (is_only && now.saturating_since(self.asked_at) < slowest).then_some((self.asked_at, self.asked_below))
    }
}
