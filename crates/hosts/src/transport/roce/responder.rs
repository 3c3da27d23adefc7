//! The responder: the end with the memory that is written.

use hitless_core::wire::{Ecn, Packet, RoceHeader, RoceOpcode, Time, Transport};

use super::config::{RoceRecovery, RoceSettings};
use super::dcqcn::NotificationPoint;
use super::selective::OutOfOrder;
use crate::transport::{Outgoing, Receiver, ReceiverStatistics};

/// The receiving end of a reliable connection; its only timer is for DCQCN's notifications.
///
/// With go-back-N it accepts only the expected packet. The first packet beyond a gap causes a negative acknowledgement;
/// the following ones cause none until the expected packet has arrived (specification, section 9.7.5.1.2). If that
/// packet is lost again, only the requester's timeout helps. With selective repeat it accepts all packets, and each
/// packet beyond a gap causes a negative acknowledgement.
///
/// A packet without its payload causes an answer at once: with selective repeat a notice that names it, with go-back-N
/// a negative acknowledgement, again for each trimmed copy of the expected packet.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct RoceResponder {
    config: RoceSettings,
    expected: u64,
    /// Highest packet ever seen plus one.
    highest_seen: u64,
    delivered_bytes: u64,
    /// Packets since the last acknowledgement.
    unacknowledged_packets: u32,
    gap_reported: bool,
    answer: Option<RoceHeader>,
    /// Packets received beyond a gap, with selective repeat.
    out_of_order: Option<Box<OutOfOrder>>,
    /// Notification point, if DCQCN is in use.
    notification_point: Option<NotificationPoint>,
    notification: Option<RoceHeader>,
    /// Message of the last marked packet.
    marked_message: u64,
    statistics: ReceiverStatistics,
}

impl RoceResponder {
    pub fn new(config: RoceSettings) -> Self {
        Self {
            config,
            expected: 0,
            highest_seen: 0,
            delivered_bytes: 0,
            unacknowledged_packets: 0,
            gap_reported: false,
            answer: None,
            out_of_order: (config.recovery == RoceRecovery::SelectiveRepeat).then(Box::default),
            notification_point: config.dcqcn.as_ref().map(NotificationPoint::new),
            notification: None,
            marked_message: 0,
            statistics: ReceiverStatistics::default(),
        }
    }

    fn count(&mut self, packet: &Packet, sequence: u64) {
        self.statistics.packets_received += 1;
        self.statistics.marked_packets += u64::from(packet.ecn == Ecn::CongestionExperienced);
        self.statistics.reordered_packets += u64::from(sequence + 1 < self.highest_seen);
        self.highest_seen = self.highest_seen.max(sequence + 1);
    }

    /// Reports a packet that came without its payload.
    #[cold]
    fn receive_trimmed(&mut self, now: Time, header: &RoceHeader) {
        self.statistics.trimmed_packets += 1;
        // It met a full queue, so it counts as marked (an assumption).
        self.notify_if_due(now, true, header);
        let sequence = header.packet_sequence;
        let Some(ahead) = sequence.checked_sub(self.expected) else { return self.acknowledge_duplicate(header) };
        match &self.out_of_order {
            Some(packets) if packets.has(ahead as usize) => {
                self.respond_about(RoceOpcode::NegativeAcknowledge, sequence, header.message);
            }
            Some(_) => self.respond_about(RoceOpcode::TrimNotice, sequence, header.message),
            None => {
                // This copy of the expected packet is gone, so the requester must go back once more.
                self.gap_reported &= ahead > 0;
                self.report_gap(header);
            }
        }
    }

    /// Notifies the sender of a marked packet, within the limits of the interval (annex A17).
    fn notify_if_due(&mut self, now: Time, is_marked: bool, header: &RoceHeader) {
        let Some(point) = &mut self.notification_point else { return };
        if is_marked {
            self.marked_message = header.message;
            if point.marked(now) {
                self.notify();
            }
        }
    }

    fn notify(&mut self) {
        let opcode = RoceOpcode::CongestionNotification;
        self.notification = Some(RoceHeader { message: self.marked_message, opcode, ..RoceHeader::default() });
    }

