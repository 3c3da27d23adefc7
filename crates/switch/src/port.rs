//! Ports: the MAC with its counters, the subscribed hooks, and the scheduler with its queues.

use std::sync::Arc;

use hitless_core::wire::{
    BitRate, Duration, LineClock, LineTiming, Packet, Pauses, PortId, QueueId, SenderCredits, Time,
};

use crate::explore::{Digest, State};
use crate::flow_control::{FlowControl, FlowControlCounters, PortCredits, PriorityGroup};
use crate::hook_set::PortHooks;
use crate::queueing::{
    FifoScheduler, FlowQueueing, FlowScheduler, QueueConfig, QueueGroup, QueueLimit, QueueOrder, QueuedScheduler,
};

/// The counters of a MAC.
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
    /// Priority flow control frames received; the MAC consumes them.
    pub pause_frames_received: u64,
}

/// Counters that change with every frame. Fields counted together are not adjacent: the compiler would combine two
/// additions into one vector addition, which costs twice as much.
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

/// Clears the fields that the previous switch wrote into the packet.
#[inline(always)]
pub(crate) fn enter_switch(packet: &mut Packet, port: PortId) {
    packet.ingress_port = port;
    packet.owner = 0;
    packet.role = 0;
}

/// A port's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct PortConfig {
    /// Line rate.
    pub rate: BitRate,
    /// Overhead of each frame on the line in bytes (preamble and gap on Ethernet).
    pub overhead_bytes: u32,
    /// Whether this is a recirculation port: packets that it sends return to its ingress.
    pub is_loopback: bool,
    /// Whether the link partner is a switch.
    pub faces_switch: bool,
    /// The environment's number for the line, for [`crate::Environment::transmit_on`].
    pub line: u32,
    /// Whether rate or delay of the line change during the run.
    pub line_changes: bool,
    /// Deviation of the transmitter's clock in parts per billion; positive is too fast.
    pub clock_offset_ppb: i32,
    /// The queues, by number.
    pub queues: Vec<QueueConfig>,
    /// A group of queues, numbered after `queues`; requested by a mechanism.
    pub group: Option<QueueGroup>,
    /// The queue of each traffic class.
    pub class_queue: [QueueId; 8],
    /// Queueing by flow, with the limit and the threshold of the only queue.
    pub flow_queueing: Option<FlowQueueing>,
    /// Flow control of lossless classes.
    pub flow_control: Option<FlowControl>,
}

impl PortConfig {
    /// Creates a port with one FIFO queue.
    pub fn fifo(rate: BitRate, overhead_bytes: u32, queue: QueueConfig) -> Self {
        Self {
            rate,
            overhead_bytes,
            is_loopback: false,
            faces_switch: false,
            line: 0,
            line_changes: false,
            clock_offset_ppb: 0,
            queues: vec![queue],
            group: None,
            class_queue: [QueueId(0); 8],
            flow_queueing: None,
            flow_control: None,
        }
    }
}

impl PortConfig {
    /// Lifts the limits of the queues of lossless classes: priority groups limit them.
    pub fn with_lossless_queues(mut self) -> Self {
        let classes = self.flow_control.map_or(0, |control| control.classes);
        for class in (0..8).filter(|class| classes >> class & 1 == 1) {
            self.queues[usize::from(self.class_queue[class].0)].limit = QueueLimit::Unlimited;
        }
        self
    }
}

/// The line of a port: the part of the configuration that similar ports do not share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub number: u32,
    /// The clock of the port's transmitter.
    pub clock: LineClock,
}

/// Packets and bytes counted at a queue.
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

/// Any scheduler; see [`crate::queueing`]. The discriminant is adjacent to the fields that a FIFO scheduler needs for
/// every packet.
#[derive(Debug, hitless_core::state::State)]
#[repr(u8)]
pub(crate) enum Scheduler {
    Fifo(FifoScheduler),
    Queued(Box<QueuedScheduler>),
    Flow(Box<FlowScheduler>),
}

