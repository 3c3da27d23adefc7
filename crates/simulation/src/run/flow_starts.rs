//! Starts flows: those of the workload, those that follow another, and messages on open connections.

use std::collections::BTreeMap;
use std::iter::Peekable;

use hitless_core::engine::{FlowIdentity, OrderKey, Pages};
use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::frame::rank_of_dscp;
use hitless_core::wire::{Duration, FlowId, HostId, Packet, Time};
use hitless_hosts::{Application, FlowConfig, PriorityTagging, Rank, TransportId};
use hitless_scenario::workload::{FlowSize, FlowSpec};
use hitless_scenario::{RankedBy, Scenario};

use super::closed_loops::ClosedLoops;
use super::edge::Edge;
use super::event::kind;
use super::fabric::Fabric;
use super::network::Network;

/// The flows of a workload, sorted by start time.
pub(super) type Workload = Box<dyn Iterator<Item = FlowSpec> + Send>;

/// A connection: group, source, destination, and its number between these two hosts.
type Connection = (usize, HostId, HostId, u32);

/// Starts flows and keeps the specification of each.
pub(super) struct FlowStarts {
    transports: Vec<TransportId>,
    /// By group: the number that seeds the identities of its flows.
    groups: Vec<u64>,
    workload: Peekable<Workload>,
    /// Number of flows and messages taken from the workload.
    drawn: u64,
    closed_loops: ClosedLoops,
    /// Open connections. The first message of a connection opens it.
    connections: BTreeMap<Connection, FlowId>,
    specs: Pages<FlowSpec>,
    messages: u64,
    /// Expected number of messages in the whole workload.
    messages_offered: u64,
}

/// Loading draws the same flows from the workload again: they depend only on the seed.
impl State for FlowStarts {
    fn save(&self, out: &mut Writer) {
        let Self {
            // Determined by the scenario.
            transports: _,
            groups: _,
            workload: _,
            messages_offered: _,
            drawn,
            closed_loops,
            connections,
            specs,
            messages,
        } = self;
        out.value(drawn);
        closed_loops.save(out);
        out.value(connections);
        out.value(specs);
        out.value(messages);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        self.drawn = from.value()?;
        for _ in 0..self.drawn {
            self.workload.next().ok_or(from.damaged("as many flows as the workload has"))?;
        }
        self.closed_loops.load(from)?;
        self.connections = from.value()?;
        self.specs = from.value()?;
        self.messages = from.value()?;
        Ok(())
    }
}

impl FlowStarts {
    /// Starts the flows of a workload with about `messages_offered` messages, and of closed loops. `groups` has a
    /// number for each group that seeds the identities of its flows.
    pub fn new(
        transports: Vec<TransportId>,
        groups: Vec<u64>,
        workload: Workload,
        messages_offered: f64,
        closed_loops: ClosedLoops,
    ) -> Self {
        let (connections, specs, messages) = Default::default();
        let (workload, messages_offered) = (workload.peekable(), messages_offered as u64);
        Self { transports, groups, workload, drawn: 0, closed_loops, connections, specs, messages, messages_offered }
    }

    /// All started flows by number, except freed ones.
    pub fn specs(&self) -> &Pages<FlowSpec> {
        &self.specs
    }

    /// Packets with the addresses of a flow's data and of its answers.
    pub fn addresses(&self, flow: FlowId, spec: &FlowSpec) -> [Packet; 2] {
        let &FlowSpec { source, destination, class, group, position, .. } = spec;
        let identity = FlowIdentity::new(self.groups[group], position);
        let flow_hash = identity.flow_hash(false);
        let data = Packet { flow, source, destination, flow_hash, class, ..Packet::default() };
        let flow_hash = identity.flow_hash(true);
        [data, Packet { source: destination, destination: source, flow_hash, ..data }]
    }

    /// The flows that start when others end.
    pub fn closed_loops(&self) -> &ClosedLoops {
        &self.closed_loops
    }

