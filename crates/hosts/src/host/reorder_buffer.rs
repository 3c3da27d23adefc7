//! The reorder buffer of a receiving host, below the transport: it restores the order in which packets were marked
//! (Practical Packet Deflection, section 3; Vertigo, CoNEXT 2021, section 3.3).
//!
//! A packet beyond the expected one is held until the gap is filled, or until a timeout after the arrival of the oldest
//! held packet; there is one timer per flow. A packet before the expected one is a retransmission and passes at once.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, Packet, PriorityMark, Time};

use super::payload::{Place, payload};
use super::timers::PendingTimers;
use crate::application::{Application, ReorderBufferStatistics};
use crate::application::{PriorityTagging, Rank};

/// The source of a packet's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
enum PositionBy {
    /// The mark, which decreases by the payload.
    RemainingBytes,
    /// The mark, which increases by the payload.
    AttainedService,
    /// The transport's sequence number. A rank that is no position does not define an order; hosts that use such ranks
    /// on purpose have agreed on another source.
    Transport,
}

impl PositionBy {
    fn of(tagging: PriorityTagging, application: Application) -> Self {
        let endless = matches!(application, Application::Unlimited { .. });
        match tagging.rank {
            _ if tagging.divisor.get() > 1 => Self::Transport,
            Rank::AttainedService => Self::AttainedService,
            Rank::RemainingBytes if !endless => Self::RemainingBytes,
            Rank::RemainingBytes | Rank::Fixed(_) => Self::Transport,
        }
    }
}

/// The range of a packet in its flowlet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
struct Span {
    start: u64,
    end: u64,
}

/// A packet that waits for others.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Held {
    span: Span,
    arrived_at: Time,
    packet: PacketHandle,
}

/// The fate of a packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Passes to the transport at once, alone.
    Passes,
    IsHeld,
    /// Releases packets: the transport gets [`ReorderBuffer::ready`] now.
    Releases,
    /// Duplicates a held packet; this handle, of the new packet or the held one, must be dropped.
    Duplicates(PacketHandle),
}

/// The reorder buffer of a flow.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct ReorderBuffer {
    by: PositionBy,
    timeout: Duration,
    /// Flowlet (message) of the expected packets.
    flowlet: u16,
    /// Expected position; `None` until the first packet of the flowlet has arrived or was given up.
    expected: Option<u64>,
    /// Held packets, in order of position.
    held: Vec<Held>,
    /// Packets for the transport, in order.
    pub ready: Vec<PacketHandle>,
    /// Time when the oldest held packet times out.
    deadline: Time,
    timers: PendingTimers,
    /// Highest position that has arrived.
    furthest: u64,
    statistics: ReorderBufferStatistics,
}

impl ReorderBuffer {
    /// Creates an empty buffer for a flow with these marks.
    pub fn new(timeout: Duration, tagging: PriorityTagging, application: Application) -> Self {
        Self {
            by: PositionBy::of(tagging, application),
            timeout,
            flowlet: 0,
            expected: None,
            held: Vec::new(),
            ready: Vec::new(),
            deadline: Time::NEVER,
            timers: PendingTimers::NONE,
            furthest: 0,
            statistics: ReorderBufferStatistics::default(),
        }
    }

