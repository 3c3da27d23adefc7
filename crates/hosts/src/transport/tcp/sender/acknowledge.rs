//! What an acknowledgement says.

use super::model::Prior;
use super::{CongestionState, Connection, TcpSender};
use crate::transport::tcp::config::WindowGrowth;
use crate::transport::tcp::congestion::{AckEvent, CongestionControl};
use crate::transport::tcp::delivery::{Delivery, Timestamp};
use hitless_wire::{Duration, TcpFlags, TcpHeader, Time};

impl TcpSender {
    /// Takes a segment from the other end.
    #[inline]
    pub(in crate::transport) fn process(&mut self, now: Time, header: &TcpHeader) {
        let previous = self.scoreboard.acknowledged();
        let new_bytes = header.acknowledgement.wrapping_sub(previous);
        // Header prediction: the segment says nothing but that more arrived in order, and perhaps that it was marked.
        let expected = header.sack.is_empty() && new_bytes.wrapping_sub(1) < self.scoreboard.outstanding_bytes();
        if expected && self.calm && header.flags == TcpFlags::ACK {
            self.peer_window_bytes = header.window_bytes;
            self.advance_calmly(now, header.acknowledgement, previous);
        } else if expected && self.orderly && header.flags.with(TcpFlags::ECE) == TcpFlags::ACK.with(TcpFlags::ECE) {
            self.peer_window_bytes = header.window_bytes;
            self.advance_in_order(now, header, previous);
        } else {
            self.process_unexpected(now, header, previous);
        }
    }

    #[cold]
    #[inline(never)]
    fn process_unexpected(&mut self, now: Time, header: &TcpHeader, previous: u64) {
        if self.connection != Connection::Established || header.flags.contains(TcpFlags::SYN) {
            self.process_syn_ack(now, header);
            return;
        }
        // An acknowledgement overtaken by a later one says nothing new.
        if header.acknowledgement < previous || header.acknowledgement > self.scoreboard.next() {
            self.interrupt_duplicates();
            if header.flags.contains(TcpFlags::LOSS) {
                self.note_overtaken_loss(now, header);
            }
            return;
        }
        self.peer_window_bytes = header.window_bytes;
        self.advance_with_care(now, header, previous);
    }

