//! The receiving end of a protected link (paper, section 3 and appendix A).
//!
//! - here: what a frame from the link is to the receiver, and where its number lies
//! - [`place`], [`missing`], [`gaps`]: the arithmetic of numbers, and the memory of those that have not come
//! - [`order`]: who goes on, waits or is dropped; the reordering buffer
//! - [`early`]: repairs that come before their turn
//! - [`overflow`]: packets that found no room in it
//! - [`timeout`]: when the packet in front is given up
//! - [`answers`]: acknowledgements, loss notifications, and what is said to the sender's messages
//! - [`reports`]: losses that are reported until the sender answers
//! - [`backpressure`]: when the sender is paused
//! - [`monitor`]: how much protection the link is worth

mod answers;
mod backpressure;
mod counters;
mod early;
mod gaps;
mod missing;
mod monitor;
mod order;
mod overflow;
mod place;
mod reports;
#[cfg(test)]
mod state;
mod timeout;

use crate::linkguardian::headers::{AckHeader, DataHeader, SequenceNumber};
use hdrhistogram::Histogram;
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{Duration, Packet, QueueId, Shim, Time};
use hitless_switch::{
    Context, DropReason, Half, HookSet, Needs, QueueConfig, QueueLimit, RegisterArray, RegisterUse, Verdict,
};

use super::checker::Checker;
use super::config::ReceiverConfig;
use super::egress_view::EgressView;
use super::frames::Role;
use super::requests::{FILLER_PRIORITY, REPAIR_PRIORITY, request_queue};
use super::settings::Buffering;
use counters::ReceiverCounters;
use early::EarlyRepairs;
use gaps::Reports;
use missing::Missing;
use monitor::Monitor;
use overflow::Overflow;
use place::{Place, place_of};

/// What a frame with a data header is to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// An original, or a repair that others may wait for.
    InTurn,
    /// A packet that was missing, and that nothing waits for.
    Overdue,
    /// A copy of a packet that is not missing.
    Spare,
    /// A dummy, which has told what it had to tell.
    Spent,
}

/// The state of the receiving end.
#[derive(Debug)]
pub struct Receiver {
    pub(super) config: ReceiverConfig,
    notification_queue: QueueId,
    acknowledgement_queue: QueueId,
    hold_queue: QueueId,
    /// Paused-queue buffering: for repairs that come before their turn.
    repair_queue: QueueId,
    is_active: bool,
    /// Whether the sender has said where its numbers begin; always true where it need not.
    knows_numbers: bool,
    /// When the sender was last asked for that.
    asked_at: Option<Time>,
    /// The number that the next original packet should have.
    expected: RegisterArray<SequenceNumber>,
    /// The number to be forwarded next (paper, algorithm 1).
    ack_number: RegisterArray<SequenceNumber>,
    /// latestRxSeqNo on its way to egress, where acknowledgements read it.
    latest_received: EgressView<SequenceNumber>,
    acknowledgements_pending: RegisterArray<u8>,
    /// curr_state of algorithm 2.
    is_pausing: RegisterArray<bool>,
    /// When a timer packet is to become the next pause frame.
    pause_due_at: Option<Time>,
    /// How often the last one is to be repeated.
    pause_repetitions: u8,
    /// From when the timer packets count down; meaningful while packets wait.
    countdown_from: Time,
    countdown_is_armed: bool,
    missing: Missing,
    overflow: Overflow,
    /// Gaps that are reported until they are answered; empty where each is reported once.
    reports: Reports,
    /// Paused-queue buffering: credit has been granted for all numbers before this one.
    credited_until: SequenceNumber,
    /// The number that the next original has if the last one, which was too far off, was right.
    suspect: Option<SequenceNumber>,
    /// Packets in the queue of the reordering buffer or on the way to it.
    held_packets: u64,
    held_bytes: u64,
    /// Those of them that are in the queue of early repairs.
    held_repairs: u64,
    early: EarlyRepairs,
    /// Paused-queue buffering: whether a timer packet will test the depth.
    depth_is_watched: bool,
    /// Packets that are in the reordering buffer, wherever on their round.
    waiting_packets: u64,
    /// Paused-queue buffering: all that waited was let out, since some of it had been stepped over.
    is_draining: bool,
    /// Packets go on in the order of their numbers; else as they come.
    is_ordered: bool,
    /// Whether a packet has gone on as it came.
    was_unordered: bool,
    monitor: Option<Monitor>,
    pub(super) checker: Checker,
    pub(super) counters: ReceiverCounters,
    /// From finding a packet missing to having it.
    pub(super) recovery_delay_ns: Histogram<u64>,
}

