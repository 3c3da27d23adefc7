//! The sending end.

use hitless_core::engine::Stream;
use hitless_core::engine::fmix32;
use hitless_core::wire::{
    BitRate, Ecn, Packet, Time, Transport, UetAcknowledgement, UetData, UetHeader, UetNegative, UetProbe, UetRequest,
};

use super::credit::Credit;
use super::flight::Flight;
use super::nscc::{Nscc, Sample};
use super::paths::{Feedback, Paths};
use super::settings::UetSettings;
use super::tail::TailProbe;
use crate::transport::{Outgoing, Sender, SenderStatistics, SenderWait};

/// Packets that must wait behind a gap at least before one counts as lost.
const GAP_MIN: u64 = 5;

/// The sending end of a spraying connection.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct UetSender {
    settings: UetSettings,
    paths: Paths,
    window: Option<Nscc>,
    credit: Option<Credit>,
    flight: Flight,
    /// Payload that was written and not yet sent.
    unsent_bytes: u64,
    sent_bytes: u64,
    acknowledged_bytes: u64,
    /// Frame bytes sent, less those that arrived or count as lost. It can be below 0 for a moment: a packet that counts
    /// as lost can still arrive.
    in_flight: i64,
    /// Frame bytes that have arrived.
    received_bytes: u64,
    /// End of the recovery by SACK.
    recovers_below: Option<u64>,
    /// Packets below this were declared lost in this recovery.
    lost_below: u64,
    /// Time of the last packet in either direction.
    active_at: Time,
    request_is_due: bool,
    tail: Option<TailProbe>,
    statistics: SenderStatistics,
}

impl UetSender {
    /// Creates an unused connection through `ports` with `rate` together.
    pub fn new(settings: UetSettings, rate: BitRate, ports: u16, stream: Stream) -> Self {
        let credit_max = settings.window_max(rate, settings.base_rtt);
        Self {
            settings,
            paths: Paths::new(settings.path_choice, settings.paths, ports, settings.probe_interval, stream),
            window: settings.has_window().then(|| Nscc::new(&settings, rate)),
            credit: settings.has_credit().then(|| Credit::new(credit_max)),
            flight: Flight::default(),
            unsent_bytes: 0,
            sent_bytes: 0,
            acknowledged_bytes: 0,
            in_flight: 0,
            received_bytes: 0,
            recovers_below: None,
            lost_below: 0,
            active_at: Time::ZERO,
            request_is_due: false,
            tail: (settings.sack_recovery && settings.has_window()).then(TailProbe::new),
            statistics: SenderStatistics::default(),
        }
    }

    pub fn explain_wait(&self) -> SenderWait {
        SenderWait {
            quiet_since: self.active_at,
            timeouts_in_row: 0,
            lacks_credit: self.next_payload().is_some() && !self.has_credit(),
        }
    }

    fn frame_bytes(&self, payload_bytes: u32) -> u32 {
        self.settings.frame_bytes(payload_bytes)
    }

    fn next_payload(&self) -> Option<u32> {
        if let Some((_, payload_bytes)) = self.flight.next_lost() {
            return Some(payload_bytes);
        }
        (self.unsent_bytes > 0).then(|| self.unsent_bytes.min(self.settings.mtu.0) as u32)
    }

    fn has_room(&self, frame_bytes: u32) -> bool {
        let Some(window) = &self.window else { return true };
        let recovers = self.recovers_below.is_some() && self.flight.next_lost().is_some();
        recovers || window.window() as i64 >= self.in_flight + i64::from(frame_bytes)
    }

    fn has_credit(&self) -> bool {
        self.credit.as_ref().is_none_or(Credit::may_send)
    }

    /// Returns the total credit to ask for.
    fn credit_target(&self) -> u64 {
        let Some(credit) = &self.credit else { return 0 };
        let (lost_bytes, lost_packets) = self.flight.lost();
        let packets = self.unsent_bytes.div_ceil(self.settings.mtu.0) + lost_packets;
        let backlog = self.unsent_bytes + lost_bytes + packets * self.settings.header_bytes.0;
        credit.target(backlog, self.window.as_ref().map(Nscc::window), self.settings.full_frame_bytes())
    }

