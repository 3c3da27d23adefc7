//! The event loop: takes events in their total order and dispatches each to the part that handles it.

use std::collections::BTreeMap;

use hitless_core::engine::Progress;
use hitless_core::wire::{Duration, HostId, Packet, PortId, Time, Transport};
use hitless_hosts::HostEvent;
use hitless_scenario::Scenario;
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::topology::{DirectedLink, LinkId, SwitchId, Topology};
use hitless_switch::{DropReason, Report};

use super::control_plane::Change;
use super::edge::Edge;
use super::event::SimulationEvent;
use super::global::{End, Global};
use super::look_ahead::Ahead;
use super::network::{Happened, Network};
use super::protection::ProtectionControl;
use super::shared::Shared;
use crate::link::LinkCounters;
use crate::results::{CaptureCounts, CaptureFile};

/// The possible effects of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Packets only: the event has not ended a flow.
    Packets,
    /// Flows, or anything else.
    Flows,
}

/// When a packet that enters the run on a link arrives at the link's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landing {
    /// One link delay after its last bit's departure at this time.
    AfterLastBit(Time),
    /// At this time: the link is real, and the packet has crossed it.
    At(Time),
}

/// A run of a scenario, up to its edge.
pub struct Run<E> {
    pub(super) global: Global,
    pub(super) network: Network<E>,
    pub(super) events: u64,
    pub(super) now: Time,
}

/// Maximum time for the network to drain after the last flow is done.
pub(super) const DRAIN_LIMIT: Duration = Duration::from_ms(100);

impl<E: Edge> Run<E> {
    /// The time of the last event handled.
    pub const fn now(&self) -> Time {
        self.now
    }

    pub const fn scenario(&self) -> &Scenario {
        &self.global.scenario
    }

    /// The network's nodes and links.
    pub fn topology(&self) -> &Topology {
        &self.network.topology
    }

    pub const fn edge(&self) -> &E {
        &self.network.shared.edge
    }

    /// Mutable access to the edge.
    pub const fn edge_mut(&mut self) -> &mut E {
        &mut self.network.shared.edge
    }

    /// Schedules the first events. Call it once.
    pub fn start(&mut self) {
        self.network.start();
        self.global.flow_starts.start(&mut self.network);
        self.global.control_plane.start(&mut self.network);
        self.global.samplers.start(&mut self.network);
    }

    /// Runs until the scenario, `progress` or a pause ends it.
    pub(super) fn run_until_end(&mut self, progress: &Progress) -> (End, Time) {
        self.run_before(Time::NEVER, progress)
    }

    /// Like [`Self::run_until_end`], but pauses if the next event is due at `until` or later.
    pub(super) fn run_before(&mut self, until: Time, progress: &Progress) -> (End, Time) {
        loop {
            if let Some(end) = self.run_a_while(until, progress) {
                return end;
            }
        }
    }

    /// Like [`Self::run_before`], but returns `None` after the next housekeeping.
    pub(super) fn run_a_while(&mut self, until: Time, progress: &Progress) -> Option<(End, Time)> {
        let deadline = self.global.deadline();
        // Events at the deadline itself still happen.
        let until = until.min(Time(deadline.as_ps().saturating_add(1)));
        // Two instances of the loop, so that small networks do not pay for the check in each turn.
        let turns = if self.network.is_large() { Self::take_turns::<true> } else { Self::take_turns::<false> };
        let ended = turns(self, until, deadline);
        if ended.is_some() {
            return ended;
        }
        debug_assert_eq!(self.network.imbalance(), None, "at {} ps", self.now.as_ps());
        self.hand_over_rows();
        progress.tell(self.done_ppm());
        if progress.takes_question() {
            self.answer(progress);
        }
        if progress.is_cancelled() {
            return Some((End::Cancelled, self.now));
        }
        progress.takes_pause().then_some((End::Paused, self.now))
    }

    /// Describes the present state.
    #[cold]
    #[inline(never)]
    fn answer(&self, progress: &Progress) {
        let events = self.events + self.network.shared.events_at_once;
        progress.answer(events, self.viewed(self.now, |view| view.report()));
    }

