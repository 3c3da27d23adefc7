//! All partitions of a run as one fabric, between two windows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hitless_core::engine::{Event, EventQueue, OrderKey, Pages, Stream};
use hitless_core::wire::{BitRate, Duration, FlowId, HostId, PortId, Time};
use hitless_hosts::{FlowConfig, FlowProgress};
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::loss::LossModel;
use hitless_scenario::network::routing::Withdrawn;
use hitless_scenario::network::topology::{DirectedLink, Division, Node, SwitchId, Topology};
use hitless_scenario::workload::FlowSpec;
use hitless_switch::PortState;

use super::partition::Partition;
use crate::link::LinkCounters;
use crate::run::edge::Closed;
use crate::run::event::{SimulationEvent, kind};
use crate::run::fabric::Fabric;
use crate::run::network::Network;
use crate::run::sampling::Counts;

/// The partitions and the queue of run-wide events.
pub struct Whole<'a> {
    partitions: &'a [Mutex<Partition>],
    division: &'a Division,
    topology: Arc<Topology>,
    /// Changes come before all other events of their time, samples after them.
    changes: EventQueue<SimulationEvent>,
    samples: EventQueue<SimulationEvent>,
    /// Source and destination of each flow.
    ends: Pages<(HostId, HostId)>,
    /// Number of changes made, and the time of the last change or sample.
    pub events: u64,
    pub now: Time,
}

/// The first run-wide event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// A change, after all events before that time.
    Change(Time),
    /// A sample, after all events up to and including that time.
    Sample(Time),
    Nothing,
}

impl Due {
    /// The time of the event.
    pub fn at(self) -> Time {
        match self {
            Due::Change(at) | Due::Sample(at) => at,
            Due::Nothing => Time::NEVER,
        }
    }

    /// All events before this time must have been handled.
    pub fn end(self) -> Time {
        match self {
            Due::Change(at) => at,
            Due::Sample(at) => Time(at.0.saturating_add(1)),
            Due::Nothing => Time::NEVER,
        }
    }
}

impl<'a> Whole<'a> {
    pub fn new(partitions: &'a [Mutex<Partition>], division: &'a Division) -> Self {
        let topology = lock(&partitions[0]).network.topology.clone();
        let (changes, samples, ends) = (EventQueue::default(), EventQueue::default(), Pages::default());
        Self { partitions, division, topology, changes, samples, ends, events: 0, now: Time::ZERO }
    }

    pub fn division(&self) -> &Division {
        self.division
    }

    fn at_switch(&self, switch: SwitchId) -> MutexGuard<'_, Partition> {
        lock(&self.partitions[self.division.of_switch(switch) as usize])
    }

    fn at_host(&self, host: HostId) -> MutexGuard<'_, Partition> {
        lock(&self.partitions[self.division.of_host(host) as usize])
    }

    fn in_all(&self, act: impl Fn(&mut Network<Closed>)) {
        self.partitions.iter().for_each(|partition| act(&mut lock(partition).network));
    }

    /// The partition that a link begins in.
    fn before(&self, link: DirectedLink) -> MutexGuard<'_, Partition> {
        lock(&self.partitions[self.division.of_link(&self.topology, link).0 as usize])
    }

    /// The partition that a link ends in.
    fn behind(&self, link: DirectedLink) -> MutexGuard<'_, Partition> {
        lock(&self.partitions[self.division.of_link(&self.topology, link).1 as usize])
    }

    /// The first run-wide event.
    pub fn due(&mut self) -> Due {
        match (self.changes.next_time(), self.samples.next_time()) {
            (Some(change), sample) if sample.is_none_or(|sample| change <= sample) => Due::Change(change),
            (_, Some(sample)) => Due::Sample(sample),
            _ => Due::Nothing,
        }
    }

    /// Takes the first run-wide event.
    pub fn take(&mut self, due: Due) -> Option<(Time, SimulationEvent)> {
        let event = match due {
            Due::Change(_) => self.changes.pop(),
            Due::Sample(_) => self.samples.pop(),
            Due::Nothing => None,
        }?;
        let Event { time, order, payload } = event;
        self.now = time;
        if !payload.leaves_no_mark() {
            lock(&self.partitions[0]).network.shared.clocks.record(time, order);
            self.events += 1;
        }
        Some((time, payload))
    }

    /// Frees a flow that has been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        self.ends.let_go(flow.0 as usize);
    }

    /// Cancels all further samples.
    pub fn stop_sampling(&mut self) {
        self.samples = EventQueue::default();
    }
}

