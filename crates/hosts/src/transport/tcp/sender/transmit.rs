//! The choice of the next packet, and the check of the windows.

use super::TcpSender;
use super::loss_detection::Probe;
use crate::transport::Outgoing;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::delivery::Segment;
use crate::transport::tcp::delivery::Timestamp;
use hitless_core::wire::{Ecn, TcpFlags, TcpHeader, Time, Transport};

impl TcpSender {
    /// Shows the next packet to `put`; sets the timer if there is none.
    #[inline(always)]
    pub(super) fn transmit<T>(&mut self, now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        if !self.fast_path.new_data {
            return self.transmit_slow(now).as_ref().map(put);
        }
        if !self.send_buffer.is_empty() {
            let payload_bytes = self.send_buffer.next_payload_bytes();
            if self.admit_by_windows(payload_bytes) {
                if self.scoreboard.is_full() {
                    return self.transmit_slow(now).as_ref().map(put);
                }
                return Some(put(&self.send_new(payload_bytes, now)));
            }
        }
        if self.timer.is_stale {
            self.set_timer(now);
        }
        None
    }

    /// The slow path of [`Self::transmit`]: everything that precedes new data, and bursts.
    #[cold]
    #[inline(never)]
    fn transmit_slow(&mut self, now: Time) -> Option<Outgoing> {
        if self.scoreboard.is_full() {
            self.scoreboard.grow();
        }
        self.pacer.forget_waiting();
        let is_established = self.handshake.is_established();
        // A probe goes first; neither windows nor pacing hold it back.
        let probe = if is_established && self.loss.probe_due { self.transmit_probe(now) } else { None };
        let outgoing = if !is_established {
            self.transmit_syn(now)
        } else if probe.is_some() {
            probe
        } else if self.scoreboard.has_pending_retransmissions() {
            self.transmit_lost(now)
        } else {
            self.transmit_new(now)
        };
        match &outgoing {
            Some(outgoing) => self.charge_pacing(now, outgoing),
            None => self.pacer.end_burst(),
        }
        if outgoing.is_none() && self.timer.is_stale {
            self.set_timer(now);
        }
        self.fast_path.new_data = self.handshake.is_established()
            && !self.loss.probe_due
            && !self.scoreboard.has_pending_retransmissions()
            && self.config.burst_segments.is_none()
            && !self.congestion.is_paced();
        outgoing
    }

    fn transmit_new(&mut self, now: Time) -> Option<Outgoing> {
        let payload_bytes = self.send_buffer.next_payload_bytes();
        if payload_bytes == 0 || !self.admit_burst(payload_bytes) {
            return None;
        }
        // Windows first: pacing must only wake a sender that could send then.
        if !self.admit_by_windows(payload_bytes) || !self.admit_by_pacing(now) {
            return None;
        }
        self.send_buffer.burst_bytes = self.send_buffer.burst_bytes.saturating_sub(payload_bytes);
        Some(self.send_new_noted(payload_bytes, now))
    }

    /// Decides whether pacing allows a packet; if not, the timer will wake the sender.
    fn admit_by_pacing(&mut self, now: Time) -> bool {
        let gap = self.congestion.algorithm.packet_gap();
        self.pacer.hold_until(gap.map_or(Time::ZERO, |gap| self.send_buffer.last_sent_at + gap));
        let lets_go = self.pacer.admit(now);
        if !lets_go {
            self.timer.is_stale = true;
            self.pacer.hold_back(self.room_for_waiting_bytes());
            if gap.is_some() {
                // A window below a segment limits the sender by its gap.
                self.congestion.cwnd_limited_until = self.scoreboard.snd_nxt();
            }
        }
        lets_go
    }

    /// Returns how many of the waiting bytes fit into the window.
    fn room_for_waiting_bytes(&self) -> u64 {
        let window = &self.congestion.window;
        let lost_bytes = self.scoreboard.pending_retransmissions() * window.mss_bytes;
        let room_bytes = window.cwnd_bytes.saturating_sub(self.scoreboard.pipe_bytes());
        room_bytes.min(lost_bytes + self.send_buffer.unsent_bytes())
    }