    /// Takes turns before `until`, up to the next housekeeping. Returns why the run ends, if it ends.
    #[inline(never)]
    fn take_turns<const LOOKS_AHEAD: bool>(&mut self, until: Time, deadline: Time) -> Option<(End, Time)> {
        const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;
        let mut ahead = Ahead::default();
        loop {
            if LOOKS_AHEAD {
                ahead.before_turn(&mut self.network);
            }
            // `self.now` is set only where the loop ends: meanwhile the queue knows the time, which saves a store per
            // event.
            let Some((now, happened)) = self.network.take_turn(until) else {
                self.now = self.network.shared.queue.now();
                return Some(self.end_of_turn(deadline));
            };
            match self.finish_turn(now, happened) {
                Reach::Packets => {}
                Reach::Flows => {
                    self.global.flow_starts.follow_ended(now, &mut self.network);
                    if self.global.check_done(self.network.shared.records.flows_ended) {
                        self.now = now;
                        return Some((End::AllFlowsDone, self.network.shared.records.last_ended));
                    }
                }
            }
            if self.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) {
                self.now = now;
                return None;
            }
        }
    }

    /// Counts a turn's event, and dispatches it if the turn has only found it due.
    #[inline(always)]
    fn finish_turn(&mut self, now: Time, happened: Happened) -> Reach {
        debug_assert!(now >= self.now, "time runs backwards");
        match happened {
            Happened::Arrival { has_ended } => {
                self.events += 1;
                if has_ended { Reach::Flows } else { Reach::Packets }
            }
            Happened::Due { order, event } => {
                if !event.leaves_no_mark() {
                    self.network.shared.clocks.record(now, order);
                    self.events += 1;
                }
                self.dispatch(now, event)
            }
        }
    }

    /// Decides why no event is left before the limit.
    #[cold]
    fn end_of_turn(&mut self, deadline: Time) -> (End, Time) {
        match self.network.shared.queue.next_time() {
            None => self.global.end_of_events(self.now),
            Some(next) if next > deadline => (End::Duration, deadline),
            Some(_) => (End::Paused, self.now),
        }
    }

    /// Lets the packets in flight arrive, so that every queue drains. These events are part of the trace, because the
    /// partitions of a run learn the end of the last flow only after all have reached that time.
    pub(super) fn drain(&mut self, ended_at: Time) {
        self.global.control_plane.stop();
        while let Some((now, happened)) = self.network.take_turn(ended_at + DRAIN_LIMIT) {
            if !matches!(happened, Happened::Due { event: SimulationEvent::Sample { .. }, .. }) {
                self.finish_turn(now, happened);
                self.now = now;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn done_ppm(&self) -> u64 {
        self.global.done_ppm(self.now, self.network.shared.records.flows.messages.len())
    }

    #[inline(never)]
    fn dispatch(&mut self, now: Time, event: SimulationEvent) -> Reach {
        let Self { global: Global { scenario, control_plane, flow_starts, samplers, .. }, network, .. } = self;
        match event {
            SimulationEvent::LinkArrival { link } => unreachable!("an arrival on link {link} is the turn of a source"),
            SimulationEvent::OrderedSetArrival { link, set } => {
                network.arrive_ordered_set(now, link, set);
                return Reach::Packets;
            }
            SimulationEvent::Switch { switch, event } => {
                network.handle_switch(now, switch, event);
                return Reach::Packets;
            }
            SimulationEvent::Host(event) => network.handle_host(now, event),
            SimulationEvent::StartFlows { host } => network.handle_host(now, HostEvent::StartFlows(host)),
            SimulationEvent::NextFlow => flow_starts.start_due(now, scenario, network),
            SimulationEvent::NextInSequence { sequence } => {
                flow_starts.start_in_loop(now, sequence, scenario, network);
            }
            SimulationEvent::Change => control_plane.apply_due(now, network),
            SimulationEvent::Recovery(event) => control_plane.recover(now, event, network),
            SimulationEvent::Sample { sampler } => {
                samplers.sample(now, sampler as usize, network, flow_starts.specs());
            }
        }
        Reach::Flows
    }

    /// When the next event is due, if any.
    pub fn next_time(&mut self) -> Option<Time> {
        self.network.shared.queue.next_time()
    }

    /// Handles the next event, if any.
    pub fn step(&mut self) {
        let Some((now, happened)) = self.network.take_turn(Time::NEVER) else { return };
        self.finish_turn(now, happened);
        self.now = now;
    }

    /// Puts a packet from a node beyond the edge on its link.
    pub fn enter(&mut self, link: DirectedLink, packet: Packet, landing: Landing) {
        let shared = &mut self.network.shared;
        debug_assert!(packet.transport == Transport::None, "a real packet belongs to no simulated flow");
        shared.control_packets += 1;
        let (link, handle) = (link.index() as u32, shared.packets.insert(packet));
        match landing {
            Landing::AfterLastBit(at) => shared.put_on_link(link, handle, at),
            Landing::At(at) => shared.land(link, handle, at),
        }
    }

    /// Captures a packet that the network card of a host beyond the edge has refused.
    pub fn capture_refused(&mut self, at: Time, host: HostId, packet: &Packet) {
        let Shared { capture, edge, .. } = &mut self.network.shared;
        capture.iter_mut().for_each(|capture| capture.refused(at, host, packet, edge));
    }

    /// Names of the captures, by number.
    pub fn capture_names(&self) -> Vec<String> {
        let capture = self.network.shared.capture.as_ref();
        capture.map_or(Vec::new(), |capture| capture.names().map(str::to_owned).collect())
    }

    /// Counts of the packets of captures so far.
    pub fn capture_counts(&self) -> Vec<CaptureCounts> {
        self.network.shared.capture.as_ref().map_or(Vec::new(), |capture| capture.counts().collect())
    }

    /// Passes on the blocks of captured packets with a final place in their file, when everything up to `now` was
    /// handled. `put` takes the number of the capture, and returns whether it had room.
    pub fn stream_captures(&mut self, now: Time, put: impl FnMut(usize, &[u8]) -> bool) {
        let Shared { capture, sender_end_delay, .. } = &mut self.network.shared;
        // A departure is captured when the frame arrives, at most the delay of a link later.
        let until = Time(now.as_ps().saturating_sub(sender_end_delay.as_ps()));
        if let Some(capture) = capture {
            capture.stream(&self.global.scenario, until, put);
        }
    }

    /// Ends the captures, and returns their last blocks.
    pub fn end_captures(&mut self, now: Time) -> Vec<CaptureFile> {
        let capture = self.network.shared.capture.take();
        capture.map_or(Vec::new(), |capture| capture.into_files(&self.global.scenario, now))
    }

    /// All packets in the run.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let packets = &self.network.shared.packets;
        packets.handles().into_iter().map(|packet| &packets[packet])
    }

    /// Removes the loss model of a link that ends beyond the edge: the other end applies it.
    pub fn clear_loss(&mut self, link: DirectedLink) {
        self.network.shared.links.clear_loss(link.index());
    }

    pub fn link_counters(&self, link: DirectedLink) -> LinkCounters {
        self.network.shared.links.counters(link.index())
    }

    /// Bytes queued at a port.
    pub fn port_bytes(&mut self, now: Time, switch: SwitchId, port: PortId) -> u64 {
        self.network.switches[switch.0 as usize].port_bytes(now, port)
    }

    /// The reports of all mechanisms.
    pub fn reports(&self, now: Time) -> Vec<(SwitchId, Report)> {
        self.network.reports(now)
    }

    /// Packets lost so far, by reason.
    pub fn drops(&self) -> BTreeMap<&'static str, u64> {
        self.network.drops()
    }

    /// Packets removed without loss so far, by reason.
    pub fn retired(&self) -> BTreeMap<&'static str, u64> {
        self.network.ended_in_switches(|reason: DropReason| !reason.is_loss())
    }

    /// Whether the ends of a link detect it when the link is cut.
    pub fn is_watched(&self, link: LinkId) -> bool {
        self.global.control_plane.recovery.is_watched(link)
    }

    /// The changes that take these directions of one link down or up. A single direction fails undetected; if both do,
    /// the ends detect it where failure detection is on.
    pub fn state_changes(&self, links: &[DirectedLink], state: LinkState) -> Vec<Change> {
        let both = (links.len() == 2).then_some(links[0].link).filter(|&link| self.is_watched(link));
        match (both, state) {
            (Some(link), LinkState::Down) => vec![Change::Cut(link)],
            (Some(link), LinkState::Up) => vec![Change::Mend(link)],
            (None, state) => links.iter().map(|&link| Change::State { link, state }).collect(),
        }
    }

    /// Applies a change at `at`; all earlier events must have been handled.
    pub fn apply(&mut self, at: Time, change: Change) {
        self.network.shared.edge.set_time(at);
        self.global.control_plane.apply(at, change, &mut self.network);
    }

    /// The input for commands to a protected link.
    pub fn protection(&self) -> ProtectionControl<'_> {
        let Network { topology, switches, .. } = &self.network;
        ProtectionControl { scenario: &self.global.scenario, topology, switches }
    }
}
