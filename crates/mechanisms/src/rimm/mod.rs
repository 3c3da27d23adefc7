//! RIMM, Real-time In-network Microburst Mitigation (Lin, Hung and Wen, IEEE Access 2022; sections as printed there).
//!
//! When the queue of a port exceeds a threshold, new packets for that port go to the neighbouring switch with the
//! shortest queue, which sends them back by ordinary routing; so they wait in the neighbour's buffer. Packets are
//! numbered at their first detour, and go round until their queue is below the threshold and it is their turn.
//! [`alarm`] is the microburst detector, [`selector`] the detouring-port selector, [`sequencer`] the packet sequencer
//! and the post-detour handler.
//!
//! Only egress sees the depth of a queue. It tells ingress with a message packet, which makes the round trip through a
//! neighbour like a detoured packet.
//!
//! docs/explanation/rimm.md lists the choices that the paper leaves open. Read `Rimm::ingress` first.

mod alarm;
mod check;
mod clock;
pub mod config;
mod counters;
pub mod headers;
mod kind;
mod selector;
mod sequencer;
mod settings;

use crate::rimm::headers::{DetourHeader, MessageHeader, TelemetryHeader};
use hitless_core::wire::{PortId, QueueId, Time};
use hitless_switch::{
    Context, DropReason, Event, HookSet, Mechanism, Needs, PortState, QueueConfig, QueueLimit, Report, Resources,
    Verdict,
};

use alarm::{Alarms, Detector, Phase, ThresholdEvent};
use clock::{Stamp, ticks};
pub use config::{Neighbour, RimmConfig, WatchedPort};
use counters::SwitchCounters;
use selector::{Choice, DepthMonitor, ReportedDepth};
use sequencer::{Gate, NewTurn, ReturnTurn, Sequencer};
pub use settings::{NeighbourChange, NeighbourForReturns, RimmMessages, RimmRelease, RimmSettings};

/// A message packet of this switch in transit to the neighbour.
const MESSAGE: u8 = 1;

/// Repetitions of a message, within the lifetime of a crossing, while a queue stays above its threshold.
const REPETITIONS: u64 = 4;

/// Hops of a round trip through a neighbour, which a packet gets back: the maximum number of detours ends a loop, not
/// the time to live.
const HOPS: u8 = 2;

#[derive(Debug, hitless_core::state::State)]
pub struct Rimm {
    #[configured]
    config: RimmConfig,
    #[part]
    detector: Detector,
    #[part]
    alarms: Alarms,
    #[part]
    monitor: DepthMonitor,
    #[part]
    sequencer: Sequencer,
    /// Whether a port's link is known to be up, by port.
    is_up: Vec<bool>,
    message_queues: Vec<Option<QueueId>>,
    class_queues: Vec<usize>,
    /// Whether the neighbour needs the depth, by port.
    is_told: Vec<bool>,
    is_watched: Vec<bool>,
    faces_switch: Vec<bool>,
    #[part]
    counters: SwitchCounters,
}

impl Rimm {
    pub fn new(config: RimmConfig) -> Self {
        Self::with_first_number(config, 0)
    }

    /// Like [`Rimm::new`], with `first_number` for the first packet of each slot, so that tests can let numbers wrap.
    pub fn with_first_number(config: RimmConfig, first_number: u32) -> Self {
        let (ports, settings) = (usize::from(config.line_ports), &config.settings);
        assert!(settings.segment.0 > 0, "depths are counted in segments");
        let mut thresholds = vec![None; ports];
        let mut repeat_after_ns = vec![None; ports];
        let mut is_watched = vec![false; ports];
        if !config.watched.is_empty() {
            config.neighbours.iter().for_each(|neighbour| {
                thresholds[usize::from(neighbour.port.0)] = Some(neighbour.own_full_segments);
                repeat_after_ns[usize::from(neighbour.port.0)] = Some(ticks(settings.crossing_lifetime) / REPETITIONS);
            });
        }
        config.watched.iter().for_each(|watched| {
            thresholds[usize::from(watched.port.0)] = Some(watched.threshold_segments);
            is_watched[usize::from(watched.port.0)] = true;
        });
        let by_port = |wanted: fn(&Neighbour) -> bool| {
            let is_wanted = |port| config.neighbours.iter().any(|other| other.port == PortId(port) && wanted(other));
            (0..config.line_ports).map(is_wanted).collect::<Vec<bool>>()
        };
        let accounted = (0..config.line_ports).map(PortId).filter(|port| thresholds[usize::from(port.0)].is_some());
        let counters = SwitchCounters::new(accounted, settings.record_choices);
        Self {
            detector: Detector::new(thresholds, repeat_after_ns),
            alarms: Alarms::new(ports, ticks(settings.congestion_after), ticks(settings.row_gap())),
            monitor: DepthMonitor::new(&config),
            sequencer: Sequencer::new(settings, first_number),
            is_up: vec![true; ports],
            message_queues: vec![None; ports],
            class_queues: vec![1; ports],
            is_told: by_port(|neighbour| neighbour.is_told),
            is_watched,
            faces_switch: by_port(|_| true),
            counters,
            config,
        }
    }

