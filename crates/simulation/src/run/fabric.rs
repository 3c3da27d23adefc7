//! Interface for run-wide actions (changes, failures, flow starts, samples), for a run of one partition ([`Network`])
//! or several.

use std::collections::BTreeMap;

use hitless_core::engine::{OrderKey, Stream};
use hitless_core::wire::{BitRate, Duration, FlowId, HostId, Packet, PortId, Time, Transport};
use hitless_hosts::{FlowConfig, FlowProgress};
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::loss::LossModel;
use hitless_scenario::network::routing::Withdrawn;
use hitless_scenario::network::topology::{DirectedLink, Endpoint, Node, Planes, SwitchId};
use hitless_scenario::workload::FlowSpec;
use hitless_switch::PortState;

use super::edge::Edge;
use super::event::{SimulationEvent, kind};
use super::network::Network;
use super::sampling::Counts;
use crate::link::LinkCounters;

/// The whole run as seen by its global parts.
pub(super) trait Fabric {
    /// Schedules a global event.
    fn schedule(&mut self, at: Time, event: SimulationEvent);

    /// Schedules a sample after all other events of that time.
    fn schedule_sample(&mut self, at: Time, sampler: u32);

    /// Sets the loss model of a link; `stream` provides the random numbers if the link lacks a stream.
    fn set_loss(&mut self, link: DirectedLink, model: &LossModel, stream: impl FnOnce() -> Stream);

    /// Sets the rate of a line for later frames.
    fn set_rate(&mut self, now: Time, link: DirectedLink, rate: BitRate, clock_offset_ppb: i32);

    /// Sets the delay of a link for later frames; returns the old delay.
    fn set_delay(&mut self, link: DirectedLink, delay: Duration) -> Duration;

    /// Keeps a line idle for `longer` after its last frame.
    fn hold_line(&mut self, link: DirectedLink, longer: Duration);

    /// Takes one direction of a link down or up.
    fn set_link_state(&mut self, now: Time, link: DirectedLink, state: LinkState);

    fn link_counters(&self, link: usize) -> LinkCounters;

    /// Sends a control-plane command to a mechanism of a switch.
    fn command(&mut self, now: Time, switch: u32, mechanism: usize, command: u32);

    /// Tells a switch the new state of a port.
    fn set_port_state(&mut self, now: Time, switch: SwitchId, port: PortId, state: PortState);

    /// Tells a host that its port is down or up.
    fn set_host_port_state(&mut self, now: Time, host: HostId, port: PortId, is_up: bool);

    /// Tells all hosts whether the fabric can reach this port of a host.
    fn set_reachable(&mut self, host: HostId, port: PortId, is_reachable: bool);

    /// Redirects packets for a port to `backup`, or back to the port itself.
    fn set_detour(&mut self, switch: SwitchId, port: PortId, backup: Option<PortId>);

    /// Withdraws the paths over the links that each switch knows of, and restores all others. Hosts with several ports
    /// avoid those that no longer lead to a destination.
    fn withdraw(&mut self, known: &Withdrawn);

    fn bytes_sent(&self, switch: u32, port: PortId) -> u64;

    /// Bytes queued at a port.
    fn port_bytes(&mut self, now: Time, switch: u32, port: PortId) -> u64;

    /// Adds the flow of each packet that is queued at a port or in transmission.
    fn flows_at_port(&mut self, now: Time, switch: u32, port: PortId, flows: &mut Vec<u32>);

    /// Registers a flow that will start.
    fn add_flow(&mut self, spec: &FlowSpec, config: FlowConfig) -> FlowId;

    /// Progress of a flow's sending end and the bytes delivered, each if that end has begun and not ended.
    fn progress(&self, flow: FlowId) -> (Option<FlowProgress>, Option<u64>);

    /// Whether both ends of a flow have ended.
    fn has_ended(&self, flow: FlowId) -> bool;

    /// Adds the counters of a group's ended flows, from each partition only those beyond `seen`.
    fn add_ended(&self, group: usize, seen: &mut Vec<(usize, usize)>, counts: &mut Counts);
}

impl<E: Edge> Fabric for Network<E> {
    fn schedule(&mut self, at: Time, event: SimulationEvent) {
        self.shared.schedule_everywhere(at, event);
    }

