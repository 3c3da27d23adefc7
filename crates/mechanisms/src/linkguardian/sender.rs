//! The sending end of a protected link (paper, section 3 and appendix A).

use hitless_switch::{
    Context, DropReason, Environment, Half, HookSet, QueueConfig, QueueLimit, RegisterArray, Subscriptions, Verdict,
};
use hitless_wire::linkguardian::{AckHeader, DataHeader, LossNotification, PacketType, SequenceNumber};
use hitless_wire::packet::MINIMUM_FRAME_BYTES;
use hitless_wire::shim::CheckNumber;
use hitless_wire::{Packet, QueueId, Shim};

use super::Role;
use super::config::{Activation, Buffering, Mode, SenderConfig};

/// Above normal traffic: what repairs must not wait for what it repairs.
pub const REPAIR_PRIORITY: u8 = 200;
/// Below all traffic: dummies and acknowledgements fill gaps only.
pub const FILLER_PRIORITY: u8 = 1;

/// What the sending end counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderCounters {
    /// Packets that were given a sequence number.
    pub protected: u64,
    /// Copies that have passed the recirculation port, once for each time round.
    pub recirculations: u64,
    /// Lost packets for which a copy was still there.
    pub retransmitted: u64,
    /// Retransmitted frames, all copies counted.
    pub retransmitted_frames: u64,
    /// Dummies sent.
    pub dummies: u64,
    /// Losses reported.
    pub losses_reported: u64,
    /// Losses reported beyond what the request registers hold: they cannot be retransmitted.
    pub losses_beyond_registers: u64,
    /// Sequence numbers acknowledged.
    pub acknowledged: u64,
    /// Acknowledgements of numbers never sent, and reports of losses that cannot be: ignored.
    pub refused: u64,
}

/// The state of the sending end.
#[derive(Debug)]
pub struct Sender {
    pub(super) config: SenderConfig,
    repair_queue: QueueId,
    dummy_queue: QueueId,
    copy_queue: QueueId,
    is_active: bool,
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
        let first = SequenceNumber::default();
        let sequence_numbers = SequenceNumber::RANGE as usize;
        let request = |name| RegisterArray::new(name, Half::Ingress, 2, sequence_numbers, false);
        Self {
            is_active: config.activation == Activation::FromStart,
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

    /// Two queues at the protected port, and one at the recirculation port where copies wait in a paused queue.
    pub fn subscribe(&mut self, queues: &mut [usize], wanted: &mut Subscriptions) {
        let port = self.config.port;
        let unlimited = QueueConfig::normal(QueueLimit::Unlimited);
        self.repair_queue = super::request_queue(port, unlimited.with_priority(REPAIR_PRIORITY), queues, wanted);
        self.dummy_queue = super::request_queue(port, unlimited.with_priority(FILLER_PRIORITY), queues, wanted);
        if self.config.buffering == Buffering::PausedQueue {
            let recirculation_port = self.config.recirculation_port;
            let limited = QueueConfig::normal(QueueLimit::Bytes(self.config.buffer.0));
            self.copy_queue = super::request_queue(recirculation_port, limited, queues, wanted);
        }
        wanted.hooks.push((port, HookSet::LINK_TRANSMIT.with(HookSet::LINK_RECEIVE)));
    }

    /// Puts the one dummy into its queue, where it waits until something has been sent.
    pub fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if self.config.buffering == Buffering::PausedQueue {
            context.schedule_by_credit(self.config.recirculation_port, self.copy_queue);
        }
        context.pause(self.config.port, self.dummy_queue);
        let dummy = Packet { frame_bytes: MINIMUM_FRAME_BYTES - DataHeader::WIRE_BYTES, ..Packet::default() };
        context.emit(dummy, self.config.port, self.dummy_queue, Role::Dummy as u8);
    }

    pub fn set_active(&mut self, is_active: bool) {
        self.is_active = is_active;
    }

    /// From the next packet on; a packet that is already buffered is retransmitted in the new number of copies too.
    pub fn set_protection(&mut self, copies: u32, mode: Mode) {
        self.config.copies = copies;
        self.config.mode = mode;
    }

