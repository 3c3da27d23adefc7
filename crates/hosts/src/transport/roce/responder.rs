//! The responder: the end that is written into.

use hitless_wire::{Ecn, Packet, RoceHeader, RoceOpcode, Time, Transport};

use super::RoceConfig;
use crate::transport::{Outgoing, Receiver, ReceiverStatistics};

/// The receiving end of a reliable connection. Calls as for every [`Receiver`]; it has no timer.
///
/// It takes the packet it expects and no other. The first packet beyond a gap draws a negative acknowledgement,
/// the following ones draw nothing until the expected packet has arrived (specification, section 9.7.5.1.2), so
/// when the packet is lost a second time, only the requester's timeout helps.
#[derive(Clone, Debug)]
pub struct RoceResponder {
    config: RoceConfig,
    expected: u64,
    /// One beyond the highest packet ever seen.
    highest_seen: u64,
    delivered_bytes: u64,
    /// Packets since the last acknowledgement.
    unacknowledged_packets: u32,
    gap_reported: bool,
    answer: Option<RoceHeader>,
    discarded_packets: u64,
    statistics: ReceiverStatistics,
}

impl RoceResponder {
    /// A connection that has received nothing.
    pub fn new(config: RoceConfig) -> Self {
        Self {
            config,
            expected: 0,
            highest_seen: 0,
            delivered_bytes: 0,
            unacknowledged_packets: 0,
            gap_reported: false,
            answer: None,
            discarded_packets: 0,
            statistics: ReceiverStatistics::default(),
        }
    }

    /// Packets thrown away because one before them was missing.
    pub fn discarded_packets(&self) -> u64 {
        self.discarded_packets
    }

    fn count(&mut self, packet: &Packet, sequence: u64) {
        self.statistics.packets_received += 1;
        self.statistics.marked_packets += u64::from(packet.ecn == Ecn::CongestionExperienced);
        self.statistics.reordered_packets += u64::from(sequence + 1 < self.highest_seen);
        self.highest_seen = self.highest_seen.max(sequence + 1);
    }

    fn accept(&mut self, header: &RoceHeader) {
        self.expected += 1;
        self.gap_reported = false;
        self.delivered_bytes += u64::from(header.payload_bytes);
        self.acknowledge_if_due(header);
    }

    fn report_gap(&mut self, header: &RoceHeader) {
        self.discarded_packets += 1;
        if !self.gap_reported {
            self.gap_reported = true;
            self.respond(RoceOpcode::NegativeAcknowledge, self.expected, header.message);
        }
    }

    /// Duplicates count as well: they show that an acknowledgement was lost or late.
    fn acknowledge_if_due(&mut self, header: &RoceHeader) {
        self.unacknowledged_packets += 1;
        if header.last || self.unacknowledged_packets >= self.config.acknowledge_every_packets {
            self.respond(RoceOpcode::Acknowledge, self.expected - 1, header.message);
        }
    }

    fn respond(&mut self, opcode: RoceOpcode, packet_sequence: u64, message: u64) {
        self.unacknowledged_packets = 0;
        self.answer = Some(RoceHeader { packet_sequence, message, opcode, ..RoceHeader::default() });
    }
}

impl Receiver for RoceResponder {
    #[inline]
    fn receive(&mut self, _now: Time, packet: &Packet) {
        let Transport::Roce(header) = &packet.transport else { return };
        if header.opcode != RoceOpcode::Write {
            return;
        }
        let sequence = header.packet_sequence;
        self.count(packet, sequence);
        if sequence == self.expected {
            self.accept(header);
        } else if sequence > self.expected {
            self.report_gap(header);
        } else {
            self.statistics.duplicate_packets += 1;
            self.acknowledge_if_due(header);
        }
    }

    #[inline]
    fn poll_transmit(&mut self, _now: Time) -> Option<Outgoing> {
        let header = self.answer.take()?;
        Some(Outgoing {
            transport: Transport::Roce(header),
            frame_bytes: self.config.acknowledgement_frame_bytes,
            ecn: Ecn::NotCapable,
        })
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