    fn schedule_sample(&mut self, at: Time, sampler: u32) {
        // Samples have separate keys, so that sampling does not change the order of other events.
        let order = OrderKey::new(kind::SAMPLE, sampler, 0);
        self.shared.queue.push(at, order, SimulationEvent::Sample { sampler });
    }

    fn set_loss(&mut self, link: DirectedLink, model: &LossModel, stream: impl FnOnce() -> Stream) {
        let line_rate = self.topology.spec(link).rate;
        self.shared.links.set_loss(link.index(), model, line_rate, stream);
    }

    fn set_rate(&mut self, now: Time, link: DirectedLink, rate: BitRate, clock_offset_ppb: i32) {
        let Endpoint { node, port } = self.topology.ends(link).0;
        match node {
            Node::Host(host) => self.hosts.set_line_rate(now, host, port, rate),
            Node::Switch(switch) => self.switches[switch.0 as usize].set_line_rate(port, rate, clock_offset_ppb),
        }
    }

    fn set_delay(&mut self, link: DirectedLink, delay: Duration) -> Duration {
        self.shared.links.at(link.index() as u32).set_delay(delay)
    }

    fn hold_line(&mut self, link: DirectedLink, longer: Duration) {
        let Endpoint { node, port } = self.topology.ends(link).0;
        match node {
            Node::Host(host) => self.hosts.hold_line(host, port, longer),
            Node::Switch(switch) => self.switches[switch.0 as usize].hold_line(port, longer),
        }
    }

    fn set_link_state(&mut self, now: Time, link: DirectedLink, state: LinkState) {
        self.shared.links.set_state(link.index(), now, state);
    }

    fn link_counters(&self, link: usize) -> LinkCounters {
        self.shared.links.counters(link)
    }

    fn command(&mut self, now: Time, switch: u32, mechanism: usize, command: u32) {
        self.note_change(now);
        let (state, mut environment) = self.at(switch);
        state.command(now, mechanism, command, &mut environment);
    }

    fn set_port_state(&mut self, now: Time, switch: SwitchId, port: PortId, state: PortState) {
        self.note_change(now);
        let (switch, mut environment) = self.at(switch.0);
        switch.port_state(now, port, state, &mut environment);
    }

    fn set_host_port_state(&mut self, now: Time, host: HostId, port: PortId, is_up: bool) {
        let (hosts, mut environment) = self.hosts();
        hosts.set_port_state(now, host, port, is_up, &mut environment);
    }

    fn set_reachable(&mut self, host: HostId, port: PortId, is_reachable: bool) {
        self.hosts.set_reachable(host, port, is_reachable);
    }

    fn set_detour(&mut self, switch: SwitchId, port: PortId, backup: Option<PortId>) {
        self.shared.routing.set_detour(switch, port, backup);
    }

    fn withdraw(&mut self, known: &Withdrawn) {
        self.shared.routing.withdraw(&self.topology, known);
        if self.topology.has_multi_homed_hosts() {
            self.tell_hosts_of_paths(known);
        }
    }

    fn bytes_sent(&self, switch: u32, port: PortId) -> u64 {
        self.switches[switch as usize].mac(port).bytes_sent
    }

    fn port_bytes(&mut self, now: Time, switch: u32, port: PortId) -> u64 {
        self.switches[switch as usize].port_bytes(now, port)
    }

    fn flows_at_port(&mut self, now: Time, switch: u32, port: PortId, flows: &mut Vec<u32>) {
        let not_left = self.flows_waiting(now, switch, port, flows);
        if let Some(link) = self.shared.switch_links.link(switch, port) {
            self.flows_on_link(link, not_left, flows);
        }
    }

    fn add_flow(&mut self, spec: &FlowSpec, config: FlowConfig) -> FlowId {
        self.note_flow(spec);
        self.shared.edge.flow_added(spec.group as u32);
        let (hosts, mut environment) = self.hosts();
        hosts.add_flow(config, &mut environment)
    }

    fn progress(&self, flow: FlowId) -> (Option<FlowProgress>, Option<u64>) {
        (self.hosts.progress(flow), self.hosts.delivered_bytes(flow))
    }

