//! A scenario under the simulated clock.
//!
//! [`Simulation::new`] builds hosts, switches and links from a checked [`Scenario`]; [`Simulation::run`] pops events
//! in their total order and hands each to the state machine that it belongs to. There is nothing global: what
//! switches and hosts share is in one `Medium`, so a part of a fabric could run on a thread of its own.

mod build;
mod changes;
mod closed_loops;
mod control;
mod drops;
mod environment;
mod event;
mod flow_queueing;
mod flow_sampling;
mod group_sampling;
mod groups;
mod live;
mod mechanisms;
mod occupancy;
mod open_connections;
mod order;
mod outcome;
mod outside;
mod recovery;
pub mod resources;
mod sampling;
mod session;
mod transports;
mod view;

use std::iter::Peekable;

use hitless_engine::{PacketHandle, Progress, Turn};
use hitless_hosts::{Application, FlowConfig, Hosts, Marking, Rank, TransportId};
use hitless_mechanisms::AnyMechanism;
use hitless_switch::{Switch, SwitchEvent};
use hitless_wire::frame::rank_of_dscp;
use hitless_wire::{Duration, OrderedSet, PortId, Time, Transport};

use crate::link::Fate;
use crate::loss::ArrivingFrame;
use crate::results::Outcome;
use crate::scenario::{RankedBy, Scenario, Until};
use crate::topology::{Node, SwitchId, Topology};
use crate::workload::{FlowSize, FlowSpec};
use changes::Change;
use closed_loops::ClosedLoops;
pub use control::LiveCommand;
use environment::{HostSide, Medium, SwitchSide};
use event::{SimulationEvent, kind};
use flow_sampling::FlowSampler;
use group_sampling::GroupSampler;
pub use live::LiveFabric;
use open_connections::OpenConnections;
pub use order::OrderCounts;
use recovery::Recovery;
use sampling::Sampler;
pub use session::{ReceiveCounters, Session};
pub use view::{FabricView, LinkView};

/// What an event may have changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Packets on their way: no flow has ended by it.
    Packets,
    /// A flow, or anything else.
    Flows,
    /// Nothing: whoever drives the run wants it to stop here for now.
    Pause,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The clock reached the end of the scenario.
    Duration,
    /// Every flow was done.
    AllFlowsDone,
    /// Somebody asked for it.
    Cancelled,
    /// Not at all: it only stopped, and can go on.
    Paused,
    /// Whoever drives a live run has stopped it.
    Stopped,
}

/// A run of a scenario.
pub struct Simulation {
    scenario: Scenario,
    topology: Topology,
    medium: Medium,
    hosts: Hosts,
    switches: Vec<Switch<AnyMechanism>>,
    transports: Vec<TransportId>,
    workload: Peekable<Box<dyn Iterator<Item = FlowSpec> + Send>>,
    closed_loops: ClosedLoops,
    open_connections: OpenConnections,
    flow_specs: Vec<FlowSpec>,
    messages_expected: u64,
    changes: Vec<(Time, Change)>,
    next_change: usize,
    recovery: Recovery,
    samplers: Vec<Sampler>,
    flow_samplers: Vec<FlowSampler>,
    group_samplers: Vec<GroupSampler>,
    events: u64,
    now: Time,
}

/// How data packets of a group of flows are marked.
fn marking(scenario: &Scenario, group: usize) -> Option<Marking> {
    let group = &scenario.flows[group];
    let by = scenario.host.marking.map(|marking| match marking.by {
        RankedBy::RemainingBytes => Rank::RemainingBytes,
        RankedBy::AttainedService => Rank::AttainedService,
        RankedBy::Dscp => Rank::Fixed(rank_of_dscp(group.class.min(7) << 3)),
    });
    let rank = group.rank.map(Rank::Fixed).or(by)?;
    let flowlet_gap = scenario.host.marking.and_then(|marking| marking.flowlet_gap).unwrap_or(Duration::MAX);
    Some(Marking { rank, divisor: group.rank_divisor, flowlet_gap })
}