    fn is_watched(&self, port: PortId) -> bool {
        self.is_watched.get(usize::from(port.0)).is_some_and(|&is_one| is_one)
    }

    fn depth_segments(&self, context: &mut Context<'_>) -> u16 {
        let (port, queue) = (context.port(), context.packet().queue);
        let segments = context.queue(port, queue).bytes() / self.config.settings.segment.0;
        segments.try_into().unwrap_or(u16::MAX)
    }

    /// Reads and removes the depth that the neighbour wrote for this switch.
    fn take_told(&mut self, context: &mut Context<'_>) -> Option<ReportedDepth> {
        let packet = context.packet();
        let port = packet.ingress_port;
        if !self.faces_switch.get(usize::from(port.0)).is_some_and(|&is_one| is_one) {
            return None;
        }
        // The depth is for this switch alone (section III-A2): it travels over one link, in the telemetry header or in
        // the header of a detour.
        let telemetry = packet.remove_shim::<TelemetryHeader>().map(|header| header.depth_segments);
        let depth = telemetry.or_else(|| packet.shims.get::<DetourHeader>().map(|header| header.depth_segments));
        self.counters.depths_read += u64::from(depth.is_some());
        depth.map(|depth_segments| ReportedDepth { port, depth_segments })
    }

    /// Chooses the neighbour for a packet routed to `towards`.
    fn choose(
        &mut self,
        context: &mut Context<'_>,
        towards: PortId,
        told: Option<ReportedDepth>,
        now: Stamp,
    ) -> Option<Choice> {
        let (neighbours, is_up) = (&self.config.neighbours, &self.is_up);
        let mut may_take = 0u128;
        for (index, neighbour) in neighbours.iter().enumerate().take(128) {
            let port = neighbour.port;
            // Only a neighbour that routes the packet back to this switch can hold it (section III-A1).
            let may = port != towards && is_up[usize::from(port.0)] && context.returns(port);
            may_take |= u128::from(may) << index;
        }
        self.monitor.choose(context.pass(), told, now, |index| index < 128 && may_take >> index & 1 == 1)
    }

    /// Chooses the neighbour for a packet that has come back and is detoured again. If it stays on its path, it keeps
    /// its place in the order there and adds to no queue.
    fn choose_again(
        &mut self,
        context: &mut Context<'_>,
        towards: PortId,
        told: Option<ReportedDepth>,
        now: Stamp,
    ) -> Option<PortId> {
        let arrival = context.packet().ingress_port;
        let may_go_back = self.config.settings.neighbour_for_returns == NeighbourForReturns::SameNeighbour
            && arrival != towards
            && self.is_up.get(usize::from(arrival.0)).is_some_and(|&is_up| is_up)
            && context.returns(arrival);
        // The packets on one path stay in order, and each one that returns makes room for itself.
        if may_go_back {
            told.into_iter().for_each(|told| self.monitor.note(context.pass(), told, now));
            return Some(arrival);
        }
        self.choose(context, towards, told, now).map(|choice| choice.port)
    }

