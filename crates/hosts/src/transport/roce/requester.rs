//! The requester: the end that writes into the other's memory.

use std::collections::VecDeque;

use hitless_core::wire::{BitRate, Packet, RoceHeader, RoceOpcode, Time, Transport};

use super::config::{RoceRecovery, RoceSettings};
use super::pace::Pace;
use super::selective::Selective;
use crate::transport::{Outgoing, Sender, SenderStatistics, SenderWait, TimeoutPurpose};

/// A message (work request) not yet fully acknowledged.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Message {
    number: u64,
    bytes: u64,
    /// Range of packet sequence numbers, `[first, end)`.
    first: u64,
    end: u64,
}

/// The sending end of a reliable connection.
///
/// Each [`Sender::write`] posts one message; messages are sent in order. Packets have 64-bit sequence numbers, counted
/// from 0 over all messages.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct RoceRequester {
    config: RoceSettings,
    messages: VecDeque<Message>,
    /// Index in `messages` of the message that contains `next`.
    sending: usize,
    messages_written: u64,
    /// First unacknowledged packet.
    unacknowledged: u64,
    /// Next packet to send; moves back after a loss.
    next: u64,
    /// Last packet ever sent plus one.
    highest_sent: u64,
    /// Last packet of the last message plus one.
    end: u64,
    /// Bytes of fully acknowledged messages.
    completed_bytes: u64,
    /// The same, plus the acknowledged part of the next message.
    acknowledged_bytes: u64,
    deadline: Time,
    timeouts_in_row: u32,
    failed: bool,
    /// State of packets received out of order, with selective repeat.
    selective: Option<Box<Selective>>,
    /// Rate limiter, if DCQCN is in use.
    pace: Option<Box<Pace>>,
    statistics: SenderStatistics,
}

impl RoceRequester {
    pub fn new(config: RoceSettings, line_rate: BitRate) -> Self {
        assert!((1..=config.window).contains(&config.acknowledge_every), "a full window would wait for ever");
        let repeats_selectively = config.recovery == RoceRecovery::SelectiveRepeat;
        Self {
            selective: repeats_selectively.then(Box::default),
            pace: Pace::new(&config, line_rate).map(Box::new),
            config,
            messages: VecDeque::with_capacity(1),
            sending: 0,
            messages_written: 0,
            unacknowledged: 0,
            next: 0,
            highest_sent: 0,
            end: 0,
            completed_bytes: 0,
            acknowledged_bytes: 0,
            deadline: Time::NEVER,
            timeouts_in_row: 0,
            failed: false,
            statistics: SenderStatistics::default(),
        }
    }