hitless_core::state!(Receiver {
    values: notification_queue, acknowledgement_queue, hold_queue, repair_queue, is_active, knows_numbers, asked_at,
        latest_received, pause_due_at, pause_repetitions, countdown_from, countdown_is_armed, missing, overflow,
        reports,
        credited_until, suspect, held_packets, held_bytes, held_repairs, early, depth_is_watched, waiting_packets,
        is_draining, is_ordered, was_unordered, checker, counters;
    parts: expected, ack_number, acknowledgements_pending, is_pausing, monitor, recovery_delay_ns;
    configured: config
});

impl Receiver {
    pub fn new(config: ReceiverConfig) -> Self {
        const HIGHEST_DELAY_NS: u64 = 1_000_000_000;
        let first = SequenceNumber::default();
        assert!(config.resume_threshold <= config.pause_threshold, "a pause ends no deeper than it begins");
        assert!(config.control_copies > 0, "each control message is sent at least once");
        Self {
            is_active: config.is_on_at_start,
            knows_numbers: !config.handshake,
            asked_at: None,
            monitor: config.fallback.map(Monitor::new),
            config,
            notification_queue: QueueId(0),
            acknowledgement_queue: QueueId(0),
            hold_queue: QueueId(0),
            repair_queue: QueueId(0),
            expected: RegisterArray::new("latestRxSeqNo", Half::Ingress, 4, 1, first),
            ack_number: RegisterArray::new("ackNo", Half::Ingress, 5, 1, first),
            latest_received: EgressView::new(first.previous()),
            acknowledgements_pending: RegisterArray::new("pendingAcks", Half::Egress, 3, 1, 0),
            is_pausing: RegisterArray::new("currState", Half::Egress, 4, 1, false),
            pause_due_at: None,
            pause_repetitions: 0,
            countdown_from: Time::ZERO,
            countdown_is_armed: false,
            missing: Missing::default(),
            overflow: Overflow::default(),
            reports: Reports::default(),
            credited_until: first,
            suspect: None,
            held_packets: 0,
            held_bytes: 0,
            held_repairs: 0,
            early: EarlyRepairs::default(),
            depth_is_watched: false,
            waiting_packets: 0,
            is_draining: false,
            is_ordered: true,
            was_unordered: false,
            checker: Checker::default(),
            counters: ReceiverCounters::default(),
            recovery_delay_ns: Histogram::new_with_max(HIGHEST_DELAY_NS, 3).expect("valid bounds"),
        }
    }

    /// What it takes of a switch.
    pub fn stated(&self) -> Vec<RegisterUse> {
        let numbers = [&self.expected, &self.ack_number].map(RegisterArray::stated);
        numbers.into_iter().chain([self.acknowledgements_pending.stated(), self.is_pausing.stated()]).collect()
    }

    /// Two queues at the port of the link (towards the sender); at the recirculation port the depth is watched.
    pub fn subscribe(&mut self, queues: &mut [usize], wanted: &mut Needs) {
        let port = self.config.port;
        let unlimited = QueueConfig::normal(QueueLimit::Unlimited).of_mechanism();
        self.notification_queue = request_queue(port, unlimited.with_priority(REPAIR_PRIORITY), queues, wanted);
        self.acknowledgement_queue = request_queue(port, unlimited.with_priority(FILLER_PRIORITY), queues, wanted);
        if self.config.buffering == Buffering::PausedQueue {
            let limited = QueueConfig::normal(QueueLimit::Bytes(self.config.buffer.0)).of_mechanism();
            let port = self.config.recirculation_port;
            self.hold_queue = request_queue(port, limited, queues, wanted);
            self.repair_queue = request_queue(port, limited.with_priority(REPAIR_PRIORITY), queues, wanted);
        }
        wanted.hooks.push((port, HookSet::TX.with(HookSet::RX)));
        wanted.hooks.push((self.config.recirculation_port, HookSet::EGRESS));
    }

