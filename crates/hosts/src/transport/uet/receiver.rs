//! The receiving end: places packets in any order and acknowledges them.

use std::collections::VecDeque;

use hitless_core::wire::{
    BitRate, Ecn, Packet, Time, Transport, UetAcknowledgement, UetCredit, UetData, UetHeader, UetNegative,
};

use super::credit::{Demand, Grant};
use super::settings::UetSettings;
use crate::transport::{Outgoing, Receiver, ReceiverStatistics};

/// The receiving end of a spraying connection, without a timer.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct UetReceiver {
    settings: UetSettings,
    /// First packet that is missing.
    expected: u64,
    /// Payloads of packets from the expected one on, which itself is missing.
    beyond: VecDeque<Option<u32>>,
    out_of_order: u32,
    highest_seen: u64,
    delivered_bytes: u64,
    received_bytes: u64,
    /// Bytes since the last acknowledgement.
    unacknowledged_bytes: u64,
    /// Whether the sender waits for an acknowledgement once no packet is missing.
    acknowledges_when_complete: bool,
    demand: Option<Demand>,
    credit_max: u64,
    answer: Option<UetHeader>,
    credit: Option<UetCredit>,
    statistics: ReceiverStatistics,
}

impl UetReceiver {
    pub fn new(settings: UetSettings, rate: BitRate) -> Self {
        Self {
            settings,
            expected: 0,
            beyond: VecDeque::new(),
            out_of_order: 0,
            highest_seen: 0,
            delivered_bytes: 0,
            received_bytes: 0,
            unacknowledged_bytes: 0,
            acknowledges_when_complete: false,
            demand: settings.has_credit().then(Demand::default),
            credit_max: settings.window_max(rate, settings.base_rtt),
            answer: None,
            credit: None,
            statistics: ReceiverStatistics::default(),
        }
    }

    fn has(&self, packet: u64) -> bool {
        packet < self.expected || self.beyond.get((packet - self.expected) as usize).is_some_and(Option::is_some)
    }

    fn receive_data(&mut self, packet: &Packet, data: &UetData) {
        let is_marked = packet.ecn == Ecn::CongestionExperienced;
        self.statistics.packets_received += 1;
        self.statistics.marked_packets += u64::from(is_marked);
        self.statistics.reordered_packets += u64::from(data.sequence + 1 < self.highest_seen);
        self.highest_seen = self.highest_seen.max(data.sequence + 1);
        if let Some(demand) = &mut self.demand {
            demand.note_target(data.credit_target);
        }
        if self.has(data.sequence) {
            self.statistics.duplicate_packets += 1;
            return self.acknowledge(data, is_marked, is_marked);
        }
        let is_first = self.received_bytes == 0;
        let frame_bytes = u64::from(self.settings.frame_bytes(data.payload_bytes));
        self.received_bytes += frame_bytes;
        self.unacknowledged_bytes += frame_bytes;
        self.acknowledges_when_complete |= data.acknowledge_now;
        self.place(data);
        let is_complete = self.out_of_order == 0 && std::mem::take(&mut self.acknowledges_when_complete);
        let is_due = self.unacknowledged_bytes >= self.settings.acknowledge_bytes.0;
        if is_first || is_marked || is_due || is_complete || data.acknowledge_now {
            self.acknowledge(data, is_marked, is_marked || data.acknowledge_now);
        }
    }

    fn place(&mut self, data: &UetData) {
        let ahead = (data.sequence - self.expected) as usize;
        if ahead >= self.beyond.len() {
            self.beyond.resize(ahead + 1, None);
        }
        self.beyond[ahead] = Some(data.payload_bytes);
        self.out_of_order += 1;
        while let Some(&Some(payload_bytes)) = self.beyond.front() {
            self.beyond.pop_front();
            self.expected += 1;
            self.out_of_order -= 1;
            self.delivered_bytes += u64::from(payload_bytes);
        }
    }