    /// Frees a flow that has been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        self.specs.let_go(flow.0 as usize);
    }

    /// Changes each flow of the workload before it starts; flows of closed loops stay as they are.
    pub fn change(&mut self, change: impl Fn(FlowSpec) -> FlowSpec + Send + 'static) {
        let empty: Workload = Box::new(std::iter::empty());
        let changed: Workload = Box::new(std::mem::replace(&mut self.workload, empty.peekable()).map(change));
        self.workload = changed.peekable();
    }

    /// Number of messages expected in the run: exact for closed loops, the mean for random arrivals.
    pub fn messages_expected(&self) -> u64 {
        self.messages.max(self.messages_offered).saturating_add(self.closed_loops.flows_to_come())
    }

    pub fn check_over(&mut self) -> bool {
        self.closed_loops.are_over() && self.workload.peek().is_none()
    }

    pub fn start<E: Edge>(&mut self, network: &mut Network<E>) {
        self.schedule_next(Time::ZERO, network);
        for (number, start) in self.closed_loops.starts() {
            schedule_in_loop(Time::ZERO, number, start, network);
        }
    }

    fn schedule_next<E: Edge>(&mut self, now: Time, network: &mut Network<E>) {
        let Some(start) = self.workload.peek().map(|spec| spec.start) else { return };
        network.shared.schedule_draw(start.max(now), None);
    }

    /// Starts the flows of the workload that are due now.
    pub fn start_due<E: Edge>(&mut self, now: Time, scenario: &Scenario, network: &mut Network<E>) {
        while let Some(spec) = self.workload.next_if(|spec| spec.start <= now) {
            self.drawn += 1;
            match spec.connection {
                Some(connection) => self.send_on_connection(now, spec, connection, scenario, network),
                None => self.start_flow(spec, scenario, network),
            }
        }
        if self.workload.peek().is_none() {
            self.close_connections(now, network);
        }
        self.schedule_next(now, network);
    }

    /// Schedules the successors of flows that have just ended.
    pub fn follow_ended<E: Edge>(&mut self, now: Time, network: &mut Network<E>) {
        while let Some((flow, ended_at)) = network.shared.records.ended_in_loops.pop() {
            let spec = self.specs.get(flow.0 as usize).expect("a flow is freed after its end is noted");
            for (number, start) in self.closed_loops.follow(spec, ended_at) {
                schedule_in_loop(now, number, start, network);
            }
        }
    }

    /// Starts the next flow of a closed loop, if any.
    pub fn start_in_loop<E: Edge>(&mut self, now: Time, sequence: u32, scenario: &Scenario, network: &mut Network<E>) {
        if let Some(spec) = self.closed_loops.next_at(now, sequence) {
            self.start_flow(spec, scenario, network);
        }
    }

    /// When the next flow of the workload starts; [`Time::NEVER`] if none is left.
    pub fn next_start(&mut self) -> Time {
        self.workload.peek().map_or(Time::NEVER, |spec| spec.start)
    }

    /// Registers the flows of the workload that start before `end`.
    pub fn add_before(&mut self, end: Time, scenario: &Scenario, network: &mut impl Fabric) {
        while let Some(spec) = self.workload.next_if(|spec| spec.start < end) {
            self.drawn += 1;
            assert!(spec.connection.is_none(), "messages on open connections need a run of one partition");
            self.start_flow(spec, scenario, network);
        }
    }

    fn start_flow(&mut self, spec: FlowSpec, scenario: &Scenario, network: &mut impl Fabric) {
        let config = self.config(&spec, scenario);
        self.messages += spec.messages.count;
        let flow = network.add_flow(&spec, config);
        self.specs.push(spec);
        assert_eq!(flow.0 as usize + 1, self.specs.len(), "flows are numbered as they start");
    }

    /// Starts a message on connection number `connection` between its hosts.
    fn send_on_connection<E: Edge>(
        &mut self,
        now: Time,
        spec: FlowSpec,
        connection: u32,
        scenario: &Scenario,
        network: &mut Network<E>,
    ) {
        let FlowSize::Bytes(bytes) = spec.size else { unreachable!("a message has a length") };
        self.messages += 1;
        let key = (spec.group, spec.source, spec.destination, connection);
        let flow = match self.connections.get(&key) {
            Some(&flow) => flow,
            None => {
                let flow = self.open_connection(now, spec, scenario, network);
                self.connections.insert(key, flow);
                flow
            }
        };
        let (hosts, mut environment) = network.hosts();
        hosts.append_message(now, flow, bytes, &mut environment);
    }

    fn open_connection<E: Edge>(
        &mut self,
        now: Time,
        spec: FlowSpec,
        scenario: &Scenario,
        network: &mut Network<E>,
    ) -> FlowId {
        let config = FlowConfig { start: now, application: Application::Appended, ..self.config(&spec, scenario) };
        network.note_flow(&spec);
        self.specs.push(spec);
        let (hosts, mut environment) = network.hosts();
        hosts.open(now, config, &mut environment)
    }

    /// Closes all connections, because no more messages follow; each ends when its messages are complete.
    fn close_connections<E: Edge>(&mut self, now: Time, network: &mut Network<E>) {
        for flow in std::mem::take(&mut self.connections).into_values() {
            let (hosts, mut environment) = network.hosts();
            hosts.close(now, flow, &mut environment);
        }
    }

    fn config(&self, spec: &FlowSpec, scenario: &Scenario) -> FlowConfig {
        let stop = spec.stop.or(scenario.duration).unwrap_or(Time::NEVER);
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
            identity: FlowIdentity::new(self.groups[spec.group], spec.position),
            tagging: tagging(scenario, spec.group),
            request: spec.request,
        }
    }
}

fn schedule_in_loop<E: Edge>(now: Time, sequence: u32, at: Time, network: &mut Network<E>) {
    let at = at.max(now);
    // If an event of a host, such as a poll, has ended the flow, the draws of this time are over; the next possible
    // time is 1 ps later.
    let is_over = network.shared.queue.has_passed(at, OrderKey::new(kind::START, 0, 0));
    let at = if is_over { at + Duration::from_ps(1) } else { at };
    network.shared.schedule_draw(at, Some(sequence));
}

/// The priority tags of the data packets of a group.
fn tagging(scenario: &Scenario, group: usize) -> Option<PriorityTagging> {
    let group = &scenario.flows[group];
    let by = scenario.host.priority_tagger.map(|tagger| match tagger.by {
        RankedBy::RemainingBytes => Rank::RemainingBytes,
        RankedBy::AttainedService => Rank::AttainedService,
        RankedBy::Dscp => Rank::Fixed(rank_of_dscp(group.class.min(7) << 3)),
    });
    let rank = group.rank.map(Rank::Fixed).or(by)?;
    let flowlet_gap = scenario.host.priority_tagger.and_then(|tagger| tagger.flowlet_gap).unwrap_or(Duration::MAX);
    Some(PriorityTagging { rank, divisor: group.rank_divisor, flowlet_gap })
}
