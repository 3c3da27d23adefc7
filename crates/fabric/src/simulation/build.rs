//! From a checked scenario to hosts, switches and links ready to run.

use hitless_engine::{EventQueue, OrderKey, PacketStore, RandomStreams, Stream, TraceHash};
use hitless_hosts::{HostConfig, Hosts, NetworkCardConfig, QueueCapacity};
use hitless_mechanisms::AnyMechanism;
use hitless_switch::{
    Architecture, BufferPolicy, DepthUnit, DepthVisibility, EcnRamp, EcnThreshold, PortConfig, QueueConfig, QueueLimit,
    Switch,
};
use hitless_wire::{BitRate, Bytes, Duration, PortId, QueueId, Time};
use rand::Rng;

use super::changes::{Change, loss_stream_name};
use super::closed_loops::ClosedLoops;
use super::drops::DropLedger;
use super::environment::{Medium, Records, Services, SwitchLinks};
use super::event::{Sequences, SimulationEvent, kind};
use super::flow_sampling::FlowSampler;
use super::group_sampling::GroupSampler;
use super::open_connections::OpenConnections;
use super::recovery::Recovery;
use super::sampling::{Sampler, Subject};
use super::{Simulation, flow_queueing, mechanisms, transports};
use crate::link::Link;
use crate::routing::{PathChoice, Routing};
use crate::scenario::{
    BufferSettings, DepthVisible, EcnSettings, HostSettings, LossChange, PathRule, QueueLength, Scenario,
    SchedulerKind, StackSettings, SwitchSettings,
};
use crate::topology::select::{SwitchPort, select_links, select_switch_ports};
use crate::topology::{DirectedLink, Node, SwitchId, Topology};
use crate::workload::Workload;

impl Simulation {
    /// Builds what `scenario` describes.
    ///
    /// # Errors
    /// A sentence, for what can only be found out here: a file of flows that cannot be read.
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        Self::build(scenario, None)
    }

    /// [`Self::new`]; of a fabric of which only some switches are here, by number, the others do nothing.
    pub(super) fn build(scenario: Scenario, is_here: Option<&[bool]>) -> Result<Self, String> {
        let topology = scenario.topology.build().map_err(|errors| sentences(&errors))?;
        let streams = RandomStreams::new(scenario.seed);
        let mut changes = Vec::new();
        let mut medium = medium(&scenario, &topology);
        let mut workload = Workload::new(&scenario, &topology, &streams).map_err(|error| error.to_string())?;
        let closed_loops = ClosedLoops::new(workload.take_sequences());
        medium.records.sequence_of_group = closed_loops.by_group(scenario.flows.len());
        impair(&scenario, &topology, &streams, &mut medium.links, &mut changes)?;
        let recovery = Recovery::new(&scenario, &topology, &mut medium.routing, &streams)?;
        let mut plan = mechanisms::plan(&scenario, &topology)?;
        if plan.asks_for_returns {
            medium.routing.learn_returns(&topology);
        }
        if let Some(is_here) = is_here {
            plan.keep(is_here);
        }
        changes.extend(plan.commands);
        changes.sort_by_key(|&(at, _)| at);
        let mut hosts = Hosts::new(streams);
        for host in topology.host_ids() {
            let config = host_config(&scenario.host, &topology, host.0, &streams);
            hosts.add_host(&config, streams.stream(&format!("host {} stack", host.0)));
        }
        let overhead_bytes = topology.links[0].settings.overhead_bytes;
        let add = |settings| hosts.add_transport(transports::config(settings, &scenario.host, overhead_bytes));
        let transports = scenario.transports.iter().map(add).collect();
        let switches = plan.mechanisms.into_iter().enumerate().map(|(number, mechanisms)| {
            let id = SwitchId(number as u32);
            switch(&scenario, &topology, id, &streams, &plan.recirculation_limits[number], mechanisms)
        });
        let switches = switches.collect();
        let samplers = samplers(&scenario, &topology)?;
        let flow_samplers = flow_samplers(&scenario);
        let group_samplers = group_samplers(&scenario);
        let workload: Box<dyn Iterator<Item = _> + Send> = Box::new(workload);
        Ok(Self {
            scenario,
            topology,
            medium,
            hosts,
            switches,
            transports,
            workload: workload.peekable(),
            closed_loops,
            open_connections: OpenConnections::default(),
            flow_specs: Vec::new(),
            messages_expected: 0,
            changes,
            next_change: 0,
            recovery,
            samplers,
            flow_samplers,
            group_samplers,
            events: 0,
            now: Time::ZERO,
        })
    }
}

