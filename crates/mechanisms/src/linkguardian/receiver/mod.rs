//! The receiving end of a protected link (paper, section 3 and appendix A).
//!
//! - here: the meaning of a frame from the link, and the place of its number
//! - [`place`], [`missing`], [`gaps`]: the arithmetic of numbers, and the memory of missing ones
//! - [`order`]: forward, wait or drop; the reordering buffer
//! - [`early`]: repairs that arrive before their turn
//! - [`overflow`]: packets that the reordering buffer refused
//! - [`timeout`]: the deadline of the packet in front
//! - [`answers`]: acknowledgements, loss notifications, and answers to the sender's messages
//! - [`reports`]: losses that are reported until the sender answers
//! - [`backpressure`]: pausing the sender
//! - [`monitor`]: the level of protection to ask for

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
    Context, DropReason, Half, HookSet, Needs, ProtectionPhase, QueueConfig, QueueLimit, RegisterArray, RegisterUse,
    Verdict,
};

use super::config::ReceiverConfig;
use super::egress_view::EgressView;
use super::frames::Role;
use super::requests::{FILLER_PRIORITY, REPAIR_PRIORITY, request_queue};
use super::settings::Buffering;
use super::timer::{Timer, TimerKind};
use crate::link_checker::Checker;
use counters::ReceiverCounters;
use early::EarlyRepairs;
use gaps::Reports;
use missing::Missing;
use monitor::Monitor;
use overflow::Overflow;
use place::{Place, place_of};

/// The meaning of a frame with a data header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// An original, or a repair that others may wait for.
    InTurn,
    /// A missing packet that other packets do not wait for.
    Overdue,
    /// A copy of a packet that is not missing.
    Spare,
    /// A dummy, which has served its purpose.
    Spent,
}

#[derive(Debug, hitless_core::state::State)]
pub struct Receiver {
    #[configured]
    pub(super) config: ReceiverConfig,
    notification_queue: QueueId,
    acknowledgement_queue: QueueId,
    hold_queue: QueueId,
    /// Paused-queue buffering: the queue of repairs that arrive before their turn.
    repair_queue: QueueId,
    is_active: bool,
    /// Whether the last packet from the link had a number; `None` before the first.
    hears_numbers: Option<bool>,
    /// Whether the sender has announced its first number; always true without a handshake.
    knows_numbers: bool,
    /// Time of the last request for the first number.
    asked_at: Option<Time>,
    #[part]
    expected: RegisterArray<SequenceNumber>,
    /// The number to forward next (paper, algorithm 1).
    #[part]
    ack_number: RegisterArray<SequenceNumber>,
    /// latestRxSeqNo in transit to egress, where acknowledgements read it.
    latest_received: EgressView<SequenceNumber>,
    #[part]
    acknowledgements_pending: RegisterArray<u8>,
    /// curr_state of algorithm 2.
    #[part]
    is_pausing: RegisterArray<bool>,
    /// Time at which a timer packet becomes the next pause frame.
    pause_due_at: Option<Time>,
    pause_repetitions: u8,
    /// Start of the timer packets' countdown; only valid while packets wait.
    countdown_from: Time,
    countdown_is_armed: bool,
    missing: Missing,
    overflow: Overflow,
    /// Gaps that are reported until they are answered; empty if each is reported once.
    reports: Reports,
    /// Paused-queue buffering: credit is granted for all numbers before this one.
    credited_until: SequenceNumber,
    /// The next original's number if the last one, which was too far off, was right.
    suspect: Option<SequenceNumber>,
    /// Packets in the queues of the reordering buffer or on the way to them.
    held_packets: u64,
    held_bytes: u64,
    /// The packets among them in the queue of early repairs.
    held_repairs: u64,
    early: EarlyRepairs,
    /// Paused-queue buffering: whether a timer packet will test the depth.
    depth_is_watched: bool,
    /// Packets in the reordering buffer, at any point of their round.
    waiting_packets: u64,
    /// Paused-queue buffering: all waiting packets were let out, because some numbers were stepped over.
    is_draining: bool,
    /// Whether packets are forwarded in the order of their numbers, or as they arrive.
    is_ordered: bool,
    /// Whether any packet was forwarded as it arrived.
    was_unordered: bool,
    #[part]
    monitor: Option<Monitor>,
    pub(super) checker: Checker,
    pub(super) counters: ReceiverCounters,
    /// Time from the detection of a loss to its repair.
    #[part]
    pub(super) recovery_delay_ns: Histogram<u64>,
}