    /// Handles a packet without a number that is routed to a watched port.
    fn new_packet(
        &mut self,
        context: &mut Context<'_>,
        towards: PortId,
        told: Option<ReportedDepth>,
        now: Stamp,
    ) -> Verdict {
        let slot = self.sequencer.slot(context.packet().flow_hash);
        // In hardware the minimum is always available. Here it takes time, and is rarely needed.
        // Without an alarm or a detour in progress the packet is forwarded whatever the minimum is.
        let matters = !self.alarms.has_no_alarm(towards) || self.sequencer.is_detoured(slot);
        let choice = if matters {
            self.choose(context, towards, told, now)
        } else {
            told.into_iter().for_each(|told| self.monitor.note(context.pass(), told, now));
            None
        };
        // The neighbours count as full if the one with the shortest queue is.
        let are_full = choice.is_some_and(|choice| choice.is_full);
        // The order of the calls is the order of the registers' stages: QDM table, alarm, then the sequencer.
        let (phase, end) = self.alarms.phase(context.pass(), towards, are_full, now);
        end.into_iter().for_each(|end| self.counters.note_end(towards, end));
        // A full neighbour gets no new packets: that would only move the loss there ("congestion propagation", section
        // III-A2).
        let open = choice.filter(|choice| !choice.is_full);
        let has_waiting = self.sequencer.has_waiting(slot);
        let turn = self.sequencer.new_packet(context.pass(), slot, (towards, phase), open.is_some(), now);
        match (turn, open) {
            (NewTurn::Detour { number: sequence, is_first }, Some(choice)) => {
                self.counters.note_detoured(towards, slot, sequence, context.now());
                let is_first = is_first || self.config.settings.neighbour_change == NeighbourChange::AnyTime;
                let is_roomy = |port| choice.is_roomy(port);
                let by = self.sequencer.neighbour(context.pass(), slot, is_first, choice.port, is_roomy);
                self.counters.note_choice(towards, by, context.now());
                let header = DetourHeader { sequence, origin: self.config.origin, detours: 0, depth_segments: 0 };
                context.packet().push_shim(header).expect("a packet in ingress has room");
                self.detour(context, towards, by)
            }
            _ => {
                self.counters.count(towards, |counters| {
                    counters.passed += u64::from(has_waiting);
                    counters.without_path += u64::from(phase == Phase::Detour && choice.is_none());
                });
                Verdict::Continue
            }
        }
    }

    fn detour(&mut self, context: &mut Context<'_>, towards: PortId, by: PortId) -> Verdict {
        self.counters.note_detour(towards);
        let packet = context.packet();
        let mut header: DetourHeader = packet.shims.get().expect("a detoured packet has its header");
        header.detours += 1;
        packet.shims.replace(header);
        // In the queue of its class it waits like the neighbour's other packets.
        let class = packet.class;
        Verdict::Forward { port: by, queue: context.ports().class_queue(by, class) }
    }

    /// Handles a packet with a number of this switch.
    fn returning(
        &mut self,
        context: &mut Context<'_>,
        header: DetourHeader,
        towards: PortId,
        told: Option<ReportedDepth>,
        now: Stamp,
    ) -> Verdict {
        let slot = self.sequencer.slot(context.packet().flow_hash);
        // Detours must not use up the time to live of the path to the host.
        context.packet().ttl = context.packet().ttl.saturating_add(HOPS);
        let choice = self.choose_again(context, towards, told, now);
        let (phase, end) = match self.is_watched(towards) {
            true => self.alarms.phase(context.pass(), towards, false, now),
            false => (Phase::NoAlarm, None),
        };
        end.into_iter().for_each(|end| self.counters.note_end(towards, end));
        // A packet must not go round for ever: it is forwarded even out of order, or into a long queue.
        let is_forced = header.detours >= self.config.settings.detours_max || choice.is_none();
        let gate = match phase {
            _ if is_forced => Gate::Forced,
            Phase::Detour => Gate::Closed,
            Phase::NoAlarm | Phase::Ended => Gate::Open,
        };
        let now_ns = context.timestamp_ns() as u32;
        let (turn, given_up) = self.sequencer.returning(context.pass(), slot, header.sequence, gate, now_ns);
        self.counters.count(towards, |counters| counters.numbers_skipped += u64::from(given_up));
        match (turn, choice) {
            (ReturnTurn::Detour, Some(choice)) => self.detour(context, towards, choice),
            _ => {
                context.packet().remove_shim::<DetourHeader>();
                let packet = (slot, header.sequence);
                self.counters.note_forwarded(towards, turn, packet, header.detours, context.now());
                self.counters.count(towards, |counters| counters.forced += u64::from(is_forced));
                Verdict::Continue
            }
        }
    }

