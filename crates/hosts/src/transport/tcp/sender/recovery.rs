//! The congestion states: how the sender enters and leaves them.

use super::{CongestionState, TcpSender, Undo};
use crate::transport::tcp::congestion::{AckEvent, CongestionControl};
use crate::transport::tcp::delivery::Delivery;
use crate::transport::tcp::prr::ProportionalRateReduction;
use hitless_wire::{Duration, TcpFlags, TcpHeader, Time};

impl TcpSender {
    /// Handles an acknowledgement when something is or may be wrong.
    pub(super) fn resolve(&mut self, event: &AckEvent, delivery: &Delivery, advanced: bool) {
        if advanced {
            self.detect_spurious(delivery);
        }
        // RFC 5681, section 3.2, step 6: with Reno the first acknowledgement of new data ends it.
        let deflates = advanced && self.state == CongestionState::Recovery && self.is_reno();
        if self.state != CongestionState::Open && (event.acknowledged >= self.recover || deflates) {
            self.leave_state();
        }
        self.resolve_probe(event, delivery, advanced);
        self.detect_losses(event.now, advanced);
        self.reduce(event, delivery.bytes);
    }

    /// Begins a reduction if a loss was found or congestion echoed.
    #[inline(always)]
    pub(super) fn reduce(&mut self, event: &AckEvent, delivered_bytes: u64) {
        let reducible = matches!(self.state, CongestionState::Open | CongestionState::Reduction);
        if reducible && self.scoreboard.has_unrepaired() {
            self.enter_recovery(event.now, delivered_bytes);
        } else if event.echo && self.state == CongestionState::Open && event.acknowledged > self.recover {
            // RFC 3168, section 6.1.2: what was sent before the last reduction asks for no other.
            self.enter_reduction(delivered_bytes);
        }
    }

    /// Marks what is lost by now.
    fn detect_losses(&mut self, now: Time, advanced: bool) {
        if !self.config.fast_retransmit {
            return;
        }
        if self.uses_rack {
            self.detect_by_rack(now);
        } else if self.config.sack {
            self.scoreboard.detect_by_count(self.dupack_threshold);
        } else if self.is_reno() {
            self.recover_by_duplicates(now);
        } else {
            self.detect_by_duplicates(advanced);
        }
    }

    pub(super) fn detect_by_rack(&mut self, now: Time) {
        let recovering = matches!(self.state, CongestionState::Recovery | CongestionState::Loss);
        let impatient = recovering || self.scoreboard.sacked_segments() >= self.dupack_threshold;
        self.rack.update_window(impatient, self.rtt.minimum(), self.rtt.smoothed());
        let remaining = self.scoreboard.detect_by_time(&self.rack, now);
        let ends_at = if remaining == Duration::ZERO { Time::NEVER } else { now + remaining };
        self.timer_stale |= ends_at != self.reordering_ends_at;
        self.reordering_ends_at = ends_at;
    }

    /// RFC 6582, section 3.2: the third duplicate begins a recovery, each partial acknowledgement shows a gap.
    fn detect_by_duplicates(&mut self, advanced: bool) {
        let partial = self.state == CongestionState::Recovery && advanced;
        // Step 2: duplicates for what an earlier recovery or timeout sent again mean nothing.
        let fresh = self.recover == 0 || self.scoreboard.acknowledged() > self.recover;
        let third = self.state != CongestionState::Recovery
            && self.state != CongestionState::Loss
            && self.duplicate_acks >= self.dupack_threshold
            && fresh;
        if partial || third {
            self.scoreboard.mark_first_original_lost();
        }
    }

    /// The reordering window of the oldest segments is over.
    pub(super) fn end_reordering(&mut self, now: Time) {
        self.reordering_ends_at = Time::NEVER;
        self.detect_by_rack(now);
        let reducible = matches!(self.state, CongestionState::Open | CongestionState::Reduction);
        if reducible && self.scoreboard.has_unrepaired() {
            self.enter_recovery(now, 0);
        }
        if self.state == CongestionState::Recovery && !self.algorithm_sets_window() {
            self.shrink(0, false);
        }
    }

