//! Ports: the MAC with its counters, the hooks that apply, and the scheduler that queues before it.

use std::sync::Arc;

use hitless_core::wire::{BitRate, Duration, LineClock, Packet, PortId, QueueId};

use crate::explore::{Digest, State};
use crate::hook_set::PortHooks;
use crate::pause::Pauses;
use crate::queueing::{
    FifoScheduler, FlowQueueing, FlowScheduler, QueueConfig, QueueGroup, QueueOrder, QueuedScheduler,
};

/// What a MAC counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacCounters {
    /// Good frames received.
    pub frames_received_ok: u64,
    /// Frames sent.
    pub frames_sent: u64,
    /// Bytes of the good frames.
    pub bytes_received_ok: u64,
    /// Bytes of the frames sent.
    pub bytes_sent: u64,
    /// Frames received, corrupted ones included.
    pub frames_received_all: u64,
    /// Priority flow control frames received; the MAC keeps them.
    pub pause_frames_received: u64,
}

/// What a MAC counts for every frame. What is counted together is not side by side: as vectors two additions cost twice
/// as much.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
#[repr(C)]
pub(crate) struct FrameCounters {
    frames_received_ok: u64,
    frames_sent: u64,
    bytes_received_ok: u64,
    bytes_sent: u64,
}

impl FrameCounters {
    #[inline(always)]
    pub fn count_received(&mut self, frame_bytes: u32) {
        self.frames_received_ok += 1;
        self.bytes_received_ok += u64::from(frame_bytes);
    }

    #[inline(always)]
    pub fn count_sent(&mut self, frame_bytes: u32) {
        self.frames_sent += 1;
        self.bytes_sent += u64::from(frame_bytes);
    }
}

/// What the last switch wrote into a packet means nothing in this one.
#[inline(always)]
pub(crate) fn enter_switch(packet: &mut Packet, port: PortId) {
    packet.ingress_port = port;
    packet.owner = 0;
    packet.role = 0;
}

/// What a port is.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// Line rate.
    pub rate: BitRate,
    /// Bytes that each frame costs on the line beyond itself (preamble and gap on Ethernet).
    pub overhead_bytes: u32,
    /// A recirculation port: what it sends comes back to its own ingress.
    pub is_loopback: bool,
    /// The link partner is a switch.
    pub faces_switch: bool,
    /// What the environment calls the line, for [`crate::Environment::transmit_on`].
    pub line: u32,
    /// How much too fast the clock of its transmitter is, in parts per billion.
    pub clock_offset_ppb: i32,
    /// The queues, by number.
    pub queues: Vec<QueueConfig>,
    /// A group of queues, numbered after these; mechanisms ask for it.
    pub group: Option<QueueGroup>,
    /// The queue of each traffic class.
    pub class_queue: [QueueId; 8],
    /// Queueing by flow, with the limit and the threshold of the only queue.
    pub flow_queueing: Option<FlowQueueing>,
}

impl PortConfig {
    /// A port with one FIFO queue.
    pub fn fifo(rate: BitRate, overhead_bytes: u32, queue: QueueConfig) -> Self {
        Self {
            rate,
            overhead_bytes,
            is_loopback: false,
            faces_switch: false,
            line: 0,
            clock_offset_ppb: 0,
            queues: vec![queue],
            group: None,
            class_queue: [QueueId(0); 8],
            flow_queueing: None,
        }
    }
}

/// The line that a port sends on: what ports that are alike do not share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// As [`PortConfig::line`].
    pub number: u32,
    /// The clock of the port's transmitter.
    pub clock: LineClock,
}

/// Packets or bytes that count at a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub(crate) struct Backlog {
    pub packets: usize,
    pub bytes: u64,
}

impl Backlog {
    #[inline]
    pub fn add(&mut self, frame_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(frame_bytes);
    }

    #[inline]
    pub fn remove(&mut self, frame_bytes: u32) {
        debug_assert!(self.packets > 0 && self.bytes >= u64::from(frame_bytes), "more has come than was under way");
        self.packets -= 1;
        self.bytes -= u64::from(frame_bytes);
    }
}

/// Any kind of scheduler; see [`crate::queueing`]. Which it is stands beside what a FIFO scheduler needs for every
/// packet.
#[derive(Debug)]
#[repr(u8)]
pub(crate) enum Scheduler {
    Fifo(FifoScheduler),
    Queued(Box<QueuedScheduler>),
    Flow(Box<FlowScheduler>),
}

hitless_core::state!(
    enum Scheduler {
        Fifo(fifo),
        Queued(queued),
        Flow(flow),
    }
);

impl Scheduler {
    /// The simplest scheduler that a port of this kind can have.
    pub fn new(config: &PortConfig, hooks: PortHooks, buffer_is_shared: bool) -> Self {
        if let Some(flow_queueing) = config.flow_queueing {
            assert!(
                config.queues.len() == 1 && config.group.is_none(),
                "a port that queues by flow has no room for queues of mechanisms"
            );
            assert!(!config.queues[0].marks_at_dequeue(), "a port that queues by flow marks at enqueue");
            let queue = &config.queues[0];
            let scheduler =
                FlowScheduler::new(flow_queueing, queue.limit, queue.ecn, config.rate, config.overhead_bytes);
            return Scheduler::Flow(Box::new(scheduler));
        }
        let is_fifo =
            config.queues.len() == 1 && config.group.is_none() && config.queues[0].order == QueueOrder::ByArrival;
        let is_fifo = is_fifo && !config.queues[0].marks_at_dequeue();
        let is_plain = is_fifo && !hooks.acts_after_queueing() && !buffer_is_shared;
        if is_plain {
            Scheduler::Fifo(FifoScheduler::new(&config.queues[0]))
        } else {
            Scheduler::Queued(Box::new(QueuedScheduler::new(&config.queues, config.group)))
        }
    }
}