    fn send_data(&mut self, now: Time, payload_bytes: u32) -> Outgoing {
        let frame_bytes = self.frame_bytes(payload_bytes);
        let entropy = self.paths.next();
        let lost = self.flight.next_lost();
        let sequence = match lost {
            Some((packet, _)) => {
                self.flight.resend(now, packet, entropy);
                packet
            }
            None => {
                self.unsent_bytes -= u64::from(payload_bytes);
                self.sent_bytes += u64::from(payload_bytes);
                self.flight.send(now, payload_bytes, entropy)
            }
        };
        self.in_flight += i64::from(frame_bytes);
        if let Some(credit) = &mut self.credit {
            credit.spend(frame_bytes);
        }
        if let (0, Some(window)) = (self.statistics.packets_sent, &mut self.window) {
            window.start(now);
        }
        self.active_at = now;
        if self.tail.as_ref().is_some_and(|tail| !tail.is_armed()) {
            self.wait_for_tail(now);
        }
        self.statistics.packets_sent += 1;
        self.statistics.packets_retransmitted += u64::from(lost.is_some());
        // The last packet before a stop asks for an acknowledgement, because nothing after it would cause one.
        let fills = self.window.is_some() && !self.has_room(frame_bytes + 1);
        let data = UetData {
            sequence,
            credit_target: self.credit_target(),
            payload_bytes,
            entropy,
            is_retransmission: lost.is_some(),
            acknowledge_now: lost.is_some() || self.unsent_bytes == 0 || fills || !self.has_credit(),
        };
        Outgoing { transport: Transport::Uet(UetHeader::Data(data)), frame_bytes, ecn: Ecn::Capable }
    }

    fn control(&self, header: UetHeader) -> Outgoing {
        let frame_bytes = self.settings.ack_bytes.0 as u32;
        Outgoing { transport: Transport::Uet(header), frame_bytes, ecn: Ecn::NotCapable }
    }

    /// Handles an acknowledgement of a packet that was sent at `sent_at`, if that is known.
    fn acknowledged(&mut self, now: Time, acknowledgement: &UetAcknowledgement, sent_at: Option<Time>) {
        let newly_received = acknowledgement.received_bytes.saturating_sub(self.received_bytes);
        self.received_bytes += newly_received;
        self.in_flight -= newly_received as i64;
        self.note_arrivals(acknowledgement);
        self.statistics.congestion_echoes += u64::from(acknowledgement.congestion);
        let feedback = if acknowledgement.congestion { Feedback::Marked } else { Feedback::Good };
        self.paths.learn(now, acknowledgement.entropy, feedback);
        if let Some(window) = &mut self.window {
            let sample = Sample {
                newly_received,
                rtt: sent_at.map(|at| now.saturating_since(at)),
                is_marked: acknowledgement.congestion,
                in_flight: self.in_flight.max(0) as u64,
            };
            window.acknowledged(now, &sample);
        }
        if self.settings.sack_recovery {
            self.recover(now, acknowledgement);
        }
    }

    /// Removes packets that have arrived from the flight. A packet that counted as lost was already subtracted from the
    /// bytes in flight.
    fn note_arrivals(&mut self, acknowledgement: &UetAcknowledgement) {
        while let Some((payload_bytes, was_lost)) = self.flight.pop_below(acknowledgement.cumulative) {
            self.acknowledged_bytes += u64::from(payload_bytes);
            if was_lost {
                self.in_flight += i64::from(self.frame_bytes(payload_bytes));
            }
        }
        let mut bits = acknowledgement.bitmap;
        while bits != 0 {
            let packet = acknowledgement.bitmap_base + u64::from(bits.trailing_zeros());
            bits &= bits - 1;
            if let Some(payload_bytes) = self.flight.arrived(packet) {
                self.in_flight += i64::from(self.frame_bytes(payload_bytes));
            }
        }
    }