/// How long the network may take to empty after the last flow is done.
const DRAIN_LIMIT: Duration = Duration::from_ms(100);

impl Simulation {
    /// The time of the last event handled.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The same simulation with each flow of the workload changed before it starts.
    ///
    /// Those of closed loops are left as they are.
    pub fn with_flows_changed(mut self, change: impl Fn(FlowSpec) -> FlowSpec + Send + 'static) -> Self {
        let changed: Box<dyn Iterator<Item = FlowSpec> + Send> = Box::new(self.workload.map(change));
        self.workload = changed.peekable();
        self
    }

    /// Runs to the end of the scenario.
    pub fn run(mut self, progress: &Progress) -> Outcome {
        self.start::<false>();
        let (end, ended_at) = self.run_until_end(progress);
        self.close(end, ended_at)
    }

    fn close(mut self, end: End, ended_at: Time) -> Outcome {
        if end == End::AllFlowsDone {
            self.drain(ended_at);
        }
        let mut side = HostSide { medium: &mut self.medium };
        self.hosts.end_run(ended_at, &mut side);
        self.into_outcome(end, ended_at)
    }

    fn start<const OUTSIDE: bool>(&mut self) {
        for (number, switch) in self.switches.iter_mut().enumerate() {
            let mut side =
                SwitchSide::<OUTSIDE> { medium: &mut self.medium, hosts: &mut self.hosts, switch: number as u32 };
            switch.start(Time::ZERO, &mut side);
        }
        self.schedule_next_flow();
        self.start_closed_loops();
        self.schedule_next_change();
        self.start_recovery();
        for number in 0..self.samplers.len() + self.flow_samplers.len() + self.group_samplers.len() {
            self.schedule_sample(number, Time::ZERO);
        }
    }

    fn run_until_end(&mut self, progress: &Progress) -> (End, Time) {
        let deadline = self.scenario.duration.unwrap_or(Time::NEVER);
        const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;
        loop {
            loop {
                let Some(event) = self.medium.queue.pop_turn() else {
                    return self.end_of_events(deadline);
                };
                if event.time > deadline {
                    return (End::Duration, deadline);
                }
                self.now = event.time;
                // Looking does not count: what is measured must not change the trace.
                if !matches!(event.payload, Turn::Other(SimulationEvent::Sample { .. } | SimulationEvent::Pause)) {
                    self.medium.trace.record(event.time.as_ps(), event.order.as_u64());
                    self.events += 1;
                }
                // The sources are the links, in their order.
                let reach = match event.payload {
                    Turn::Source(link) => self.arrive::<false>(event.time, link.index() as u32),
                    Turn::Other(event_of_node) => self.dispatch::<false>(event.time, event_of_node),
                };
                match reach {
                    Reach::Packets => {}
                    Reach::Flows => {
                        self.follow_ended_flows();
                        if self.is_done() {
                            return (End::AllFlowsDone, self.now);
                        }
                    }
                    Reach::Pause => return (End::Paused, self.now),
                }
                if self.events.is_multiple_of(EVENTS_BETWEEN_LOOKS) {
                    break;
                }
            }
            progress.tell(self.done_ppm(deadline));
            if progress.is_cancelled() {
                return (End::Cancelled, self.now);
            }
        }
    }

    /// Nothing is left to happen: a run until a time goes on in silence.
    fn end_of_events(&self, deadline: Time) -> (End, Time) {
        match self.scenario.until {
            Until::Duration if deadline != Time::NEVER => (End::Duration, deadline),
            _ => (End::AllFlowsDone, self.now),
        }
    }

    /// Lets what is still under way arrive, so that accounts can be closed: every queue must come back to empty.
    fn drain(&mut self, ended_at: Time) {
        self.next_change = self.changes.len();
        self.recovery.stop();
        while let Some(event) = self.medium.queue.pop() {
            if event.time > ended_at + DRAIN_LIMIT {
                break;
            }
            if !matches!(event.payload, SimulationEvent::Sample { .. }) {
                self.dispatch::<false>(event.time, event.payload);
            }
        }
    }