    /// Puts the one explicit acknowledgement into its queue, where it waits until there is news.
    pub fn start(&mut self, context: &mut Context<'_>) {
        if self.config.buffering == Buffering::PausedQueue {
            for queue in [self.hold_queue, self.repair_queue] {
                context.queue(self.config.recirculation_port, queue).schedule_by_credit();
            }
        }
        context.queue(self.config.port, self.acknowledgement_queue).pause();
        let ack = Packet { frame_bytes: MINIMUM_FRAME_BYTES - AckHeader::WIRE_BYTES, ..Packet::default() };
        let role = Role::Acknowledgement.of_channel(self.config.channel);
        context.queue(self.config.port, self.acknowledgement_queue).emit(ack, role);
        self.start_monitor(context);
    }

    /// The queues that serve the protection itself.
    pub fn own_queues(&self) -> [QueueId; 2] {
        [self.notification_queue, self.acknowledgement_queue]
    }

    pub fn set_active(&mut self, is_active: bool) {
        self.is_active = is_active;
    }

    /// A frame from the protected link.
    pub fn take_from_link(&mut self, header: DataHeader, context: &mut Context<'_>) -> Verdict {
        if !header.is_for_links() {
            return self.refuse();
        }
        if !self.knows_numbers {
            return self.take_without_numbers(header, context);
        }
        let arrival =
            if header.retransmitted { self.take_repair(header, context) } else { self.take_original(header, context) };
        match arrival {
            None => self.refuse(),
            Some(Arrival::Spent) => Verdict::Drop(DropReason::ControlAbsorbed),
            Some(Arrival::Overdue) => self.pass_through(header, context),
            Some(Arrival::InTurn) if self.is_ordered => self.put_in_order(header, Role::RxBuffered, context),
            Some(Arrival::InTurn) => self.pass_through(header, context),
            Some(Arrival::Spare) => self.judge_spare(header, context),
        }
    }

    fn refuse(&mut self) -> Verdict {
        self.counters.refused += 1;
        Verdict::Drop(DropReason::Mechanism)
    }

    /// A repair answers a notification, so its number lies before the one expected.
    fn take_repair(&mut self, header: DataHeader, context: &mut Context<'_>) -> Option<Arrival> {
        let expected = self.expected.access(context.pass(), 0, |expected| *expected);
        if header.sequence.offset_from(expected) >= 0 {
            return None;
        }
        let missing = self.missing.take(header.sequence);
        self.settle_reports(Some(header.sequence), context);
        let Some(missing) = missing else { return Some(Arrival::Spare) };
        let delay = context.now().saturating_since(missing.since);
        self.counters.recovered += 1;
        self.recovery_delay_ns.saturating_record(delay.as_ps() / 1_000);
        Some(if missing.is_awaited { Arrival::InTurn } else { Arrival::Overdue })
    }

    /// Compares an original packet or a dummy with what was expected; `None` when it is not to be believed.
    fn take_original(&mut self, header: DataHeader, context: &mut Context<'_>) -> Option<Arrival> {
        let sequence = header.sequence;
        let behind = if header.dummy { sequence } else { sequence.plus(1) };
        let is_confirmed = self.suspect == Some(sequence);
        let waited_for = self.ack_number.peek(0);
        let (first_lost, place) = self.expected.access(context.pass(), 0, |expected| {
            let before = *expected;
            let place = place_of(sequence, before, waited_for);
            if matches!(place, Place::Ahead(_)) || (place == Place::Far && is_confirmed) {
                *expected = behind;
            }
            (before, place)
        });
        self.suspect = (place == Place::Far && !is_confirmed).then_some(behind);
        let seen_until = behind.previous();
        match place {
            Place::Ahead(gap) => {
                self.keep_order_as(header.blocking, first_lost, context);
                if gap > 0 {
                    self.notify_loss(first_lost, gap, seen_until, context);
                } else if !header.dummy {
                    self.publish(sequence, context);
                }
            }
            Place::Late => {
                self.publish(seen_until, context);
                return self.take_late(header);
            }
            Place::Far if is_confirmed => self.take_up(sequence, seen_until, context),
            Place::Far => return None,
        }
        Some(if header.dummy { Arrival::Spent } else { Arrival::InTurn })
    }

