//! The queues of a card with flow control, by traffic class: it obeys pause frames (IEEE 802.1Qbb), or sends within its
//! credits. A frame's departure is known only when it leaves its queue.
//!
//! Without a pause, frames leave in the order of their arrival over all classes, as from a card without these queues.

use std::collections::VecDeque;

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, FlowId, Pauses, Time};

use super::card_credits::CardCredits;
use super::config::CardFlowControl;
use super::network_card::{NetworkCardConfig, QueueCapacity};

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Waiting {
    /// Position among the frames of all classes.
    number: u64,
    pub queued_at: Time,
    pub packet: PacketHandle,
    pub frame_bytes: u32,
}

#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct ClassQueue {
    frames: VecDeque<Waiting>,
    /// Bytes of the frames, with their overhead on the wire.
    wire_bytes: u64,
    /// Time until which the frames that transports have sent into a stack with a delay fill the line.
    committed_until: Time,
    pub is_paused: bool,
    /// Flows with a sender held back by this queue, in the order of their turns.
    flows: VecDeque<FlowId>,
}

/// The queues of a card, by class.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct ClassQueues {
    pub(super) queues: [ClassQueue; 8],
    pub(super) pauses: Pauses,
    pub(super) is_sending: bool,
    next_number: u64,
    wire_bytes: u64,
    packets: usize,
    packets_max: usize,
    wire_bytes_max: u64,
    /// Length of the longest frame so far.
    largest_wire_bytes: u64,
    backlog_limit_bytes: u64,
    backlog_limit: Duration,
    /// Class that is asked first for the next turn.
    next_class: usize,
    overhead_bytes: u32,
    /// Time from the arrival of a pause frame until the class stops.
    pub(super) response: Duration,
    pub(super) credits: Option<CardCredits>,
}

impl ClassQueues {
    /// Creates empty queues with the capacity of `config`, shared by the classes. Each class holds its senders back at
    /// the backlog of `config`.
    pub fn new(config: &NetworkCardConfig, control: Option<CardFlowControl>) -> Self {
        let (response, credits) = match control {
            None => (Duration::ZERO, None),
            Some(CardFlowControl::Pauses(response)) => (response, None),
            Some(CardFlowControl::Credits(config)) => (Duration::ZERO, Some(CardCredits::new(config))),
        };
        let (packets_max, wire_bytes_max) = match config.capacity {
            QueueCapacity::Unlimited => (usize::MAX, u64::MAX),
            QueueCapacity::Packets(packets) => (packets as usize, u64::MAX),
            QueueCapacity::Bytes(bytes) => (usize::MAX, bytes.0),
        };
        Self {
            queues: Default::default(),
            pauses: Pauses::default(),
            is_sending: false,
            next_number: 0,
            wire_bytes: 0,
            packets: 0,
            packets_max,
            wire_bytes_max,
            largest_wire_bytes: 0,
            backlog_limit_bytes: config.backlog_limit_bytes(),
            backlog_limit: config.rate.time_for(config.backlog_limit_bytes()),
            next_class: 0,
            overhead_bytes: config.wire_overhead_bytes,
            response,
            credits,
        }
    }

    /// Notes that a transport has sent a frame into a stack with a delay.
    pub(super) fn commit(&mut self, now: Time, class: u8, serialisation: Duration) {
        let queue = &mut self.queues[usize::from(class & 7)];
        queue.committed_until = queue.committed_until.max(now) + serialisation;
    }

    /// Queues a frame; returns false without room.
    pub(super) fn push(&mut self, now: Time, class: u8, packet: PacketHandle, frame_bytes: u32) -> bool {
        let wire_bytes = u64::from(frame_bytes + self.overhead_bytes);
        self.largest_wire_bytes = self.largest_wire_bytes.max(wire_bytes);
        let packets = self.packets + usize::from(self.is_sending);
        if packets >= self.packets_max || self.wire_bytes + wire_bytes > self.wire_bytes_max {
            return false;
        }
        let queue = &mut self.queues[usize::from(class & 7)];
        queue.frames.push_back(Waiting { number: self.next_number, queued_at: now, packet, frame_bytes });
        queue.wire_bytes += wire_bytes;
        self.next_number += 1;
        self.packets += 1;
        self.wire_bytes += wire_bytes;
        true
    }