    fn accept(&mut self, header: &RoceHeader) {
        self.gap_reported = false;
        self.step_forward(header.payload_bytes);
        let mut fills_gap = false;
        while let Some(payload_bytes) = self.out_of_order.as_mut().and_then(|packets| packets.advance()) {
            self.step_forward(payload_bytes);
            fills_gap = true;
        }
        if fills_gap {
            // Tells the requester that its recovery is over.
            self.respond(RoceOpcode::Acknowledge, self.expected - 1, header.message);
        } else {
            self.acknowledge_if_due(header);
        }
    }

    fn step_forward(&mut self, payload_bytes: u32) {
        assert!(self.expected < self.highest_seen, "a packet that has not come");
        self.expected += 1;
        self.delivered_bytes += u64::from(payload_bytes);
    }

    /// Keeps and reports a packet beyond a gap, with selective repeat.
    fn keep(&mut self, header: &RoceHeader) -> bool {
        let Some(packets) = &mut self.out_of_order else { return false };
        let ahead = (header.packet_sequence - self.expected) as usize;
        let is_new = packets.take(ahead, header.payload_bytes);
        self.statistics.duplicate_packets += u64::from(!is_new);
        self.respond_about(RoceOpcode::NegativeAcknowledge, header.packet_sequence, header.message);
        true
    }

    fn report_gap(&mut self, header: &RoceHeader) {
        // One negative acknowledgement per gap: another one would make the requester go back again.
        if !self.gap_reported {
            self.gap_reported = true;
            self.respond(RoceOpcode::NegativeAcknowledge, self.expected, header.message);
        }
    }

    /// Acknowledges a duplicate, which shows that an acknowledgement was lost or late. With selective repeat it may be
    /// the only packet that the requester repeats, so it is answered at once; after going back, others follow.
    fn acknowledge_duplicate(&mut self, header: &RoceHeader) {
        if self.out_of_order.is_some() {
            self.respond(RoceOpcode::Acknowledge, self.expected - 1, header.message);
        } else {
            self.acknowledge_if_due(header);
        }
    }

    fn acknowledge_if_due(&mut self, header: &RoceHeader) {
        self.unacknowledged_packets += 1;
        if header.last || self.unacknowledged_packets >= self.config.acknowledge_every {
            self.respond(RoceOpcode::Acknowledge, self.expected - 1, header.message);
        }
    }

    /// Answers about the packet `arrived`, which is not below the expected one.
    fn respond_about(&mut self, opcode: RoceOpcode, arrived: u64, message: u64) {
        self.respond(opcode, self.expected, message);
        if let Some(answer) = &mut self.answer {
            answer.arrived = arrived;
        }
    }

    fn respond(&mut self, opcode: RoceOpcode, packet_sequence: u64, message: u64) {
        self.unacknowledged_packets = 0;
        self.answer = Some(RoceHeader { packet_sequence, message, opcode, ..RoceHeader::default() });
    }
}

impl Receiver for RoceResponder {
    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport::Roce(header) = &packet.transport else { return };
        if header.opcode != RoceOpcode::Write {
            return;
        }
        if packet.is_trimmed() {
            return self.receive_trimmed(now, header);
        }
        let sequence = header.packet_sequence;
        self.count(packet, sequence);
        self.notify_if_due(now, packet.ecn == Ecn::CongestionExperienced, header);
        if sequence == self.expected {
            self.accept(header);
        } else if sequence > self.expected {
            if !self.keep(header) {
                self.report_gap(header);
            }
        } else {
            self.statistics.duplicate_packets += 1;
            self.acknowledge_duplicate(header);
        }
    }

    #[inline]
    fn poll_transmit(&mut self, _now: Time) -> Option<Outgoing> {
        let (header, frame_bytes) = match self.notification.take() {
            Some(header) => (header, self.config.notification_frame_bytes()),
            None => (self.answer.take()?, self.config.ack_bytes.0 as u32),
        };
        Some(Outgoing { transport: Transport::Roce(header), frame_bytes, ecn: Ecn::NotCapable })
    }

    fn next_timeout(&self) -> Time {
        self.notification_point.as_ref().map_or(Time::NEVER, NotificationPoint::due_at)
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.notification_point.as_mut().is_some_and(|point| point.take_due(now)) {
            self.notify();
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    fn statistics(&self) -> ReceiverStatistics {
        self.statistics
    }
}