    /// A number that was taken for lost comes all the same. In order it has its turn, if it can wait for it (a late
    /// packet cannot wait in a queue whose packets are counted); what asks for no order has no turn to miss.
    fn take_late(&mut self, header: DataHeader) -> Option<Arrival> {
        if header.dummy {
            return Some(Arrival::Spent);
        }
        if self.missing.take_unawaited(header.sequence).is_some() {
            return Some(Arrival::Overdue);
        }
        let turn = header.sequence.offset_from(self.ack_number.peek(0));
        if !header.blocking && (!self.is_ordered || turn < 0) {
            return Some(Arrival::Overdue);
        }
        if !self.is_ordered {
            return Some(Arrival::Spare);
        }
        let may_wait = self.config.buffering == Buffering::Recirculation;
        (may_wait || turn <= 0).then_some(Arrival::InTurn)
    }

    /// Two frames in a row have said that the numbers are elsewhere (as RTP does, RFC 3550, appendix A.1): after an
    /// outage longer than any loss, a new start of the other end, or forged frames. All that was missing is given up.
    fn take_up(&mut self, sequence: SequenceNumber, seen_until: SequenceNumber, context: &mut Context<'_>) {
        self.counters.resynchronisations += 1;
        self.missing.clear();
        self.overflow.clear();
        self.reports.clear();
        self.ack_number.poke(0, sequence);
        self.credited_until = sequence;
        self.publish(seen_until, context);
        self.let_all_out(context);
    }

    /// The sender has said that its numbers begin at `first`. If they go on where they are, so does everything: repairs
    /// may be on their way. Else what waits goes on as it comes round, and what is missing stays missing: the sender
    /// has forgotten it.
    pub(super) fn begin_at(&mut self, first: SequenceNumber, context: &mut Context<'_>) {
        self.suspect = None;
        if self.knows_numbers && self.expected.peek(0) == first {
            return self.publish(first.previous(), context);
        }
        self.counters.starts += 1;
        self.knows_numbers = true;
        self.missing.clear();
        self.overflow.clear();
        self.reports.clear();
        self.expected.poke(0, first);
        self.ack_number.poke(0, first);
        self.credited_until = first;
        if self.waiting_packets > 0 {
            self.is_ordered = false;
            self.was_unordered = true;
            self.let_all_out(context);
        }
        self.publish(first.previous(), context);
    }

    /// Started anew among numbers that it cannot place: what comes goes on as if it were not protected, but for
    /// repairs, which its predecessor may have had.
    fn take_without_numbers(&mut self, header: DataHeader, context: &mut Context<'_>) -> Verdict {
        self.ask_for_start(context);
        if header.dummy {
            return Verdict::Drop(DropReason::ControlAbsorbed);
        }
        if header.retransmitted {
            self.counters.duplicates += 1;
            return Verdict::Drop(DropReason::Duplicate);
        }
        self.was_unordered = true;
        self.deliver(context)
    }

    /// Numbers that have not come although later ones have, and that are still remembered.
    pub fn missing_numbers(&self) -> u64 {
        self.missing.len() as u64
    }

    /// What must hold at the end of a run, in sentences for those that do not.
    pub fn violated_invariants(&self, now: Time) -> Vec<String> {
        let mut broken = Vec::new();
        let patience = self.config.acknowledgement_timeout + self.config.timer_period * 2;
        let stall = if self.is_waiting() { now.saturating_since(self.countdown_from) } else { Duration::ZERO };
        let longest = stall.max(self.counters.longest_stall);
        if longest > patience {
            broken.push(format!("delivery stalled for {longest}, longer than ackNoTimeout allows ({patience})"));
        }
        broken
    }

    /// Promises of blocking mode on top of [`Self::violated_invariants`]; none when it was not the only mode.
    pub fn broken_order_promises(&self) -> Vec<String> {
        if self.was_unordered {
            return Vec::new();
        }
        let counts = [("out of order", self.checker.reordered), ("twice", self.checker.duplicates)];
        let broken = counts.into_iter().filter(|&(_, count)| count > 0);
        broken.map(|(how, count)| format!("blocking mode delivered {count} packets {how}")).collect()
    }
}
