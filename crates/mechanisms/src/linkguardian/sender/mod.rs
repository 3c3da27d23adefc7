//! The sending end of a protected link (paper, section 3 and appendix A).
//!
//! - here: numbers, copies, acknowledgements and retransmissions
//! - [`lifecycle`]: whether packets are numbered
//! - [`handshake`]: the messages by which they come to be

mod handshake;
mod lifecycle;
#[cfg(test)]
mod state;

use crate::linkguardian::headers::{AckHeader, DataHeader, Era, LossNotification, PacketType, SequenceNumber};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{Duration, Packet, QueueId, Shim};
use hitless_switch::canary::{Canary, sings};
use hitless_switch::{
    Context, DropReason, Half, HookSet, Needs, QueueConfig, QueueLimit, RegisterArray, RegisterUse, Verdict,
};

use super::config::SenderConfig;
use super::frames::{Role, data_header};
use super::requests::{FILLER_PRIORITY, REPAIR_PRIORITY, request_queue};
use super::settings::{Buffering, Mode};
use lifecycle::Lifecycle;

hitless_switch::counters! {
    /// What the sending end counted.
    pub struct SenderCounters {
        /// Given a sequence number.
        protected = "packets protected",
        /// That have passed the recirculation port, once for each time round.
        recirculations = "copies recirculated",
        /// Lost packets for which a copy was still there.
        retransmitted = "packets retransmitted",
        /// All copies counted.
        retransmitted_frames = "frames retransmitted",
        dummies = "dummies sent",
        losses_reported = "losses reported",
        /// They cannot be retransmitted.
        losses_beyond_registers = "losses beyond the request registers",
        acknowledged = "packets acknowledged",
        /// Of numbers never sent, and reports of losses that cannot be: ignored.
        refused = "acknowledgements refused",
        repeated_notifications = "repeated notifications",
        /// Times that the receiver was asked what it has seen.
        probes = "probes",
        /// Times that the receiver asked for more or for less protection than before.
        level_changes = "level changes obeyed",
        closings_given_up = "ends of protection without an answer",
    }
}

/// The state of the sending end.
#[derive(Debug)]
pub struct Sender {
    pub(super) config: SenderConfig,
    repair_queue: QueueId,
    dummy_queue: QueueId,
    copy_queue: QueueId,
    lifecycle: Lifecycle,
    next_sequence: RegisterArray<SequenceNumber>,
    dummies_pending: RegisterArray<u8>,
    latest_acknowledged: RegisterArray<SequenceNumber>,
    requests: Vec<RegisterArray<bool>>,
    /// The last number sent. Ingress holds acknowledgements against it; hardware would let it cross, and the frame that
    /// an acknowledgement answers takes longer to the other end and back than that.
    latest_sent: SequenceNumber,
    /// Credit that a copy used up although it had to go round again.
    credit_owed: u64,
    check_number: u32,
    pub(super) counters: SenderCounters,
}

hitless_core::state!(Sender {
    values: repair_queue, dummy_queue, copy_queue, lifecycle, latest_sent, credit_owed, check_number, counters;
    parts: config, next_sequence, dummies_pending, latest_acknowledged, requests
});

/// The names of the request registers to the checked mode; as many as there can be.
const REQUEST_NAMES: [&str; 8] = [
    "reTxReqs[0]",
    "reTxReqs[1]",
    "reTxReqs[2]",
    "reTxReqs[3]",
    "reTxReqs[4]",
    "reTxReqs[5]",
    "reTxReqs[6]",
    "reTxReqs[7]",
];
/// The most losses in a row for which registers can be provided.
pub const REQUEST_REGISTERS_MAX: usize = REQUEST_NAMES.len();

/// How many numbers an acknowledgement newly acknowledges; 0 for an old one, `None` for one of numbers never sent.
fn progress_to(acknowledged: SequenceNumber, latest: SequenceNumber, latest_sent: SequenceNumber) -> Option<u16> {
    let (progress, outstanding) = (acknowledged.steps_from(latest), latest_sent.steps_from(latest));
    if progress <= outstanding {
        return u16::try_from(progress).ok();
    }
    let is_old = acknowledged.offset_from(latest) < 0;
    is_old.then_some(0)
}