    /// Declares missing packets lost if too many wait behind them. Only packets before the one just acknowledged count
    /// (the authors' code repeats later ones, too).
    fn recover(&mut self, now: Time, acknowledgement: &UetAcknowledgement) {
        let UetAcknowledgement { cumulative, acknowledged, out_of_order, .. } = *acknowledgement;
        if self.recovers_below.is_some_and(|end| cumulative >= end) {
            self.recovers_below = None;
        }
        let full = u64::from(self.settings.full_frame_bytes());
        let (window, most) = self.window.as_ref().map_or((full, full), |nscc| (nscc.window(), nscc.window_max()));
        let threshold = ((window * 3 / 2).min(most) / full).max(GAP_MIN);
        if self.recovers_below.is_none() {
            if u64::from(out_of_order) < threshold || self.flight.next_lost().is_some() {
                return;
            }
            self.recovers_below = Some(self.flight.next());
            self.lost_below = cumulative;
            self.statistics.fast_recoveries += 1;
        }
        let end = acknowledged.min(cumulative + (window / full).max(1));
        for packet in self.lost_below.max(cumulative)..end {
            self.lose(now, packet);
        }
        self.lost_below = self.lost_below.max(end);
    }

    /// Restarts the pause before a tail probe.
    fn wait_for_tail(&mut self, now: Time) {
        let (Some(tail), Some(window)) = (&mut self.tail, &self.window) else { return };
        tail.wait(now, self.unsent_bytes > 0, window.base_rtt(), window.target_delay());
    }

    /// Declares the missing packets from before a tail probe lost, up to a window of them.
    fn tail_answered(&mut self, now: Time, answer: &UetAcknowledgement) {
        let (Some(tail), Some(window)) = (&mut self.tail, &self.window) else { return };
        let slowest = window.base_rtt() + window.target_delay();
        let window_packets = (window.window() / u64::from(self.settings.full_frame_bytes())).max(1);
        let Some((asked_at, asked_below)) = tail.answered(now, slowest) else { return };
        self.recovers_below = Some(asked_below);
        self.lost_below = answer.cumulative;
        for packet in answer.cumulative..asked_below.min(answer.cumulative + window_packets) {
            if self.flight.was_sent_by(packet, asked_at) {
                self.lose(now, packet);
            }
        }
    }

    /// Counts a packet in flight as lost on its path.
    fn lose(&mut self, now: Time, packet: u64) -> Option<u32> {
        let record = self.flight.lose(packet)?;
        let frame_bytes = self.frame_bytes(record.payload_bytes);
        self.in_flight -= i64::from(frame_bytes);
        self.paths.learn(now, record.entropy, Feedback::Lost);
        Some(frame_bytes)
    }

    fn trimmed(&mut self, now: Time, negative: &UetNegative) {
        // A switch can trim the original after a timer or SACK has repeated it. The repetition is still in flight, and
        // its time of sending says nothing about the original. (The authors' code takes one for the other.)
        let &UetNegative { sequence, entropy, is_retransmission } = negative;
        if !self.flight.is_latest(sequence, entropy, is_retransmission) {
            return;
        }
        let Some(record) = self.flight.lose(sequence) else { return };
        let frame_bytes = self.frame_bytes(record.payload_bytes);
        let in_flight = self.in_flight.max(0) as u64;
        if let Some(window) = &mut self.window {
            let rtt = now.saturating_since(record.sent_at);
            window.trimmed(now, frame_bytes, rtt, in_flight, self.credit.is_some());
        }
        self.in_flight -= i64::from(frame_bytes);
        self.paths.learn(now, entropy, Feedback::Trimmed);
    }

    /// Returns when the oldest packet in flight counts as lost. Without packets in flight only a request can bring
    /// credit.
    fn loss_timeout(&self) -> Time {
        match self.flight.oldest() {
            Some((sent_at, _)) => sent_at + self.settings.timeout,
            None if self.next_payload().is_some() => self.active_at + self.settings.timeout,
            None => Time::NEVER,
        }
    }

    /// Ends a change of the flight.
    fn settle(&mut self) {
        self.flight.settle();
        if self.flight.oldest().is_none() {
            self.in_flight = 0;
        }
    }
}

/// Lets the entropy value of a packet of this transport select its path: switches hash it with the 5-tuple.
#[inline]
pub fn spread(packet: &mut Packet) {
    if let Transport::Uet(header) = &packet.transport {
        packet.flow_hash = fmix32(packet.flow_hash ^ u32::from(header.entropy()).wrapping_mul(0x9e37_79b9));
    }
}

impl Sender for UetSender {
    const SPREADS: bool = true;