    /// Returns whether the retry limit was exceeded; a failed connection sends nothing more.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    pub fn explain_wait(&self) -> SenderWait {
        // The timer starts with a packet or with progress.
        let timeout = self.config.timeout;
        let quiet_since = if self.deadline == Time::NEVER { Time::NEVER } else { Time(self.deadline.0 - timeout.0) };
        SenderWait { quiet_since, timeouts_in_row: self.timeouts_in_row, lacks_credit: false }
    }

    /// Handles the acknowledgement of all packets below `packet`.
    fn acknowledge_below(&mut self, now: Time, packet: u64) {
        if packet <= self.unacknowledged {
            return;
        }
        assert!(packet <= self.highest_sent, "an acknowledgement of a packet that was never sent");
        self.unacknowledged = packet;
        // Progress resets the retry counter, which counts consecutive timeouts.
        self.timeouts_in_row = 0;
        self.retire_messages();
        if let Some(selective) = &mut self.selective {
            selective.acknowledge_below(packet);
        }
        // After going back, an acknowledgement can overtake copies that are still to be sent.
        if self.next < packet {
            self.move_to(packet);
        }
        self.restart_timer(now);
    }

    fn retire_messages(&mut self) {
        while let Some(&message) = self.messages.front()
            && message.end <= self.unacknowledged
        {
            self.messages.pop_front();
            self.sending = self.sending.saturating_sub(1);
            self.completed_bytes += message.bytes;
        }
        // Only the last packet of a message can be shorter, and it is never counted here.
        let packets_of_next = self.messages.front().map_or(0, |message| self.unacknowledged - message.first);
        self.acknowledged_bytes = self.completed_bytes + packets_of_next * self.config.mtu.0;
    }

    /// Makes `packet`, which is unacknowledged, the next one to send.
    fn move_to(&mut self, packet: u64) {
        self.next = packet;
        self.sending = self.messages.partition_point(|message| message.end <= packet);
    }

    fn restart_timer(&mut self, now: Time) {
        let outstanding = self.highest_sent > self.unacknowledged;
        self.deadline = if outstanding { now + self.config.timeout } else { Time::NEVER };
    }

    /// Goes back to `packet`: the responder expects it and has discarded the later ones.
    fn go_back(&mut self, now: Time, packet: u64) {
        self.acknowledge_below(now, packet);
        // Ignores a late request for a packet that has arrived since.
        if packet < self.unacknowledged || packet >= self.next {
            return;
        }
        self.statistics.fast_recoveries += 1;
        self.move_to(packet);
        self.restart_timer(now);
    }

    /// Handles a selective request: the responder expects `header.packet_sequence` and has kept `header.arrived`, which
    /// came after it.
    fn repeat_selectively(&mut self, now: Time, header: &RoceHeader) {
        self.acknowledge_below(now, header.packet_sequence);
        let Some(selective) = &mut self.selective else { return };
        if selective.arrived_beyond_gap(header.arrived, self.highest_sent) {
            self.statistics.fast_recoveries += 1;
            self.restart_timer(now);
        }
    }

    /// Handles a notice that the packet `header.arrived` was trimmed: retransmits it at once. The receiver is alive, so
    /// the timer restarts.
    fn repeat_trimmed(&mut self, now: Time, header: &RoceHeader) {
        self.acknowledge_below(now, header.packet_sequence);
        if let Some(selective) = &mut self.selective {
            assert!(header.arrived < self.highest_sent, "a notice of a packet that was never sent");
            selective.trimmed(header.arrived);
            self.restart_timer(now);
        }
    }

    fn header(&self, packet: u64, message: &Message) -> RoceHeader {
        let full = self.config.mtu.0;
        let last = packet + 1 == message.end;
        assert!((message.first..message.end).contains(&packet), "packet {packet} of another message");
        let payload = if last { message.bytes - (packet - message.first) * full } else { full };
        RoceHeader {
            packet_sequence: packet,
            message: message.number,
            payload_bytes: payload as u32,
            opcode: RoceOpcode::Write,
            last,
            ..RoceHeader::default()
        }
    }

    /// Returns the packet to retransmit by selective repeat, if there is one.
    fn repeat(&mut self, now: Time) -> Option<RoceHeader> {
        let packet = self.selective.as_mut()?.next_to_repeat()?;
        let message = self.messages[self.messages.partition_point(|message| message.end <= packet)];
        if let Some(selective) = &mut self.selective {
            selective.repeated(packet);
        }
        self.count_transmission(now, packet);
        Some(self.header(packet, &message))
    }

    /// Returns the next packet in order, if there is one and the window has room.
    fn proceed(&mut self, now: Time) -> Option<RoceHeader> {
        let window_end = self.unacknowledged + u64::from(self.config.window);
        if self.next >= self.end.min(window_end) {
            return None;
        }
        let message = self.messages[self.sending];
        let header = self.header(self.next, &message);
        self.count_transmission(now, self.next);
        self.step_forward(message.end);
        Some(header)
    }

    /// Decides whether a packet goes now: one must wait, and the rate limiter must allow it.
    fn admit(&mut self, now: Time) -> bool {
        let Some(pace) = &mut self.pace else { return true };
        let window_end = self.unacknowledged + u64::from(self.config.window);
        let proceeds = self.next < self.end.min(window_end);
        let repeats = self.selective.as_mut().is_some_and(|selective| selective.next_to_repeat().is_some());
        pace.stop_waiting();
        (proceeds || repeats) && pace.admit(now)
    }

    /// Returns the rate set by DCQCN; `None` at line rate and without DCQCN.
    pub fn rate(&mut self, now: Time) -> Option<BitRate> {
        self.pace.as_mut()?.rate(now)
    }

    fn on_congestion_notice(&mut self, now: Time) {
        self.statistics.congestion_echoes += 1;
        if let Some(pace) = &mut self.pace {
            pace.cut(now);
        }
    }

    fn count_transmission(&mut self, now: Time, packet: u64) {
        self.statistics.packets_sent += 1;
        if packet < self.highest_sent {
            self.statistics.packets_retransmitted += 1;
        }
        // A paced packet can be the only one within a timeout, so the timer restarts at each packet.
        if self.deadline == Time::NEVER || self.pace.is_some() {
            self.deadline = now + self.config.timeout;
        }
    }

    fn step_forward(&mut self, message_end: u64) {
        assert!(self.unacknowledged <= self.next && self.next < self.end, "packet {} to be sent", self.next);
        self.next += 1;
        self.highest_sent = self.highest_sent.max(self.next);
        if self.next == message_end {
            self.sending += 1;
        }
    }
}