    /// Decides whether both windows have room for a new segment and Nagle's algorithm does not hold it.
    #[inline]
    fn admit_by_windows(&mut self, payload_bytes: u64) -> bool {
        if self.send_buffer.waits_for_acks(payload_bytes, self.scoreboard.segments()) {
            return false;
        }
        if self.scoreboard.pipe_bytes() + payload_bytes > self.congestion.window.cwnd_bytes {
            self.congestion.cwnd_limited_until = self.scoreboard.snd_nxt();
            return false;
        }
        self.peer_has_room(payload_bytes)
    }

    /// Decides whether a burst is in progress or starts now, like Linux's tcp_tso_should_defer. A burst starts when a
    /// whole one fits into the window, or when a third of the window is free; it then uses all the free window.
    fn admit_burst(&mut self, payload_bytes: u64) -> bool {
        let Some(segments) = self.segments_per_burst() else { return true };
        if self.send_buffer.burst_bytes >= payload_bytes {
            return true;
        }
        let (pipe_bytes, window_bytes) = (self.scoreboard.pipe_bytes(), self.congestion.window.cwnd_bytes);
        let whole_bytes = (segments * self.congestion.window.mss_bytes).min(self.send_buffer.unsent_bytes());
        let wanted_bytes = whole_bytes.min((window_bytes / 3).max(payload_bytes));
        let recovering = self.reduction.is_recovering();
        let room_bytes = window_bytes.saturating_sub(pipe_bytes);
        // With nothing in flight no acknowledgement would release a deferred burst.
        if !recovering && pipe_bytes > 0 && room_bytes < wanted_bytes {
            self.congestion.cwnd_limited_until = self.scoreboard.snd_nxt();
            return false;
        }
        self.send_buffer.burst_bytes = whole_bytes.min(room_bytes).max(payload_bytes);
        true
    }

    #[inline]
    fn peer_has_room(&self, payload_bytes: u64) -> bool {
        self.send_buffer.fits_receive_window(self.scoreboard.outstanding_bytes(), payload_bytes)
    }

    #[inline(always)]
    pub(super) fn send_new(&mut self, payload_bytes: u64, now: Time) -> Outgoing {
        let sequence = self.scoreboard.snd_nxt();
        if self.scoreboard.segments() == 0 {
            // RFC 6298, section 5.1: the timer runs from the first segment in flight.
            self.timer.rto_base = now;
        }
        self.scoreboard.push(payload_bytes as u16, now);
        self.send_buffer.take(payload_bytes);
        let mut flags = TcpFlags::ACK;
        if self.send_buffer.is_empty() {
            flags = flags.with(self.flags_of_last());
        }
        if self.reduction.cwr_due {
            self.reduction.cwr_due = false;
            flags = flags.with(TcpFlags::CWR);
        }
        let ecn = if self.ecn { Ecn::Capable } else { Ecn::NotCapable };
        let remaining_bytes = Some(self.send_buffer.unsent_bytes() + payload_bytes);
        self.segment(sequence, payload_bytes as u16, flags, ecn, now, remaining_bytes)
    }

    /// Returns the packet of a data segment. `remaining_bytes` is set for new data: the unsent bytes including this
    /// segment.
    #[inline(always)]
    fn segment(
        &mut self,
        sequence: u64,
        payload_bytes: u16,
        flags: TcpFlags,
        ecn: Ecn,
        now: Time,
        remaining_bytes: Option<u64>,
    ) -> Outgoing {
        self.statistics.packets_sent += 1;
        self.send_buffer.last_sent_at = now;
        self.timer.is_stale = true;
        // prr_out of RFC 9937 counts new and retransmitted data.
        self.reduction.prr.sent(u64::from(payload_bytes));
        let frame_bytes = self.send_buffer.frame_bytes(payload_bytes);
        let timestamp = Timestamp::at(now).0;
        let congestion_option = self.congestion.algorithm.data_option(&self.congestion.window, remaining_bytes);
        let header = TcpHeader { sequence, timestamp, payload_bytes, flags, congestion_option, ..TcpHeader::default() };
        Outgoing { transport: Transport::Tcp(header), frame_bytes, ecn }
    }

