//! Forward, wait or drop (paper, algorithm 1), and the reordering buffer.

use crate::linkguardian::headers::{DataHeader, SequenceNumber};
use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{Packet, QueueId};
use hitless_switch::canary::{Canary, sings};
use hitless_switch::{Context, DropReason, Verdict};

use super::super::frames::{Role, data_header};
use super::super::settings::Buffering;
use super::Receiver;
use super::place::may_have_waited;

impl Receiver {
    /// Handles a packet of the reordering buffer that has come round.
    pub fn judge_buffered(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.recirculations += 1;
        let header = data_header(context.packet());
        let role = Role::of_packet(context.packet()).unwrap_or(Role::RxBuffered);
        let expected = self.expected.access(context.pass(), 0, |expected| *expected);
        let verdict = if !self.is_ordered && role == Role::RxBuffered {
            self.deliver(context)
        } else if !self.is_ordered {
            self.drop_duplicate()
        } else if !may_have_waited(header.sequence, expected) {
            // The packet has waited since before the receiver continued at other numbers.
            self.refuse()
        } else {
            self.put_in_order(header, role, context)
        };
        if !matches!(verdict, Verdict::Forward { .. }) {
            self.note_no_longer_waiting(header, context);
        }
        verdict
    }

    pub fn note_unheld(&mut self, packet: &Packet) {
        let (header, bytes) = (data_header(packet), u64::from(packet.frame_bytes));
        assert!(self.held_packets > 0, "a packet that leaves the reordering buffer's queue is counted there");
        assert!(self.held_bytes >= bytes, "so are its bytes");
        self.held_packets -= 1;
        self.held_bytes -= bytes;
        self.held_repairs -= u64::from(self.waits_as_repair(header));
        assert!(self.held_repairs <= self.held_packets, "early repairs are some of those that are held");
    }

    fn waits_as_repair(&self, header: DataHeader) -> bool {
        self.config.buffering == Buffering::PausedQueue && header.retransmitted
    }

    fn note_no_longer_waiting(&mut self, header: DataHeader, context: &mut Context<'_>) {
        if self.waits_as_repair(header) && self.early.forget(header.sequence) {
            // No other event wakes the packets that waited for it.
            self.release_held(self.ack_number.peek(0), context);
        }
        assert!(self.waiting_packets > self.held_packets, "a packet whose wait ends is out of its queue and counted");
        self.waiting_packets -= 1;
    }

    /// Notes that the reordering buffer refused a packet.
    pub fn note_tm_drop(&mut self, context: &mut Context<'_>) {
        let header = data_header(context.packet());
        self.note_unheld(context.packet());
        self.note_no_longer_waiting(header, context);
        // The number of a refused duplicate waits already; only an original or repair is missing now.
        if Role::of_packet(context.packet()) == Some(Role::RxBuffered) && self.is_ordered {
            self.overflow.note(header.sequence, self.credited_until);
        }
    }

    /// Starts or stops keeping order from the number `first`. Order starts only when no packet waits: a packet that
    /// waits when order stops is forwarded as it comes round, and must go before all packets of the new order.
    pub(super) fn keep_order_as(&mut self, is_ordered: bool, first: SequenceNumber, context: &mut Context<'_>) {
        if is_ordered == self.is_ordered || (is_ordered && self.waiting_packets > 0) {
            return;
        }
        self.is_ordered = is_ordered;
        self.overflow.clear();
        self.counters.order_changes += 1;
        if is_ordered {
            self.ack_number.poke(0, first);
            self.end_drain(context);
            self.credited_until = first;
        } else {
            self.was_unordered = true;
            self.missing.await_none();
            self.let_all_out(context);
        }
    }

    /// Handles a copy of a packet that is not missing. In section 3.4 the number to forward next decides its end. But a
    /// copy must not wait in a queue with counted packets; and after the receiver has continued at new numbers, the
    /// number alone does not tell a copy from a first packet. The published programs have no de-duplication in
    /// non-blocking mode.
    pub(super) fn judge_spare(&mut self, header: DataHeader, context: &mut Context<'_>) -> Verdict {
        let may_leak = !header.blocking && !self.config.deduplicates;
        if may_leak && !self.is_ordered {
            return self.pass_through(header, context);
        }
        let must_be_first = self.config.buffering == Buffering::PausedQueue || self.counters.resynchronisations > 0;
        if self.is_ordered && !must_be_first && self.counters.starts == 0 {
            return self.put_in_order(header, Role::RxDuplicate, context);
        }
        self.drop_duplicate()
    }

    fn drop_duplicate(&mut self) -> Verdict {
        self.counters.duplicates += 1;
        Verdict::Drop(DropReason::Duplicate)
    }

    /// Algorithm 1 of the paper: forward, wait or drop.
    pub(super) fn put_in_order(&mut self, mut header: DataHeader, role: Role, context: &mut Context<'_>) -> Verdict {
        let overflow = &mut self.overflow;
        let ahead = self.ack_number.access(context.pass(), 0, |ack_number| {
            // Lines 1 to 3 of algorithm 1 in a single access of ackNo. Numbers that the buffer refused count as
            // forwarded: their packets were acknowledged, and nobody repairs them.
            *ack_number = overflow.step_over(*ack_number);
            let ahead = header.sequence.ahead_of(*ack_number);
            *ack_number = ack_number.plus(u16::from(ahead == 0));
            ahead
        });
        if ahead < 0 {
            // A copy, or a packet that has waited while its turn was stepped over after an outage.
            return if sings(Canary::DoubleRelease) { self.deliver(context) } else { self.drop_duplicate() };
        }
        if ahead == 0 {
            if self.waits_as_repair(header) {
                self.early.forget(header.sequence);
            }
            // Each packet that is forwarded in its turn restarts ackNoTimeout (section 3.5).
            self.note_progress(context.now());
            self.counters.late += self.missing.forget_awaited_before(header.sequence.plus(1));
            self.release_held(header.sequence.plus(1), context);
            return self.deliver(context);
        }
        // Lines 4 to 6: mark the packet as rx-buffered and recirculate it.
        let comes_from_queue = header.rx_buffered;
        if !comes_from_queue {
            self.end_drain(context);
            self.counters.buffered += 1;
            self.waiting_packets += 1;
            header.rx_buffered = true;
            context.packet().shims.replace(header);
            context.adopt(role.of_channel(self.config.channel));
        }
        self.held_packets += 1;
        self.held_bytes += u64::from(context.packet().frame_bytes);
        assert!(self.held_packets <= self.waiting_packets, "what is in the reordering buffer's queue waits");
        let queue = self.hold(header, comes_from_queue, context);
        Verdict::Forward { port: self.config.recirculation_port, queue }
    }