/// Whether what is reported lost had not been acknowledged before, and is acknowledged by the report.
fn is_outstanding(loss: LossNotification, latest: SequenceNumber, acknowledged: SequenceNumber) -> bool {
    let last_lost = loss.first_lost.plus(u16::from(loss.count).saturating_sub(1));
    loss.count > 0 && loss.first_lost.offset_from(latest) > 0 && last_lost.offset_from(acknowledged) <= 0
}

impl Sender {
    pub fn new(config: SenderConfig) -> Self {
        let registers = config.request_registers;
        assert!((1..=REQUEST_REGISTERS_MAX).contains(&registers), "{registers} registers for requests, not 1 to 8");
        let first = SequenceNumber::new(config.first_number, Era::default());
        let sequence_numbers = SequenceNumber::RANGE as usize;
        let request = |name| RegisterArray::new(name, Half::Ingress, 2, sequence_numbers, false);
        Self {
            lifecycle: Lifecycle::new(config.is_on_at_start, config.mode, config.handshake),
            repair_queue: QueueId(0),
            dummy_queue: QueueId(0),
            copy_queue: QueueId(0),
            next_sequence: RegisterArray::new("seqNo", Half::Egress, 1, 1, first),
            dummies_pending: RegisterArray::new("pendingDummies", Half::Egress, 2, 1, 0),
            latest_acknowledged: RegisterArray::new("latestRxSeqNo (sender)", Half::Ingress, 1, 1, first.previous()),
            requests: REQUEST_NAMES.iter().take(config.request_registers).copied().map(request).collect(),
            latest_sent: first.previous(),
            credit_owed: 0,
            check_number: 0,
            counters: SenderCounters::default(),
            config,
        }
    }

    /// What it takes of a switch.
    pub fn stated(&self) -> Vec<RegisterUse> {
        let numbers = [&self.next_sequence, &self.latest_acknowledged].map(RegisterArray::stated);
        let requests = self.requests.iter().map(RegisterArray::stated);
        numbers.into_iter().chain([self.dummies_pending.stated()]).chain(requests).collect()
    }

    /// Two queues at the protected port, and one at the recirculation port where copies wait in a paused queue.
    pub fn subscribe(&mut self, queues: &mut [usize], wanted: &mut Needs) {
        let port = self.config.port;
        let unlimited = QueueConfig::normal(QueueLimit::Unlimited).of_mechanism();
        self.repair_queue = request_queue(port, unlimited.with_priority(REPAIR_PRIORITY), queues, wanted);
        self.dummy_queue = request_queue(port, unlimited.with_priority(FILLER_PRIORITY), queues, wanted);
        if self.config.buffering == Buffering::PausedQueue {
            let recirculation_port = self.config.recirculation_port;
            let limited = QueueConfig::normal(QueueLimit::Bytes(self.config.buffer.0)).of_mechanism();
            self.copy_queue = request_queue(recirculation_port, limited, queues, wanted);
        }
        wanted.hooks.push((port, HookSet::TX.with(HookSet::RX)));
    }

    /// Puts the one dummy into its queue, where it waits until something has been sent.
    pub fn start(&mut self, context: &mut Context<'_>) {
        if self.config.buffering == Buffering::PausedQueue {
            context.queue(self.config.recirculation_port, self.copy_queue).schedule_by_credit();
        }
        context.queue(self.config.port, self.dummy_queue).pause();
        let dummy = Packet { frame_bytes: MINIMUM_FRAME_BYTES - DataHeader::WIRE_BYTES, ..Packet::default() };
        context.queue(self.config.port, self.dummy_queue).emit(dummy, Role::Dummy.of_channel(self.config.channel));
        if self.config.handshake {
            self.follow_wishes(context);
        }
    }

    /// Whether packets of a traffic class are numbered here.
    #[inline]
    pub fn is_for(&self, class: u8) -> bool {
        self.config.classes >> (class & 7) & 1 == 1
    }

    /// The queues that serve the protection itself.
    pub fn own_queues(&self) -> [QueueId; 2] {
        [self.repair_queue, self.dummy_queue]
    }