impl Scheduler {
    /// Creates the simplest scheduler that meets the port's configuration.
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
        // A FIFO scheduler computes departures on arrival, so nothing may change the order, the timing or the admission
        // of a packet afterwards.
        let is_fifo =
            config.queues.len() == 1 && config.group.is_none() && config.queues[0].order == QueueOrder::ByArrival;
        let is_fifo = is_fifo && !config.queues[0].marks_at_dequeue() && !config.line_changes;
        let is_plain = is_fifo && !hooks.acts_after_queueing() && !buffer_is_shared && config.flow_control.is_none();
        if is_plain {
            Scheduler::Fifo(FifoScheduler::new(&config.queues[0]))
        } else {
            let mut scheduler = QueuedScheduler::new(&config.queues, config.group);
            if let Some(control) = config.flow_control {
                scheduler.hold_lossless(control.credits().is_some());
            }
            Scheduler::Queued(Box::new(scheduler))
        }
    }
}

/// The way of a packet from ingress into its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queueing {
    /// By an event, after the ingress latency.
    ByEvent,
    /// At once if that event would be the next one; the ingress latency is zero.
    AtOnceIfNext,
    /// At once.
    AtOnce,
}

/// State that most ports never need.
#[derive(Debug, Default, hitless_core::state::Value)]
pub(crate) struct Rare {
    /// Packets that an event will bring to a queue, by queue.
    underway: Vec<Backlog>,
    pub pauses: Pauses,
    pub frames_corrupted: u64,
    pub pause_frames: u64,
    pub pause_frames_sent: u64,
    /// The port's priority groups, by class; empty until the first lossless packet.
    groups: Vec<PriorityGroup>,
    /// The credits at the partner, by class; empty until the first lossless packet.
    senders: Vec<SenderCredits>,
    /// By class, during a storm: the time of the last pause frame that was ignored; with credits, its start.
    pub storms: [Option<Time>; 8],
    /// Number of pauses, or of waits for credit, that the watchdog has ended.
    pub storms_seen: u64,
}

impl Rare {
    /// Returns the priority group of a class.
    pub fn group(&mut self, class: u8) -> &mut PriorityGroup {
        if self.groups.is_empty() {
            self.groups = vec![PriorityGroup::default(); 8];
        }
        &mut self.groups[usize::from(class & 7)]
    }

    /// Returns the credits of a class at the partner.
    pub fn sender(&mut self, class: u8) -> &mut SenderCredits {
        if self.senders.is_empty() {
            self.senders = vec![SenderCredits::default(); 8];
        }
        &mut self.senders[usize::from(class & 7)]
    }
}

/// A port. The fields that every packet needs fill two cache lines; the egress port needs both, the ingress port only
/// the first.
#[derive(Debug, hitless_core::state::State)]
#[repr(C, align(64))]
pub(crate) struct Port {
    /// No hook sees a packet that enters here before it is queued.
    #[configured]
    pub enters_fast_path: bool,
    /// A packet routed here can go to the FIFO scheduler, and from there to the line, without further checks.
    #[configured]
    pub leaves_on_fast_path: bool,
    /// The way of packets that leave ingress.
    #[configured]
    pub queueing: Queueing,
    #[configured]
    overhead_bytes: u32,
    /// As [`PortConfig::line`].
    #[configured]
    pub line: u32,
    #[configured]
    clock: LineClock,
    pub frames: FrameCounters,
    /// Shared between similar ports of a switch; its line is unset and its clock offset is zero.
    #[configured]
    pub config: Arc<PortConfig>,
    #[part]
    pub scheduler: Scheduler,
    #[configured]
    pub hooks: PortHooks,
    rare: Option<Box<Rare>>,
}

impl Port {
    /// Creates a port on `line`. `is_told_at_once` means that the scheduler is told about a packet as soon as the
    /// packet is routed.
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
            queueing: Queueing::ByEvent,
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