    /// Returns the first lost segment, if the window has room.
    fn transmit_lost(&mut self, now: Time) -> Option<Outgoing> {
        let (number, segment) = self.scoreboard.next_retransmission()?;
        let has_room =
            self.scoreboard.pipe_bytes() + u64::from(segment.payload_bytes) <= self.congestion.window.cwnd_bytes;
        if !has_room && !self.reduction.retransmit_at_once {
            self.congestion.cwnd_limited_until = self.scoreboard.snd_nxt();
            return None;
        }
        if !self.admit_by_pacing(now) {
            return None;
        }
        self.reduction.retransmit_at_once = false;
        Some(self.send_again(number, &segment, now))
    }

    fn send_again(&mut self, number: u64, segment: &Segment, now: Time) -> Outgoing {
        // RFC 6582, section 3.2, and RFC 6675, section 5, restart the timer at a fast retransmit; RFC 5681 does not.
        let keeps_timer = self.is_reno() && self.reduction.state == CongestionState::Recovery;
        if self.scoreboard.is_first(number) && !keeps_timer {
            self.timer.rto_base = now;
        }
        self.note_sent(number, now);
        self.scoreboard.retransmitted(number, now);
        self.statistics.packets_retransmitted += 1;
        self.reduction.note_retransmission(segment, now);
        // RFC 3168, section 6.1.5: retransmissions are not ECN-capable; with DCTCP all packets are, as in Linux.
        let ecn = if self.config.precise_ecn() { Ecn::Capable } else { Ecn::NotCapable };
        let is_last = self.send_buffer.is_empty() && segment.end == self.scoreboard.snd_nxt();
        let flags = if is_last { TcpFlags::ACK.with(self.flags_of_last()) } else { TcpFlags::ACK };
        self.segment(segment.start(), segment.payload_bytes, flags, ecn, now, None)
    }

    /// Returns the flags of the last segment of a write.
    fn flags_of_last(&self) -> TcpFlags {
        if self.config.close.is_some() { TcpFlags::PSH.with(TcpFlags::FIN) } else { TcpFlags::PSH }
    }

    /// Returns a tail loss probe (RFC 8985, section 7.3): new data if there is any, otherwise the last segment. `None`
    /// if that has arrived while the probe waited.
    fn transmit_probe(&mut self, now: Time) -> Option<Outgoing> {
        self.loss.probe_due = false;
        let payload_bytes = self.send_buffer.next_payload_bytes();
        let retransmission = payload_bytes == 0 || !self.peer_has_room(payload_bytes);
        let outgoing = if retransmission {
            let (number, segment) = self.scoreboard.last()?;
            self.send_again(number, &segment, now)
        } else {
            self.send_new_noted(payload_bytes, now)
        };
        // TLP.end_seq and TLP.is_retrans of RFC 8985, section 7.3.
        self.loss.probe = Some(Probe { end: self.scoreboard.snd_nxt(), retransmission });
        self.statistics.tail_loss_probes += 1;
        // RFC 8985, section 7.3: the probe restarts the retransmission timer.
        self.timer.rto_base = now;
        Some(outgoing)
    }

    /// Returns the SYN, if one is due.
    fn transmit_syn(&mut self, now: Time) -> Option<Outgoing> {
        if !self.handshake.take_syn(now) {
            return None;
        }
        self.timer.is_stale = true;
        let timestamp = Timestamp::at(now).0;
        let header = TcpHeader { timestamp, flags: TcpFlags::SYN, ..TcpHeader::default() };
        // Linux sends an ECN-capable SYN if the algorithm needs ECN.
        let ecn = if self.config.precise_ecn() { Ecn::Capable } else { Ecn::NotCapable };
        Some(Outgoing { transport: Transport::Tcp(header), frame_bytes: self.config.syn_frame_bytes(), ecn })
    }
}