    /// Acknowledges a packet. The bitmap starts at the packet itself if `from_here`, else up to 63 packets before it.
    fn acknowledge(&mut self, data: &UetData, congestion: bool, from_here: bool) {
        self.unacknowledged_bytes = 0;
        let base = if from_here { data.sequence } else { data.sequence.saturating_sub(63).max(self.expected + 1) };
        self.answer = Some(UetHeader::Acknowledgement(UetAcknowledgement {
            acknowledged: data.sequence,
            entropy: data.entropy,
            congestion,
            is_retransmission: data.is_retransmission,
            ..self.state_from(base)
        }));
    }

    /// Returns an acknowledgement with the state of 64 packets from `base` on.
    fn state_from(&self, base: u64) -> UetAcknowledgement {
        UetAcknowledgement {
            cumulative: self.expected,
            bitmap_base: base,
            bitmap: (0..64).filter(|bit| self.has(base + bit)).fold(0, |bits, bit| bits | 1 << bit),
            acknowledged: self.expected,
            received_bytes: self.received_bytes,
            out_of_order: self.out_of_order,
            ..UetAcknowledgement::default()
        }
    }

    fn answer_tail_probe(&mut self, entropy: u16) {
        self.unacknowledged_bytes = 0;
        let state = self.state_from(self.expected + 1);
        self.answer = Some(UetHeader::TailAnswer(UetAcknowledgement { entropy, ..state }));
    }

    fn receive_trimmed(&mut self, data: &UetData) {
        self.statistics.trimmed_packets += 1;
        if self.has(data.sequence) {
            return self.acknowledge(data, false, false);
        }
        if let Some(demand) = &mut self.demand {
            demand.note_target(data.credit_target);
            demand.urge();
        }
        let &UetData { sequence, entropy, is_retransmission, .. } = data;
        let negative = UetNegative { sequence, entropy, is_retransmission };
        self.answer = Some(UetHeader::NegativeAcknowledgement(negative));
    }

    pub fn has_turn_for_credit(&self) -> bool {
        self.demand.as_ref().is_some_and(Demand::is_queued)
    }

    fn requested(&mut self, credit_target: u64) {
        if let Some(demand) = &mut self.demand {
            demand.note_target(credit_target);
            demand.urge();
        }
    }
}

impl Receiver for UetReceiver {
    const SPREADS: bool = true;

    #[inline]
    fn receive(&mut self, _now: Time, packet: &Packet) {
        let Transport::Uet(header) = &packet.transport else { return };
        match header {
            UetHeader::Data(data) if packet.is_trimmed() => self.receive_trimmed(data),
            UetHeader::Data(data) => self.receive_data(packet, data),
            UetHeader::Request(request) => self.requested(request.credit_target),
            UetHeader::TailProbe(probe) => self.answer_tail_probe(probe.entropy),
            UetHeader::Probe(probe) => self.answer = Some(UetHeader::ProbeEcho(*probe)),
            _ => {}
        }
    }

    #[inline]
    fn poll_transmit(&mut self, _now: Time) -> Option<Outgoing> {
        let header = self.answer.take().or_else(|| self.credit.take().map(UetHeader::Credit))?;
        let frame_bytes = self.settings.ack_bytes.0 as u32;
        Some(Outgoing { transport: Transport::Uet(header), frame_bytes, ecn: Ecn::NotCapable })
    }

    #[inline]
    fn enters_credit_queue(&mut self) -> bool {
        self.demand.as_mut().is_some_and(Demand::enters_queue)
    }

    fn grant_credit(&mut self, in_advance: bool) -> Option<Grant> {
        let (granted_bytes, grant) = self.demand.as_mut()?.grant(in_advance, &self.settings, self.credit_max);
        // Credits of a connection use one path after the other.
        let entropy = (granted_bytes / self.settings.credit_bytes.0) as u16;
        self.credit = Some(UetCredit { granted_bytes, entropy });
        Some(grant)
    }

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    fn statistics(&self) -> ReceiverStatistics {
        self.statistics
    }
}