    /// Returns the parameters of credit of a packet; `None` if it needs none.
    pub fn credits_of(&self, packet: &Packet) -> Option<PortCredits> {
        let control = self.config.flow_control?;
        control.credits().filter(|_| packet.owner == 0 && control.is_lossless(packet.class))
    }

    /// Counts the credits of a frame at its arrival, so that a count of consumed credits that arrives next covers it.
    #[cold]
    #[inline(never)]
    pub fn count_credits(&mut self, packet: &Packet) {
        if let Some(PortCredits { rules, .. }) = self.credits_of(packet) {
            self.rare().group(packet.class).credits.admit(rules.credits(packet.frame_bytes));
        }
    }

    /// Returns the number of queues, including a group's.
    pub fn queue_count(&self) -> usize {
        self.config.queues.len() + self.config.group.map_or(0, |group| usize::from(group.queues))
    }

    /// Returns the rarely needed state, allocating it if necessary.
    pub fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the MAC's counters.
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

    /// Returns whether `class` ignores pause frames.
    pub fn is_in_storm(&self, class: u8) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.storms[usize::from(class & 7)].is_some())
    }

    /// Returns the priority groups by class; empty before the first lossless packet.
    pub fn groups(&self) -> &[PriorityGroup] {
        self.rare.as_ref().map_or(&[], |rare| &rare.groups)
    }

    /// Returns whether the partner pauses a class of `queue`. A queue that belongs to no class holds packets of all.
    pub fn is_paused_by_partner(&self, queue: QueueId) -> bool {
        let is_mixed = !self.config.class_queue.contains(&queue);
        let is_paused = |class: u8| self.paused_since(class).is_some();
        (0..8).zip(self.config.class_queue).any(|(class, of_class)| (is_mixed || of_class == queue) && is_paused(class))
    }

    /// Returns the classes of its queues that the partner has paused, one bit each.
    pub fn paused_classes(&self) -> u8 {
        let Scheduler::Queued(scheduler) = &self.scheduler else { return 0 };
        let is_paused = |class: &u8| scheduler.is_paused(self.config.class_queue[usize::from(*class)]);
        (0..8).filter(is_paused).fold(0, |classes, class| classes | 1 << class)
    }

    /// Returns since when the partner has paused `class`; `None` if it has not.
    pub fn paused_since(&self, class: u8) -> Option<Time> {
        self.rare.as_ref().and_then(|rare| rare.pauses.began_at(class))
    }

    /// Returns the counters of flow control.
    pub fn flow_control(&self, now: Time) -> FlowControlCounters {
        let Some(rare) = &self.rare else { return FlowControlCounters::default() };
        FlowControlCounters {
            pause_frames_sent: rare.pause_frames_sent,
            paused: rare.pauses.paused_time(now),
            headroom_peak_bytes: rare.groups.iter().map(|group| group.headroom_peak_bytes).max().unwrap_or(0),
            lossless_drops: rare.groups.iter().map(|group| group.drops).sum(),
            storms: rare.storms_seen,
        }
    }

    /// Returns the backlog that events will bring to a queue.
    #[inline]
    pub fn underway(&self, queue: QueueId) -> Backlog {
        let all = self.rare.as_ref().map_or(&[][..], |rare| &rare.underway);
        all.get(usize::from(queue.0)).copied().unwrap_or_default()
    }

    /// Like [`Self::underway`], for changes.
    #[inline]
    pub fn underway_mut(&mut self, queue: QueueId) -> &mut Backlog {
        // Allocated on first use, because most ports never have packets under way.
        if self.rare.as_ref().is_none_or(|rare| rare.underway.is_empty()) {
            let queues = self.queue_count();
            self.rare().underway = vec![Backlog::default(); queues];
        }
        &mut self.rare().underway[usize::from(queue.0)]
    }

    /// Returns whether events will bring packets to the group of queues.
    pub fn group_is_underway(&self) -> bool {
        let of_queues = self.rare.as_ref().map_or(&[][..], |rare| &rare.underway);
        of_queues.iter().skip(self.config.queues.len()).any(|backlog| backlog.packets > 0)
    }

    /// Returns the duration of a pause of this many quanta of 512 bit times each (IEEE 802.3, annex 31B.2).
    pub fn pause_time(&self, quanta: u16) -> Duration {
        // 512 bit times are the line time of 64 bytes.
        self.config.rate.time_for(u64::from(quanta) * 64)
    }

    /// Changes the rate of the line; a frame in transmission ends at the old rate.
    pub fn set_rate(&mut self, rate: BitRate, clock: LineClock) {
        assert!(self.config.line_changes, "the rate of a line changes that was built for a constant one");
        Arc::make_mut(&mut self.config).rate = rate;
        self.clock = clock;
    }

    /// Keeps the line idle for `longer` after its last frame.
    pub fn hold_line(&mut self, longer: Duration) {
        assert!(self.config.line_changes, "a line is held that was built for a constant delay");
        let busy_until = match &mut self.scheduler {
            Scheduler::Queued(scheduler) => &mut scheduler.busy_until,
            Scheduler::Flow(scheduler) => &mut scheduler.busy_until,
            Scheduler::Fifo(_) => unreachable!("a FIFO scheduler has a constant line"),
        };
        // Zero before the first frame.
        if *busy_until > Time::ZERO {
            *busy_until += longer;
        }
    }

    /// Returns the timing of frames on the line.
    pub fn line_timing(&self) -> LineTiming {
        LineTiming { clock: self.clock, overhead_bytes: self.overhead_bytes }
    }

    /// Returns the time of this many bytes on the line, overhead included.
    pub fn line_time(&self, line_bytes: u32) -> Duration {
        self.clock.time_for(line_bytes)
    }

    #[inline(always)]
    pub fn transmission_time(&self, frame_bytes: u32) -> Duration {
        self.clock.time_for(frame_bytes + self.overhead_bytes)
    }
}