    fn write(&mut self, now: Time, bytes: u64) {
        self.unsent_bytes += bytes;
        self.active_at = now;
    }

    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport::Uet(header) = &packet.transport else { return };
        self.active_at = now;
        if let (Some(credit), false) = (&mut self.credit, matches!(header, UetHeader::ProbeEcho(_))) {
            credit.receiver_answered();
        }
        match header {
            UetHeader::Acknowledgement(acknowledgement) => {
                let sent_at = self.flight.sample(acknowledgement.acknowledged, acknowledgement.is_retransmission);
                self.acknowledged(now, acknowledgement, sent_at);
            }
            UetHeader::NegativeAcknowledgement(negative) => self.trimmed(now, negative),
            UetHeader::Credit(given) => {
                if let Some(credit) = &mut self.credit {
                    credit.granted(given.granted_bytes);
                }
            }
            UetHeader::ProbeEcho(probe) => self.paths.learn(now, probe.entropy, Feedback::Restored),
            UetHeader::TailAnswer(answer) => {
                self.acknowledged(now, answer, None);
                self.tail_answered(now, answer);
            }
            UetHeader::Data(_) | UetHeader::Request(_) | UetHeader::Probe(_) | UetHeader::TailProbe(_) => {}
        }
        self.settle();
        if self.flight.oldest().is_none() {
            self.tail.iter_mut().for_each(TailProbe::disarm);
        } else if matches!(header, UetHeader::Acknowledgement(_) | UetHeader::TailAnswer(_)) {
            self.wait_for_tail(now);
        }
    }

    #[inline]
    fn share_card(&mut self, flows: impl FnOnce() -> usize) {
        if let Some(credit) = &mut self.credit {
            credit.share_card(flows());
        }
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        if let Some(entropy) = self.paths.take_probe(now) {
            return Some(self.control(UetHeader::Probe(UetProbe { entropy })));
        }
        if self.tail.as_mut().is_some_and(TailProbe::take) {
            self.statistics.tail_loss_probes += 1;
            let entropy = self.paths.next();
            return Some(self.control(UetHeader::TailProbe(UetProbe { entropy })));
        }
        if std::mem::take(&mut self.request_is_due) {
            let request = UetRequest { credit_target: self.credit_target(), entropy: self.paths.next() };
            return Some(self.control(UetHeader::Request(request)));
        }
        let payload_bytes = self.next_payload()?;
        if !self.has_credit() || !self.has_room(self.frame_bytes(payload_bytes)) {
            return None;
        }
        let outgoing = self.send_data(now, payload_bytes);
        self.flight.settle();
        Some(outgoing)
    }

    fn next_timeout(&self) -> Time {
        let tail = self.tail.as_ref().map_or(Time::NEVER, TailProbe::next_at);
        self.loss_timeout().min(self.paths.next_probe()).min(tail)
    }

    fn handle_timeout(&mut self, now: Time) {
        if let (Some(tail), Some(window)) = (&mut self.tail, &self.window)
            && now >= tail.next_at()
        {
            tail.ask(now, self.flight.next(), window.base_rtt());
        }
        if self.flight.oldest().is_none() && now >= self.loss_timeout() {
            self.request_is_due = !self.has_credit();
            self.active_at = now;
        }
        while let Some((sent_at, packet)) = self.flight.oldest() {
            if sent_at + self.settings.timeout > now {
                break;
            }
            self.statistics.timeouts += 1;
            let frame_bytes = self.lose(now, packet);
            if let (Some(window), Some(frame_bytes)) = (&mut self.window, frame_bytes) {
                window.timed_out(frame_bytes);
            }
            if let Some(credit) = &mut self.credit {
                credit.receiver_answered();
            }
            self.request_is_due = !self.has_credit();
            self.settle();
        }
    }

    fn timeout_when_held_back(&mut self, _now: Time) -> Time {
        // Probes go with the next packets.
        self.loss_timeout()
    }

    fn acknowledged_bytes(&self) -> u64 {
        self.acknowledged_bytes
    }

    fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    fn congestion_window_bytes(&self) -> u64 {
        self.window.as_ref().map_or(0, Nscc::window)
    }

    fn statistics(&self) -> SenderStatistics {
        self.statistics
    }
}