    /// Takes the frame of a class that may send which has waited longest.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let first = |&class: &u8| self.first(class).map(|frame| frame.number);
        let ready = (0..8).filter(|&class| self.first(class).is_some() && !self.is_stopped(class));
        let class = ready.min_by_key(first)?;
        let queue = &mut self.queues[usize::from(class)];
        let frame = queue.frames.pop_front()?;
        if let Some(credits) = &mut self.credits {
            credits.spend(class, frame.frame_bytes);
        }
        let wire_bytes = u64::from(frame.frame_bytes + self.overhead_bytes);
        queue.wire_bytes -= wire_bytes;
        self.wire_bytes -= wire_bytes;
        self.packets -= 1;
        Some(frame)
    }

    fn has_place(&self) -> bool {
        // The frame on the line takes a place too.
        let has_bytes = self.packets == 0 || self.wire_bytes + self.largest_wire_bytes <= self.wire_bytes_max;
        self.packets + usize::from(self.is_sending) < self.packets_max && has_bytes
    }

    fn has_room(&self, now: Time, queue: &ClassQueue) -> bool {
        let is_committed = queue.committed_until.saturating_since(now) >= self.backlog_limit;
        queue.wire_bytes < self.backlog_limit_bytes && !is_committed && self.has_place()
    }

    /// Returns whether a flow of `class` that does not wait may send.
    pub fn may_send(&self, now: Time, class: u8) -> bool {
        let queue = &self.queues[usize::from(class & 7)];
        queue.flows.is_empty() && self.has_room(now, queue)
    }

    /// Puts a flow of `class` into the line for the card.
    pub fn hold_back(&mut self, class: u8, flow: FlowId) {
        self.queues[usize::from(class & 7)].flows.push_back(flow);
    }

    /// Returns the frame of `class` that leaves next.
    pub fn first(&self, class: u8) -> Option<&Waiting> {
        self.queues[usize::from(class & 7)].frames.front()
    }

    /// Returns whether the first frame of `class` lacks credits.
    fn lacks_credit(&self, class: u8) -> bool {
        let lacks =
            |credits: &CardCredits| self.first(class).is_some_and(|frame| !credits.allows(class, frame.frame_bytes));
        self.credits.as_ref().is_some_and(lacks)
    }

    /// Notes the start or the end of a wait for credit, after a change of the first frame of `class` or of its credits;
    /// returns whether it waits now, or `None` without a change.
    pub fn note_credit(&mut self, now: Time, class: u8) -> Option<bool> {
        let class = class & 7;
        // A card that obeys pause frames notes its pauses elsewhere.
        self.credits.as_ref()?;
        let waits = self.lacks_credit(class);
        match (waits, self.pauses.began_at(class)) {
            (true, None) => self.pauses.note_paused(class, now),
            (false, Some(_)) => self.pauses.note_resumed(class, now),
            _ => return None,
        }
        Some(waits)
    }

    /// Returns whether the link partner stops `class`: by a pause, or because its first frame lacks credits.
    fn is_stopped(&self, class: u8) -> bool {
        self.queues[usize::from(class & 7)].is_paused || self.lacks_credit(class)
    }

    /// Returns since when the link partner has stopped `class`; `None` if it has not.
    pub fn stopped_since(&self, class: u8) -> Option<Time> {
        self.pauses.began_at(class & 7).filter(|_| self.is_stopped(class))
    }

    /// Returns the packets of stopped classes.
    pub fn stopped_packets(&self) -> impl Iterator<Item = PacketHandle> + '_ {
        let stopped = (0..8).filter(|&class| self.is_stopped(class));
        stopped.flat_map(|class| self.queues[usize::from(class)].frames.iter().map(|frame| frame.packet))
    }

    /// Returns the number of flows in the lines of all classes.
    pub fn flows_in_line(&self) -> usize {
        self.queues.iter().map(|queue| queue.flows.len()).sum()
    }

    /// Returns whether a class with waiting flows has drained to half of its limit.
    pub fn has_drained(&self, now: Time) -> bool {
        let mut queues = self.queues.iter().filter(|queue| !queue.flows.is_empty());
        queues.any(|queue| queue.wire_bytes * 2 <= self.backlog_limit_bytes && self.has_room(now, queue))
    }

    /// Returns when a class with waiting flows will have drained the frames in the stack to half of its limit, if the
    /// flows wait for these frames.
    pub fn stack_drained_at(&self, now: Time) -> Option<Time> {
        let waiting = self.queues.iter().filter(|queue| !queue.flows.is_empty());
        let stack = waiting.filter(|queue| queue.committed_until.saturating_since(now) >= self.backlog_limit);
        stack.map(|queue| Time(queue.committed_until.0 - self.backlog_limit.0 / 2)).min()
    }

    /// Returns the next flow in turn of a class with room. The classes take turns, because they share the places.
    pub fn next_turn(&mut self, now: Time) -> Option<FlowId> {
        let has_turn = |&class: &usize| {
            let queue = &self.queues[class];
            !queue.flows.is_empty() && self.has_room(now, queue)
        };
        let class = (0..8).map(|offset| (self.next_class + offset) % 8).find(has_turn)?;
        self.next_class = (class + 1) % 8;
        self.queues[class].flows.pop_front()
    }
}
