//! The receiving end of a protected link (paper, section 3 and appendix A).

use std::collections::VecDeque;

use hdrhistogram::Histogram;
use hitless_switch::{
    Context, DropReason, Environment, Half, HookSet, QueueConfig, QueueLimit, RegisterArray, Subscriptions, Verdict,
};
use hitless_wire::linkguardian::{AckHeader, DataHeader, LossNotification, SequenceNumber};
use hitless_wire::packet::MINIMUM_FRAME_BYTES;
use hitless_wire::pause::{PAUSE_FRAME_BYTES, PauseFrame};
use hitless_wire::shim::CheckNumber;
use hitless_wire::{Duration, Packet, QueueId, Shim, Time};

use super::checker::Checker;
use super::config::{Activation, Buffering, ReceiverConfig};
use super::crossing::Crossing;
use super::sender::{FILLER_PRIORITY, REPAIR_PRIORITY};
use super::{Role, TimerKind, timer_token};

/// The traffic class that backpressure pauses: normal traffic (published switch programs: queue 0 is class 1; here
/// class 0 is normal traffic).
const NORMAL_CLASS: u8 = 0;

/// The longest gap that is taken for a loss, in numbers: as many as one notification can report. After a longer one the
/// numbers are taken up anew ([`Receiver::take_up`]).
const GAP_MAX: i32 = u8::MAX as i32;
/// How far the latest number may be ahead of the first one waited for: as far as numbers can be compared.
const WINDOW: i32 = (SequenceNumber::RANGE / 2) as i32 - GAP_MAX;
/// More missing numbers than this at a time are no losses of a link that carries anything: a timeout gives up all that
/// come before the last of them, and not one alone.
const MISSING_AWAITED_MAX: usize = 256;
/// Missing numbers that are remembered at once; the oldest go first.
const MISSING_MAX: usize = 2_048;

/// Where the number of an original packet or a dummy lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The next, or behind a gap of so many.
    Ahead(u32),
    /// A number that was taken for lost and comes all the same: only after somebody sent a wrong one.
    Late,
    /// Too far off to be believed at once.
    Far,
}

/// What the receiving end counted.
#[derive(Clone, Debug)]
pub struct ReceiverCounters {
    /// Packets found missing.
    pub losses: u64,
    /// Gaps in the sequence numbers, by length 1, 2, ...; the last counts all that are longer.
    pub loss_runs: [u64; 8],
    /// Missing packets that a retransmission brought.
    pub recovered: u64,
    /// Times that the wait for a retransmission was given up.
    pub timeouts: u64,
    /// Packets that waited in the reordering buffer.
    pub buffered: u64,
    /// Passes through the recirculation port.
    pub recirculations: u64,
    /// Retransmitted copies that were not needed any more.
    pub duplicates: u64,
    /// Explicit acknowledgements sent.
    pub explicit_acknowledgements: u64,
    /// Acknowledgements that rode on traffic of the reverse direction.
    pub piggybacked_acknowledgements: u64,
    /// Pause frames sent.
    pub pauses: u64,
    /// Packets that went on, repairs included.
    pub delivered: u64,
    /// Frames that no sender sends: flags or numbers that cannot be. Dropped.
    pub refused: u64,
    /// Times that the numbers were taken up at another place, after a gap too long for a loss.
    pub resynchronisations: u64,
    /// From finding a packet missing to having it, in nanoseconds.
    pub recovery_delay_ns: Histogram<u64>,
    /// The longest that a packet in front kept others waiting.
    pub longest_stall: Duration,
}

impl ReceiverCounters {
    fn new() -> Self {
        const HIGHEST_DELAY_NS: u64 = 1_000_000_000;
        Self {
            losses: 0,
            loss_runs: [0; 8],
            recovered: 0,
            timeouts: 0,
            buffered: 0,
            recirculations: 0,
            duplicates: 0,
            explicit_acknowledgements: 0,
            piggybacked_acknowledgements: 0,
            pauses: 0,
            delivered: 0,
            refused: 0,
            resynchronisations: 0,
            recovery_delay_ns: Histogram::new_with_max(HIGHEST_DELAY_NS, 3).expect("valid bounds"),
            longest_stall: Duration::ZERO,
        }
    }
}