pub(super) fn sentences<E: std::fmt::Display>(errors: &[E]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn medium(scenario: &Scenario, topology: &Topology) -> Medium {
    let hosts_count = topology.hosts.len() as u32;
    let phy_latency = architecture(&scenario.switch).phy_latency;
    let directed = || (0..2 * topology.links.len()).map(DirectedLink::from_index);
    let receiver = |link| match topology.ends(link).1.node {
        Node::Host(host) => host.0,
        Node::Switch(switch) => hosts_count + switch.0,
    };
    let mut queue = EventQueue::default();
    let links = directed().map(|link| {
        let index = link.index() as u32;
        let order = OrderKey::new(kind::ARRIVAL, receiver(link), u64::from(index));
        let source = queue.add_source(order, SimulationEvent::LinkArrival { link: index });
        Link::new(topology.ends(link).1, topology.link(link.link).settings.delay + phy_latency, source)
    });
    let links = links.collect();
    let choice = match scenario.routing.choice {
        // Two choices are the switch's own; what it has no say in goes by the hash.
        PathRule::FlowHash | PathRule::TwoChoices => PathChoice::FlowHash,
        PathRule::BySum => PathChoice::BySum,
    };
    Medium {
        queue,
        packets: PacketStore::default(),
        links,
        routing: Routing::new(topology, choice),
        trace: TraceHash::default(),
        sequences: Sequences::new(topology.hosts.len() + topology.switches.len()),
        host_links: topology.hosts.iter().map(|host| host.port.link.index() as u32).collect(),
        switch_links: SwitchLinks::new(topology),
        hosts_count,
        control_packets: 0,
        records: Records::default(),
        services: Services::new(&scenario.flows),
        drops: DropLedger::new(topology.switches.len(), scenario.flows.len()),
        order: scenario.measure.order.then(Default::default),
        outside: None,
    }
}

fn impair(
    scenario: &Scenario,
    topology: &Topology,
    streams: &RandomStreams,
    links: &mut [Link],
    changes: &mut Vec<(Time, Change)>,
) -> Result<(), String> {
    for impairment in &scenario.links {
        for link in select_links(topology, &impairment.name)? {
            let line_rate = topology.link(link.link).settings.rate;
            links[link.index()].set_loss(&impairment.loss, line_rate, || streams.stream(&loss_stream_name(link)));
            let change = |change: &LossChange| (change.at, Change::Loss { link, model: change.loss.clone() });
            let losses = impairment.changes.iter().map(change);
            changes.extend(losses);
            let states =
                impairment.schedule.iter().map(|change| (change.at, Change::State { link, state: change.state }));
            changes.extend(states);
        }
    }
    Ok(())
}

/// The network card of a host.
pub(super) fn network_card(settings: &HostSettings, topology: &Topology, host: u32) -> NetworkCardConfig {
    let link = topology.link(topology.hosts[host as usize].port.link.link).settings;
    let capacity = match settings.nic_queue {
        QueueLength::Packets(packets) => QueueCapacity::Packets(packets as u32),
        QueueLength::Bytes(bytes) => QueueCapacity::Bytes(bytes),
    };
    NetworkCardConfig { wire_overhead_bytes: link.overhead_bytes, capacity, ..NetworkCardConfig::at_rate(link.rate) }
}

fn host_config(settings: &HostSettings, topology: &Topology, host: u32, streams: &RandomStreams) -> HostConfig {
    let network_card = network_card(settings, topology, host);
    HostConfig {
        kernel_stack: StackSettings::from(settings.kernel).into(),
        receive_offload: settings.kernel.receive_offload.map(Into::into),
        network_card_stack: settings.network_card.into(),
        hold_back_tcp: settings.hold_back_tcp,
        timer_phase: timer_phase(settings, streams, host),
        time_to_live: settings.time_to_live,
        ordering_timeout: settings.ordering.map(|ordering| ordering.timeout),
        ..HostConfig::with_network_card(network_card)
    }
}

/// Where the ticks of a host's timer fall: hosts do not boot together.
fn timer_phase(settings: &HostSettings, streams: &RandomStreams, host: u32) -> Duration {
    match settings.timer_tick.as_ps() {
        0 => Duration::ZERO,
        tick_ps => Duration::from_ps(streams.stream(&format!("host {host} timer")).next_u64() % tick_ps),
    }
}

pub(super) fn switch(
    scenario: &Scenario,
    topology: &Topology,
    id: SwitchId,
    streams: &RandomStreams,
    recirculation_limits: &[Option<Bytes>],
    mechanisms: Vec<AnyMechanism>,
) -> Switch<AnyMechanism> {
    let settings = &scenario.switch;
    let ports = topology.switch(id).ports.iter().map(|port| {
        let link = topology.link(port.link.link).settings;
        let settings = settings.of_port(topology, id, port);
        let by_flow = settings.flow_queueing.as_ref().map(|queueing| {
            let stream = format!("flow hash at {}", topology.link_name(port.link));
            flow_queueing::discipline(queueing, scenario.frame_max(), streams.stream(&stream).next_u64() as u32)
        });
        let marking = streams.stream(&format!("marking at {}", topology.link_name(port.link)));
        PortConfig {
            faces_switch: port.faces_switch(),
            line: port.link.index() as u32,
            flow_queueing: by_flow,
            ..port_config(&settings, link.rate, link.overhead_bytes, marking)
        }
    });
    let recirculation = recirculation_limits.iter().map(|limit| recirculation_port(settings, *limit));
    let ports = ports.chain(recirculation).collect();
    let mut switch = Switch::new(architecture(settings), ports, buffer_policy(settings), mechanisms);
    if scenario.routing.choice == PathRule::TwoChoices {
        switch.choose_of_two(streams.stream(&format!("next hops at {}", topology.switch(id).name)));
    }
    switch
}

/// What marks by chance draws from streams of which `marking` gives the seeds.
fn port_config(settings: &SwitchSettings, rate: BitRate, overhead_bytes: u32, mut marking: Stream) -> PortConfig {
    let count = settings.queue_count();
    let limit = match settings.buffer {
        BufferSettings::Static(buffer) => match buffer.per_port {
            QueueLength::Packets(packets) => QueueLimit::Packets((packets as u32 / u32::from(count)).max(1)),
            QueueLength::Bytes(bytes) => QueueLimit::Bytes(bytes.0 / u64::from(count)),
        },
        BufferSettings::Shared(buffer) => {
            buffer.queue_max.map_or(QueueLimit::Unlimited, |max| QueueLimit::Bytes(max.0))
        }
    };
    let mut queue = |number: u8| {
        let level = if settings.scheduler == SchedulerKind::Strict { number } else { 0 };
        QueueConfig {
            quantum_bytes: settings.drr_quantum.0 as u32,
            ..QueueConfig::normal(limit).with_priority(QueueConfig::NORMAL_PRIORITY + level)
        }
        .with_ecn(ecn_threshold(settings.ecn, marking.next_u64()))
    };
    let class_queue = std::array::from_fn(|class| QueueId(settings.queue_of_class(class as u8)));
    let queues: Vec<_> = (0..count).map(&mut queue).collect();
    let first = queues[0];
    PortConfig { queues, class_queue, ..PortConfig::fifo(rate, overhead_bytes, first) }
}

fn ecn_threshold(settings: Option<EcnSettings>, seed: u64) -> EcnThreshold {
    let Some(EcnSettings { threshold, maximum, probability }) = settings else { return EcnThreshold::Off };
    let ramp = |unit, minimum, maximum| {
        EcnThreshold::Ramp(EcnRamp::new(unit, minimum, maximum, probability.unwrap_or(1.0), seed))
    };
    match (threshold, maximum) {
        (QueueLength::Packets(least), Some(QueueLength::Packets(most))) => ramp(DepthUnit::Packets, least, most),
        (QueueLength::Bytes(least), Some(QueueLength::Bytes(most))) => ramp(DepthUnit::Bytes, least.0, most.0),
        (QueueLength::Packets(packets), _) => EcnThreshold::Packets(packets as u32),
        (QueueLength::Bytes(bytes), _) => EcnThreshold::Bytes(bytes.0),
    }
}

fn recirculation_port(settings: &SwitchSettings, limit: Option<Bytes>) -> PortConfig {
    let limit = limit.map_or(QueueLimit::Unlimited, |limit| QueueLimit::Bytes(limit.0));
    let overhead_bytes = hitless_wire::packet::ETHERNET_OVERHEAD_BYTES;
    let queue = QueueConfig::normal(limit);
    PortConfig { is_loopback: true, ..PortConfig::fifo(settings.recirculation_rate, overhead_bytes, queue) }
}

fn buffer_policy(settings: &SwitchSettings) -> BufferPolicy {
    match settings.buffer {
        BufferSettings::Static(_) => BufferPolicy::Static,
        BufferSettings::Shared(buffer) => BufferPolicy::Shared { capacity_bytes: buffer.total.0, alpha: buffer.alpha },
    }
}

/// The hardware that `settings` describe.
pub(super) fn architecture(settings: &SwitchSettings) -> Architecture {
    Architecture {
        ingress_latency: settings.ingress_latency,
        egress_latency: settings.egress_latency,
        mirror_latency: settings.mirror_latency,
        loopback_latency: settings.loopback_latency,
        phy_latency: settings.phy_latency,
        recirculation_rate: settings.recirculation_rate,
        depth_visibility: match settings.depth_visible {
            DepthVisible::Egress => DepthVisibility::Egress,
            DepthVisible::IngressAndEgress => DepthVisibility::IngressAndEgress,
        },
        budget: settings.budget.map(Into::into),
        checked: settings.checked,
        ..Architecture::tofino_like()
    }
}

fn samplers(scenario: &Scenario, topology: &Topology) -> Result<Vec<Sampler>, String> {
    let mut samplers = Vec::new();
    for sampling in &scenario.measure.queue {
        for name in &sampling.ports {
            let SwitchPort { switch, port } = select_switch_ports(topology, name, scenario.switch.recirculation_ports)?;
            let occupancy = sampling.per_flow.then(Default::default);
            let subject = Subject::QueueBytes { switch: switch.0, port, occupancy };
            samplers.push(Sampler { name: name.clone(), period: sampling.period, subject, samples: Vec::new() });
        }
    }
    for sampling in &scenario.measure.throughput {
        for name in &sampling.links {
            for link in select_links(topology, name)? {
                let subject = Subject::LinkBytes { link: link.index(), before: 0 };
                let name = topology.link_name(link);
                samplers.push(Sampler { name, period: sampling.period, subject, samples: Vec::new() });
            }
        }
    }
    Ok(samplers)
}

fn flow_samplers(scenario: &Scenario) -> Vec<FlowSampler> {
    let group = |name: &str| scenario.flows.iter().position(|group| group.name == name);
    let wanted = scenario.measure.flow.iter();
    wanted.filter_map(|sampling| Some(FlowSampler::new(group(&sampling.group)?, sampling.period))).collect()
}

fn group_samplers(scenario: &Scenario) -> Vec<GroupSampler> {
    let group = |name: &str| scenario.flows.iter().position(|group| group.name == name);
    let wanted = scenario.measure.goodput.iter();
    wanted.filter_map(|sampling| Some(GroupSampler::new(group(&sampling.group)?, sampling.period))).collect()
}

/// The port of a recirculation port by its number.
pub(super) fn recirculation_port_id(topology: &Topology, switch: SwitchId, number: u16) -> PortId {
    PortId(topology.switch(switch).ports.len() as u16 + number)
}
