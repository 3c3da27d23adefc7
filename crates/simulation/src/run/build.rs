//! From a checked scenario to hosts, switches and links ready to run.

use std::sync::Arc;

use hitless_core::engine::RandomStreams;
use hitless_core::settings::quantity::QueueLength;
use hitless_core::wire::{Duration, HostId, Time};
use hitless_hosts::{HostConfig, Hosts, NetworkCardConfig, PortConfig, QueueCapacity};
use hitless_scenario::network::routing::Routing;
use hitless_scenario::network::topology::select::select_links;
use hitless_scenario::network::topology::{DirectedLink, Planes, Port, Topology};
use hitless_scenario::plan::{self, Plan, PlannedCommand};
use hitless_scenario::{Clocks, FlowGroup, HostSettings, Scenario, StackSettings, workload};
use hitless_switch::Switch;
use rand::Rng;

use super::capture::Capture;
use super::closed_loops::ClosedLoops;
use super::control_plane::{Change, ControlPlane, loss_stream_name};
use super::edge::Edge;
use super::event_loop::Run;
use super::flow_starts::FlowStarts;
use super::global::Global;
use super::group_totals::GroupTotals;
use super::network::Network;
use super::recovery::Recovery;
use super::sampling::Samplers;
use super::shared::Shared;
use crate::link::{Link, Links};

/// Builds a run of `scenario` up to `edge`. `is_here` marks by number the switches that this process simulates; the
/// others do nothing.
///
/// # Errors
/// On errors that show up only here, such as an unreadable file of flows; the message is a sentence.
pub fn build<E: Edge>(mut scenario: Scenario, is_here: Option<&[bool]>, edge: E) -> Result<Run<E>, String> {
    if !E::IS_CLOSED {
        // A live run sends and receives frames by real clocks.
        scenario.clocks = Clocks::Ideal;
    }
    let topology = scenario.build_topology()?;
    let streams = RandomStreams::new(scenario.seed);
    let mut changes = Vec::new();
    let mut shared = shared(&scenario, &topology, edge);
    let mut workload = workload::build(&scenario, &topology, &streams)?;
    let closed_loops = ClosedLoops::new(workload.take_sequences(), workload.take_dependents());
    let messages = workload.messages();
    // By name, so that a flow keeps its identity when groups are added or moved.
    let identities = |group: &FlowGroup| streams.stream(&format!("identities {}", group.name)).next_u64();
    let groups = scenario.flows.iter().map(identities).collect();
    shared.records.has_followers = closed_loops.groups(scenario.flows.len());
    impair(&scenario, &topology, &streams, &mut shared.links, &mut changes)?;
    let recovery = Recovery::new(&scenario, &topology, &mut shared.routing, &streams)?;
    let mut plan = plan::plan(&scenario, &topology)?;
    if plan.asks_for_returns {
        shared.routing.learn_returns(&topology);
    }
    if let Some(is_here) = is_here {
        plan.keep(is_here);
    }
    let commands = plan.commands.iter().map(|&PlannedCommand { at, switch, mechanism, number }| {
        (at, Change::Command { switch: switch.0, mechanism, command: number })
    });
    changes.extend(commands);
    let mut hosts = hosts(&scenario, &topology, streams)?;
    let configs = scenario.transport_configs(&topology).into_iter();
    let transports = configs.map(|config| hosts.add_transport(config)).collect();
    let switches = switches_of(plan, &scenario, &topology, &streams);
    shared.capture = Capture::new(&scenario, &topology, &switches, is_here, &mut shared.links)?;
    let global = Global {
        samplers: Samplers::new(&scenario, &topology)?,
        flow_starts: FlowStarts::new(transports, groups, Box::new(workload), messages, closed_loops),
        control_plane: ControlPlane::new(streams, changes, recovery),
        streaming: None,
        totals: GroupTotals::new(scenario.flows.len()),
        explanation: None,
        scenario,
    };
    let network = Network { topology: Arc::new(topology), shared, hosts, switches };
    Ok(Run { global, network, events: 0, now: Time::ZERO })
}

fn hosts(scenario: &Scenario, topology: &Topology, streams: RandomStreams) -> Result<Hosts, String> {
    let mut hosts = Hosts::new(streams);
    let settings = scenario.host.of_each(topology)?;
    for (host, settings) in topology.host_ids().zip(&settings) {
        let config = host_config(scenario, settings, topology, host, &streams);
        hosts.add_host(&config, streams.stream(&format!("host {} stack", host.0)));
    }
    if topology.hosts.iter().any(|host| topology.needs_card_per_port(host)) {
        add_ports(scenario, &settings, topology, &streams, &mut hosts);
    }
    Ok(hosts)
}