/// The state of the receiving end.
#[derive(Debug)]
pub struct Receiver {
    pub(super) config: ReceiverConfig,
    notification_queue: QueueId,
    acknowledgement_queue: QueueId,
    hold_queue: QueueId,
    is_active: bool,
    /// The number that the next original packet should have.
    expected: RegisterArray<SequenceNumber>,
    /// The number to be forwarded next (paper, algorithm 1).
    ack_number: RegisterArray<SequenceNumber>,
    /// latestRxSeqNo on its way to egress, where acknowledgements read it.
    latest_received: Crossing<SequenceNumber>,
    acknowledgements_pending: RegisterArray<u8>,
    /// curr_state of algorithm 2.
    is_pausing: RegisterArray<bool>,
    /// From when the timer packets count down; meaningful while packets wait.
    countdown_from: Time,
    countdown_is_armed: bool,
    /// Missing numbers and when they were found missing, in order: for credit and for measurement.
    missing: VecDeque<(SequenceNumber, Time)>,
    /// Paused-queue buffering: credit has been granted for all numbers before this one.
    credited_until: SequenceNumber,
    /// The number that the next original has if the last one, which was too far off, was right.
    suspect: Option<SequenceNumber>,
    /// Paused-queue buffering: packets in the queue or on the way to it.
    held_packets: u64,
    /// Paused-queue buffering: all that waited was let out, since some of it had been stepped over.
    is_draining: bool,
    /// Whether a packet has come that did not ask for its order to be kept.
    is_unordered: bool,
    pub(super) checker: Checker,
    pub(super) counters: ReceiverCounters,
}

impl Receiver {
    pub fn new(config: ReceiverConfig) -> Self {
        let first = SequenceNumber::default();
        Self {
            is_active: config.activation == Activation::FromStart,
            config,
            notification_queue: QueueId(0),
            acknowledgement_queue: QueueId(0),
            hold_queue: QueueId(0),
            expected: RegisterArray::new("latestRxSeqNo", Half::Ingress, 4, 1, first),
            ack_number: RegisterArray::new("ackNo", Half::Ingress, 5, 1, first),
            latest_received: Crossing::new(first.previous()),
            acknowledgements_pending: RegisterArray::new("pendingAcks", Half::Egress, 3, 1, 0),
            is_pausing: RegisterArray::new("currState", Half::Egress, 4, 1, false),
            countdown_from: Time::ZERO,
            countdown_is_armed: false,
            missing: VecDeque::new(),
            credited_until: first,
            suspect: None,
            held_packets: 0,
            is_draining: false,
            is_unordered: false,
            checker: Checker::default(),
            counters: ReceiverCounters::new(),
        }
    }

    /// Two queues at the port of the link (towards the sender); at the recirculation port the depth is watched.
    pub fn subscribe(&mut self, queues: &mut [usize], wanted: &mut Subscriptions) {
        let port = self.config.port;
        let unlimited = QueueConfig::normal(QueueLimit::Unlimited);
        self.notification_queue = super::request_queue(port, unlimited.with_priority(REPAIR_PRIORITY), queues, wanted);
        self.acknowledgement_queue =
            super::request_queue(port, unlimited.with_priority(FILLER_PRIORITY), queues, wanted);
        if self.config.buffering == Buffering::PausedQueue {
            let limited = QueueConfig::normal(QueueLimit::Bytes(self.config.buffer.0));
            self.hold_queue = super::request_queue(self.config.recirculation_port, limited, queues, wanted);
        }
        wanted.hooks.push((port, HookSet::LINK_TRANSMIT.with(HookSet::LINK_RECEIVE)));
        wanted.hooks.push((self.config.recirculation_port, HookSet::EGRESS));
    }

