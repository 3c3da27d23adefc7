//! A card that obeys pause frames (IEEE 802.1Qbb): a queue for each traffic class, instead of one queue in which the
//! departure of a frame is known at once.
//!
//! Without a pause, frames leave in the order of their arrival over all classes, as from a card without these queues.

use std::collections::VecDeque;

use hitless_core::engine::PacketHandle;
use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::{Duration, FlowId, PauseEnd, Pauses, Time};

use super::environment::{HostDrop, HostEnvironment};
use super::event::HostEvent;
use super::network_card::{NetworkCardConfig, QueueCapacity};
use super::state::HostState;

/// A frame that waits.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Waiting {
    /// Position among the frames of all classes.
    number: u64,
    queued_at: Time,
    packet: PacketHandle,
    frame_bytes: u32,
}

#[derive(Clone, Debug, Default, hitless_core::state::Value)]
struct ClassQueue {
    frames: VecDeque<Waiting>,
    /// Bytes of the frames, with their overhead on the wire.
    wire_bytes: u64,
    is_paused: bool,
    /// Flows with a sender held back by this queue, in the order of their turns.
    flows: VecDeque<FlowId>,
}

/// The queues of a card, by class.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct ClassQueues {
    queues: [ClassQueue; 8],
    pauses: Pauses,
    /// Whether a frame is on the line.
    is_sending: bool,
    next_number: u64,
    wire_bytes: u64,
    packets: usize,
    packets_max: usize,
    wire_bytes_max: u64,
    backlog_limit_bytes: u64,
    overhead_bytes: u32,
    /// Time from the arrival of a pause frame until the class stops.
    response: Duration,
}

impl ClassQueues {
    /// Creates empty queues with the capacity of `config`, shared by the classes. Each class holds its senders back at
    /// the backlog of `config`.
    pub fn new(config: &NetworkCardConfig, response: Duration) -> Self {
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
            backlog_limit_bytes: config.backlog_limit.0.max(1),
            overhead_bytes: config.wire_overhead_bytes,
            response,
        }
    }

    /// Queues a frame; returns false without room.
    fn push(&mut self, now: Time, class: u8, packet: PacketHandle, frame_bytes: u32) -> bool {
        let wire_bytes = u64::from(frame_bytes + self.overhead_bytes);
        // The frame on the line takes a place too.
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
    fn pop(&mut self) -> Option<Waiting> {
        let ready = self.queues.iter_mut().filter(|queue| !queue.is_paused && !queue.frames.is_empty());
        let queue = ready.min_by_key(|queue| queue.frames.front().map(|frame| frame.number))?;
        let frame = queue.frames.pop_front()?;
        let wire_bytes = u64::from(frame.frame_bytes + self.overhead_bytes);
        queue.wire_bytes -= wire_bytes;
        self.wire_bytes -= wire_bytes;
        self.packets -= 1;
        Some(frame)
    }

    /// Puts a flow of `class` into the line for the card.
    pub fn hold_back(&mut self, class: u8, flow: FlowId) {
        self.queues[usize::from(class & 7)].flows.push_back(flow);
    }

    /// Returns whether a class with waiting flows has drained to half of its limit.
    pub fn has_drained(&self) -> bool {
        let mut queues = self.queues.iter().filter(|queue| !queue.flows.is_empty());
        queues.any(|queue| queue.wire_bytes * 2 <= self.backlog_limit_bytes)
    }

    /// Returns the next flow in turn of a class with room.
    pub fn next_turn(&mut self) -> Option<FlowId> {
        let limit_bytes = self.backlog_limit_bytes;
        let mut queues = self.queues.iter_mut().filter(|queue| queue.wire_bytes < limit_bytes);
        queues.find_map(|queue| queue.flows.pop_front())
    }
}

impl HostState {
    /// The queues of a card that obeys pause frames.
    fn queues(&mut self) -> &mut ClassQueues {
        self.class_queues.as_mut().expect("only a card with a queue for each class gets here")
    }

    /// Queues a packet from the stack by its class, or drops it.
    pub fn queue_by_class<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, env: &mut E) {
        let descriptor = &env.packets()[packet];
        let (class, frame_bytes) = (descriptor.class, descriptor.frame_bytes);
        if self.queues().push(now, class, packet, frame_bytes) {
            self.send_next(now, false, env);
        } else {
            self.drop(packet, env);
        }
    }

    /// Handles the end of a frame on the line.
    pub fn frame_sent<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        self.queues().is_sending = false;
        self.send_next(now, true, env);
    }

    /// Sends the next frame if the line is free; `follows` means that another has just left.
    fn send_next<E: HostEnvironment>(&mut self, now: Time, follows: bool, env: &mut E) {
        let queues = self.queues();
        if queues.is_sending {
            return;
        }
        let Some(frame) = queues.pop() else { return };
        queues.is_sending = true;
        let last_bit_at = self.card.send_queued(now, frame.queued_at, frame.frame_bytes, follows);
        env.transmit(self.id, frame.packet, last_bit_at);
        env.schedule(self.card.line_free_at(), self.id, HostEvent::FrameSent(self.id));
    }

    /// Takes a pause frame of the switch; it has no effect on a card that does not obey them.
    pub fn obey_pause<E: HostEnvironment>(&mut self, now: Time, frame: PauseFrame, env: &mut E) {
        let (id, pause_time) = (self.id, self.card.rate().time_for(u64::from(frame.quanta) * 64));
        let Some(queues) = &mut self.class_queues else { return };
        let class = frame.class & 7;
        if frame.is_resume() {
            queues.pauses.take_back(class);
            return self.resume_class(now, class, env);
        }
        let (begins_at, ends_at) = (now + queues.response, now + pause_time);
        if queues.pauses.is_active(now, 1 << class) {
            return self.pause_class(now, class, ends_at, env);
        }
        if queues.pauses.announce(class, begins_at, ends_at) {
            env.schedule(begins_at, id, HostEvent::PauseBegins(id, class));
        }
    }

    /// Starts a pause after the response time of the card.
    pub fn begin_pause<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        if let Some(ends_at) = self.queues().pauses.take_announced(class, now) {
            self.pause_class(now, class, ends_at, env);
        }
    }

    fn pause_class<E: HostEnvironment>(&mut self, now: Time, class: u8, ends_at: Time, env: &mut E) {
        let queues = self.queues();
        queues.queues[usize::from(class)].is_paused = true;
        if queues.pauses.begin(class, now, ends_at) {
            env.schedule(ends_at, self.id, HostEvent::PauseEnds(self.id, class));
        }
    }

    fn resume_class<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        let queues = self.queues();
        queues.pauses.note_resumed(class, now);
        queues.queues[usize::from(class)].is_paused = false;
        self.send_next(now, false, env);
    }

    /// Ends a pause at its time, because a resume frame can be lost.
    pub fn end_pause<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        match self.queues().pauses.look(class, now) {
            PauseEnd::Over => self.resume_class(now, class, env),
            PauseEnd::Later(at) => env.schedule(at, self.id, HostEvent::PauseEnds(self.id, class)),
            PauseEnd::Nothing => {}
        }
    }

    /// Takes a packet from the link that is addressed to no transport of this host; returns whether it was a pause
    /// frame.
    pub fn take_pause_frame<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, env: &mut E) -> bool {
        let Some(frame) = env.packets()[packet].shims.get::<PauseFrame>() else { return false };
        self.obey_pause(now, frame, env);
        env.drop_packet(self.id, packet, HostDrop::PauseFrame);
        true
    }
}