impl Sender for RoceRequester {
    fn write(&mut self, _now: Time, bytes: u64) {
        assert!(bytes > 0, "an RDMA WRITE of no bytes");
        let packets = bytes.div_ceil(self.config.mtu.0);
        let message = Message { number: self.messages_written, bytes, first: self.end, end: self.end + packets };
        self.messages.push_back(message);
        self.messages_written += 1;
        self.end = message.end;
    }

    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport::Roce(header) = &packet.transport else { return };
        match header.opcode {
            // An acknowledgement covers all packets up to its own number.
            RoceOpcode::Acknowledge => self.acknowledge_below(now, header.packet_sequence + 1),
            RoceOpcode::NegativeAcknowledge if self.selective.is_some() => self.repeat_selectively(now, header),
            RoceOpcode::NegativeAcknowledge => self.go_back(now, header.packet_sequence),
            RoceOpcode::TrimNotice => self.repeat_trimmed(now, header),
            RoceOpcode::CongestionNotification => self.on_congestion_notice(now),
            RoceOpcode::Write => {}
        }
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        if self.failed || !self.admit(now) {
            return None;
        }
        let header = self.repeat(now).or_else(|| self.proceed(now))?;
        let frame_bytes = self.config.frame_bytes(header.payload_bytes);
        if let Some(pace) = &mut self.pace {
            pace.sent(now, frame_bytes);
        }
        Some(Outgoing { transport: Transport::Roce(header), frame_bytes, ecn: self.config.ecn() })
    }

    fn next_timeout(&self) -> Time {
        self.pace.as_ref().map_or(self.deadline, |pace| pace.wake_at().min(self.deadline))
    }

    fn timeout_purpose(&self) -> TimeoutPurpose {
        let paces = self.pace.as_ref().is_some_and(|pace| pace.wake_at() < self.deadline);
        if paces { TimeoutPurpose::Pacing } else { TimeoutPurpose::Retransmission }
    }

    /// Retransmits from the oldest unacknowledged packet, a limited number of times (specification, section 9.7.6.1.3).
    fn handle_timeout(&mut self, now: Time) {
        if let Some(pace) = &mut self.pace {
            // The driver asks for the next packet now, or when the card has room.
            pace.stop_waiting();
        }
        if now < self.deadline {
            return;
        }
        self.statistics.timeouts += 1;
        self.timeouts_in_row += 1;
        if self.timeouts_in_row > self.config.retries {
            self.failed = true;
            self.deadline = Time::NEVER;
            return;
        }
        match &mut self.selective {
            Some(selective) => selective.time_out(self.highest_sent),
            None => self.move_to(self.unacknowledged),
        }
        self.restart_timer(now);
    }

    fn timeout_when_held_back(&mut self, _now: Time) -> Time {
        self.next_timeout()
    }

    fn acknowledged_bytes(&self) -> u64 {
        self.acknowledged_bytes
    }

    fn sent_bytes(&self) -> u64 {
        let packet_bytes = self.config.mtu.0;
        let sent_of = |message: &Message| {
            (self.highest_sent.saturating_sub(message.first)).saturating_mul(packet_bytes).min(message.bytes)
        };
        self.completed_bytes + self.messages.iter().map(sent_of).sum::<u64>()
    }

    fn congestion_window_bytes(&self) -> u64 {
        u64::from(self.config.window) * self.config.mtu.0
    }

    fn statistics(&self) -> SenderStatistics {
        self.statistics
    }
}
