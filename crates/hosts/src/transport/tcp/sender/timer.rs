//! The sender's one timer: what it is set for, and when it runs out.

use crate::transport::tcp::settings::TcpSettings;
use crate::transport::tcp::ticks::TickClock;
use hitless_core::wire::{Duration, Time};

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) enum TimerKind {
    /// Nothing.
    None,
    /// The SYN is sent again.
    Syn,
    /// Retransmission timeout (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985, section 7).
    Probe,
    /// The end of RACK's reordering window (RFC 8985, section 6.2, step 5).
    Reordering,
    /// Pacing lets the next packet go.
    Pacing,
}

/// The timer. It is set when there is nothing more to send, not before.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct SenderTimer {
    kind: TimerKind,
    deadline: Time,
    /// It must be set anew before waiting.
    pub is_stale: bool,
    /// The retransmission timeout counts from here (RFC 6298, section 5).
    pub rto_base: Time,
    /// When the host's timers fire.
    pub clock: TickClock,
}

impl SenderTimer {
    /// A timer that is not set; the host's ticks fall at `phase` modulo the tick of `config`.
    pub fn new(config: &TcpSettings, phase: Duration) -> Self {
        Self {
            kind: TimerKind::None,
            deadline: Time::NEVER,
            is_stale: false,
            rto_base: Time::ZERO,
            clock: TickClock::new(config.timer_tick, phase),
        }
    }

    /// When it runs out; [`Time::NEVER`]: it is not set.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Sets it.
    #[inline]
    pub fn set(&mut self, kind: TimerKind, deadline: Time) {
        self.is_stale = false;
        self.kind = kind;
        self.deadline = deadline;
    }

    /// It has run out; returns what it was set for.
    pub fn expire(&mut self) -> TimerKind {
        self.deadline = Time::NEVER;
        self.is_stale = true;
        std::mem::replace(&mut self.kind, TimerKind::None)
    }

    /// New data was acknowledged: the retransmission timeout begins anew (RFC 6298, section 5.3).
    #[inline]
    pub fn restart_rto(&mut self, now: Time) {
        debug_assert!(now >= self.rto_base, "time runs backwards");
        self.rto_base = now;
        self.is_stale = true;
    }

    /// How long until a retransmission timeout of `rto`.
    #[inline]
    pub fn rto_remaining(&self, now: Time, rto: Duration) -> Duration {
        (self.rto_base + rto).saturating_since(now)
    }
}