    /// Numbers a packet that leaves on the protected link and keeps a copy.
    pub fn protect(&mut self, context: &mut Context<'_>) {
        if !self.is_numbering() {
            return;
        }
        let sequence = self.next_sequence.access(context.pass(), 0, |next| {
            let sequence = *next;
            *next = sequence.plus(1);
            if sings(Canary::OffByOneEra) && next.value() == 0 {
                *next = SequenceNumber::new(0, sequence.era());
            }
            sequence
        });
        self.latest_sent = sequence;
        let (channel, blocking) = (self.config.channel, self.lifecycle.mode() == Mode::Blocking);
        let check_number = CheckNumber(self.check_number);
        let packet = context.packet();
        packet.frame_bytes += self.config.header_bytes_more;
        let header = DataHeader { channel, blocking, ..DataHeader::new(PacketType::Data, sequence) };
        let pushed = packet.push_shim(header).and_then(|()| packet.push_shim(check_number));
        pushed.expect("a composition whose shims do not fit is refused when the scenario is read");
        self.check_number = self.check_number.wrapping_add(1);
        self.counters.protected += 1;
        self.keep_copy(header, context);
        self.expect_gap(context);
        if self.config.tail_probes {
            self.arm(context);
        }
    }

    /// Stamps the dummy with the next number and puts another in its place (self-replenishing queue, section 3.2).
    pub fn send_dummy(&mut self, context: &mut Context<'_>) {
        let channel = self.config.channel;
        context.queue(self.config.port, self.dummy_queue).mirror(Role::Dummy.of_channel(channel), |_| {});
        let sequence = self.next_sequence.access(context.pass(), 0, |next| *next);
        let blocking = self.lifecycle.mode() == Mode::Blocking;
        let header = DataHeader { channel, dummy: true, blocking, ..DataHeader::new(PacketType::Data, sequence) };
        context.packet().push_shim(header).expect("a dummy carries no other shim");
        self.counters.dummies += 1;
        let pending = self.dummies_pending.access(context.pass(), 0, |pending| {
            *pending = pending.saturating_sub(1);
            *pending
        });
        if pending == 0 {
            context.queue(self.config.port, self.dummy_queue).pause();
        }
    }

    /// Reads the acknowledgement on a packet of the reverse direction and takes it off.
    pub fn take_acknowledgement(&mut self, context: &mut Context<'_>) -> Verdict {
        let Some(ack) = context.packet().remove_shim::<AckHeader>() else { return Verdict::Continue };
        let loss = context.packet().remove_shim::<LossNotification>();
        let (before, progress) = self.acknowledge(ack.acknowledged, context);
        self.counters.refused += u64::from(progress.is_none());
        if let Some(loss) = loss {
            self.take_notification(loss, before, ack.acknowledged, context);
        }
        if ack.piggybacked { Verdict::Continue } else { Verdict::Drop(DropReason::ControlAbsorbed) }
    }

    /// All up to `acknowledged` has been seen or reported lost; returns what had been before, and how many numbers that
    /// makes, `None` when they were never sent.
    fn acknowledge(
        &mut self,
        acknowledged: SequenceNumber,
        context: &mut Context<'_>,
    ) -> (SequenceNumber, Option<u16>) {
        let latest_sent = self.latest_sent;
        let (before, progress) = self.latest_acknowledged.access(context.pass(), 0, |latest| {
            let before = *latest;
            let progress = progress_to(acknowledged, before, latest_sent);
            *latest = before.plus(progress.unwrap_or(0));
            (before, progress)
        });
        let steps = u64::from(progress.unwrap_or(0));
        self.counters.acknowledged += steps;
        assert!(self.counters.acknowledged <= self.counters.protected, "no more is acknowledged than was numbered");
        self.release_copies(steps, context);
        (before, progress)
    }

    /// Requests what is reported lost, if it can be: repetitions report what was acknowledged before.
    fn take_notification(
        &mut self,
        loss: LossNotification,
        before: SequenceNumber,
        acknowledged: SequenceNumber,
        context: &mut Context<'_>,
    ) {
        if self.latest_acknowledged.peek(0) == before {
            let is_repeated =
                acknowledged.offset_from(before) <= 0 && is_outstanding(loss, loss.first_lost.previous(), acknowledged);
            self.counters.repeated_notifications += u64::from(is_repeated);
            self.counters.refused += u64::from(!is_repeated);
        } else if is_outstanding(loss, before, acknowledged) {
            self.request(loss, context);
        } else {
            self.counters.refused += 1;
        }
    }

