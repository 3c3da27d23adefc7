//! Messages from the receiver to the sender: acknowledgements, loss notifications, and answers.

use crate::linkguardian::headers::{
    AckHeader, ControlHeader, DataHeader, Level, LossNotification, Message, PacketType, SequenceNumber,
};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{Packet, Shim};
use hitless_switch::{Context, DropReason, Verdict};

use super::super::frames::{Role, control_frame};
use super::super::timer::TimerKind;
use super::Receiver;
use super::gaps::Gap;

impl Receiver {
    /// Writes the latest number on an explicit acknowledgement and replaces it by another in its queue (section 3.1).
    pub fn stamp_acknowledgement(&mut self, context: &mut Context<'_>) {
        let (port, queue) = (self.config.port, self.acknowledgement_queue);
        context.queue(port, queue).mirror(Role::Acknowledgement.of_channel(self.config.channel), |_| {});
        let pending = self.use_acknowledgement(context);
        self.push_acknowledgement(false, context);
        self.counters.explicit_acknowledgements += 1;
        // Nothing new: the acknowledgement pauses instead of circulating, until the next number reaches egress.
        if pending == 0 {
            context.queue(port, queue).pause();
            if let Some(visible_at) = self.latest_received.next_visible_at() {
                let delay = visible_at - context.now();
                context.queue(port, queue).resume_after(delay);
            }
        }
    }

    /// Whether there is a number to acknowledge that no acknowledgement has carried yet.
    pub fn has_news(&self, context: &Context<'_>) -> bool {
        self.acknowledgements_pending.peek(0) > 0
            || self.latest_received.next_visible_at().is_some_and(|visible_at| visible_at <= context.now())
    }

    /// Adds the latest number to a packet of the reverse direction.
    pub fn piggyback(&mut self, context: &mut Context<'_>) {
        self.use_acknowledgement(context);
        self.push_acknowledgement(true, context);
        self.counters.piggybacked_acknowledgements += 1;
    }

    /// Whether packets of the reverse direction carry acknowledgements.
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Handles a departing loss notification: only now may other acknowledgements acknowledge its numbers. Its
    /// repetitions are right behind it, so that no other acknowledgement comes between. A notification that can be
    /// repeated later must find the sender's copies, so that nothing else is acknowledged before it is answered.
    pub fn publish_loss(&mut self, context: &mut Context<'_>) {
        if self.config.notification_period.is_some() {
            return;
        }
        self.latest_received.receive(context.now());
        let ack = context.packet().shims.get::<AckHeader>().expect("a loss notification acknowledges");
        if ack.acknowledged.ahead_of(self.latest_received.get()) > 0 {
            self.latest_received.set(ack.acknowledged);
        }
        self.acknowledgements_pending.access(context.pass(), 0, |pending| *pending = 0);
    }

    pub fn take_message(&mut self, control: ControlHeader, context: &mut Context<'_>) -> Verdict {
        match control.message {
            Message::Start if self.config.handshake => {
                self.begin_at(control.sequence, context);
                self.say(Message::Started, control.sequence, context);
            }
            Message::Probe if !self.knows_numbers => self.ask_for_start(context),
            Message::Probe => {
                let header = DataHeader::new(PacketType::Data, control.sequence);
                let dummy = DataHeader { dummy: true, blocking: self.is_ordered, ..header };
                if self.take_original(dummy, context).is_none() {
                    return self.refuse();
                }
                let in_order = self.is_in_order();
                let seen = self.expected.peek(0).previous();
                // A probe acts as a dummy that goes through the message queue: it shows a lost tail, and then reports
                // progress.
                let until = self.reports.acknowledged_until().unwrap_or(seen);
                self.say(Message::Answer { in_order }, until, context);
            }
            _ => return self.refuse(),
        }
        Verdict::Drop(DropReason::ControlAbsorbed)
    }

    /// Sends a message to the sender, in as many copies as the reverse direction needs.
    pub(super) fn say(&mut self, message: Message, sequence: SequenceNumber, context: &mut Context<'_>) {
        let channel = self.config.channel;
        for _ in 0..self.config.control_copies {
            let frame = control_frame(ControlHeader { message, channel, sequence });
            context.queue(self.config.port, self.notification_queue).emit(frame, Role::Message.of_channel(channel));
        }
    }

    /// Asks for the sender's first number, at most once per acknowledgement timeout.
    pub(super) fn ask_for_start(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let patience = self.config.acknowledgement_timeout;
        if self.asked_at.is_none_or(|asked_at| now.saturating_since(asked_at) >= patience) {
            self.asked_at = Some(now);
            self.say(Message::AskForStart, SequenceNumber::default(), context);
        }
    }

