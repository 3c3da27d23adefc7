//! The use of the sender's single timer: SYN, retransmission, tail loss probe, reordering or pacing, whichever is
//! first.

use super::TcpSender;
use super::timer::TimerKind;
use hitless_core::wire::{Duration, Time};

impl TcpSender {
    #[inline]
    pub(super) fn set_timer(&mut self, now: Time) {
        if self.fast_path.ece_acks
            && self.fast_path.new_data
            && self.timer.clock.is_exact()
            && self.scoreboard.segments() > 1
        {
            // Shortcut for the most usual case: no pacing, no SACK, no probe, no reordering window.
            let rto_remaining = self.timer.rto_remaining(now, self.rtt.rto());
            self.timer.set(TimerKind::Probe, now + self.probe_timeout_of_many().min(rto_remaining));
        } else {
            self.set_timer_slow(now);
        }
    }

    /// Sets the timer while the host has no room for the sender's packets. With everything in order, deadlines usually
    /// move away; then a timer that is already set is checked only when it fires.
    #[inline]
    pub(super) fn hold_back(&mut self, now: Time) {
        if self.timer.is_stale && !(self.fast_path.acks && self.timer.deadline() != Time::NEVER) {
            self.set_timer_without_pacing(now);
        }
    }

    /// Sets the timer of a sender that will be polled, independent of pacing.
    #[inline(never)]
    pub(super) fn set_timer_without_pacing(&mut self, now: Time) {
        self.pacer.stop_waiting();
        self.set_timer(now);
    }

    #[inline(never)]
    fn set_timer_slow(&mut self, now: Time) {
        let (kind, deadline) = self.next_timer(now);
        // With nothing in the network nothing can be late: only the gap matters.
        let only_waits = self.scoreboard.pipe_bytes() == 0 && self.congestion.algorithm.packet_gap().is_some();
        match self.pacer.wakes_at().filter(|&wakes_at| only_waits || wakes_at < deadline) {
            Some(wakes_at) => self.timer.set(TimerKind::Pacing, wakes_at),
            None => self.timer.set(kind, deadline),
        }
    }

    fn next_timer(&self, now: Time) -> (TimerKind, Time) {
        let (kind, timeout) = if self.scoreboard.segments() == 0 {
            // With nothing in flight only a SYN can be pending.
            match self.handshake.syn_timeout(&self.config) {
                Some(timeout) => (TimerKind::Syn, timeout),
                None => return (TimerKind::None, Time::NEVER),
            }
        } else if self.loss.reordering_ends_at != Time::NEVER {
            let remaining = self.loss.reordering_ends_at.saturating_since(now);
            // Linux adds TCP_TIMEOUT_MIN to the reordering timeout.
            (TimerKind::Reordering, remaining + self.timer.clock.slack())
        } else {
            let remaining = self.timer.rto_remaining(now, self.rtt.rto());
            // A probe that waits for the card does not become due again.
            if self.may_probe() && !self.loss.probe_due {
                // RFC 8985, section 7.2: at most the retransmission timeout.
                (TimerKind::Probe, self.probe_timeout().min(remaining))
            } else {
                (TimerKind::Retransmission, remaining)
            }
        };
        (kind, self.timer.clock.deadline(now, timeout))
    }

    /// Returns whether a probe is allowed (RFC 8985, section 7.2): no recovery, nothing SACKed, no other probe in
    /// flight.
    #[inline]
    pub(super) fn may_probe(&self) -> bool {
        !self.reduction.is_recovering()
            && self.loss.uses_rack
            && self.loss.probe.is_none()
            && self.scoreboard.sacked_bytes() == 0
    }

    /// Returns the probe timeout by the rule of Linux: twice the smoothed round-trip time, plus the maximum delay of an
    /// acknowledgement with one packet in flight, or two ticks otherwise.
    fn probe_timeout(&self) -> Duration {
        match self.rtt.srtt() {
            // RFC 8985, section 7.2: the receiver may delay the acknowledgement of a single segment.
            Some(smoothed_rtt) if self.scoreboard.segments() == 1 => smoothed_rtt * 2 + self.config.tlp_max_ack_delay,
            _ => self.probe_timeout_of_many(),
        }
    }

    /// Returns the probe timeout with more than one packet in flight, or without a round-trip sample.
    #[inline]
    fn probe_timeout_of_many(&self) -> Duration {
        let Some(smoothed_rtt) = self.rtt.srtt() else { return self.config.rto_initial };
        smoothed_rtt * 2 + self.timer.clock.slack()
    }

    pub(super) fn expire(&mut self, now: Time) {
        self.fast_path.close();
        match self.timer.expire() {
            TimerKind::Syn => self.statistics.timeouts += u64::from(self.handshake.repeat_syn()),
            TimerKind::Retransmission => self.on_rto(now),
            // A recovery may have started since the timer was set.
            TimerKind::Probe => self.loss.probe_due = self.may_probe(),
            TimerKind::Reordering => self.end_reordering(now),
            TimerKind::Pacing | TimerKind::None => {}
        }
    }
}