    pub(super) fn enter_recovery(&mut self, now: Time, delivered_bytes: u64) {
        self.statistics.fast_recoveries += 1;
        if self.state == CongestionState::Open {
            self.remember_for_undo();
            self.window.threshold_bytes = self.algorithm.threshold_on_loss(&self.window_at_loss());
        } else if self.is_reno() {
            self.window.threshold_bytes = self.algorithm.threshold_on_loss(&self.window_at_loss());
        } else if self.algorithm.loss_adds_to_echo() {
            let threshold_bytes = self.algorithm.threshold_on_loss(&self.window);
            self.window.threshold_bytes = self.window.threshold_bytes.min(threshold_bytes);
        }
        self.algorithm.lost(&mut self.window, now);
        // RFC 6675, section 5, step 4.3. PRR and BBR make room for it by themselves.
        self.repair_at_once = self.algorithm_sets_window() && self.delivery_rate.is_none();
        self.begin(CongestionState::Recovery, delivered_bytes);
        if self.inflates_window() {
            self.inflate_at_start();
        }
    }

    fn enter_reduction(&mut self, delivered_bytes: u64) {
        self.window.threshold_bytes = self.algorithm.threshold_on_echo(&self.window);
        self.undo = None;
        self.reduction_to_report = !self.config.precise_ecn();
        self.begin(CongestionState::Reduction, delivered_bytes);
    }

    fn begin(&mut self, state: CongestionState, delivered_bytes: u64) {
        self.state = state;
        self.recover = self.scoreboard.next();
        self.timer_stale = true;
        let unsacked_bytes = self.scoreboard.outstanding_bytes() - self.scoreboard.sacked_bytes();
        self.prr = ProportionalRateReduction::start(unsacked_bytes + delivered_bytes);
    }

    /// One step of the way to the threshold.
    pub(super) fn shrink(&mut self, delivered_bytes: u64, safe: bool) {
        let Self { prr, scoreboard, window, .. } = self;
        let (pipe_bytes, threshold_bytes) = (scoreboard.pipe_bytes(), window.threshold_bytes);
        let bytes = prr.window_bytes(delivered_bytes, pipe_bytes, threshold_bytes, safe, window.segment_bytes);
        window.congestion_bytes = bytes.min(window.maximum_bytes);
    }

    /// All that was in flight when the state was entered is acknowledged.
    pub(super) fn leave_state(&mut self) {
        if self.state != CongestionState::Loss && !self.algorithm_sets_window() {
            // RFC 9937, section 6.2, last step.
            self.window.congestion_bytes = self.window.threshold_bytes;
        }
        // With Reno a fast recovery may end while more waits to be sent again after a timeout.
        let goes_back = self.scoreboard.acknowledged() < self.recover && self.scoreboard.has_unrepaired();
        self.state = if goes_back { CongestionState::Loss } else { CongestionState::Open };
        self.await_reports();
        self.duplicate_acks = 0;
        if !self.config.sack {
            self.scoreboard.forget_duplicates();
        }
    }

    /// The retransmission timer ran out (RFC 6298, section 5; RFC 5681, section 3.1).
    pub(super) fn time_out(&mut self, now: Time) {
        self.statistics.timeouts += 1;
        match self.state {
            CongestionState::Open => {
                self.remember_for_undo();
                self.window.threshold_bytes = self.algorithm.threshold_on_timeout(&self.window_at_loss());
            }
            // RFC 2001, section 2: every timeout, which RFC 5681, section 3.1, rules out for the same segment.
            _ if self.is_reno() => {
                self.window.threshold_bytes = self.algorithm.threshold_on_timeout(&self.window_at_loss());
            }
            // One reduction per window, as in Linux, except for an echo that asked for less than a loss does.
            CongestionState::Reduction if self.algorithm.loss_adds_to_echo() => {
                let threshold_bytes = self.algorithm.threshold_on_timeout(&self.window);
                self.window.threshold_bytes = self.window.threshold_bytes.min(threshold_bytes);
            }
            CongestionState::Reduction | CongestionState::Recovery | CongestionState::Loss => {}
        }
        self.rtt.back_off();
        self.duplicate_acks = 0;
        if !self.config.sack {
            self.scoreboard.forget_duplicates();
        }
        let rack = if self.uses_rack { Some(&self.rack) } else { None };
        self.scoreboard.mark_lost_on_timeout(rack, now);
        self.begin(CongestionState::Loss, 0);
        self.probe = None;
        self.reordering_ends_at = Time::NEVER;
        self.timeout_base = now;
        self.window.congestion_bytes = self.scoreboard.pipe_bytes() + self.window.segment_bytes;
        self.algorithm.timed_out(&mut self.window, now);
        // RFC 6298, section 5.4: the first segment goes again, whatever window the algorithm has set.
        self.repair_at_once = self.algorithm_sets_window() && self.delivery_rate.is_none();
    }