    fn is_done(&mut self) -> bool {
        self.scenario.until == Until::AllFlowsDone
            && self.medium.records.flows_ended == self.flow_specs.len() as u64
            && self.closed_loops.are_over()
            && self.workload.peek().is_none()
    }

    fn done_ppm(&self, deadline: Time) -> u64 {
        let by_time = self.now.as_seconds() / deadline.as_seconds();
        let fraction = match self.scenario.until {
            Until::Duration => by_time,
            // Of the messages that are known of; their flows may be a few long connections.
            Until::AllFlowsDone => {
                let expected = self.messages_expected + self.closed_loops.flows_to_come();
                let done = self.medium.records.messages.len() as f64 / expected.max(1) as f64;
                done.max(by_time)
            }
        };
        (fraction * 1e6) as u64
    }

    #[inline(never)]
    fn dispatch<const OUTSIDE: bool>(&mut self, now: Time, event: SimulationEvent) -> Reach {
        match event {
            SimulationEvent::LinkArrival { link } => return self.arrive::<OUTSIDE>(now, link),
            SimulationEvent::OrderedSetArrival { link, set } => {
                self.arrive_ordered_set::<OUTSIDE>(now, link, set);
                return Reach::Packets;
            }
            SimulationEvent::Switch { switch, event } => {
                let mut side = SwitchSide::<OUTSIDE> { medium: &mut self.medium, hosts: &mut self.hosts, switch };
                self.switches[switch as usize].handle(now, event, &mut side);
                return Reach::Packets;
            }
            SimulationEvent::Host(event) => {
                self.hosts.handle(now, event, &mut HostSide { medium: &mut self.medium });
            }
            SimulationEvent::NextFlow => self.start_flows(now),
            SimulationEvent::NextInSequence { sequence } => self.start_in_loop(now, sequence),
            SimulationEvent::Change => self.apply_changes::<OUTSIDE>(now),
            SimulationEvent::Recovery(event) => self.recover::<OUTSIDE>(now, event),
            SimulationEvent::Pause => return Reach::Pause,
            SimulationEvent::Sample { sampler } => self.sample(now, sampler as usize),
        }
        Reach::Flows
    }

    #[inline(always)]
    fn arrive<const OUTSIDE: bool>(&mut self, now: Time, link: u32) -> Reach {
        let state = &mut self.medium.links[link as usize];
        let (packet, next) = state.take();
        if let Some((at, source)) = next {
            self.medium.queue.push_source(at, source);
        }
        let is_whole = state.arrive_clean(now, self.medium.packets[packet].frame_bytes);
        let to = state.to;
        if !is_whole && self.is_lost::<OUTSIDE>(now, link, packet) {
            return Reach::Packets;
        }
        if OUTSIDE && self.medium.leave(now, link, packet) {
            return Reach::Packets;
        }
        match to.node {
            Node::Switch(switch) => {
                let mut side =
                    SwitchSide::<OUTSIDE> { medium: &mut self.medium, hosts: &mut self.hosts, switch: switch.0 };
                if !self.switches[switch.0 as usize].receive_straight(now, to.port, packet, &mut side) {
                    self.receive_with_care::<OUTSIDE>(now, switch, to.port, packet);
                }
                Reach::Packets
            }
            Node::Host(host) => {
                if let Some(order) = &mut self.medium.order {
                    order.arrived(now, &self.medium.packets[packet]);
                }
                let has_ended = self.hosts.receive(now, host, packet, &mut HostSide { medium: &mut self.medium });
                if has_ended { Reach::Flows } else { Reach::Packets }
            }
        }
    }

    fn arrive_ordered_set<const OUTSIDE: bool>(&mut self, now: Time, link: u32, set: OrderedSet) {
        let link = &mut self.medium.links[link as usize];
        let Node::Switch(SwitchId(switch)) = link.to.node else { return };
        let event = SwitchEvent::OrderedSet { port: link.to.port, set };
        if link.carries_ordered_set(now) {
            let mut side = SwitchSide::<OUTSIDE> { medium: &mut self.medium, hosts: &mut self.hosts, switch };
            self.switches[switch as usize].handle(now, event, &mut side);
        }
    }