    /// Handles a message packet, of this switch or of another that this one forwards.
    fn message(&mut self, context: &mut Context<'_>, header: MessageHeader, now: Stamp) -> Verdict {
        let threshold = self.detector.threshold(header.port).filter(|_| header.origin == self.config.origin);
        if let Some(threshold) = threshold {
            // The QDM table has the depth of our queue next to the neighbour's (section V, "Size of Memory Usage").
            self.monitor.note_own(context.pass(), header.port, header.depth_segments, now);
            if header.is_repeated {
                self.counters.count(header.port, |counters| counters.messages_returned += 1);
                return Verdict::Drop(DropReason::ControlAbsorbed);
            }
            let is_above = header.depth_segments >= threshold;
            let ended_ns = match self.is_watched(header.port) {
                true => self.alarms.told(context.pass(), header.port, is_above, now),
                false => None,
            };
            self.counters.note_message(header.port, is_above, ended_ns, context.now());
            return Verdict::Drop(DropReason::ControlAbsorbed);
        }
        let towards = context.packet().egress_port;
        if self.faces_switch[usize::from(towards.0)] {
            let class = context.packet().class;
            return Verdict::Forward { port: towards, queue: self.message_queue(context, towards, class) };
        }
        self.counters.strays += 1;
        Verdict::Drop(DropReason::ControlAbsorbed)
    }

    /// Handles a packet with a number of another switch: only that switch releases it. If it reaches a host from here,
    /// it goes there without its header.
    fn of_another(&mut self, context: &mut Context<'_>, towards: PortId) -> Verdict {
        if !self.faces_switch[usize::from(towards.0)] {
            context.packet().remove_shim::<DetourHeader>();
            self.counters.strays += 1;
        }
        Verdict::Continue
    }

    /// Tells ingress a depth, through the first neighbour that sends the message back, with the neighbour behind the
    /// port itself as a last resort. Returns false if none can.
    fn tell(&mut self, context: &mut Context<'_>, depth_segments: u16, news: ThresholdEvent) -> bool {
        let (port, is_repeated) = (context.port(), news == ThresholdEvent::StillAbove);
        let may_carry = |way: PortId| self.is_up[usize::from(way.0)] && context.returns(way);
        let ways = self.config.neighbours.iter().map(|neighbour| neighbour.port);
        let others = ways.clone().filter(|&way| way != port);
        let Some(way) = others.chain(ways.filter(|&way| way == port)).find(|&way| may_carry(way)) else {
            self.counters.count(port, |counters| counters.messages_without_path += u64::from(!is_repeated));
            return false;
        };
        let header = MessageHeader { origin: self.config.origin, port, is_repeated, depth_segments };
        let class = context.packet().class;
        let queue = self.message_queue(context, way, class);
        context.queue(way, queue).mirror(MESSAGE, |copy| header.put_on_copy(copy));
        self.counters.count(port, |counters| {
            counters.messages += 1;
            counters.messages_repeated += u64::from(is_repeated);
        });
        true
    }

    fn message_queue(&self, context: &Context<'_>, port: PortId, class: u8) -> QueueId {
        self.message_queues[usize::from(port.0)].unwrap_or_else(|| context.ports().class_queue(port, class))
    }

    fn watch(&mut self, context: &mut Context<'_>, depth_segments: u16) {
        let port = context.port();
        let Some(threshold_segments) = self.detector.threshold(port) else { return };
        self.counters.note_depth(port, depth_segments, threshold_segments, context.now());
        let now = Stamp::new(context.timestamp_ns());
        let told_at = match self.detector.threshold_event(port, depth_segments, now) {
            // Nothing is recorded if no message could be sent, so that the next dequeue finds the crossing again.
            Some(news) if !self.tell(context, depth_segments, news) => return,
            news => news.map(|_| now),
        };
        self.detector.record(context.pass(), port, depth_segments, told_at);
    }

    fn write_depth(&mut self, context: &mut Context<'_>, depth_segments: u16) {
        self.counters.depths_written += 1;
        let packet = context.packet();
        match packet.shims.get::<DetourHeader>() {
            Some(header) => {
                packet.shims.replace(DetourHeader { depth_segments, ..header });
            }
            None => packet.push_shim(TelemetryHeader { depth_segments }).expect("a packet in egress has room"),
        }
    }
}