    /// RFC 8985, section 7.4.2: what became of the tail loss probe.
    fn resolve_probe(&mut self, event: &AckEvent, delivery: &Delivery, advanced: bool) {
        let Some(probe) = self.probe else { return };
        if event.acknowledged < probe.end {
            return;
        }
        let repaired = probe.retransmission && event.acknowledged > probe.end;
        let both_arrived = !advanced && !delivery.sacked;
        if repaired && self.state == CongestionState::Open {
            // The probe hid a loss from congestion control.
            self.window.threshold_bytes = self.algorithm.threshold_on_loss(&self.window);
            self.window.congestion_bytes = self.window.congestion_bytes.min(self.window.threshold_bytes);
            self.algorithm.lost(&mut self.window, event.now);
        }
        if !probe.retransmission || repaired || both_arrived {
            self.probe = None;
            self.timer_stale = true;
        }
    }

    fn remember_for_undo(&mut self) {
        self.undo = (self.config.eifel_undo || self.config.dsack_undo).then_some(Undo {
            window_bytes: self.window.congestion_bytes,
            threshold_bytes: self.window.threshold_bytes,
            retransmission: None,
            unreported_bytes: 0,
            until: None,
        });
    }

    /// The reduction is over: what was sent again may still be reported as having come twice.
    fn await_reports(&mut self) {
        let next = self.scoreboard.next();
        self.undo = self.undo.filter(|undo| self.config.dsack_undo && undo.retransmission.is_some());
        if let Some(undo) = &mut self.undo {
            undo.until.get_or_insert(next);
        }
    }

    /// RFC 2883, and RFC 3708 of what it is good for: when all that was sent again has come twice, nothing was lost.
    pub(super) fn note_duplicate(&mut self, header: &TcpHeader) {
        let Some(undo) = &mut self.undo else { return };
        if undo.until.is_some_and(|until| header.acknowledgement > until) {
            self.undo = None;
        } else if header.flags.contains(TcpFlags::DSACK) && undo.retransmission.is_some() {
            undo.unreported_bytes = undo.unreported_bytes.saturating_sub(u64::from(header.timestamp));
            if undo.unreported_bytes == 0 {
                let undo = *undo;
                self.undo = None;
                self.undo_reduction(&undo);
            }
        }
    }

    /// RFC 3522: the acknowledgement of the first retransmission echoes what was sent before it, so that the
    /// original had arrived after all.
    fn detect_spurious(&mut self, delivery: &Delivery) {
        let Some(undo) = self.undo.filter(|_| self.config.eifel_undo) else { return };
        let Some((sent_at, end)) = undo.retransmission else { return };
        if self.scoreboard.acknowledged() < end {
            return;
        }
        self.undo = None;
        if delivery.echo.is_before(sent_at) {
            self.undo_reduction(&undo);
        }
    }

    /// RFC 4015, section 3.2: as if the reduction had not happened; losses are found more slowly from now on.
    fn undo_reduction(&mut self, undo: &Undo) {
        if self.is_inflated() {
            self.window.congestion_bytes = self.window.threshold_bytes;
        }
        self.window.congestion_bytes = self.window.congestion_bytes.max(undo.window_bytes);
        self.window.threshold_bytes = self.window.threshold_bytes.max(undo.threshold_bytes);
        self.algorithm.undone(&mut self.window);
        self.scoreboard.forget_losses();
        self.rack.widen();
        self.dupack_threshold = self.dupack_threshold.max(self.scoreboard.sacked_segments() + 1);
        self.duplicate_acks = 0;
        self.state = CongestionState::Open;
        self.timer_stale = true;
    }
}