/// Locks a partition, for use between two windows or by the thread that runs it.
pub fn lock(partition: &Mutex<Partition>) -> MutexGuard<'_, Partition> {
    partition.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fabric for Whole<'_> {
    fn schedule(&mut self, at: Time, event: SimulationEvent) {
        let clocks = &mut lock(&self.partitions[0]).network.shared.clocks;
        let everywhere = clocks.everywhere();
        self.changes.push(at, clocks.key(kind::CHANGE, everywhere), event);
    }

    fn schedule_sample(&mut self, at: Time, sampler: u32) {
        self.samples.push(at, OrderKey::new(kind::SAMPLE, sampler, 0), SimulationEvent::Sample { sampler });
    }

    fn set_loss(&mut self, link: DirectedLink, model: &LossModel, stream: impl FnOnce() -> Stream) {
        self.behind(link).network.set_loss(link, model, stream);
    }

    fn set_rate(&mut self, now: Time, link: DirectedLink, rate: BitRate, clock_offset_ppb: i32) {
        if let Node::Host(_) = self.topology.ends(link).0.node {
            return self.in_all(|network| network.set_rate(now, link, rate, clock_offset_ppb));
        }
        self.before(link).network.set_rate(now, link, rate, clock_offset_ppb);
    }

    // The sender reads the delay, and the receiver has the link after the join.
    fn set_delay(&mut self, link: DirectedLink, delay: Duration) -> Duration {
        let before = self.before(link).network.set_delay(link, delay);
        self.behind(link).network.set_delay(link, delay);
        before
    }

    fn hold_line(&mut self, link: DirectedLink, longer: Duration) {
        self.before(link).network.hold_line(link, longer);
    }

    fn set_link_state(&mut self, now: Time, link: DirectedLink, state: LinkState) {
        self.behind(link).network.set_link_state(now, link, state);
    }

    fn link_counters(&self, link: usize) -> LinkCounters {
        self.behind(DirectedLink::from_index(link)).network.link_counters(link)
    }

    fn command(&mut self, now: Time, switch: u32, mechanism: usize, command: u32) {
        self.at_switch(SwitchId(switch)).network.command(now, switch, mechanism, command);
    }

    fn set_port_state(&mut self, now: Time, switch: SwitchId, port: PortId, state: PortState) {
        self.at_switch(switch).network.set_port_state(now, switch, port, state);
    }

    // Every partition has a copy of all hosts: a receiver reads the rate and the ports of its sender's host.
    fn set_host_port_state(&mut self, now: Time, host: HostId, port: PortId, is_up: bool) {
        self.in_all(|network| network.set_host_port_state(now, host, port, is_up));
    }

    fn set_reachable(&mut self, host: HostId, port: PortId, is_reachable: bool) {
        self.in_all(|network| network.set_reachable(host, port, is_reachable));
    }

    // Every partition has its own copy of the routing tables.
    fn set_detour(&mut self, switch: SwitchId, port: PortId, backup: Option<PortId>) {
        self.in_all(|network| network.set_detour(switch, port, backup));
    }

    fn withdraw(&mut self, known: &Withdrawn) {
        self.in_all(|network| network.withdraw(known));
    }

    fn bytes_sent(&self, switch: u32, port: PortId) -> u64 {
        self.at_switch(SwitchId(switch)).network.bytes_sent(switch, port)
    }

    fn port_bytes(&mut self, now: Time, switch: u32, port: PortId) -> u64 {
        self.at_switch(SwitchId(switch)).network.port_bytes(now, switch, port)
    }

    fn flows_at_port(&mut self, now: Time, switch: u32, port: PortId, flows: &mut Vec<u32>) {
        let (not_left, link) = {
            let network = &mut self.at_switch(SwitchId(switch)).network;
            (network.flows_waiting(now, switch, port, flows), network.shared.switch_links.link(switch, port))
        };
        if let Some(link) = link {
            self.behind(DirectedLink::from_index(link)).network.flows_on_link(link, not_left, flows);
        }
    }

    fn add_flow(&mut self, spec: &FlowSpec, config: FlowConfig) -> FlowId {
        self.ends.push((spec.source, spec.destination));
        let mut flow = FlowId(0);
        // Every partition numbers all flows, so that a flow has the same number everywhere.
        for partition in self.partitions {
            flow = lock(partition).network.add_flow(spec, config);
        }
        flow
    }

    fn progress(&self, flow: FlowId) -> (Option<FlowProgress>, Option<u64>) {
        let Some(&(source, destination)) = self.ends.get(flow.0 as usize) else { return (None, None) };
        let sender = self.at_host(source).network.progress(flow).0;
        (sender, self.at_host(destination).network.progress(flow).1)
    }

    fn has_ended(&self, flow: FlowId) -> bool {
        let Some(&(source, destination)) = self.ends.get(flow.0 as usize) else { return true };
        [source, destination].into_iter().all(|host| self.at_host(host).network.has_ended(flow))
    }

    fn add_ended(&self, group: usize, seen: &mut Vec<(usize, usize)>, counts: &mut Counts) {
        seen.resize(self.partitions.len(), (0, 0));
        for (partition, seen) in self.partitions.iter().zip(seen) {
            lock(partition).network.add_ended_beyond(group, seen, counts);
        }
    }
}