    /// A copy has come round (paper, figure 18): wait on, retransmit or retire.
    pub fn judge_copy(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.recirculations += 1;
        let mut header = data_header(context.packet());
        let sequence = header.sequence;
        let latest = self.latest_acknowledged.access(context.pass(), 0, |latest| *latest);
        if sequence.ahead_of(latest) > 0 {
            self.credit_owed += 1;
            return Verdict::Forward { port: self.config.recirculation_port, queue: self.copy_queue };
        }
        if !self.take_request(sequence, context) {
            return Verdict::Drop(DropReason::CopyRetired);
        }
        header.packet_type = PacketType::Data;
        header.retransmitted = true;
        context.packet().shims.replace(header);
        context.packet().is_link_retransmission = true;
        self.retransmit(context)
    }

    fn keep_copy(&mut self, header: DataHeader, context: &mut Context<'_>) {
        let port = self.config.port;
        let buffered = DataHeader { packet_type: PacketType::TxBuffered, ..header };
        let role = Role::TxBuffered.of_channel(self.config.channel);
        context.queue(self.config.recirculation_port, self.copy_queue).mirror(role, |copy| {
            copy.shims.replace(buffered);
            copy.shims.remove::<AckHeader>();
            copy.ingress_port = port;
        });
    }

    /// Lets dummies follow as soon as nothing else is to be sent.
    fn expect_gap(&mut self, context: &mut Context<'_>) {
        let dummies = self.config.dummies;
        if dummies == 0 {
            return;
        }
        self.dummies_pending.access(context.pass(), 0, |pending| *pending = dummies);
        if context.queue(self.config.port, self.dummy_queue).is_paused() {
            context.queue(self.config.port, self.dummy_queue).resume();
        }
    }

    fn request(&mut self, loss: LossNotification, context: &mut Context<'_>) {
        let count = usize::from(loss.count);
        self.counters.losses_reported += count as u64;
        self.counters.losses_beyond_registers += count.saturating_sub(self.requests.len()) as u64;
        for (offset, register) in self.requests.iter_mut().enumerate().take(count) {
            let index = usize::from(loss.first_lost.plus(offset as u16).value());
            register.access(context.pass(), index, |requested| *requested = true);
        }
    }

    fn take_request(&mut self, sequence: SequenceNumber, context: &mut Context<'_>) -> bool {
        let index = usize::from(sequence.value());
        let take = |register: &mut RegisterArray<bool>| register.access(context.pass(), index, std::mem::take);
        self.requests.iter_mut().map(take).fold(false, |any, requested| any | requested)
    }

    /// Sends N copies ahead of everything else: this one, and N - 1 by multicast (section 3.5).
    fn retransmit(&mut self, context: &mut Context<'_>) -> Verdict {
        assert!(self.config.copies > 0, "what is lost is sent again at least once");
        let role = Role::Repair.of_channel(self.config.channel);
        context.adopt(role);
        self.counters.retransmitted += 1;
        self.counters.retransmitted_frames += u64::from(self.config.copies);
        let (port, queue, latency) = (self.config.port, self.repair_queue, self.config.repair_latency);
        for _ in 1..self.config.copies {
            context.queue(port, queue).mirror_after(latency, role);
        }
        if latency == Duration::ZERO {
            return Verdict::Forward { port, queue };
        }
        context.queue(port, queue).mirror_after(latency, role);
        Verdict::Drop(DropReason::CopyRetired)
    }

    /// Paused-queue buffering: as many copies may leave their queue as were acknowledged.
    fn release_copies(&mut self, progress: u64, context: &mut Context<'_>) {
        if self.config.buffering == Buffering::PausedQueue && progress > 0 {
            let packets = progress + std::mem::take(&mut self.credit_owed);
            context.queue(self.config.recirculation_port, self.copy_queue).grant(packets);
        }
    }
}