impl State for Port {
    /// # Panics
    /// If it queues by flow: no exploring test needs that yet.
    fn tell(&self, digest: &mut Digest<'_>) {
        match &self.scheduler {
            Scheduler::Fifo(scheduler) => scheduler.tell(digest),
            Scheduler::Queued(scheduler) => scheduler.tell(digest),
            Scheduler::Flow(_) => panic!("queueing by flow does not tell its state"),
        }
        let Some(rare) = &self.rare else { return };
        let underway = rare.underway.iter().enumerate().filter(|(_, backlog)| backlog.packets > 0);
        underway.for_each(|queue| digest.value(queue));
        for (looks_at, ends_at) in rare.pauses.events() {
            digest.deadline(looks_at);
            // A time without an event is meaningless.
            if looks_at != Time::NEVER {
                digest.deadline(ends_at);
            }
        }
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

    /// A mechanism that paused queue 0 would count as the partner, because class 1 is paused.
    #[test]
    fn the_partner_pauses_the_queues_of_its_paused_classes_only() {
        let queue = QueueConfig::normal(QueueLimit::Unlimited);
        let mut config = PortConfig::fifo(BitRate::from_gbps(10), 24, queue);
        config.queues = vec![queue; 3];
        config.class_queue[1] = QueueId(1);
        let line = Line { number: 0, clock: LineClock::off_by(config.rate, 0) };
        let scheduler = Scheduler::new(&config, PortHooks::default(), false);
        let mut port = Port::new(Arc::new(config), line, PortHooks::default(), scheduler, false);
        let paused = |port: &Port| [0, 1, 2].map(|queue| port.is_paused_by_partner(QueueId(queue)));
        assert_eq!(paused(&port), [false; 3]);
        port.rare().pauses.note_paused(1, Time::ZERO);
        // Queue 2 is not the queue of a class: it can hold packets of all.
        assert_eq!(paused(&port), [false, true, true]);
    }
}