impl Receiver {
    pub fn new(config: ReceiverConfig) -> Self {
        const HIGHEST_DELAY_NS: u64 = 1_000_000_000;
        let first = SequenceNumber::default();
        assert!(config.resume_threshold <= config.pause_threshold, "a pause ends no deeper than it begins");
        assert!(config.control_copies > 0, "each control message is sent at least once");
        Self {
            is_active: config.is_on_at_start,
            hears_numbers: None,
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

    pub fn stated(&self) -> Vec<RegisterUse> {
        let numbers = [&self.expected, &self.ack_number].map(RegisterArray::stated);
        numbers.into_iter().chain([self.acknowledgements_pending.stated(), self.is_pausing.stated()]).collect()
    }

    /// Requests two queues at the port of the link (towards the sender). At the recirculation port the depth is
    /// watched.
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

    /// Puts the only explicit acknowledgement into its queue, where it waits until there is news.
    fn timer(&self, kind: TimerKind) -> Timer {
        Timer { port: self.config.port, channel: self.config.channel, kind }
    }

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

    pub fn own_queues(&self) -> [QueueId; 2] {
        [self.notification_queue, self.acknowledgement_queue]
    }

    pub fn set_active(&mut self, is_active: bool) {
        self.is_active = is_active;
    }

    pub fn take_from_link(&mut self, header: DataHeader, context: &mut Context<'_>) -> Verdict {
        if !header.is_for_links() {
            return self.refuse();
        }
        // Any numbered frame shows that the sender protects, before it is known whether its number is credible.
        self.hears_numbers = Some(true);
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

    pub fn note_unprotected(&mut self) {
        self.hears_numbers = Some(false);
    }

    /// The phase of the sender at the other end, by its last packet.
    pub fn phase(&self) -> ProtectionPhase {
        match self.hears_numbers {
            None => ProtectionPhase::Unknown,
            Some(false) => ProtectionPhase::Off,
            Some(true) => ProtectionPhase::On,
        }
    }

    /// Whether the sender at the other end wants order.
    pub fn keeps_order(&self) -> bool {
        self.is_ordered
    }

    fn refuse(&mut self) -> Verdict {
        self.counters.refused += 1;
        Verdict::Drop(DropReason::Mechanism)
    }

    /// Handles a repair. It answers a notification, so that its number must lie before the expected one.
    fn take_repair(&mut self, header: DataHeader, context: &mut Context<'_>) -> Option<Arrival> {
        let expected = self.expected.access(context.pass(), 0, |expected| *expected);
        if header.sequence.offset_from(expected) >= 0 {
            return None;
        }
        // The first of the N copies answers (section 3.4); the number is then no longer missing, and the other copies
        // are spare.
        let missing = self.missing.take(header.sequence);
        self.settle_reports(Some(header.sequence), context);
        let Some(missing) = missing else { return Some(Arrival::Spare) };
        let delay = context.now().saturating_since(missing.since);
        self.counters.recovered += 1;
        self.recovery_delay_ns.saturating_record(delay.as_ps() / 1_000);
        Some(if missing.is_awaited { Arrival::InTurn } else { Arrival::Overdue })
    }

    /// Compares an original packet or a dummy with the expected number. Returns `None` if the frame is not credible.
    fn take_original(&mut self, header: DataHeader, context: &mut Context<'_>) -> Option<Arrival> {
        let sequence = header.sequence;
        // A dummy has the number of the next packet, which is still to come.
        let behind = if header.dummy { sequence } else { sequence.plus(1) };
        let is_confirmed = self.suspect == Some(sequence);
        let waited_for = self.ack_number.peek(0);
        // Detection and update are one access, because a packet may access a register once in a pass.
        let (first_lost, place) = self.expected.access(context.pass(), 0, |expected| {
            let before = *expected;
            let place = place_of(sequence, before, waited_for);
            if matches!(place, Place::Ahead(_)) || (place == Place::Far && is_confirmed) {
                *expected = behind;
            }
            (before, place)
        });
        // A single number far off may be forged; a second frame in sequence confirms it.
        self.suspect = (place == Place::Far && !is_confirmed).then_some(behind);
        let seen_until = behind.previous();
        match place {
            Place::Ahead(gap) => {
                self.keep_order_as(header.blocking, first_lost, context);
                // The notification acknowledges the packet behind the gap itself, ahead of any other acknowledgement.
                // Otherwise the sender would retire the lost packet's copy before it is requested (appendix A.2).
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

    /// Handles a number that was considered lost and arrives late. In ordered mode it gets its turn if it can wait for
    /// it (a late packet cannot wait in a queue with counted packets); without order a late packet misses nothing.
    fn take_late(&mut self, header: DataHeader) -> Option<Arrival> {
        if header.dummy {
            return Some(Arrival::Spent);
        }
        if self.missing.take_unawaited(header.sequence).is_some() {
            self.counters.late += 1;
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

    /// Continues at new numbers after two frames in a row have confirmed them (as RTP does, RFC 3550, appendix A.1).
    /// Causes are an outage longer than any loss, a restart of the other end, or forged frames. Gives up everything
    /// that was missing.
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

    /// Handles the sender's announcement of its first number. If it equals the expected number, nothing changes,
    /// because repairs may be in flight. Otherwise waiting packets are forwarded as they come round, and missing ones
    /// stay missing: the sender has forgotten them.
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

    /// Handles frames after a restart, before the first number is known. Packets are forwarded as without protection,
    /// except repairs, which the predecessor may have delivered.
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

    /// The count of packets lost in spite of protection; the repair of a packet that others do not wait for lowers it.
    /// Between two processes there are no check numbers, so that only the sequence numbers show it.
    pub fn lost(&self) -> u64 {
        let Self { checker, counters, missing, .. } = self;
        if checker.delivered > 0 {
            return checker.lost();
        }
        counters.losses.saturating_sub(counters.recovered + counters.late + missing.awaited_count())
    }

    /// The count of numbers that are still missing and remembered.
    pub fn missing_numbers(&self) -> u64 {
        self.missing.len() as u64
    }

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

    /// Violated guarantees of blocking mode, on top of [`Self::violated_invariants`]; empty if the mode changed.
    pub fn broken_order_promises(&self) -> Vec<String> {
        if self.was_unordered {
            return Vec::new();
        }
        let counts = [("out of order", self.checker.reordered), ("twice", self.checker.duplicates)];
        let broken = counts.into_iter().filter(|&(_, count)| count > 0);
        broken.map(|(how, count)| format!("blocking mode delivered {count} packets {how}")).collect()
    }
}
