//! The sender's one timer: SYN, retransmission, tail loss probe, reordering or pacing, whichever comes first.

use super::{CongestionState, Connection, TcpSender};
use crate::transport::tcp::congestion::CongestionControl;
use hitless_wire::{Duration, Time};

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl TcpSender {
    /// Sets the timer for what comes next.
    #[inline]
    pub(super) fn set_timer(&mut self, now: Time) {
        self.timer_stale = false;
        if self.orderly && self.plain && self.clock.is_exact() && self.scoreboard.segments() > 1 {
            // Short for the most usual case: nothing is paced, sacked, probed or waits for RACK.
            self.timer = TimerKind::Probe;
            self.deadline = now + self.probe_timeout_of_many().min(self.retransmission_after(now));
        } else {
            self.set_timer_unusual(now);
        }
    }

    #[inline(never)]
    fn set_timer_unusual(&mut self, now: Time) {
        (self.timer, self.deadline) = self.next_timer(now);
        // With nothing in the network nothing can be late: only the gap is waited for.
        let only_waits = self.scoreboard.pipe_bytes() == 0 && self.algorithm.packet_gap().is_some();
        if let Some(wakes_at) = self.pacer.wakes_at().filter(|&wakes_at| only_waits || wakes_at < self.deadline) {
            (self.timer, self.deadline) = (TimerKind::Pacing, wakes_at);
        }
    }

    /// How long until the retransmission timeout.
    #[inline]
    fn retransmission_after(&self, now: Time) -> Duration {
        (self.timeout_base + self.rtt.timeout()).saturating_since(now)
    }

    fn next_timer(&self, now: Time) -> (TimerKind, Time) {
        let (kind, timeout) = if self.scoreboard.segments() == 0 {
            return self.next_timer_of_idle(now);
        } else if self.reordering_ends_at != Time::NEVER {
            let remaining = self.reordering_ends_at.saturating_since(now);
            (TimerKind::Reordering, remaining + self.clock.slack())
        } else {
            let remaining = self.retransmission_after(now);
            if self.may_probe() {
                // RFC 8985, section 7.2: not later than the retransmission timeout.
                (TimerKind::Probe, self.probe_timeout().min(remaining))
            } else {
                (TimerKind::Retransmission, remaining)
            }
        };
        (kind, self.clock.deadline(now, timeout))
    }

    /// Nothing is in flight: only the SYN may be waited for.
    fn next_timer_of_idle(&self, now: Time) -> (TimerKind, Time) {
        let Connection::SynSent { retries, due: false, .. } = self.connection else {
            return (TimerKind::None, Time::NEVER);
        };
        // RFC 6298, section 5.5: each timeout doubles the next.
        let timeout = (self.config.syn_timeout * (1 << retries.min(16))).min(self.config.rto_max);
        (TimerKind::Syn, self.clock.deadline(now, timeout))
    }

    /// RFC 8985, section 7.2: no recovery, nothing sacked, no other probe in flight.
    #[inline]
    pub(super) fn may_probe(&self) -> bool {
        let calm = matches!(self.state, CongestionState::Open | CongestionState::Reduction);
        calm && self.uses_rack && self.probe.is_none() && self.scoreboard.sacked_bytes() == 0
    }

    /// Probe timeout by the rule of Linux: twice the smoothed round-trip time and, with one packet in flight, the
    /// worst delay of its acknowledgement, else two ticks of the clock.
    fn probe_timeout(&self) -> Duration {
        match self.rtt.smoothed() {
            Some(smoothed_rtt) if self.scoreboard.segments() == 1 => smoothed_rtt * 2 + self.config.tlp_max_ack_delay,
            _ => self.probe_timeout_of_many(),
        }
    }

    /// The same with more than one packet in flight, or without a round-trip sample.
    #[inline]
    fn probe_timeout_of_many(&self) -> Duration {
        let Some(smoothed_rtt) = self.rtt.smoothed() else { return self.config.rto_initial };
        smoothed_rtt * 2 + self.clock.slack()
    }

    /// The timer ran out.
    pub(super) fn expire(&mut self, now: Time) {
        let kind = std::mem::replace(&mut self.timer, TimerKind::None);
        self.deadline = Time::NEVER;
        self.timer_stale = true;
        self.calm = false;
        self.orderly = false;
        self.plain = false;
        match kind {
            TimerKind::Syn => self.repeat_syn(),
            TimerKind::Retransmission => self.time_out(now),
            TimerKind::Probe => self.probe_due = self.may_probe(),
            TimerKind::Reordering => self.end_reordering(now),
            TimerKind::Pacing | TimerKind::None => {}
        }
    }

    fn repeat_syn(&mut self) {
        let Connection::SynSent { retries, due, .. } = &mut self.connection else { return };
        *retries += 1;
        *due = true;
        self.statistics.timeouts += 1;
    }
}
