//! The sending end of a protected link (paper, section 3 and appendix A).
//!
//! - here: numbers, copies, acknowledgements and retransmissions
//! - [`lifecycle`]: the phases of numbering
//! - [`handshake`]: the messages that change the phase

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
    pub struct SenderCounters {
        /// Packets that got a sequence number.
        protected as packets_protected = "packets protected",
        /// Copies that passed the recirculation port, once per round.
        recirculations as copies_recirculated = "copies recirculated",
        /// Lost packets with a copy still present.
        retransmitted as packets_retransmitted = "packets retransmitted",
        /// Retransmitted frames, with all copies.
        retransmitted_frames as frames_retransmitted = "frames retransmitted",
        dummies as dummies_sent = "dummies sent",
        losses_reported = "losses reported",
        /// Losses that cannot be retransmitted.
        losses_beyond_registers = "losses beyond the request registers",
        acknowledged as packets_acknowledged = "packets acknowledged",
        /// Acknowledgements of numbers never sent, and impossible reports of losses; both are ignored.
        refused as acknowledgements_refused = "acknowledgements refused",
        repeated_notifications as repeated_notifications_received = "repeated notifications",
        /// Probes sent to the receiver.
        probes = "probes",
        /// Changes of the level that the receiver asked for.
        level_changes as level_changes_obeyed = "level changes obeyed",
        closings_given_up as protections_ended_unanswered = "ends of protection without an answer",
        /// Tails given up with their copies, because no probe was answered.
        tails_given_up as tails_unanswered = "tails without an answer",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Sender {
    #[part]
    pub(super) config: SenderConfig,
    repair_queue: QueueId,
    dummy_queue: QueueId,
    copy_queue: QueueId,
    lifecycle: Lifecycle,
    #[part]
    next_sequence: RegisterArray<SequenceNumber>,
    #[part]
    dummies_pending: RegisterArray<u8>,
    #[part]
    latest_acknowledged: RegisterArray<SequenceNumber>,
    #[part]
    requests: Vec<RegisterArray<bool>>,
    /// The last number sent. Ingress checks acknowledgements against it without a delay. In hardware the value would
    /// have to cross from egress to ingress, which takes less time than the frame and its acknowledgement.
    latest_sent: SequenceNumber,
    /// Credits used by copies that had to go round again.
    credit_owed: u64,
    check_number: u32,
    pub(super) counters: SenderCounters,
}

/// The names of the request registers for the checked mode; the maximum number of registers.
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
/// The maximum number of consecutive losses with registers.
pub const REQUEST_REGISTERS_MAX: usize = REQUEST_NAMES.len();

/// The number of newly acknowledged numbers; 0 for an old acknowledgement, `None` for numbers never sent.
fn progress_to(acknowledged: SequenceNumber, latest: SequenceNumber, latest_sent: SequenceNumber) -> Option<u16> {
    let (progress, outstanding) = (acknowledged.steps_from(latest), latest_sent.steps_from(latest));
    // Both distances count forward from the latest acknowledgement, so that a wrap needs no special case.
    if progress <= outstanding {
        return u16::try_from(progress).ok();
    }
    let is_old = acknowledged.offset_from(latest) < 0;
    is_old.then_some(0)
}

/// Whether the reported losses were not acknowledged before, and are acknowledged by the report.
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

    pub fn stated(&self) -> Vec<RegisterUse> {
        let numbers = [&self.next_sequence, &self.latest_acknowledged].map(RegisterArray::stated);
        let requests = self.requests.iter().map(RegisterArray::stated);
        numbers.into_iter().chain([self.dummies_pending.stated()]).chain(requests).collect()
    }

    /// Requests two queues at the protected port and, for paused-queue buffering, one for copies at the recirculation
    /// port.
    pub fn subscribe(&mut self, queues: &mut [usize], wanted: &mut Needs) {
        let port = self.config.port;
        let unlimited = QueueConfig::normal(QueueLimit::Unlimited).of_mechanism();
        // Retransmissions overtake everything, and the dummy waits behind everything (figure 5).
        self.repair_queue = request_queue(port, unlimited.with_priority(REPAIR_PRIORITY), queues, wanted);
        self.dummy_queue = request_queue(port, unlimited.with_priority(FILLER_PRIORITY), queues, wanted);
        if self.config.buffering == Buffering::PausedQueue {
            let recirculation_port = self.config.recirculation_port;
            let limited = QueueConfig::normal(QueueLimit::Bytes(self.config.buffer.0)).of_mechanism();
            self.copy_queue = request_queue(recirculation_port, limited, queues, wanted);
        }
        wanted.hooks.push((port, HookSet::TX.with(HookSet::RX)));
    }

    /// Puts the only dummy into its queue, where it waits until something has been sent.
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

    #[inline]
    pub fn is_for(&self, class: u8) -> bool {
        self.config.classes >> (class & 7) & 1 == 1
    }

    pub fn own_queues(&self) -> [QueueId; 2] {
        [self.repair_queue, self.dummy_queue]
    }

    /// Numbers a packet that leaves on the protected link, and keeps a copy.
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
        // Egress mirrors the packet into the Tx buffer as it leaves, so that the copy has the number too (section 3).
        self.keep_copy(header, context);
        self.expect_gap(context);
        if self.config.tail_probes {
            self.arm(context);
        }
    }

    /// Stamps the dummy with the next number and replaces it by another (self-replenishing queue, section 3.2).
    pub fn send_dummy(&mut self, context: &mut Context<'_>) {
        let channel = self.config.channel;
        context.queue(self.config.port, self.dummy_queue).mirror(Role::Dummy.of_channel(channel), |_| {});
        // The dummy carries the number of the next packet and does not use it up: a gap before it is a lost tail
        // (section 3.2).
        let sequence = self.next_sequence.access(context.pass(), 0, |next| *next);
        let blocking = self.lifecycle.mode() == Mode::Blocking;
        let header = DataHeader { channel, dummy: true, blocking, ..DataHeader::new(PacketType::Data, sequence) };
        context.packet().push_shim(header).expect("a dummy carries no other shim");
        self.counters.dummies += 1;
        // The paper's dummy leaves whenever the queue is empty. Here it pauses after `dummies` of them, until a packet
        // is sent.
        let pending = self.dummies_pending.access(context.pass(), 0, |pending| {
            *pending = pending.saturating_sub(1);
            *pending
        });
        if pending == 0 {
            context.queue(self.config.port, self.dummy_queue).pause();
        }
    }

    /// Reads and removes the acknowledgement on a packet of the reverse direction.
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

    /// Acknowledges everything up to `acknowledged`: seen, or reported lost. Returns the previous value and the number
    /// of newly acknowledged numbers, `None` if they were never sent.
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

    /// Requests retransmission of reported losses, unless the report is a repetition: those report numbers that were
    /// acknowledged before.
    fn take_notification(
        &mut self,
        loss: LossNotification,
        before: SequenceNumber,
        acknowledged: SequenceNumber,
        context: &mut Context<'_>,
    ) {
        // A notification acknowledges its losses, so that one without progress repeats an earlier one, or is forged.
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

    /// Counts a returned copy that still waits for its acknowledgement. Returns whether it does.
    pub fn count_if_waiting(&mut self, copy: &Packet) -> bool {
        let is_waiting = data_header(copy).sequence.ahead_of(self.latest_acknowledged.peek(0)) > 0;
        if is_waiting {
            self.counters.recirculations += 1;
            self.credit_owed += 1;
        }
        is_waiting
    }

    /// Handles a copy that has come round (paper, figure 18): wait, retransmit or retire.
    pub fn judge_copy(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.recirculations += 1;
        let mut header = data_header(context.packet());
        let sequence = header.sequence;
        let latest = self.latest_acknowledged.access(context.pass(), 0, |latest| *latest);
        // Not acknowledged yet. With a paused queue the copy has used up the credit of another, which is granted later.
        if sequence.ahead_of(latest) > 0 {
            self.credit_owed += 1;
            return Verdict::Forward { port: self.config.recirculation_port, queue: self.copy_queue };
        }
        // Acknowledged: a set bit of reTxReqs means "reported lost", a clear one "received" (appendix A.2).
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

    /// Lets dummies follow as soon as nothing else is waiting.
    fn expect_gap(&mut self, context: &mut Context<'_>) {
        let dummies = self.config.dummies;
        if dummies == 0 {
            return;
        }
        // Dummies have the lowest priority, so that they leave as soon as the port has nothing else (section 3.2).
        // Several of them survive the loss of some (section 5, "Handling bursty losses").
        self.dummies_pending.access(context.pass(), 0, |pending| *pending = dummies);
        if context.queue(self.config.port, self.dummy_queue).is_paused() {
            context.queue(self.config.port, self.dummy_queue).resume();
        }
    }

    fn request(&mut self, loss: LossNotification, context: &mut Context<'_>) {
        let count = usize::from(loss.count);
        self.counters.losses_reported += count as u64;
        self.counters.losses_beyond_registers += count.saturating_sub(self.requests.len()) as u64;
        // A pipeline accesses a register array once per packet. Consecutive losses set one bit in each of several
        // arrays, so that losses beyond the number of arrays cannot be requested (section 3.5, "Handling consecutive
        // packet losses").
        for (offset, register) in self.requests.iter_mut().enumerate().take(count) {
            let index = usize::from(loss.first_lost.plus(offset as u16).value());
            register.access(context.pass(), index, |requested| *requested = true);
        }
    }

    fn take_request(&mut self, sequence: SequenceNumber, context: &mut Context<'_>) -> bool {
        let index = usize::from(sequence.value());
        // The bit of a number can be in any of the arrays, and it is cleared for the next era.
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
        // Equation 2: N copies reduce the loss rate to its (N + 1)-th power (section 3.4).
        for _ in 1..self.config.copies {
            context.queue(port, queue).mirror_after(latency, role);
        }
        if latency == Duration::ZERO {
            return Verdict::Forward { port, queue };
        }
        context.queue(port, queue).mirror_after(latency, role);
        Verdict::Drop(DropReason::CopyRetired)
    }

    /// Releases as many copies from their queue as were acknowledged (paused-queue buffering).
    fn release_copies(&mut self, progress: u64, context: &mut Context<'_>) {
        if self.config.buffering == Buffering::PausedQueue && progress > 0 {
            let packets = progress + std::mem::take(&mut self.credit_owed);
            context.queue(self.config.recirculation_port, self.copy_queue).grant(packets);
        }
    }
}
