//! The congestion states, the transitions between them, and notifications about segments without payload.

use super::TcpSender;
use super::reduction::Undo;
use crate::transport::tcp::congestion::{AckEvent, CongestionSign, CongestionState};
use crate::transport::tcp::delivery::{Delivery, Timestamp};
use crate::transport::tcp::prr::Pipe;
use hitless_core::wire::{TcpFlags, TcpHeader, Time};

impl TcpSender {
    /// Processes an acknowledgement in the general case.
    pub(super) fn process_ack_state(&mut self, event: &AckEvent, delivery: &Delivery, advanced: bool) {
        let snd_una = self.scoreboard.snd_una();
        if advanced && let Some(undo) = self.reduction.take_if_original_came(snd_una, delivery.echo) {
            self.undo_reduction(&undo);
        }
        // RFC 5681, section 3.2, step 6: with Reno the first acknowledgement of new data ends the recovery.
        let deflates = advanced && self.reduction.state == CongestionState::Recovery && self.is_reno();
        if !self.reduction.is_open() && (event.snd_una >= self.reduction.recovery_point || deflates) {
            self.end_reduction();
        }
        self.resolve_probe(event, delivery, advanced);
        self.detect_losses(event.now, advanced);
        self.reduce(event, delivery.bytes);
    }

    /// Starts a reduction if a loss was detected or congestion echoed.
    #[inline(always)]
    pub(super) fn reduce(&mut self, event: &AckEvent, delivered_bytes: u64) {
        let reducible = !self.reduction.is_recovering();
        if reducible && self.scoreboard.has_pending_retransmissions() {
            self.enter_recovery(event.now, delivered_bytes);
        } else if event.ece && self.reduction.is_open() && event.snd_una > self.reduction.recovery_point {
            // RFC 3168, section 6.1.2: data sent before the last reduction does not cause another.
            self.enter_cwr(delivered_bytes);
        }
    }

    fn detect_losses(&mut self, now: Time, advanced: bool) {
        if !self.config.fast_retransmit {
            return;
        }
        if self.loss.uses_rack {
            self.detect_by_rack(now);
        } else if self.config.sack {
            self.scoreboard.detect_by_count(self.loss.dupack_threshold);
        } else if self.is_reno() {
            self.recover_by_dupacks(now);
        } else {
            self.detect_by_dupacks(advanced);
        }
    }

    pub(super) fn detect_by_rack(&mut self, now: Time) {
        let is_recovering = self.reduction.is_recovering();
        self.timer.is_stale |= self.loss.detect_by_rack(&mut self.scoreboard, &self.rtt, is_recovering, now);
    }

    /// Detects losses by duplicates (RFC 6582, section 3.2): the third duplicate starts a recovery, and each partial
    /// acknowledgement shows a gap.
    fn detect_by_dupacks(&mut self, advanced: bool) {
        let partial = self.reduction.state == CongestionState::Recovery && advanced;
        // Step 2: duplicates caused by retransmissions of an earlier recovery or timeout are ignored.
        let fresh = self.reduction.recovery_point == 0 || self.scoreboard.snd_una() > self.reduction.recovery_point;
        let third = self.reduction.state != CongestionState::Recovery
            && self.reduction.state != CongestionState::Loss
            && self.loss.has_enough_dupacks()
            && fresh;
        if partial || third {
            self.scoreboard.mark_first_original_lost();
        }
    }

    /// Ends the reordering window of the oldest segments.
    pub(super) fn end_reordering(&mut self, now: Time) {
        self.loss.reordering_ends_at = Time::NEVER;
        self.detect_by_rack(now);
        let reducible = !self.reduction.is_recovering();
        if reducible && self.scoreboard.has_pending_retransmissions() {
            self.enter_recovery(now, 0);
        }
        if self.reduction.state == CongestionState::Recovery && !self.congestion.sets_cwnd() {
            // No acknowledgement arrived, but the new losses have changed the flight.
            self.shrink(0, false);
        }
    }