    /// With a view of the switch of its own: that of the short way then stays in registers.
    #[inline(never)]
    fn receive_with_care<const OUTSIDE: bool>(
        &mut self,
        now: Time,
        switch: SwitchId,
        port: PortId,
        packet: PacketHandle,
    ) {
        let mut side = SwitchSide::<OUTSIDE> { medium: &mut self.medium, hosts: &mut self.hosts, switch: switch.0 };
        self.switches[switch.0 as usize].receive_with_care(now, port, packet, &mut side);
    }

    /// Whether a link that may do so loses a packet that has come to its end; if so that is all of the packet.
    #[inline(never)]
    fn is_lost<const OUTSIDE: bool>(&mut self, now: Time, link: u32, packet: PacketHandle) -> bool {
        let descriptor = &self.medium.packets[packet];
        let frame = ArrivingFrame { at: now, frame_bytes: descriptor.frame_bytes, is_repair: descriptor.is_repair };
        let fate = self.medium.links[link as usize].arrive(frame);
        if fate != Fate::Arrives {
            self.lose::<OUTSIDE>(now, link, packet, fate);
        }
        fate != Fate::Arrives
    }

    #[cold]
    fn lose<const OUTSIDE: bool>(&mut self, now: Time, link: u32, packet: PacketHandle, fate: Fate) {
        let to = self.medium.links[link as usize].to;
        if let (Fate::Corrupted, Node::Switch(switch)) = (fate, to.node) {
            let mut side = SwitchSide::<OUTSIDE> { medium: &mut self.medium, hosts: &mut self.hosts, switch: switch.0 };
            self.switches[switch.0 as usize].receive_corrupted(now, to.port, &mut side);
        }
        if OUTSIDE {
            self.medium.spoil(link, packet, fate);
        }
        let descriptor = &self.medium.packets[packet];
        if descriptor.transport != Transport::None {
            self.hosts.note_dropped(descriptor.flow);
            if fate == Fate::LostDown {
                self.medium.records.note_lost_to_failure(descriptor.flow);
            }
        }
        self.medium.discard(packet);
    }

    fn start_flows(&mut self, now: Time) {
        while let Some(spec) = self.workload.next_if(|spec| spec.start <= now) {
            match spec.connection {
                Some(connection) => self.send_on_connection(now, spec, connection),
                None => self.start_flow(spec),
            }
        }
        if self.workload.peek().is_none() {
            self.close_connections(now);
        }
        self.schedule_next_flow();
    }

    fn start_flow(&mut self, spec: FlowSpec) {
        let config = self.flow_config(&spec);
        self.messages_expected += spec.messages.count;
        self.medium.services.add_flow(spec.group);
        self.medium.drops.add_flow(spec.group);
        self.flow_specs.push(spec);
        let flow = self.hosts.add_flow(config, &mut HostSide { medium: &mut self.medium });
        self.sample_from_now_on(flow, spec.group);
    }

    fn flow_config(&self, spec: &FlowSpec) -> FlowConfig {
        let stop = spec.stop.or(self.scenario.duration).unwrap_or(Time::NEVER);
        let application = match spec.size {
            FlowSize::Bytes(bytes) => {
                Application::Messages { count: spec.messages.count, bytes, gap: spec.messages.gap }
            }
            FlowSize::Unlimited => Application::until(stop),
        };
        FlowConfig {
            source: spec.source,
            destination: spec.destination,
            transport: self.transports[spec.transport],
            start: spec.start,
            application,
            tag: spec.group as u32,
            class: spec.class,
            acknowledgement_class: spec.class,
            hash_salt: self.scenario.seed as u32,
            marking: marking(&self.scenario, spec.group),
            request: spec.request,
        }
    }

    fn schedule_next_flow(&mut self) {
        let Some(start) = self.workload.peek().map(|spec| spec.start) else { return };
        let order = self.medium.sequences.key(kind::FLOW, 0);
        self.medium.queue.push(start.max(self.now), order, SimulationEvent::NextFlow);
    }
}