    /// Numbers a packet that leaves on the protected link and keeps a copy.
    pub fn protect<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if !self.is_active {
            return;
        }
        let sequence = self.next_sequence.access(context.pass(), 0, |next| {
            let sequence = *next;
            *next = sequence.plus(1);
            sequence
        });
        self.latest_sent = sequence;
        let blocking = self.config.mode == Mode::Blocking;
        let check_number = CheckNumber(self.check_number);
        let packet = context.packet();
        let header = DataHeader { blocking, ..DataHeader::new(PacketType::Data, sequence) };
        let pushed = packet.push_shim(header).and_then(|()| packet.push_shim(check_number));
        pushed.expect("a composition whose shims do not fit is refused when the scenario is read");
        self.check_number = self.check_number.wrapping_add(1);
        self.counters.protected += 1;
        self.keep_copy(header, context);
        self.expect_gap(context);
    }

    /// Stamps the dummy with the next number and puts another in its place (self-replenishing queue, section 3.2).
    pub fn send_dummy<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        context.mirror(self.config.port, self.dummy_queue, Role::Dummy as u8, |_| {});
        let sequence = self.next_sequence.access(context.pass(), 0, |next| *next);
        let blocking = self.config.mode == Mode::Blocking;
        let header = DataHeader { dummy: true, blocking, ..DataHeader::new(PacketType::Data, sequence) };
        context.packet().push_shim(header).expect("a dummy carries no other shim");
        self.counters.dummies += 1;
        let pending = self.dummies_pending.access(context.pass(), 0, |pending| {
            *pending = pending.saturating_sub(1);
            *pending
        });
        if pending == 0 {
            context.pause(self.config.port, self.dummy_queue);
        }
    }

    /// Reads the acknowledgement on a packet of the reverse direction and takes it off.
    pub fn take_acknowledgement<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let Some(ack) = context.packet().remove_shim::<AckHeader>() else { return Verdict::Continue };
        let loss = context.packet().remove_shim::<LossNotification>();
        let latest_sent = self.latest_sent;
        let (before, progress) = self.latest_acknowledged.access(context.pass(), 0, |latest| {
            let before = *latest;
            let progress = progress_to(ack.acknowledged, before, latest_sent);
            *latest = before.plus(progress.unwrap_or(0));
            (before, progress)
        });
        let is_answerable = loss.is_none_or(|loss| is_outstanding(loss, before, ack.acknowledged));
        self.counters.refused += u64::from(progress.is_none() || !is_answerable);
        let progress = u64::from(progress.unwrap_or(0));
        self.counters.acknowledged += progress;
        if let Some(loss) = loss.filter(|_| progress > 0 && is_answerable) {
            self.request(loss, context);
        }
        self.release_copies(progress, context);
        if ack.piggybacked { Verdict::Continue } else { Verdict::Drop(DropReason::ControlAbsorbed) }
    }

    /// A copy has come round (paper, figure 18): wait on, retransmit or retire.
    pub fn judge_copy<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        self.counters.recirculations += 1;
        let mut header = super::data_header(context.packet());
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
        context.packet().is_repair = true;
        self.retransmit(context)
    }

    fn keep_copy<E: Environment>(&mut self, header: DataHeader, context: &mut Context<'_, E>) {
        let port = self.config.port;
        let buffered = DataHeader { packet_type: PacketType::TxBuffered, ..header };
        context.mirror(self.config.recirculation_port, self.copy_queue, Role::TxBuffered as u8, |copy| {
            copy.shims.replace(buffered);
            copy.shims.remove::<AckHeader>();
            copy.ingress_port = port;
        });
    }

    /// Lets dummies follow as soon as nothing else is to be sent.
    fn expect_gap<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        let dummies = self.config.dummies;
        if dummies == 0 {
            return;
        }
        self.dummies_pending.access(context.pass(), 0, |pending| *pending = dummies);
        if context.is_paused(self.config.port, self.dummy_queue) {
            context.resume(self.config.port, self.dummy_queue);
        }
    }

    fn request<E: Environment>(&mut self, loss: LossNotification, context: &mut Context<'_, E>) {
        let count = usize::from(loss.count);
        self.counters.losses_reported += count as u64;
        self.counters.losses_beyond_registers += count.saturating_sub(self.requests.len()) as u64;
        for (offset, register) in self.requests.iter_mut().enumerate().take(count) {
            let index = usize::from(loss.first_lost.plus(offset as u16).value());
            register.access(context.pass(), index, |requested| *requested = true);
        }
    }

    fn take_request<E: Environment>(&mut self, sequence: SequenceNumber, context: &mut Context<'_, E>) -> bool {
        let index = usize::from(sequence.value());
        let take = |register: &mut RegisterArray<bool>| register.access(context.pass(), index, std::mem::take);
        self.requests.iter_mut().map(take).fold(false, |any, requested| any | requested)
    }

    /// Sends N copies ahead of everything else: this one, and N - 1 by multicast (section 3.5).
    fn retransmit<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        context.adopt(Role::Repair as u8);
        self.counters.retransmitted += 1;
        self.counters.retransmitted_frames += u64::from(self.config.copies);
        for _ in 1..self.config.copies {
            context.mirror(self.config.port, self.repair_queue, Role::Repair as u8, |_| {});
        }
        Verdict::Forward { port: self.config.port, queue: self.repair_queue }
    }

    /// Paused-queue buffering: as many copies may leave their queue as were acknowledged.
    fn release_copies<E: Environment>(&mut self, progress: u64, context: &mut Context<'_, E>) {
        if self.config.buffering == Buffering::PausedQueue && progress > 0 {
            let packets = progress + std::mem::take(&mut self.credit_owed);
            context.grant(self.config.recirculation_port, self.copy_queue, packets);
        }
    }
}