    pub(super) fn enter_recovery(&mut self, now: Time, delivered_bytes: u64) {
        self.statistics.fast_recoveries += 1;
        if self.reduction.is_open() {
            self.reduction.remember(&self.congestion.window);
        }
        // An echo in the same window has already lowered the threshold; most algorithms do not lower it twice.
        if self.reduction.is_open() || self.is_reno() {
            self.congestion.reduce(&self.window_at_loss(), CongestionSign::Loss);
        } else {
            self.congestion.reduce_after_ece(CongestionSign::Loss);
        }
        self.congestion.on_recovery(CongestionSign::Loss, now);
        // RFC 6675, section 5, step 4.3. PRR and BBR make room for the retransmission.
        self.reduction.retransmit_at_once = self.congestion.leaves_no_room_for_losses();
        self.begin(CongestionState::Recovery, delivered_bytes);
        if self.inflates_cwnd() {
            self.inflate_cwnd_at_start();
        }
    }

    fn enter_cwr(&mut self, delivered_bytes: u64) {
        let window = self.congestion.window;
        self.congestion.reduce(&window, CongestionSign::Ece);
        // A mark is never spurious, so this reduction is never undone.
        self.reduction.forget();
        // RFC 3168, section 6.1.2: CWR ends the receiver's echo. A DCTCP receiver does not wait for it.
        self.reduction.cwr_due = !self.config.precise_ecn();
        self.begin(CongestionState::Cwr, delivered_bytes);
    }

    fn begin(&mut self, state: CongestionState, delivered_bytes: u64) {
        self.timer.is_stale = true;
        assert!(self.congestion.window.ssthresh_bytes >= self.congestion.window.mss_bytes, "ssthresh below a segment");
        // RFC 9937, section 6.1: RecoverFS excludes data SACKed earlier, and includes the data of this acknowledgement.
        let unsacked_bytes = self.scoreboard.outstanding_bytes() - self.scoreboard.sacked_bytes();
        self.reduction.begin(state, self.scoreboard.snd_nxt(), unsacked_bytes + delivered_bytes);
    }

    pub(super) fn shrink(&mut self, delivered_bytes: u64, safe: bool) {
        let pipe = Pipe { bytes: self.scoreboard.pipe_bytes(), held_bytes: self.pacer.held_bytes() };
        self.reduction.shrink(&mut self.congestion.window, pipe, delivered_bytes, safe);
    }

    /// Leaves the state, because all data in flight at its start is acknowledged.
    pub(super) fn end_reduction(&mut self) {
        if self.reduction.state != CongestionState::Loss && !self.congestion.sets_cwnd() {
            // RFC 9937, section 6.2, last step.
            self.congestion.window.deflate();
        }
        // With Reno a fast recovery can end while retransmissions after a timeout are still pending.
        let goes_back =
            self.scoreboard.snd_una() < self.reduction.recovery_point && self.scoreboard.has_pending_retransmissions();
        self.reduction.state = if goes_back { CongestionState::Loss } else { CongestionState::Open };
        self.reduction.await_reports(self.scoreboard.snd_nxt());
        self.loss.duplicate_acks = 0;
        if !self.config.sack {
            self.scoreboard.forget_dupacks();
        }
    }