impl Mechanism for Rimm {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.class_queues = queue_counts.to_vec();
        let from = self.config.neighbours.iter().map(|neighbour| (neighbour.port, HookSet::INGRESS_FROM));
        // Packets recirculated by another mechanism came through a port that faces a switch, too.
        let recirculated = (0..self.config.recirculation_ports)
            .map(|number| (PortId(self.config.line_ports + number), HookSet::INGRESS_FROM));
        let watched = self.config.watched.iter();
        let watched = watched.map(|watched| (watched.port, HookSet::INGRESS_TOWARDS.with(HookSet::EGRESS)));
        // Depths of queues towards neighbours are watched too if this switch detours: its own queue can be the full
        // one.
        let relieves = !self.config.watched.is_empty();
        let seen = self.config.neighbours.iter().filter(|neighbour| neighbour.is_told || relieves);
        let seen = seen.map(|neighbour| (neighbour.port, HookSet::EGRESS));
        let hooks = from.chain(recirculated).chain(watched).chain(seen).collect();
        let mut queues = Vec::new();
        let has_queues = self.config.settings.messages == RimmMessages::First;
        for port in self.config.neighbours.iter().map(|neighbour| neighbour.port).filter(|_| has_queues) {
            let first = QueueConfig::normal(QueueLimit::Unlimited)
                .with_priority(QueueConfig::NORMAL_PRIORITY + 1)
                .of_mechanism();
            self.message_queues[usize::from(port.0)] = Some(QueueId(queue_counts[usize::from(port.0)] as u8));
            queues.push((port, first));
        }
        Needs { hooks, queues, ..Needs::default() }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let now = Stamp::new(context.timestamp_ns());
        if let Some(header) = context.packet().shims.get::<MessageHeader>() {
            return self.message(context, header, now);
        }
        // Any packet from a neighbour can carry a depth, whatever else happens to it.
        let told = self.take_told(context);
        let towards = context.packet().egress_port;
        match context.packet().shims.get::<DetourHeader>() {
            Some(header) if header.origin == self.config.origin && !self.config.watched.is_empty() => {
                self.returning(context, header, towards, told, now)
            }
            None if self.is_watched(towards) => self.new_packet(context, towards, told, now),
            of_another => {
                told.into_iter().for_each(|told| self.monitor.note(context.pass(), told, now));
                if of_another.is_some() { self.of_another(context, towards) } else { Verdict::Continue }
            }
        }
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        // A message triggers no other message and carries no telemetry.
        if context.is_mine() || context.packet().shims.contains::<MessageHeader>() {
            return Verdict::Continue;
        }
        let port = context.port();
        let depth_segments = self.depth_segments(context);
        self.watch(context, depth_segments);
        if self.is_told[usize::from(port.0)] {
            self.write_depth(context, depth_segments);
        }
        Verdict::Continue
    }

    fn on_tm_drop(&mut self, _reason: DropReason, context: &mut Context<'_>) -> Verdict {
        if let Some(header) = context.packet().shims.get::<MessageHeader>() {
            self.counters.count(header.port, |counters| counters.messages_refused += 1);
        }
        Verdict::Continue
    }

    fn on(&mut self, event: Event, _context: &mut Context<'_>) {
        if let Event::PortState { port, state } = event
            && let Some(is_up) = self.is_up.get_mut(usize::from(port.0))
        {
            *is_up = state == PortState::Up;
        }
    }

    fn resources(&self) -> Resources {
        let relieves = !self.config.watched.is_empty();
        let relief = || self.detector.stated().into_iter().chain(self.alarms.stated()).chain(self.sequencer.stated());
        let registers = relieves.then(relief).into_iter().flatten().chain(self.monitor.stated());
        let queues = |port: usize| self.message_queues[port].map_or(self.class_queues[port], |_| 1);
        let ways = self.config.neighbours.iter().map(|neighbour| queues(usize::from(neighbour.port.0)) as u64);
        // Messages go to any neighbour, through RIMM's queue or the class queue of the triggering packet.
        let mirror_sessions = if relieves { ways.sum() } else { 0 };
        Resources { registers: registers.collect(), mirror_sessions, ..Resources::new("rimm") }
            .not_counting("the hash of a flow, and the minimum over the QDM table")
            .not_counting("the table of which neighbours send a packet back, and of links that are up")
            .not_counting("the line bandwidth and the neighbours' buffers that detours take")
    }

    fn report(&self, _now: Time) -> Report {
        self.counters.report(&self.sequencer)
    }
}
