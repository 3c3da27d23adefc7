//! The processing of acknowledgements: a fast path for data in order, and the general case.

use super::model::Prior;
use super::{FastPath, TcpSender};
use crate::transport::tcp::congestion::{AckEvent, CongestionControl, CongestionState};
use crate::transport::tcp::delivery::{Delivery, Timestamp};
use hitless_core::wire::{Duration, TcpFlags, TcpHeader, Time};

impl TcpSender {
    // The callers exist twice, with an autopsy and without: calls would cost 3 instructions a transmission.
    #[inline(always)]
    pub(in crate::transport) fn process(&mut self, now: Time, header: &TcpHeader) {
        let previous = self.scoreboard.snd_una();
        let new_bytes = header.acknowledgement.wrapping_sub(previous);
        // Header prediction: the segment only acknowledges more data in order, and possibly echoes a mark.
        // The subtraction wraps, so one comparison checks for new data within the flight.
        let expected = header.sack.is_empty() && new_bytes.wrapping_sub(1) < self.scoreboard.outstanding_bytes();
        if expected && self.fast_path.acks && header.flags == TcpFlags::ACK {
            self.send_buffer.snd_wnd_bytes = header.window_bytes;
            self.process_ack_fast(now, header.acknowledgement, previous);
        } else if expected
            && self.fast_path.ece_acks
            && header.flags.with(TcpFlags::ECE) == TcpFlags::ACK.with(TcpFlags::ECE)
        {
            self.send_buffer.snd_wnd_bytes = header.window_bytes;
            self.process_ack_in_order(now, header, previous);
        } else {
            self.process_slow(now, header, previous);
        }
    }

    #[cold]
    #[inline(never)]
    fn process_slow(&mut self, now: Time, header: &TcpHeader, previous: u64) {
        if !self.handshake.is_established() || header.flags.contains(TcpFlags::SYN) {
            self.process_syn_ack(now, header);
            return;
        }
        // A later acknowledgement has overtaken this one: nothing new. Beyond SND.NXT it acknowledges unsent
        // data and is dropped (RFC 9293, section 3.10.7.4).
        if header.acknowledgement < previous || header.acknowledgement > self.scoreboard.snd_nxt() {
            self.interrupt_dupacks();
            if header.flags.contains(TcpFlags::LOSS) {
                self.note_overtaken_loss(now, header);
            }
            return;
        }
        self.send_buffer.snd_wnd_bytes = header.window_bytes;
        self.process_ack(now, header, previous);
    }

