//! The sender's single timer: its purpose and its deadline.

use crate::transport::TimeoutPurpose;
use crate::transport::tcp::settings::TcpSettings;
use crate::transport::tcp::ticks::TickClock;
use hitless_core::wire::{Duration, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) enum TimerKind {
    None,
    /// Repeats the SYN.
    Syn,
    /// Retransmission timeout (RFC 6298).
    Retransmission,
    /// Tail loss probe (RFC 8985, section 7).
    Probe,
    /// The end of RACK's reordering window (RFC 8985, section 6.2, step 5).
    Reordering,
    /// Lets pacing send the next packet.
    Pacing,
}

/// The timer. It is set only when nothing more can be sent.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub(super) struct SenderTimer {
    kind: TimerKind,
    /// Whether it must be set again before waiting.
    pub is_stale: bool,
    deadline: Time,
    /// Start of the retransmission timeout (RFC 6298, section 5).
    pub rto_base: Time,
    /// Clock of the host's timers.
    pub clock: TickClock,
}

impl SenderTimer {
    /// Creates a timer that is not set; the host's ticks fall at `phase` modulo the tick of `config`.
    pub fn new(config: &TcpSettings, phase: Duration) -> Self {
        Self {
            kind: TimerKind::None,
            deadline: Time::NEVER,
            is_stale: false,
            rto_base: Time::ZERO,
            clock: TickClock::new(config.timer_tick, phase),
        }
    }

    /// Returns the purpose; meaningless if the timer is not set.
    pub fn purpose(&self) -> TimeoutPurpose {
        match self.kind {
            TimerKind::Syn | TimerKind::Retransmission => TimeoutPurpose::Retransmission,
            TimerKind::Probe => TimeoutPurpose::Probe,
            TimerKind::Reordering => TimeoutPurpose::Reordering,
            TimerKind::Pacing | TimerKind::None => TimeoutPurpose::Pacing,
        }
    }

    /// Returns the deadline; [`Time::NEVER`] if the timer is not set.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    #[inline]
    pub fn set(&mut self, kind: TimerKind, deadline: Time) {
        self.is_stale = false;
        self.kind = kind;
        self.deadline = deadline;
    }

    pub fn expire(&mut self) -> TimerKind {
        self.deadline = Time::NEVER;
        self.is_stale = true;
        std::mem::replace(&mut self.kind, TimerKind::None)
    }

    /// Restarts the retransmission timeout, because new data was acknowledged (RFC 6298, section 5.3).
    #[inline]
    pub fn restart_rto(&mut self, now: Time) {
        debug_assert!(now >= self.rto_base, "time runs backwards");
        self.rto_base = now;
        self.is_stale = true;
    }

    /// Returns the time until a retransmission timeout of `rto`.
    #[inline]
    pub fn rto_remaining(&self, now: Time, rto: Duration) -> Duration {
        (self.rto_base + rto).saturating_since(now)
    }
}