/// Gives the hosts with several links, or with a changing line, a port for each link.
fn add_ports(
    scenario: &Scenario,
    settings: &[HostSettings],
    topology: &Topology,
    streams: &RandomStreams,
    hosts: &mut Hosts,
) {
    let planes = Planes::new(topology);
    let of_hosts: Arc<[u64]> = topology.host_ids().map(|host| planes.of_host(topology, host)).collect();
    for host in topology.host_ids().filter(|&host| topology.needs_card_per_port(topology.host(host))) {
        let ports = topology.host(host).ports.iter().zip(planes.of_ports(topology, host));
        let config = |(port, plane): (&Port, u32)| {
            let settings = &settings[host.0 as usize];
            let line_changes = topology.line_changes(port.link);
            let highest_rate = topology.line_range(port.link).highest_rate;
            let network_card = clocked_card(scenario, settings, topology, port, streams);
            PortConfig { network_card, plane, line_changes, highest_rate }
        };
        let configs: Vec<PortConfig> = ports.map(config).collect();
        hosts.set_ports(host, &configs, Arc::clone(&of_hosts));
    }
}

fn switches_of(plan: Plan, scenario: &Scenario, topology: &Topology, streams: &RandomStreams) -> Vec<Switch> {
    let Plan { mechanisms, recirculation_limits, .. } = plan;
    let of_switch = topology.switch_ids().zip(mechanisms).zip(&recirculation_limits);
    let switches =
        of_switch.map(|((id, mechanisms), limits)| plan::switch(scenario, topology, id, streams, limits, mechanisms));
    switches.collect()
}

fn shared<E>(scenario: &Scenario, topology: &Topology, edge: E) -> Shared<E> {
    let directed = (0..2 * topology.links.len()).map(DirectedLink::from_index);
    let links = directed.map(|link| Link::new(topology.ends(link).1, topology.spec(link).flight_time()));
    let routing = Routing::new(topology, scenario.routing.choice);
    let order = scenario.measure.order.then(Default::default);
    Shared { order, ..Shared::new(scenario, topology, Links::new(links.collect()), routing, edge) }
}

fn impair(
    scenario: &Scenario,
    topology: &Topology,
    streams: &RandomStreams,
    links: &mut Links,
    changes: &mut Vec<(Time, Change)>,
) -> Result<(), String> {
    for impairment in &scenario.links {
        for link in select_links(topology, &impairment.name)? {
            let line_rate = topology.spec(link).rate;
            links.set_loss(link.index(), &impairment.loss, line_rate, || streams.stream(&loss_stream_name(link)));
            let clock_offset_ppb = scenario.clocks.offset_ppb(streams, &topology.link_name(link));
            for change in &impairment.changes {
                let loss = change.loss.clone().map(|model| Change::Loss { link, model });
                let rate = change.rate.map(|rate| Change::Rate { link, rate, clock_offset_ppb });
                let coding = topology.spec(link).phy_latency + topology.fec_latency(link);
                let delay = change.delay.map(|delay| delay + coding);
                let delay = delay.map(|delay| Change::Delay { link, delay });
                changes.extend([loss, rate, delay].into_iter().flatten().map(|what| (change.at, what)));
            }
            let states =
                impairment.schedule.iter().map(|change| (change.at, Change::State { link, state: change.state }));
            changes.extend(states);
        }
    }
    Ok(())
}

/// The configuration of the network card at a port of a host.
pub fn network_card(settings: &HostSettings, topology: &Topology, port: &Port) -> NetworkCardConfig {
    let link = topology.spec(port.link);
    let capacity = match settings.nic_queue {
        QueueLength::Packets(packets) => QueueCapacity::Packets(packets as u32),
        QueueLength::Bytes(bytes) => QueueCapacity::Bytes(bytes),
    };
    NetworkCardConfig { wire_overhead_bytes: link.overhead_bytes, capacity, ..NetworkCardConfig::at_rate(link.rate) }
}

/// The network card at a port of a host, with its clock.
fn clocked_card(
    scenario: &Scenario,
    settings: &HostSettings,
    topology: &Topology,
    port: &Port,
    streams: &RandomStreams,
) -> NetworkCardConfig {
    let clock = scenario.clocks.card(streams, &topology.link_name(port.link));
    NetworkCardConfig { clock, ..network_card(settings, topology, port) }
}

fn host_config(
    scenario: &Scenario,
    settings: &HostSettings,
    topology: &Topology,
    host: HostId,
    streams: &RandomStreams,
) -> HostConfig {
    let network_card = clocked_card(scenario, settings, topology, &topology.host(host).ports[0], streams);
    HostConfig {
        kernel_stack: StackSettings::from(settings.kernel).into(),
        gro: settings.kernel.gro.map(Into::into),
        network_card_stack: settings.network_card.into(),
        tcp_small_queues: settings.tcp_small_queues,
        timer_phase: timer_phase(settings, streams, host.0),
        time_to_live: settings.time_to_live,
        flow_control: scenario.card_flow_control(topology, host),
        reorder_timeout: settings.reorder_buffer.map(|reorder_buffer| reorder_buffer.timeout),
        ..HostConfig::with_network_card(network_card)
    }
}

/// A random phase of a host's timer ticks, because hosts do not boot at the same time.
fn timer_phase(settings: &HostSettings, streams: &RandomStreams, host: u32) -> Duration {
    match settings.timer_tick.as_ps() {
        0 => Duration::ZERO,
        tick_ps => Duration::from_ps(streams.stream(&format!("host {host} timer")).next_u64() % tick_ps),
    }
}