/// What most ports never need.
#[derive(Debug, Default, hitless_core::state::Value)]
pub(crate) struct Rare {
    /// By queue: packets that an event will bring there.
    underway: Vec<Backlog>,
    pub pauses: Pauses,
    pub frames_corrupted: u64,
    pub pause_frames: u64,
}

/// A port. What every packet needs fills two cache lines, of which the one that it leaves by needs both.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// No hook looks at a packet that enters here before it is queued.
    pub enters_fast_path: bool,
    /// A packet routed here may go to the FIFO scheduler, and from there to the line, without another look.
    pub leaves_on_fast_path: bool,
    /// A packet that leaves ingress is queued without an event between.
    pub queues_at_once: bool,
    overhead_bytes: u32,
    /// As [`PortConfig::line`].
    pub line: u32,
    clock: LineClock,
    pub frames: FrameCounters,
    /// Shared between the ports of a switch that are alike; it names no line and has no offset.
    pub config: Arc<PortConfig>,
    pub scheduler: Scheduler,
    pub hooks: PortHooks,
    rare: Option<Box<Rare>>,
}

hitless_core::state!(Port {
    values: frames, rare;
    parts: scheduler;
    configured: enters_fast_path, leaves_on_fast_path, queues_at_once, overhead_bytes, line, clock, hooks, config
});

impl Port {
    /// A port on `line` whose scheduler is reached by packets that are told of it as soon as they are routed, if
    /// `is_told_at_once`.
    pub fn new(
        config: Arc<PortConfig>,
        Line { number: line, clock }: Line,
        hooks: PortHooks,
        scheduler: Scheduler,
        is_told_at_once: bool,
    ) -> Self {
        let is_line = matches!(scheduler, Scheduler::Fifo(_)) && !config.is_loopback;
        Self {
            enters_fast_path: hooks.rx | hooks.ingress_from == 0,
            leaves_on_fast_path: is_line && is_told_at_once && hooks.ingress_towards == 0,
            queues_at_once: false,
            overhead_bytes: config.overhead_bytes,
            line,
            clock,
            frames: FrameCounters::default(),
            scheduler,
            hooks,
            config,
            rare: None,
        }
    }

    /// How many queues there are, those of a group included.
    pub fn queue_count(&self) -> usize {
        self.config.queues.len() + self.config.group.map_or(0, |group| usize::from(group.queues))
    }

    /// What is kept apart, from now on in any case.
    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// What the MAC has counted.
    pub fn mac(&self) -> MacCounters {
        let FrameCounters { frames_received_ok, bytes_received_ok, frames_sent, bytes_sent } = self.frames;
        let rare = self.rare.as_ref().map(|rare| (rare.frames_corrupted, rare.pause_frames));
        let (frames_corrupted, pause_frames_received) = rare.unwrap_or_default();
        MacCounters {
            frames_received_ok,
            frames_sent,
            bytes_received_ok,
            bytes_sent,
            frames_received_all: frames_received_ok + frames_corrupted,
            pause_frames_received,
        }
    }

    /// What events will bring to a queue.
    #[inline]
    pub fn underway(&self, queue: QueueId) -> Backlog {
        let all = self.rare.as_ref().map_or(&[][..], |rare| &rare.underway);
        all.get(usize::from(queue.0)).copied().unwrap_or_default()
    }

    /// The same, to be changed.
    #[inline]
    pub fn underway_mut(&mut self, queue: QueueId) -> &mut Backlog {
        if self.rare.as_ref().is_none_or(|rare| rare.underway.is_empty()) {
            let queues = self.queue_count();
            self.rare().underway = vec![Backlog::default(); queues];
        }
        &mut self.rare().underway[usize::from(queue.0)]
    }

    /// Whether events will bring anything to the group of queues.
    pub fn group_is_underway(&self) -> bool {
        let of_queues = self.rare.as_ref().map_or(&[][..], |rare| &rare.underway);
        of_queues.iter().skip(self.config.queues.len()).any(|backlog| backlog.packets > 0)
    }

    /// How long a pause of so many quanta lasts: 512 bit times each (IEEE 802.3, annex 31B.2).
    pub fn pause_time(&self, quanta: u16) -> Duration {
        self.config.rate.time_for(u64::from(quanta) * 64)
    }

    #[inline(always)]
    pub fn transmission_time(&self, frame_bytes: u32) -> Duration {
        self.clock.time_for(frame_bytes + self.overhead_bytes)
    }
}

impl State for Port {
    /// # Panics
    /// When it queues by flow, which nobody explores yet.
    fn tell(&self, digest: &mut Digest<'_>) {
        match &self.scheduler {
            Scheduler::Fifo(scheduler) => scheduler.tell(digest),
            Scheduler::Queued(scheduler) => scheduler.tell(digest),
            Scheduler::Flow(_) => panic!("queueing by flow does not tell its state"),
        }
        let Some(rare) = &self.rare else { return };
        let underway = rare.underway.iter().enumerate().filter(|(_, backlog)| backlog.packets > 0);
        underway.for_each(|queue| digest.value(queue));
        rare.pauses.tell(digest);
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    #[test]
    fn a_port_is_three_cache_lines_of_which_a_packet_needs_two() {
        assert_eq!((size_of::<Port>(), offset_of!(Port, scheduler)), (192, 64));
        assert!(size_of::<Scheduler>() <= 96);
    }
}