    /// The short way of [`Self::advance_with_care`].
    #[inline]
    fn advance_calmly(&mut self, now: Time, acknowledged: u64, previous: u64) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        // RFC 6298, section 5.3.
        self.timeout_base = now;
        self.timer_stale = true;
        let Some((oldest_sent_at, newest_sent_at)) = self.scoreboard.acknowledge_clean(acknowledged) else { return };
        let rtt = now.saturating_since(newest_sent_at);
        self.rtt.sample(now.saturating_since(oldest_sent_at));
        self.rack.advance(newest_sent_at, acknowledged, rtt);
        let delivered_bytes = acknowledged - previous;
        let event = AckEvent { now, delivered_bytes, acknowledged, next: self.scoreboard.next(), rtt, echo: false };
        self.algorithm.acknowledged(&event);
        self.grow(&event, previous, flight_bytes);
    }

    /// [`Self::advance_with_care`] when nothing was lost, sacked or sent twice, which leaves little of it.
    #[inline(never)]
    fn advance_in_order(&mut self, now: Time, header: &TcpHeader, previous: u64) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        let Some((oldest_sent_at, newest_sent_at)) = self.scoreboard.acknowledge_clean(header.acknowledgement) else {
            return self.advance_with_care(now, header, previous);
        };
        let echo = self.count_echo(header);
        self.timeout_base = now;
        self.timer_stale = true;
        let (acknowledged, rtt) = (self.scoreboard.acknowledged(), now.saturating_since(newest_sent_at));
        self.rtt.sample(now.saturating_since(oldest_sent_at));
        self.rack.advance(newest_sent_at, acknowledged, rtt);
        let delivered_bytes = acknowledged - previous;
        let event = AckEvent { now, delivered_bytes, acknowledged, next: self.scoreboard.next(), rtt, echo };
        self.algorithm.acknowledged(&event);
        if self.state != CongestionState::Open && acknowledged >= self.recover {
            self.leave_state();
        }
        self.rack.update_window(false, self.rtt.minimum(), self.rtt.smoothed());
        let suspicious = self.scoreboard.may_hold_losses(&self.rack);
        if suspicious {
            self.detect_by_rack(now);
        }
        self.reduce(&event, delivered_bytes);
        self.change_window(&event, previous, flight_bytes, !self.scoreboard.has_unrepaired());
        self.calm = self.state == CongestionState::Open;
        if suspicious {
            self.judge_order();
        }
    }

    fn advance_with_care(&mut self, now: Time, header: &TcpHeader, previous: u64) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        let echo = self.count_echo(header);
        let advanced = header.acknowledgement > previous;
        if advanced {
            self.timeout_base = now;
            self.timer_stale = true;
        }
        let delivery = self.deliver(now, header, advanced);
        let event = self.measure(&delivery, echo);
        self.algorithm.acknowledged(&event);
        let lost_before = self.scoreboard.has_unrepaired();
        let losses_bytes = self.scoreboard.losses_bytes();
        self.note_loss(header);
        self.note_duplicate(header);
        let deflates = advanced && self.is_inflated();
        self.resolve(&event, &delivery, advanced);
        let further_loss = !lost_before && self.scoreboard.has_unrepaired();
        if self.algorithm_sets_window() {
            let prior = Prior { acknowledged: previous, flight_bytes, losses_bytes };
            self.follow(&event, &delivery, &prior, header.congestion_option);
        } else if !deflates {
            // What ends Reno's recovery sets the window to the threshold and adds nothing (RFC 5681, section 3.2, step 6).
            self.change_window(&event, previous, flight_bytes, advanced && !further_loss);
        }
        self.go_on_after_loss(header);
        self.judge_order();
    }

    #[inline]
    fn count_echo(&mut self, header: &TcpHeader) -> bool {
        let echo = self.config.ecn && header.flags.contains(TcpFlags::ECE);
        self.statistics.congestion_echoes += u64::from(echo);
        echo
    }

    /// Grows or shrinks the window. `safe`: the acknowledgement advanced and showed no further loss.
    #[inline(always)]
    fn change_window(&mut self, event: &AckEvent, previous: u64, flight_bytes: u64, safe: bool) {
        match self.state {
            // RFC 3168, section 6.1.2: an echo never grows the window.
            CongestionState::Open | CongestionState::Loss if event.echo => {}
            CongestionState::Open | CongestionState::Loss => self.grow(event, previous, flight_bytes),
            // Only duplicates change it.
            CongestionState::Recovery if self.inflates_window() => {}
            CongestionState::Reduction | CongestionState::Recovery => self.shrink(event.delivered_bytes, safe),
        }
    }

    /// Finds out which of the short ways may be taken next.
    pub(super) fn judge_order(&mut self) {
        let quiet = self.probe.is_none() && self.duplicate_acks == 0 && !self.algorithm_sets_window();
        let clean = self.scoreboard.is_clean() && quiet;
        self.calm = clean && self.state == CongestionState::Open;
        self.orderly = clean
            && matches!(self.state, CongestionState::Open | CongestionState::Reduction)
            && self.uses_rack
            && self.undo.is_none()
            && self.reordering_ends_at == Time::NEVER
            && self.scoreboard.repeated_nothing();
        self.plain &= !self.scoreboard.has_unrepaired();
    }

    /// Tells the scoreboard what arrived.
    fn deliver(&mut self, now: Time, header: &TcpHeader, advanced: bool) -> Delivery {
        let mut delivery = Delivery::new(now, self.rtt.minimum(), header.timestamp_echo);
        if self.config.sack {
            self.scoreboard.acknowledge(header.acknowledgement, &mut delivery);
            if !header.sack.is_empty() {
                self.scoreboard.sack(&header.sack, header.acknowledgement, &mut delivery);
                self.note_sacked();
            }
        } else if advanced {
            self.scoreboard.acknowledge_counted(header.acknowledgement, &mut delivery);
            if self.state != CongestionState::Recovery {
                self.duplicate_acks = 0;
            }
        } else if self.scoreboard.segments() > 0
            && self.config.fast_retransmit
            && !header.flags.contains(TcpFlags::LOSS)
        {
            // RFC 5681: it repeats the last one and so stands for a segment above a gap.
            self.duplicate_acks += 1;
            if !self.inflates_window() {
                delivery.bytes += self.scoreboard.count_duplicate(self.window.segment_bytes);
            } else if self.state == CongestionState::Recovery {
                self.inflate();
            }
        }
        delivery
    }

    /// Keeps the record of selective acknowledgements.
    fn note_sacked(&mut self) {
        let sacked_bytes = self.scoreboard.sacked_bytes();
        let tolerated_bytes = 2 * self.window.segment_bytes;
        let record = &mut self.statistics.sacks;
        if record.peak_bytes == 0 && sacked_bytes > 0 {
            record.gap_offset_bytes = self.scoreboard.acknowledged();
        }
        if record.peak_bytes <= tolerated_bytes && sacked_bytes > tolerated_bytes {
            record.pending_bytes = self.unsent_bytes;
        }
        record.peak_bytes = record.peak_bytes.max(sacked_bytes);
    }

    /// Takes the round-trip sample and tells RACK; answers what congestion control needs to know.
    fn measure(&mut self, delivery: &Delivery, echo: bool) -> AckEvent {
        let now = delivery.now;
        // Without SACK an original may have arrived long before the gap below it was filled; the echo is of what filled it
        // (RFC 7323, section 4.3).
        let filled = delivery.repeated && !self.config.sack;
        if delivery.oldest_sent_at != Time::NEVER && !filled {
            self.rtt.sample(now.saturating_since(delivery.oldest_sent_at));
        } else if delivery.repeated {
            // Karn's rule does not hold with timestamps (RFC 6298, section 3).
            self.rtt.sample(Timestamp::at(now).since(delivery.echo));
        }
        self.rack.update(delivery);
        let rtt = if delivery.newest_end == 0 { Duration::ZERO } else { now.saturating_since(delivery.newest_sent_at) };
        AckEvent {
            now,
            delivered_bytes: delivery.bytes,
            acknowledged: self.scoreboard.acknowledged(),
            next: self.scoreboard.next(),
            rtt,
            echo,
        }
    }

    /// Grows the window if what was acknowledged had filled it, or however it is without validation.
    ///
    /// In slow start half a window is enough, as in Linux: the flight doubles with the window.
    #[inline]
    fn grow(&mut self, event: &AckEvent, previous: u64, flight_bytes: u64) {
        if self.window.growth == WindowGrowth::PerAck && event.acknowledged == previous {
            return;
        }
        let limited = previous < self.limited_until || !self.config.window_validation;
        if limited || (self.window.in_slow_start() && 2 * flight_bytes > self.window.congestion_bytes) {
            self.algorithm.increase(&mut self.window, event);
        }
    }

    /// The SYN-ACK opens the connection; a repeated one means nothing.
    fn process_syn_ack(&mut self, now: Time, header: &TcpHeader) {
        let Connection::SynSent { retries, .. } = self.connection else { return };
        if !header.flags.contains(TcpFlags::SYN.with(TcpFlags::ACK)) {
            return;
        }
        self.connection = Connection::Established;
        self.opened_at = now;
        self.calm = !self.algorithm_sets_window();
        self.orderly = self.calm && self.uses_rack;
        self.timer_stale = true;
        self.peer_window_bytes = header.window_bytes;
        // The echo tells which SYN was answered (RFC 7323, section 4.1).
        let rtt = Timestamp::at(now).since(Timestamp(header.timestamp_echo));
        let rtt = rtt.max(Duration::from_ps(1 << 20));
        self.rtt.sample(rtt);
        self.algorithm.opened(&self.window, rtt);
        // RFC 5681, section 3.1: a lost SYN means a window of one segment; Linux forgives the first.
        if retries > 1 {
            self.window.congestion_bytes = self.window.segment_bytes;
        }
    }
}