    /// Puts the one explicit acknowledgement into its queue, where it waits until there is news.
    pub fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if self.config.buffering == Buffering::PausedQueue {
            context.schedule_by_credit(self.config.recirculation_port, self.hold_queue);
        }
        context.pause(self.config.port, self.acknowledgement_queue);
        let ack = Packet { frame_bytes: MINIMUM_FRAME_BYTES - AckHeader::WIRE_BYTES, ..Packet::default() };
        context.emit(ack, self.config.port, self.acknowledgement_queue, Role::Acknowledgement as u8);
    }

    pub fn set_active(&mut self, is_active: bool) {
        self.is_active = is_active;
    }

    /// A frame from the protected link.
    pub fn take_from_link<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        let Some(header) = context.packet().shims.get::<DataHeader>() else { return Verdict::Continue };
        let is_acceptable = header.is_for_links()
            && if header.retransmitted {
                self.takes_repair(header, context)
            } else {
                self.takes_original(header, context)
            };
        if !is_acceptable {
            return self.refuse();
        }
        if header.retransmitted {
            let is_first = self.note_recovery(header.sequence, context.now());
            // A second copy must not wait in a queue whose packets are counted; and where the numbers have been taken up
            // anew, what is behind them does not tell it from a first one.
            let must_be_first = self.config.buffering == Buffering::PausedQueue || self.counters.resynchronisations > 0;
            if !is_first && header.blocking && must_be_first {
                self.counters.duplicates += 1;
                return Verdict::Drop(DropReason::Duplicate);
            }
        }
        if header.dummy {
            return Verdict::Drop(DropReason::ControlAbsorbed);
        }
        if header.blocking { self.put_in_order(header, context) } else { self.pass_through(header, context) }
    }

    /// A packet of the reordering buffer has come round.
    pub fn judge_buffered<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        self.counters.recirculations += 1;
        let header = super::data_header(context.packet());
        let expected = self.expected.access(context.pass(), 0, |expected| *expected);
        // It has waited since before the numbers were taken up at another place.
        if !(-WINDOW - GAP_MAX..0).contains(&header.sequence.offset_from(expected)) {
            return self.refuse();
        }
        self.put_in_order(header, context)
    }

    /// A packet leaves the reordering buffer, or was refused by it.
    pub fn note_unheld(&mut self) {
        self.held_packets = self.held_packets.saturating_sub(1);
    }

    /// Backpressure (paper, algorithm 2): the depth is tested when a buffered packet leaves the recirculation port.
    pub fn watch_depth<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if !self.config.backpressure {
            return;
        }
        let depth_bytes = context.queue_bytes(self.config.recirculation_port, self.hold_queue);
        let (pause_at, resume_at) = (self.config.pause_threshold.0, self.config.resume_threshold.0);
        let has_changed = self.is_pausing.access(context.pass(), 0, |is_pausing| {
            let wanted = if *is_pausing { depth_bytes > resume_at } else { depth_bytes >= pause_at };
            std::mem::replace(is_pausing, wanted) != wanted
        });
        if has_changed {
            let at = self.timer_packet_after(context.now(), 1);
            context.wake_at(at, timer_token(self.config.port, TimerKind::Backpressure));
        }
    }

    /// A timer packet becomes a pause frame; what it says is decided when it leaves.
    pub fn send_pause_frame<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        let frame = Packet { frame_bytes: PAUSE_FRAME_BYTES, ..Packet::default() };
        context.emit(frame, self.config.port, self.notification_queue, Role::Pause as u8);
    }

    /// Writes the pause frame's content in egress, where the state of algorithm 2 is.
    pub fn stamp_pause_frame<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        let is_pausing = self.is_pausing.access(context.pass(), 0, |is_pausing| *is_pausing);
        let frame = if is_pausing { PauseFrame::pause(NORMAL_CLASS) } else { PauseFrame::resume(NORMAL_CLASS) };
        self.counters.pauses += u64::from(is_pausing);
        context.packet().push_shim(frame).expect("a pause frame carries no other shim");
    }

    /// ackNoTimeout (paper, section 3.5): gives the packet in front up when it has been waited for too long.
    pub fn count_down<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        let now = context.now();
        let expected = self.expected.access(context.pass(), 0, |expected| *expected);
        let deadline = self.timeout_deadline();
        let crowd = self.missing.len().saturating_sub(MISSING_AWAITED_MAX);
        let last_of_crowd = crowd.checked_sub(1).map(|last| self.missing[last].0);
        let given_up = self.ack_number.access(context.pass(), 0, |ack_number| {
            if *ack_number == expected {
                return None;
            }
            let is_due = now >= deadline;
            if is_due {
                *ack_number = last_of_crowd.unwrap_or(*ack_number).plus(1);
            }
            Some(is_due.then(|| ack_number.previous()))
        });
        let Some(given_up) = given_up else {
            self.countdown_is_armed = false;
            return;
        };
        if let Some(sequence) = given_up {
            self.counters.timeouts += 1;
            self.missing.drain(..crowd);
            self.missing.retain(|&(missing, _)| missing != sequence);
            self.note_progress(now);
            self.release_held(sequence.plus(1), context);
            if crowd > 0 {
                self.let_all_out(context);
            }
        }
        let at = self.timeout_deadline();
        context.wake_at(at, timer_token(self.config.port, TimerKind::AckNumberTimeout));
    }

    /// Puts the latest number on an explicit acknowledgement and another packet in its place (section 3.1).
    pub fn stamp_acknowledgement<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        let (port, queue) = (self.config.port, self.acknowledgement_queue);
        context.mirror(port, queue, Role::Acknowledgement as u8, |_| {});
        let pending = self.use_acknowledgement(context);
        self.push_acknowledgement(false, context);
        self.counters.explicit_acknowledgements += 1;
        if pending == 0 {
            context.pause(port, queue);
            if let Some(visible_at) = self.latest_received.next_visible_at() {
                context.resume_after(visible_at - context.now(), port, queue);
            }
        }
    }

    /// Lets the latest number ride on a packet of the reverse direction.
    pub fn piggyback<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if !self.is_active {
            return;
        }
        self.use_acknowledgement(context);
        self.push_acknowledgement(true, context);
        self.counters.piggybacked_acknowledgements += 1;
    }

    /// A loss notification leaves: what it acknowledges may be acknowledged by others from now on, not before.
    pub fn publish_loss<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        self.latest_received.receive(context.now());
        let ack = context.packet().shims.get::<AckHeader>().expect("a loss notification acknowledges");
        if ack.acknowledged.ahead_of(self.latest_received.get()) > 0 {
            self.latest_received.set(ack.acknowledged);
        }
        self.acknowledgements_pending.access(context.pass(), 0, |pending| *pending = 0);
    }

    /// Numbers that have not come although later ones have, and that are still remembered.
    pub fn missing_numbers(&self) -> u64 {
        self.missing.len() as u64
    }

    /// What must hold at the end of a run, in sentences for those that do not.
    pub fn broken_promises(&self, now: Time) -> Vec<String> {
        let mut broken = Vec::new();
        let patience = self.config.acknowledgement_timeout + self.config.timer_period * 2;
        let stall = if self.is_waiting() { now.saturating_since(self.countdown_from) } else { Duration::ZERO };
        let longest = stall.max(self.counters.longest_stall);
        if longest > patience {
            broken.push(format!("delivery stalled for {longest}, longer than ackNoTimeout allows ({patience})"));
        }
        broken
    }

    /// Promises of blocking mode on top of [`Self::broken_promises`]; none when it was not the only mode.
    pub fn broken_order_promises(&self) -> Vec<String> {
        if self.is_unordered {
            return Vec::new();
        }
        let counts = [("out of order", self.checker.reordered), ("twice", self.checker.duplicates)];
        let broken = counts.into_iter().filter(|&(_, count)| count > 0);
        broken.map(|(how, count)| format!("blocking mode delivered {count} packets {how}")).collect()
    }

    fn is_waiting(&self) -> bool {
        self.ack_number.peek(0) != self.expected.peek(0) && self.countdown_is_armed
    }

    fn refuse(&mut self) -> Verdict {
        self.counters.refused += 1;
        Verdict::Drop(DropReason::Mechanism)
    }

    /// A repair answers a notification, so its number lies before the one expected.
    fn takes_repair<E: Environment>(&mut self, header: DataHeader, context: &mut Context<'_, E>) -> bool {
        let expected = self.expected.access(context.pass(), 0, |expected| *expected);
        header.sequence.offset_from(expected) < 0
    }

    /// Compares an original packet or a dummy with what was expected; false when it is not to be believed.
    fn takes_original<E: Environment>(&mut self, header: DataHeader, context: &mut Context<'_, E>) -> bool {
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
            Place::Ahead(0) if header.dummy => {}
            Place::Ahead(0) => self.publish(sequence, context),
            Place::Ahead(gap) => {
                self.notify_loss(first_lost, gap, seen_until, context);
                if header.blocking {
                    self.watch_for_timeout(context);
                }
            }
            Place::Late => {
                self.publish(seen_until, context);
                return header.dummy || self.has_turn_or_room(header);
            }
            Place::Far if is_confirmed => self.take_up(sequence, seen_until, context),
            Place::Far => return false,
        }
        true
    }

    /// A late packet cannot wait in a queue whose packets are counted.
    fn has_turn_or_room(&self, header: DataHeader) -> bool {
        self.config.buffering == Buffering::Recirculation
            || !header.blocking
            || header.sequence.offset_from(self.ack_number.peek(0)) <= 0
    }

    /// Two frames in a row have said that the numbers are elsewhere (as RTP does, RFC 3550, appendix A.1): after an
    /// outage longer than any loss, a new start of the other end, or forged frames. All that was missing is given up.
    fn take_up<E: Environment>(
        &mut self,
        sequence: SequenceNumber,
        seen_until: SequenceNumber,
        context: &mut Context<'_, E>,
    ) {
        self.counters.resynchronisations += 1;
        self.missing.clear();
        self.ack_number.poke(0, sequence);
        self.credited_until = sequence;
        self.publish(seen_until, context);
        self.let_all_out(context);
    }

    fn notify_loss<E: Environment>(
        &mut self,
        first_lost: SequenceNumber,
        count: u32,
        seen_until: SequenceNumber,
        context: &mut Context<'_, E>,
    ) {
        let runs = &mut self.counters.loss_runs;
        runs[(count as usize - 1).min(runs.len() - 1)] += 1;
        self.counters.losses += u64::from(count);
        let now = context.now();
        self.forget_the_unrecoverable(now);
        self.missing.extend((0..count).map(|offset| (first_lost.plus(offset as u16), now)));
        while self.missing.len() > MISSING_MAX {
            self.missing.pop_front();
        }
        let ack = AckHeader { acknowledged: seen_until, piggybacked: false };
        let loss = LossNotification { first_lost, count: count.min(u32::from(u8::MAX)) as u8 };
        let payload_bytes = MINIMUM_FRAME_BYTES - AckHeader::WIRE_BYTES - LossNotification::WIRE_BYTES;
        let mut packet = Packet { frame_bytes: payload_bytes, ..Packet::default() };
        packet.push_shim(ack).and_then(|()| packet.push_shim(loss)).expect("an empty stack has room for both");
        context.emit(packet, self.config.port, self.notification_queue, Role::LossNotification as u8);
    }

    /// Sends the number of a packet received in order to egress and lets acknowledgements go.
    fn publish<E: Environment>(&mut self, sequence: SequenceNumber, context: &mut Context<'_, E>) {
        let latency = context.ingress_latency();
        self.latest_received.send(sequence, context.now() + latency);
        if context.is_paused(self.config.port, self.acknowledgement_queue) {
            context.resume_after(latency, self.config.port, self.acknowledgement_queue);
        }
    }

    fn use_acknowledgement<E: Environment>(&mut self, context: &mut Context<'_, E>) -> u8 {
        let is_news = self.latest_received.receive(context.now());
        let reload = self.config.acknowledgements;
        self.acknowledgements_pending.access(context.pass(), 0, |pending| {
            *pending = if is_news { reload } else { *pending }.saturating_sub(1);
            *pending
        })
    }

    fn push_acknowledgement<E: Environment>(&mut self, piggybacked: bool, context: &mut Context<'_, E>) {
        let header = AckHeader { acknowledged: self.latest_received.get(), piggybacked };
        let pushed = context.packet().push_shim(header);
        pushed.expect("a composition whose shims do not fit is refused when the scenario is read");
    }

    /// Algorithm 1 of the paper: forward, wait or drop.
    fn put_in_order<E: Environment>(&mut self, mut header: DataHeader, context: &mut Context<'_, E>) -> Verdict {
        let ahead = self.ack_number.access(context.pass(), 0, |ack_number| {
            let ahead = header.sequence.ahead_of(*ack_number);
            *ack_number = ack_number.plus(u16::from(ahead == 0));
            ahead
        });
        if ahead < 0 {
            self.counters.duplicates += 1;
            return Verdict::Drop(DropReason::Duplicate);
        }
        if ahead == 0 {
            self.note_progress(context.now());
            self.forget_missing_before(header.sequence.plus(1));
            self.release_held(header.sequence.plus(1), context);
            return self.deliver(context);
        }
        let comes_from_queue = header.rx_buffered;
        if !comes_from_queue {
            self.end_drain(context);
            self.counters.buffered += 1;
            header.rx_buffered = true;
            context.packet().shims.replace(header);
            context.adopt(Role::RxBuffered as u8);
        }
        self.held_packets += 1;
        self.hold(comes_from_queue, context);
        Verdict::Forward { port: self.config.recirculation_port, queue: self.hold_queue }
    }

    /// Non-blocking mode: forwards whatever comes. ackNo follows, so that blocking mode could take over.
    fn pass_through<E: Environment>(&mut self, header: DataHeader, context: &mut Context<'_, E>) -> Verdict {
        self.is_unordered = true;
        self.ack_number.access(context.pass(), 0, |ack_number| {
            let next = header.sequence.plus(1);
            if next.ahead_of(*ack_number) > 0 {
                *ack_number = next;
            }
        });
        self.let_all_out(context);
        self.deliver(context)
    }

    /// Takes LinkGuardian's headers off; the packet goes on as if there had been no protection.
    fn deliver<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        self.counters.delivered += 1;
        context.release();
        let packet = context.packet();
        packet.remove_shim::<DataHeader>();
        packet.is_repair = false;
        if let Some(CheckNumber(number)) = packet.remove_shim() {
            self.checker.deliver(number);
        }
        Verdict::Continue
    }

    /// Notes that a missing packet has come; false when it was not missing any more.
    fn note_recovery(&mut self, sequence: SequenceNumber, now: Time) -> bool {
        let position = self.missing.iter().position(|&(missing, _)| missing == sequence);
        let Some((_, since)) = position.and_then(|position| self.missing.remove(position)) else { return false };
        self.counters.recovered += 1;
        self.counters.recovery_delay_ns.saturating_record((now - since).as_ps() / 1_000);
        true
    }

    /// What came after all, although not as a repair, is not missing any more.
    fn forget_missing_before(&mut self, next: SequenceNumber) {
        while self.missing.front().is_some_and(|&(missing, _)| missing.offset_from(next) < 0) {
            self.missing.pop_front();
        }
    }

    /// In non-blocking mode nobody gives a missing packet up; its entry goes when it cannot come any more.
    fn forget_the_unrecoverable(&mut self, now: Time) {
        const TIMEOUTS_UNTIL_HOPELESS: u64 = 16;
        let patience = self.config.acknowledgement_timeout * TIMEOUTS_UNTIL_HOPELESS;
        while self.missing.front().is_some_and(|&(_, since)| now.saturating_since(since) > patience) {
            self.missing.pop_front();
        }
    }

    fn note_progress(&mut self, now: Time) {
        if self.countdown_is_armed {
            let stall = now.saturating_since(self.countdown_from);
            self.counters.longest_stall = self.counters.longest_stall.max(stall);
        }
        self.countdown_from = now;
    }

    /// Starts the countdown when packets begin to wait; it runs out lazily and is then put off.
    fn watch_for_timeout<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if self.countdown_is_armed {
            return;
        }
        self.countdown_is_armed = true;
        self.countdown_from = context.now();
        let at = self.timeout_deadline();
        context.wake_at(at, timer_token(self.config.port, TimerKind::AckNumberTimeout));
    }

    fn timeout_deadline(&self) -> Time {
        self.timer_packet_after(self.countdown_from, self.config.acknowledgement_timeout / self.config.timer_period)
    }

    /// The `count`-th timer packet after `from`: the packet generator keeps its phase.
    fn timer_packet_after(&self, from: Time, count: u64) -> Time {
        let period = self.config.timer_period;
        Time(from.as_ps() / period.as_ps() * period.as_ps()) + period * count
    }

    /// Paused-queue buffering: a packet that was served before its turn used a credit that another still needs.
    fn hold<E: Environment>(&mut self, comes_from_queue: bool, context: &mut Context<'_, E>) {
        if self.config.buffering == Buffering::PausedQueue && comes_from_queue {
            context.grant(self.config.recirculation_port, self.hold_queue, 1);
        }
        self.release_held(self.ack_number.peek(0), context);
    }

    /// Paused-queue buffering, after numbers of waiting packets were stepped over: each comes out, and is dropped, or goes
    /// round until its turn.
    fn let_all_out<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if self.held_packets == 0 || self.config.buffering != Buffering::PausedQueue {
            return;
        }
        let (port, queue) = (self.config.recirculation_port, self.hold_queue);
        context.schedule_by_credit(port, queue);
        context.grant(port, queue, self.held_packets);
        self.is_draining = true;
    }

    /// Credit that is left over when all are out would serve packets before their turn.
    fn end_drain<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if self.is_draining && self.held_packets == 0 {
            context.schedule_by_credit(self.config.recirculation_port, self.hold_queue);
            self.credited_until = self.ack_number.peek(0);
            self.is_draining = false;
        }
    }

    /// Paused-queue buffering: credits all that can go out once the number before `from` has.
    fn release_held<E: Environment>(&mut self, from: SequenceNumber, context: &mut Context<'_, E>) {
        if self.config.buffering != Buffering::PausedQueue {
            return;
        }
        if from.ahead_of(self.credited_until) > 0 {
            self.credited_until = from;
        }
        let until = self.missing.front().map_or(self.expected.peek(0), |&(missing, _)| missing);
        let packets = until.ahead_of(self.credited_until);
        if packets > 0 {
            self.credited_until = until;
            context.grant(self.config.recirculation_port, self.hold_queue, packets as u64);
        }
    }
}

/// Where `sequence` lies, when `expected` should have come and `waited_for` is to go on next.
fn place_of(sequence: SequenceNumber, expected: SequenceNumber, waited_for: SequenceNumber) -> Place {
    let gap = sequence.offset_from(expected);
    match gap {
        0..=GAP_MAX if sequence.offset_from(waited_for) <= WINDOW => Place::Ahead(gap as u32),
        _ if (-GAP_MAX..0).contains(&gap) => Place::Late,
        _ => Place::Far,
    }
}