    /// Returns the held packets, in order of position.
    pub fn held(&self) -> impl Iterator<Item = PacketHandle> + '_ {
        self.held.iter().map(|held| held.packet)
    }

    /// Returns when the oldest held packet times out; [`Time::NEVER`] if none is held.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    pub fn statistics(&self) -> ReorderBufferStatistics {
        self.statistics
    }

    /// Returns when to schedule a timer event, if one is needed.
    pub fn arm(&mut self, now: Time) -> Option<Time> {
        self.timers.arm(now, self.deadline)
    }

    /// Handles the arrival of `packet`, which is at `handle`.
    pub fn arrive(&mut self, now: Time, handle: PacketHandle, packet: &Packet) -> Arrival {
        if packet.is_trimmed() {
            // Its payload is still missing, and the transport must know at once.
            return Arrival::Passes;
        }
        let Some(mark) = packet.shims.get::<PriorityMark>() else { return Arrival::Passes };
        let Some((place, bytes)) = payload(&packet.transport) else { return Arrival::Passes };
        // Flowlet numbers wrap at 16 bits; the sign of the difference orders them.
        let ahead = mark.flowlet.wrapping_sub(self.flowlet) as i16;
        // Packets of an earlier flowlet are no longer waited for.
        if ahead < 0 {
            return Arrival::Passes;
        }
        let span = self.span(mark, place, bytes);
        if ahead > 0 {
            self.begin_flowlet(mark.flowlet);
        }
        self.statistics.packets_reordered += u64::from(span.start < self.furthest);
        self.furthest = self.furthest.max(span.end);
        let passes = mark.is_first || self.expected.is_some_and(|expected| span.start <= expected);
        if passes { self.pass(handle, span) } else { self.hold(now, handle, span) }
    }

    fn span(&self, mark: PriorityMark, place: Place, bytes: u32) -> Span {
        let (start, length) = match (self.by, place) {
            (PositionBy::RemainingBytes, _) => (u64::from(u32::MAX - mark.rank_bytes), bytes.into()),
            (PositionBy::AttainedService, _) => (mark.rank_bytes.into(), bytes.into()),
            (PositionBy::Transport, Place::Bytes(offset)) => (offset, bytes.into()),
            (PositionBy::Transport, Place::Packets(number)) => (number, 1),
        };
        Span { start, end: start + length }
    }

    /// Gives up waiting for the previous message.
    fn begin_flowlet(&mut self, flowlet: u16) {
        self.ready.extend(self.held.drain(..).map(|held| held.packet));
        self.deadline = Time::NEVER;
        self.flowlet = flowlet;
        self.expected = None;
        self.furthest = 0;
    }

    /// Passes the packet to the transport, with the held packets that follow it.
    fn pass(&mut self, handle: PacketHandle, span: Span) -> Arrival {
        let expected = self.expected.unwrap_or(span.start).max(span.end);
        self.expected = Some(expected);
        let alone = self.ready.is_empty() && self.held.first().is_none_or(|held| held.span.start > expected);
        if alone {
            return Arrival::Passes;
        }
        self.ready.push(handle);
        self.release(0);
        Arrival::Releases
    }

    fn hold(&mut self, now: Time, packet: PacketHandle, span: Span) -> Arrival {
        let place = self.held.partition_point(|held| held.span.start < span.start);
        // Two packets at the same position are copies; the longer one is kept, because segments can be cut differently.
        if let Some(held) = self.held.get_mut(place).filter(|held| held.span.start == span.start) {
            self.statistics.duplicate_packets += 1;
            let shorter = if span.end > held.span.end {
                held.span = span;
                std::mem::replace(&mut held.packet, packet)
            } else {
                packet
            };
            return Arrival::Duplicates(shorter);
        }
        self.held.insert(place, Held { span, arrived_at: now, packet });
        self.deadline = self.deadline.min(now + self.timeout);
        self.statistics.packets_held += 1;
        self.statistics.held_peak_packets = self.statistics.held_peak_packets.max(self.held.len() as u64);
        if self.ready.is_empty() { Arrival::IsHeld } else { Arrival::Releases }
    }

    /// Releases the first `given_up` held packets, and those that follow without a gap.
    fn release(&mut self, given_up: usize) {
        let mut expected = self.expected.unwrap_or(0);
        let mut count = 0;
        while let Some(held) = self.held.get(count) {
            // A gap ends the release, except within the packets given up.
            if count >= given_up && held.span.start > expected {
                break;
            }
            expected = expected.max(held.span.end);
            count += 1;
        }
        debug_assert!(self.held.is_sorted_by_key(|held| held.span.start), "packets are held out of order");
        self.expected = Some(expected);
        self.ready.extend(self.held.drain(..count).map(|held| held.packet));
        let oldest = self.held.iter().map(|held| held.arrived_at).min();
        self.deadline = oldest.map_or(Time::NEVER, |arrived_at| arrived_at + self.timeout);
    }

    /// Handles a timer event: releases overdue packets to [`Self::ready`], with those before them and those that follow
    /// without a gap.
    pub fn expire(&mut self, now: Time) {
        if !self.timers.fire(now) || now < self.deadline {
            return;
        }
        self.statistics.timeouts += 1;
        let overdue = |held: &Held| held.arrived_at + self.timeout <= now;
        let last = self.held.iter().rposition(overdue).expect("the deadline is that of a packet held");
        self.release(last + 1);
    }

    pub fn take_held(&mut self) -> impl Iterator<Item = PacketHandle> + '_ {
        self.deadline = Time::NEVER;
        self.held.drain(..).map(|held| held.packet)
    }
}

#[cfg(test)]
mod tests;