    /// Non-blocking mode: forwards a packet as it arrives. ackNo follows, so that blocking mode could take over.
    pub(super) fn pass_through(&mut self, header: DataHeader, context: &mut Context<'_>) -> Verdict {
        self.was_unordered = true;
        if !self.is_ordered {
            self.ack_number.access(context.pass(), 0, |ack_number| {
                let next = header.sequence.plus(1);
                if next.ahead_of(*ack_number) > 0 {
                    *ack_number = next;
                }
            });
        }
        self.deliver(context)
    }

    /// Removes LinkGuardian's headers and forwards the packet as if there had been no protection.
    pub(super) fn deliver(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.delivered += 1;
        context.release();
        let header_bytes_more = self.config.header_bytes_more;
        let packet = context.packet();
        packet.remove_shim::<DataHeader>();
        assert!(packet.frame_bytes > header_bytes_more, "a protected frame is longer than what was added to it");
        packet.frame_bytes -= header_bytes_more;
        packet.is_link_retransmission = false;
        if let Some(CheckNumber(number)) = packet.remove_shim() {
            self.checker.deliver(number);
        }
        Verdict::Continue
    }

    /// Selects the queue of a waiting packet. A packet that left a paused queue before its turn used up another's
    /// credit.
    fn hold(&mut self, header: DataHeader, comes_from_queue: bool, context: &mut Context<'_>) -> QueueId {
        if self.config.buffering != Buffering::PausedQueue {
            return self.hold_queue;
        }
        let is_repair = header.retransmitted;
        let queue = if is_repair { self.repair_queue } else { self.hold_queue };
        self.held_repairs += u64::from(is_repair);
        if comes_from_queue && !self.overflow.take_spare_credit() {
            context.queue(self.config.recirculation_port, queue).grant(1);
        }
        if !comes_from_queue {
            if is_repair {
                self.early.note(header.sequence);
            }
            self.watch_depth_by_timer(context);
        }
        self.release_held(self.ack_number.peek(0), context);
        queue
    }

    /// Lets all waiting packets out after numbers were stepped over (paused-queue buffering): each is dropped, or goes
    /// round until its turn.
    pub(super) fn let_all_out(&mut self, context: &mut Context<'_>) {
        if self.held_packets == 0 || self.config.buffering != Buffering::PausedQueue {
            return;
        }
        let held = [(self.hold_queue, self.held_packets - self.held_repairs), (self.repair_queue, self.held_repairs)];
        for (queue, packets) in held {
            context.queue(self.config.recirculation_port, queue).schedule_by_credit();
            context.queue(self.config.recirculation_port, queue).grant(packets);
        }
        self.is_draining = true;
    }

    /// Ends the draining once all are out: leftover credit would serve packets before their turn.
    fn end_drain(&mut self, context: &mut Context<'_>) {
        if self.is_draining && self.held_packets == 0 {
            for queue in [self.hold_queue, self.repair_queue] {
                context.queue(self.config.recirculation_port, queue).schedule_by_credit();
            }
            self.credited_until = self.ack_number.peek(0);
            self.is_draining = false;
        }
    }

    /// Grants credit to all packets that can leave once the number before `from` has left (paused-queue buffering).
    /// Behind an early repair no packet can leave before the repair has come round: it may still be in transit to its
    /// queue.
    pub(super) fn release_held(&mut self, from: SequenceNumber, context: &mut Context<'_>) {
        if self.config.buffering != Buffering::PausedQueue {
            return;
        }
        if from.ahead_of(self.credited_until) > 0 {
            self.credited_until = from;
        }
        if self.early.has_before(from) && !self.is_draining {
            // Their turn was stepped over after forged frames, when numbers were delivered twice or continued
            // elsewhere.
            self.let_all_out(context);
        }
        let port = self.config.recirculation_port;
        // The next packet is a repair in the separate queue: it gets the only credit, and its turn calls this function
        // again.
        if self.early.contains(from) {
            if self.early.call(from) {
                context.queue(port, self.repair_queue).grant(1);
            }
            if from == self.credited_until {
                self.credited_until = from.plus(1);
            }
            return;
        }
        // All packets up to the next missing number have arrived, so that each of them can leave in turn.
        let until = self.missing.first_awaited().unwrap_or_else(|| self.expected.peek(0));
        // An early repair in between stops the credit, because the packets behind it follow it.
        let early = self.early.first_from(self.credited_until).filter(|early| early.ahead_of(until) < 0);
        let until = early.unwrap_or(until);
        let packets = until.ahead_of(self.credited_until);
        if packets > 0 {
            // Refused packets have no place in the queue; their credit would release packets before their turn.
            let absent = self.overflow.count(self.credited_until, packets as u64);
            self.credited_until = until;
            context.queue(port, self.hold_queue).grant(packets as u64 - absent);
        }
    }
}