    /// Handles a retransmission timeout (RFC 6298, section 5; RFC 5681, section 3.1).
    pub(super) fn on_rto(&mut self, now: Time) {
        self.statistics.timeouts += 1;
        match self.reduction.state {
            CongestionState::Open => {
                self.reduction.remember(&self.congestion.window);
                self.congestion.reduce(&self.window_at_loss(), CongestionSign::Rto);
            }
            // RFC 2001, section 2, reduces at every timeout; RFC 5681, section 3.1, forbids it for the same segment.
            _ if self.is_reno() => self.congestion.reduce(&self.window_at_loss(), CongestionSign::Rto),
            // One reduction per window, as in Linux, unless an echo reduced it by less than a loss does.
            CongestionState::Cwr => self.congestion.reduce_after_ece(CongestionSign::Rto),
            CongestionState::Recovery | CongestionState::Loss => {}
        }
        // RFC 6298, section 5.5.
        self.rtt.back_off();
        // RFC 6582, section 3.2, step 4: a timeout ends the fast recovery and its count of duplicates.
        if !self.config.sack {
            self.scoreboard.forget_dupacks();
        }
        self.scoreboard.mark_lost_on_timeout(self.loss.rack_in_use(), now);
        self.loss.on_rto();
        self.begin(CongestionState::Loss, 0);
        // RFC 6298, section 5.6: the timer restarts for the retransmission.
        self.timer.rto_base = now;
        // There is room for one segment more than is in the network, for the first retransmission.
        self.congestion.window.cwnd_bytes = self.scoreboard.pipe_bytes() + self.congestion.window.mss_bytes;
        self.congestion.on_recovery(CongestionSign::Rto, now);
        // RFC 6298, section 5.4: the first segment is retransmitted, whatever window the algorithm has set.
        self.reduction.retransmit_at_once = self.congestion.leaves_no_room_for_losses();
    }

    /// Resolves the tail loss probe (RFC 8985, section 7.4.2).
    fn resolve_probe(&mut self, event: &AckEvent, delivery: &Delivery, advanced: bool) {
        // A duplicate acknowledgement without SACK information: the original and the probe arrived. Nothing was lost.
        let both_arrived = !advanced && !delivery.sacked;
        let Some((is_over, repaired)) = self.loss.resolve_probe(event.snd_una, both_arrived) else { return };
        if repaired && self.reduction.is_open() {
            // The probe hid a loss from congestion control.
            self.congestion.reduce_at_once(event.now);
        }
        if is_over {
            self.loss.probe = None;
            self.timer.is_stale = true;
        }
    }

    /// Undoes a reduction (RFC 4015, section 3.2), and makes loss detection slower.
    pub(super) fn undo_reduction(&mut self, undo: &Undo) {
        if self.has_inflated_cwnd() {
            self.congestion.window.deflate();
        }
        // The window does not shrink: it may have grown beyond the old one before the reduction turned out to be wrong.
        self.congestion.restore(undo.cwnd_bytes, undo.ssthresh_bytes);
        self.scoreboard.forget_losses();
        self.loss.tolerate_reordering(self.scoreboard.sacked_segments());
        self.reduction.state = CongestionState::Open;
        self.timer.is_stale = true;
    }
}

impl TcpSender {
    /// Marks the named segment as lost. For congestion control it is an ordinary loss, once per window.
    #[inline]
    pub(super) fn note_loss(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::LOSS) {
            let bytes = self.scoreboard.mark_named_lost(header.sequence, Timestamp(header.timestamp));
            self.reduction.prr.left(bytes);
        }
    }

    /// Does the same for an acknowledgement overtaken by another; the rest of it is outdated.
    pub(super) fn note_overtaken_loss(&mut self, now: Time, header: &TcpHeader) {
        self.note_loss(header);
        let (snd_una, snd_nxt) = (self.scoreboard.snd_una(), self.scoreboard.snd_nxt());
        let event = AckEvent { now, snd_una, snd_nxt, ..AckEvent::default() };
        self.reduce(&event, 0);
        self.keep_cwnd_open(header);
        self.reopen_fast_path();
    }

    /// Keeps the window open if the network is empty: no acknowledgement would arrive to open it.
    pub(super) fn keep_cwnd_open(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::LOSS) && self.scoreboard.pipe_bytes() == 0 {
            self.congestion.window.cwnd_bytes = self.congestion.window.cwnd_bytes.max(self.congestion.window.mss_bytes);
        }
    }
}