    fn has_ended(&self, flow: FlowId) -> bool {
        self.hosts.has_ended(flow)
    }

    fn add_ended(&self, group: usize, seen: &mut Vec<(usize, usize)>, counts: &mut Counts) {
        seen.resize(1, (0, 0));
        self.add_ended_beyond(group, &mut seen[0], counts);
    }
}

/// The flow of a packet; `None` for a switch's control packet.
fn flow_of(packet: &Packet) -> Option<u32> {
    (packet.transport != Transport::None).then_some(packet.flow.0)
}

impl<E: Edge> Network<E> {
    /// Tells each host with several ports the destinations that each port does not reach, although its plane has them.
    /// Only planes with withdrawn links lose destinations.
    fn tell_hosts_of_paths(&mut self, known: &Withdrawn) {
        let Self { topology, shared, hosts, .. } = self;
        let planes = Planes::new(topology);
        let ends = known.keys().flatten().flat_map(|&link| [topology.link(link).a, topology.link(link).b]);
        let switches = ends.filter_map(|end| end.node.switch());
        let changed = switches.fold(0_u64, |changed, switch| changed | 1 << planes.of_switch(switch));
        let of_hosts: Vec<u64> = topology.host_ids().map(|host| planes.of_host(topology, host)).collect();
        let lost_behind = |switch: SwitchId| -> Vec<HostId> {
            let plane = 1 << planes.of_switch(switch) & changed;
            let is_lost =
                |to: &HostId| of_hosts[to.0 as usize] & plane != 0 && shared.routing.next_hops(switch, *to).is_empty();
            if plane == 0 { Vec::new() } else { topology.host_ids().filter(is_lost).collect() }
        };
        let mut lost = BTreeMap::<SwitchId, Vec<HostId>>::new();
        for host in topology.host_ids().filter(|&host| topology.host(host).is_multi_homed()) {
            let switches: Vec<SwitchId> = topology.attachments(host).map(|(switch, _)| switch).collect();
            for &switch in &switches {
                lost.entry(switch).or_insert_with(|| lost_behind(switch));
            }
            hosts.set_lost(host, switches.iter().map(|switch| &*lost[switch]));
        }
    }

    fn note_change(&mut self, now: Time) {
        if let Some(capture) = &mut self.shared.capture {
            capture.note_change(now);
        }
    }

    /// Registers a flow.
    pub fn note_flow(&mut self, spec: &FlowSpec) {
        self.shared.services.add_flow(spec.group);
        self.shared.drops.add_flow(spec.group);
        if let Some(capture) = &mut self.shared.capture {
            capture.add_flow(spec, self.shared.services.of_group(spec.group));
        }
    }

    /// Adds the flows of the packets queued at a port. Returns the number of frames already handed to the link that
    /// have not departed.
    pub fn flows_waiting(&mut self, now: Time, switch: u32, port: PortId, flows: &mut Vec<u32>) -> usize {
        let Network { shared, switches, .. } = self;
        let state = &mut switches[switch as usize];
        state.each_waiting(port, |packet| flows.extend(flow_of(&shared.packets[packet])));
        state.frames_not_left(now, port)
    }

    /// Adds the flows of the packets that were put on a link last.
    pub fn flows_on_link(&self, link: usize, count: usize, flows: &mut Vec<u32>) {
        let last = self.shared.links[link].last_sent(count);
        last.for_each(|packet| flows.extend(flow_of(&self.shared.packets[packet])));
    }

    /// Adds the counters of a group's ended flows beyond those seen; `seen` counts sender records and receiver records.
    pub fn add_ended_beyond(&self, group: usize, seen: &mut (usize, usize), counts: &mut Counts) {
        let records = &self.shared.records.flows;
        let of_group = |tag: u32| tag as usize == group;
        let senders = records.flows[seen.0..].iter().filter(|record| of_group(record.tag));
        senders.for_each(|record| counts.add(Counts::of_sender(&record.sender)));
        let receivers = records.receivers[seen.1..].iter().filter(|record| of_group(record.tag));
        receivers.for_each(|record| counts.add(Counts::of_receiver(record.bytes_delivered)));
        *seen = (records.flows.len(), records.receivers.len());
    }
}