    /// Whether no packet waits and every received packet has been forwarded.
    fn is_in_order(&self) -> bool {
        let waits_for_none = !self.is_ordered || self.ack_number.peek(0) == self.expected.peek(0);
        waits_for_none && self.waiting_packets == 0
    }

    pub(super) fn notify_loss(
        &mut self,
        first_lost: SequenceNumber,
        count: u32,
        seen_until: SequenceNumber,
        context: &mut Context<'_>,
    ) {
        const TIMEOUTS_UNTIL_HOPELESS: u64 = 16;
        assert!(count > 0, "a gap has a number that is missing");
        let runs = &mut self.counters.loss_runs;
        runs[(count as usize - 1).min(runs.len() - 1)] += 1;
        self.counters.losses += u64::from(count);
        let now = context.now();
        // In non-blocking mode no timeout removes entries; after this time their repairs can no longer arrive.
        self.missing.forget_older_than(self.config.acknowledgement_timeout * TIMEOUTS_UNTIL_HOPELESS, now);
        self.missing.note(first_lost, count, now, self.is_ordered);
        let gap = Gap::new(first_lost, count, seen_until);
        match self.config.notification_period {
            Some(period) => self.report(gap, period, context),
            None => self.send_notifications(gap, context),
        }
        if self.is_ordered {
            self.watch_for_timeout(first_lost, context);
        }
    }

    /// Reports a gap, in as many copies as the reverse direction needs.
    pub(super) fn send_notifications(&mut self, gap: Gap, context: &mut Context<'_>) {
        let channel = self.config.channel;
        let ack = AckHeader { channel, acknowledged: gap.seen_until, piggybacked: false };
        let loss = LossNotification { first_lost: gap.first_lost, count: gap.count.min(u32::from(u8::MAX)) as u8 };
        // The headers add their bytes: with them the frame has the minimum length.
        let payload_bytes = MINIMUM_FRAME_BYTES - AckHeader::WIRE_BYTES - LossNotification::WIRE_BYTES;
        let mut packet = Packet { frame_bytes: payload_bytes, ..Packet::default() };
        packet.push_shim(ack).and_then(|()| packet.push_shim(loss)).expect("an empty stack has room for both");
        for _ in 0..self.config.control_copies {
            let role = Role::LossNotification.of_channel(channel);
            context.queue(self.config.port, self.notification_queue).emit(packet, role);
        }
    }

    /// Acknowledges received numbers, unless an earlier gap waits for an answer.
    pub(super) fn publish(&mut self, sequence: SequenceNumber, context: &mut Context<'_>) {
        if self.reports.acknowledged_until().is_none() {
            self.acknowledge_until(sequence, context);
        }
    }

    /// Sends the number to egress and releases an acknowledgement.
    pub(super) fn acknowledge_until(&mut self, sequence: SequenceNumber, context: &mut Context<'_>) {
        let latency = context.ingress_latency();
        self.latest_received.send(sequence, context.now() + latency);
        if context.queue(self.config.port, self.acknowledgement_queue).is_paused() {
            context.queue(self.config.port, self.acknowledgement_queue).resume_after(latency);
        }
    }

    fn use_acknowledgement(&mut self, context: &mut Context<'_>) -> u8 {
        let is_news = self.latest_received.receive(context.now());
        let reload = self.config.acknowledgements;
        self.acknowledgements_pending.access(context.pass(), 0, |pending| {
            *pending = if is_news { reload } else { *pending }.saturating_sub(1);
            *pending
        })
    }

    fn push_acknowledgement(&mut self, piggybacked: bool, context: &mut Context<'_>) {
        let channel = self.config.channel;
        let header = AckHeader { channel, acknowledged: self.latest_received.get(), piggybacked };
        let pushed = context.packet().push_shim(header);
        pushed.expect("a composition whose shims do not fit is refused when the scenario is read");
    }

    pub(super) fn start_monitor(&mut self, context: &mut Context<'_>) {
        let Some(monitor) = &self.monitor else { return };
        let at = context.now() + monitor.config.period;
        context.wake_at(at, self.timer(TimerKind::Monitor));
    }

    /// Reads the counters of the MAC and of the numbers, and asks for a level of protection: in every period, because
    /// requests can be lost.
    pub fn watch_losses(&mut self, context: &mut Context<'_>) {
        let mac = context.mac(self.config.port).counters();
        let Some(monitor) = &mut self.monitor else { return };
        let level = monitor.observe(context.now(), mac, self.counters.losses);
        self.say(Message::Request(level), SequenceNumber::default(), context);
        self.start_monitor(context);
    }

    /// The level that the monitor asks for, and the number of its changes.
    pub fn wanted_level(&self) -> (Level, u64) {
        self.monitor
            .as_ref()
            .map_or((Level::AsCommanded, 0), |monitor| (monitor.policy.level(), monitor.policy.changes()))
    }
}