    #[inline(always)]
    fn process_ack_fast(&mut self, now: Time, acknowledged: u64, previous: u64) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        // RFC 6298, section 5.3.
        self.timer.restart_rto(now);
        let Some((oldest_sent_at, newest_sent_at)) = self.scoreboard.acknowledge_in_order(acknowledged) else { return };
        // SRTT takes the oldest segment, so that the timeout covers delayed acknowledgements. RACK and congestion
        // control take the newest (Linux, tcp_clean_rtx_queue).
        let rtt = now.saturating_since(newest_sent_at);
        self.rtt.sample(now.saturating_since(oldest_sent_at));
        self.loss.rack.advance(newest_sent_at, acknowledged, rtt);
        let delivered_bytes = acknowledged - previous;
        let event = AckEvent {
            now,
            delivered_bytes,
            snd_una: acknowledged,
            snd_nxt: self.scoreboard.snd_nxt(),
            rtt,
            ece: false,
        };
        self.congestion.algorithm.on_ack(&event);
        self.congestion.grow(&event, previous, flight_bytes);
    }

    /// Like [`Self::process_ack`], for the case without lost, SACKed or retransmitted segments.
    #[inline(always)]
    fn process_ack_in_order(&mut self, now: Time, header: &TcpHeader, previous: u64) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        let Some((oldest_sent_at, newest_sent_at)) = self.scoreboard.acknowledge_in_order(header.acknowledgement)
        else {
            return self.process_ack(now, header, previous);
        };
        let ece = self.count_ece(header);
        self.timer.restart_rto(now);
        let (acknowledged, rtt) = (self.scoreboard.snd_una(), now.saturating_since(newest_sent_at));
        self.rtt.sample(now.saturating_since(oldest_sent_at));
        self.loss.rack.advance(newest_sent_at, acknowledged, rtt);
        let delivered_bytes = acknowledged - previous;
        let event =
            AckEvent { now, delivered_bytes, snd_una: acknowledged, snd_nxt: self.scoreboard.snd_nxt(), rtt, ece };
        self.congestion.algorithm.on_ack(&event);
        if !self.reduction.is_open() && acknowledged >= self.reduction.recovery_point {
            self.end_reduction();
        }
        // Nothing is SACKed or in recovery, so the window is not zero (RFC 8985, section 6.2, step 4).
        self.loss.rack.update_window(false, self.rtt.min_rtt(), self.rtt.srtt());
        let may_have_losses = self.scoreboard.may_have_losses(&self.loss.rack);
        if may_have_losses {
            self.detect_by_rack(now);
        }
        self.reduce(&event, delivered_bytes);
        self.change_window(&event, previous, flight_bytes, !self.scoreboard.has_pending_retransmissions());
        self.fast_path.acks = self.reduction.is_open();
        if may_have_losses {
            self.reopen_fast_path();
        }
    }

    fn process_ack(&mut self, now: Time, header: &TcpHeader, previous: u64) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        let ece = self.count_ece(header);
        let advanced = header.acknowledgement > previous;
        if advanced {
            self.timer.restart_rto(now);
        }
        debug_assert!(header.acknowledgement <= self.scoreboard.snd_nxt(), "an acknowledgement of what was not sent");
        let delivery = self.deliver(now, header, advanced);
        let event = self.measure(&delivery, ece);
        self.congestion.algorithm.on_ack(&event);
        let lost_before = self.scoreboard.has_pending_retransmissions();
        let losses_bytes = self.scoreboard.losses_bytes();
        self.note_loss(header);
        if let Some(undo) = self.reduction.take_if_all_came_twice(header) {
            self.undo_reduction(&undo);
        }
        let deflates = advanced && self.has_inflated_cwnd();
        self.process_ack_state(&event, &delivery, advanced);
        // SafeACK of RFC 9937: the acknowledgement advanced and did not reveal another loss.
        let further_loss = !lost_before && self.scoreboard.has_pending_retransmissions();
        if self.congestion.sets_cwnd() {
            let prior = Prior { acknowledged: previous, flight_bytes, losses_bytes };
            self.sample_ack(&event, &delivery, &prior, header.congestion_option);
        } else if !deflates {
            // The acknowledgement that ends Reno's recovery sets the window to the threshold and adds nothing (RFC
            // 5681, section 3.2, step 6).
            self.change_window(&event, previous, flight_bytes, advanced && !further_loss);
        }
        self.keep_cwnd_open(header);
        self.reopen_fast_path();
    }

    #[inline]
    fn count_ece(&mut self, header: &TcpHeader) -> bool {
        let ece = self.ecn && header.flags.contains(TcpFlags::ECE);
        self.statistics.congestion_echoes += u64::from(ece);
        ece
    }

    /// Grows or shrinks the window. `safe` means that the acknowledgement advanced and showed no further loss.
    #[inline(always)]
    fn change_window(&mut self, event: &AckEvent, previous: u64, flight_bytes: u64, safe: bool) {
        match self.reduction.state {
            // RFC 3168, section 6.1.2: an echo never grows the window.
            CongestionState::Open | CongestionState::Loss if event.ece => {}
            CongestionState::Open | CongestionState::Loss => self.congestion.grow(event, previous, flight_bytes),
            // Only duplicates change it.
            CongestionState::Recovery if self.inflates_cwnd() => {}
            CongestionState::Cwr | CongestionState::Recovery => self.shrink(event.delivered_bytes, safe),
        }
    }

    /// Determines which fast paths are available.
    pub(super) fn reopen_fast_path(&mut self) {
        let is_in_order = self.scoreboard.is_in_order()
            && self.loss.probe.is_none()
            // It is sent when the card has room, possibly after this; then a segment in flight was sent twice.
            && !self.loss.probe_due
            && self.loss.duplicate_acks == 0
            && !self.congestion.sets_cwnd();
        self.fast_path.acks = is_in_order && self.reduction.is_open();
        self.fast_path.ece_acks = is_in_order
            && !self.reduction.is_recovering()
            && self.loss.uses_rack
            && self.reduction.is_final()
            && self.loss.reordering_ends_at == Time::NEVER
            && self.scoreboard.never_retransmitted();
        self.fast_path.new_data &= !self.scoreboard.has_pending_retransmissions();
    }

    fn deliver(&mut self, now: Time, header: &TcpHeader, advanced: bool) -> Delivery {
        let mut delivery = Delivery::new(now, self.rtt.min_rtt(), header.timestamp_echo);
        if self.config.sack {
            self.scoreboard.acknowledge(header.acknowledgement, &mut delivery);
            if !header.sack.is_empty() {
                self.scoreboard.sack(&header.sack, header.acknowledgement, &mut delivery);
                self.note_sacked();
            }
        } else if advanced {
            self.scoreboard.acknowledge_without_sack(header.acknowledgement, &mut delivery);
            if self.reduction.state != CongestionState::Recovery {
                self.loss.duplicate_acks = 0;
            }
        } else if self.scoreboard.segments() > 0
            && self.config.fast_retransmit
            && !header.flags.contains(TcpFlags::LOSS)
        {
            // RFC 5681, section 2: a duplicate acknowledgement, which implies that a segment above the gap arrived.
            self.loss.duplicate_acks += 1;
            if !self.inflates_cwnd() {
                delivery.bytes += self.scoreboard.count_dupack(self.congestion.window.mss_bytes);
            } else if self.reduction.state == CongestionState::Recovery {
                self.inflate_cwnd();
            }
        }
        delivery
    }

    fn note_sacked(&mut self) {
        let sacked_bytes = self.scoreboard.sacked_bytes();
        // The usual threshold of three duplicates (RFC 5681, section 3.2) tolerates two segments above a gap.
        let tolerated_bytes = 2 * self.congestion.window.mss_bytes;
        let record = &mut self.statistics.sacks;
        if record.peak_bytes == 0 && sacked_bytes > 0 {
            record.gap_offset_bytes = self.scoreboard.snd_una();
        }
        if record.peak_bytes <= tolerated_bytes && sacked_bytes > tolerated_bytes {
            record.pending_bytes = self.send_buffer.unsent_bytes();
        }
        record.peak_bytes = record.peak_bytes.max(sacked_bytes);
    }

    /// Takes the round-trip sample and updates RACK; returns the event for congestion control.
    fn measure(&mut self, delivery: &Delivery, ece: bool) -> AckEvent {
        let now = delivery.now;
        // Without SACK an original may have arrived long before the gap below it was filled; the echo belongs to the
        // segment that filled it (RFC 7323, section 4.3).
        let filled = delivery.retransmitted && !self.config.sack;
        if delivery.oldest_sent_at != Time::NEVER && !filled {
            self.rtt.sample(now.saturating_since(delivery.oldest_sent_at));
        } else if delivery.retransmitted {
            // Karn's rule is not needed with timestamps (RFC 6298, section 3).
            self.rtt.sample(Timestamp::at(now).since(delivery.echo));
        }
        self.loss.rack.update(delivery);
        let rtt = if delivery.newest_end == 0 { Duration::ZERO } else { now.saturating_since(delivery.newest_sent_at) };
        AckEvent {
            now,
            delivered_bytes: delivery.bytes,
            snd_una: self.scoreboard.snd_una(),
            snd_nxt: self.scoreboard.snd_nxt(),
            rtt,
            ece,
        }
    }

    /// Opens the connection with the SYN-ACK; a repeated one is ignored.
    fn process_syn_ack(&mut self, now: Time, header: &TcpHeader) {
        if !header.flags.contains(TcpFlags::SYN.with(TcpFlags::ACK)) {
            return;
        }
        let Some(retries) = self.handshake.establish(now) else { return };
        self.fast_path = FastPath::new(true, self.congestion.sets_cwnd(), self.loss.uses_rack);
        self.timer.is_stale = true;
        self.send_buffer.snd_wnd_bytes = header.window_bytes;
        // The echo identifies the acknowledged SYN (RFC 7323, section 4.1).
        let rtt = Timestamp::at(now).since(Timestamp(header.timestamp_echo));
        // The timestamp clock is coarse, and a sample of zero would count as no sample.
        let rtt = rtt.max(Duration::from_ps(1 << 20));
        self.rtt.sample(rtt);
        self.congestion.algorithm.on_established(&self.congestion.window, rtt);
        // RFC 5681, section 3.1: a lost SYN reduces the window to one segment; Linux tolerates one.
        if retries > 1 {
            self.congestion.window.cwnd_bytes = self.congestion.window.mss_bytes;
        }
    }
}
