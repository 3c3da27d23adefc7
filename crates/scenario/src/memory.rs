//! Estimates the memory of a run before it begins.
//!
//! Sizes are measured ([`per`]); docs/evidence/reliability.md compares estimates with runs. The estimate covers
//! everything that can grow without bound: the fabric, flows with their records, packets in flight, tables of
//! mechanisms, samples. It is meant to be too high rather than too low.

use hitless_core::engine::RandomStreams;
use hitless_core::settings::Problem;
use hitless_core::wire::{Duration, HostId, PortId, Time};

use crate::kind::Surroundings;
use crate::network::switch::BufferSettings;
use crate::network::topology::Topology;
use crate::network::topology::select::SwitchPort;
use crate::workload::{Offer, build_group};
use crate::{FlowPattern, Protocol, Scenario};

/// Measured sizes of things in bytes.
mod per {
    /// A process with its libraries, including those for its report.
    pub const BASE: f64 = 150e6;
    /// A link before it is built.
    pub const LINK: f64 = 400.0;
    /// A built link with its two ports, its routes and a share of hosts, for ports with one private queue.
    pub const PLAIN_LINK_OF_FABRIC: f64 = 650.0;
    /// The same for other ports.
    pub const LINK_OF_FABRIC: f64 = 2_250.0;
    /// The addition for a link in each further partition.
    pub const LINK_OF_PART: f64 = 350.0;
    /// A finished flow with its rows in tables.
    pub const FLOW: f64 = 1_300.0;
    /// The statistics of a flow with rows that were handed over during the run.
    pub const FLOW_HANDED_OVER: f64 = 180.0;
    /// The addition for an active flow.
    pub const OPEN_FLOW: f64 = 3_000.0;
    /// A packet in its slot with its place in a queue.
    pub const PACKET: f64 = 300.0;
    pub const SAMPLE: f64 = 40.0;
    /// A packet that the order checker remembers.
    pub const WATCHED_PACKET: f64 = 120.0;
    /// A message with its autopsy and its row in the table: counted from the fields, not measured.
    pub const MESSAGE_OF_AUTOPSY: f64 = 916.0;
    /// The ledger of a packet: counted, too.
    pub const LEDGER: f64 = 128.0;
    /// A departure. A run keeps the latest 65,536, or 8 for each packet in flight.
    pub const DEPARTURE: f64 = 32.0;
    pub const CAPTURED_PACKET: f64 = 320.0;
}

/// Time until the order checker forgets an arrived packet.
const WATCHED: Duration = Duration::from_ms(10);

#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The field that determines its size.
    pub field: String,
    /// Description with its number.
    pub what: String,
    pub bytes: f64,
    /// Whether a run on one thread does not need it.
    pub is_of_threads: bool,
}

impl Part {
    fn new(field: impl Into<String>, what: String, bytes: f64) -> Self {
        Self { field: field.into(), what, bytes, is_of_threads: false }
    }
}

/// The estimate of a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Parts in descending order of size.
    pub parts: Vec<Part>,
}

impl Estimate {
    fn of(mut parts: Vec<Part>) -> Self {
        parts.sort_by(|one, other| other.bytes.total_cmp(&one.bytes));
        Self { parts }
    }

    pub fn bytes(&self) -> f64 {
        per::BASE + self.parts.iter().map(|part| part.bytes).sum::<f64>()
    }

    /// Reports an estimate above `limit_bytes` on the field of the largest part.
    pub fn beyond(&self, limit_bytes: u64) -> Option<Problem> {
        let largest = self.parts.first().filter(|_| self.bytes() > limit_bytes as f64)?;
        let (sum, part, limit) = (shown(self.bytes()), shown(largest.bytes), shown(limit_bytes as f64));
        let rule = format!("takes about {sum} of memory, {part} of it for {}, and {limit} are the limit", largest.what);
        let enough_gb = (self.bytes() / 1e9).ceil();
        let allow = if enough_gb <= 1e4 { format!(", or allow more: --memory {enough_gb}GB") } else { String::new() };
        let of_threads: f64 = self.parts.iter().filter(|part| part.is_of_threads).map(|part| part.bytes).sum();
        let fits_on_one = of_threads > 0.0 && self.bytes() - of_threads <= limit_bytes as f64;
        let hint = if fits_on_one { "run it on fewer threads: --threads 1" } else { "make that smaller" };
        Some(Problem::new(largest.field.clone(), "", rule).hint(format!("{hint}{allow}")))
    }
}

/// Formats bytes for people.
fn shown(bytes: f64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        _ if bytes >= 1e18 => format!("{bytes:.1e} B"),
        Some((unit, name)) => format!("{:.1} {name}", bytes / unit),
        None => format!("{bytes:.0} B"),
    }
}

/// Formats a count for people.
fn counted(count: f64) -> String {
    if count < 1e7 { format!("{count:.0}") } else { format!("{count:.1e}") }
}

/// Estimates the fabric alone. This is possible before anything is built, since building it takes memory too.
pub fn of_fabric(scenario: &Scenario, execution: Execution) -> Estimate {
    let links = scenario.topology.link_count() as f64;
    let is_divided = scenario.undivided_because().is_none();
    let threads = if is_divided { (execution.threads as f64).clamp(1.0, links.max(1.0)) } else { 1.0 };
    let of_fabric = if has_plain_ports(scenario) { per::PLAIN_LINK_OF_FABRIC } else { per::LINK_OF_FABRIC };
    let whole = Part::new("topology", format!("{} links", counted(links)), links * (per::LINK + of_fabric));
    let further = format!("tables of {} links on {} further threads", counted(links), threads - 1.0);
    let further = Part::new("topology", further, links * per::LINK_OF_PART * (threads - 1.0));
    Estimate::of(vec![whole, Part { is_of_threads: true, ..further }])
}

/// Returns whether all ports have one queue with a private buffer, without any mechanism.
fn has_plain_ports(scenario: &Scenario) -> bool {
    let switch = &scenario.switch;
    let has_one_queue = switch.variants().all(|switch| switch.queues_per_port == 1);
    let has_one_queue = has_one_queue && switch.flow_queueing.is_none() && switch.ports.is_empty();
    let has_one_queue = has_one_queue && !switch.has_flow_control();
    let has_limits = switch.variants().all(|switch| matches!(switch.buffer, BufferSettings::Static(_)));
    has_one_queue && has_limits && scenario.mechanisms.is_empty()
}

/// The parameters of execution that affect memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Whether rows of flows and messages are kept, or handed over during the run.
    pub keeps_rows: bool,
    /// Maximum number of threads.
    pub threads: usize,
}

impl Execution {
    /// One thread, and rows are kept.
    pub const ALONE: Self = Self { keeps_rows: true, threads: 1 };
}

/// A limit on the memory of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub bytes: u64,
    /// The execution to which it applies.
    pub execution: Execution,
}

/// Estimates a run of a checked scenario.
pub fn of_run(scenario: &Scenario, topology: &Topology, execution: Execution) -> Estimate {
    let mut parts = of_fabric(scenario, execution).parts;
    let offers = offers(scenario, topology);
    let of_flow = if execution.keeps_rows { per::FLOW } else { per::FLOW_HANDED_OVER };
    let carried_bps = topology.host_capacity_bps() as f64;
    let (mut packets, of_path) = (0.0, packets_of_path(scenario, topology));
    for (index, offer) in offers.iter().enumerate() {
        let field = format!("flows[{index}]{}", pace_field(scenario, index));
        let open = piled_up(offer, carried_bps, topology.hosts.len());
        packets += packets_of(scenario, index, offer, open, of_path);
        let bytes = offer.flows * of_flow + open * (per::OPEN_FLOW + state_of(scenario, topology, index));
        parts.push(Part::new(field, format!("{} flows", counted(offer.flows)), bytes));
    }
    let packets = packets.min(buffered(scenario, topology));
    let what = format!("{} packets in flight", counted(packets));
    parts.push(Part::new("switch.buffer", what, packets * per::PACKET));
    parts.extend(tables_of_mechanisms(scenario, topology));
    parts.push(samples(scenario));
    parts.extend(captured(scenario, carried_bps));
    parts.extend(watched(scenario, &offers, carried_bps));
    parts.extend(autopsies(scenario, &offers, packets));
    Estimate::of(parts)
}

/// Returns a warning for each group of flows that offers more than the links of all hosts carry.
pub fn overloads(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let carried_bps = topology.host_capacity_bps() as f64;
    let groups = scenario.flows.iter().zip(offers(scenario, topology));
    let beyond = groups.filter(|(_, offer)| offer.rate_bps() > carried_bps);
    let sentence = |(group, offer): (&crate::FlowGroup, Offer)| {
        let (offered, carried) = (offer.rate_bps() / 1e9, carried_bps / 1e9);
        format!("{} offers {offered:.1} Gb/s, and the links of all hosts carry {carried:.1} Gb/s", group.name)
    };
    beyond.map(sentence).collect()
}

/// Returns a warning for each list without a flow that starts before the run ends.
pub fn empty_lists(scenario: &Scenario, topology: &Topology) -> Vec<String> {
    let (end, streams) = (scenario.duration.unwrap_or(Time::NEVER), RandomStreams::new(scenario.seed));
    let is_empty = |index| build_group(scenario, topology, &streams, index).is_ok_and(|group| group.is_empty_list(end));
    let groups = scenario.flows.iter().enumerate();
    let sentence = |(index, group): (usize, &crate::FlowGroup)| match &group.pattern {
        FlowPattern::List(list) | FlowPattern::DependencyList(list) if is_empty(index) => {
            Some(format!("{}: no flow of {} starts before the run ends", group.name, list.file))
        }
        _ => None,
    };
    groups.filter_map(sentence).collect()
}

fn offers(scenario: &Scenario, topology: &Topology) -> Vec<Offer> {
    let end = scenario.duration.unwrap_or(Time::NEVER);
    let streams = RandomStreams::new(scenario.seed);
    let line_bps = topology.host_ids().map(|host| topology.host_rate(host).as_bps()).max().unwrap_or(1) as f64;
    let of_group = |index| build_group(scenario, topology, &streams, index).map(|group| group.offer(end, line_bps));
    (0..scenario.flows.len()).map(|index| of_group(index).unwrap_or_default()).collect()
}

/// Returns the setting that determines the number of flows of a group.
fn pace_field(scenario: &Scenario, index: usize) -> &'static str {
    match &scenario.flows[index].pattern {
        FlowPattern::Poisson(poisson) if poisson.load.is_some() => ".load",
        FlowPattern::Poisson(_) => ".flows_per_second",
        FlowPattern::Incast(incast) if incast.load.is_some() => ".load",
        FlowPattern::Incast(incast) if incast.queries_per_second.is_some() => ".queries_per_second",
        FlowPattern::Incast(_) | FlowPattern::Schedule(_) => ".period",
        FlowPattern::Sequence(_) | FlowPattern::Requests(_) => ".count",
        _ => "",
    }
}

/// Estimates the number of active flows: a few for each host, plus the excess over the capacity of the hosts' links.
fn piled_up(offer: &Offer, carried_bps: f64, hosts: usize) -> f64 {
    let excess = if offer.rate_bps() > carried_bps { 1.0 - carried_bps / offer.rate_bps() } else { 0.0 };
    (offer.open_flows * excess + 50.0 * hosts as f64).min(offer.open_flows)
}

/// Estimates the additional state of a connection that grows with its settings.
fn state_of(scenario: &Scenario, topology: &Topology, group: usize) -> f64 {
    let transport = scenario.transport_index(&scenario.flows[group].transport);
    let rate = topology.host_ids().map(|host| topology.host_rate(host)).max();
    match (transport.map(|index| &scenario.transports[index].protocol), rate) {
        (Some(Protocol::Uet(uet)), Some(rate)) => uet.state_bytes(rate) as f64,
        _ => 0.0,
    }
}

/// Estimates the number of packets that the active flows can have in the network.
fn packets_of(scenario: &Scenario, index: usize, offer: &Offer, open: f64, of_path: f64) -> f64 {
    let is_long = matches!(scenario.flows[index].pattern, FlowPattern::Long(_) | FlowPattern::ConstantRate(_));
    if is_long || offer.open_flows == 0.0 {
        return offer.flows.max(1.0) * of_path;
    }
    let mean_bytes = (offer.bytes / offer.open_flows).max(1.0);
    // Data, and an acknowledgement of each packet.
    open * 2.0 * (mean_bytes / 1_000.0).ceil()
}

/// Estimates the packets on the longest path of a fat tree: with every queue full, and the same number on links.
fn packets_of_path(scenario: &Scenario, topology: &Topology) -> f64 {
    const SWITCHES: f64 = 5.0;
    let (switch, port) = topology.attachment(HostId(0));
    let place = SwitchPort { switch, port };
    let others = topology.switch_ids().filter(|&id| topology.switch(id).exception.is_some());
    let others = others.map(|switch| SwitchPort { switch, port: PortId(0) });
    let of_place = |at: SwitchPort| match scenario.switch.of_switch(topology, at.switch).buffer {
        BufferSettings::Static(_) => scenario.queue_max(topology, at).0,
        BufferSettings::Shared(buffer) => buffer.total.0,
    };
    let queue_bytes = std::iter::once(place).chain(others).map(of_place).max().unwrap_or(0);
    2.0 * SWITCHES * queue_bytes as f64 / scenario.frame_max().0.max(64) as f64
}

/// Estimates the packets in all buffers where flows can meet: the buffers of switches with hosts, and the same amount
/// again.
fn buffered(scenario: &Scenario, topology: &Topology) -> f64 {
    let frame_bytes = scenario.frame_max().0.max(64) as f64;
    let hosts = topology.hosts.len() as f64;
    let shared = |switch| match scenario.switch.of_switch(topology, switch).buffer {
        BufferSettings::Static(_) => None,
        BufferSettings::Shared(buffer) => Some(buffer.total.0),
    };
    let mut totals: Vec<u64> = topology.switch_ids().filter_map(shared).collect();
    totals.sort_unstable_by_key(|&total| std::cmp::Reverse(total));
    let of_shared: f64 = totals.iter().take(topology.hosts.len()).map(|&total| total as f64).sum();
    let attachments = topology.host_ids().flat_map(|host| topology.attachments(host));
    let with_limits = attachments.filter(|&(switch, _)| shared(switch).is_none());
    let at = |(switch, port)| scenario.queue_max(topology, SwitchPort { switch, port }).0 as f64;
    let of_switches = of_shared + with_limits.map(at).sum::<f64>();
    2.0 * of_switches / frame_bytes + 100.0 * hosts
}

fn tables_of_mechanisms(scenario: &Scenario, topology: &Topology) -> Vec<Part> {
    let around = Surroundings { scenario, topology };
    let each = scenario.mechanisms.iter().enumerate().map(|(number, entry)| {
        let what = format!("the tables of {}", entry.title());
        Part::new(format!("mechanism[{number}]"), what, entry.memory_bytes(around) as f64)
    });
    each.collect()
}

/// Estimates the samples up to the scenario's end; zero if the end depends on the flows, because it is then unknown.
fn samples(scenario: &Scenario) -> Part {
    let (measure, end) = (&scenario.measure, scenario.duration.unwrap_or(Time::ZERO));
    let queues = measure.queue.iter().map(|sampling| (sampling.period, sampling.ports.len()));
    let links = measure.throughput.iter().map(|sampling| (sampling.period, sampling.links.len()));
    let goodput = measure.goodput.iter().map(|sampling| (sampling.period, 1));
    let each = queues.chain(links).chain(goodput).filter(|(period, _)| *period > Duration::ZERO);
    let count: f64 = each.map(|(period, places)| end.as_seconds() / period.as_seconds() * places as f64).sum();
    Part::new("measure", format!("{} samples", counted(count)), count * per::SAMPLE)
}

/// Estimates the ledgers of the autopsy, if it is on.
fn autopsies(scenario: &Scenario, offers: &[Offer], packets: f64) -> Option<Part> {
    let messages: f64 = offers.iter().map(|offer| offer.flows).sum();
    let what = format!("autopsies of {} messages", counted(messages));
    let departures = (8.0 * packets).max(65_536.0);
    let bytes = messages * per::MESSAGE_OF_AUTOPSY + packets * per::LEDGER + departures * per::DEPARTURE;
    scenario.measure.autopsy.then(|| Part::new("measure.autopsy", what, bytes))
}

/// Estimates the captured packets: the limit of each capture, or fewer if the hosts cannot send as many. A packet of
/// 1,000 B and its acknowledgement cross up to 6 links.
fn captured(scenario: &Scenario, carried_bps: f64) -> impl Iterator<Item = Part> + '_ {
    let seconds = scenario.duration.map_or(f64::INFINITY, |end| end.as_seconds());
    let sent = 2.0 * 6.0 * carried_bps / 8_000.0 * seconds;
    scenario.measure.capture.iter().enumerate().map(move |(number, capture)| {
        let packets = sent.min(capture.limit as f64);
        // A file is written next to the packets, so each exists twice.
        let payload = if capture.payload { 2.0 * scenario.frame_max().0 as f64 } else { 0.0 };
        let what = format!("{} captured packets", counted(packets));
        Part::new(format!("measure.capture[{number}].limit"), what, packets * (per::CAPTURED_PACKET + payload))
    })
}

/// Estimates the packets that the order checker remembers, if it is on.
fn watched(scenario: &Scenario, offers: &[Offer], carried_bps: f64) -> Option<Part> {
    let seconds = scenario.duration.map_or(WATCHED.as_seconds(), |end| end.as_seconds().min(WATCHED.as_seconds()));
    let sent_bytes: f64 = offers.iter().map(|offer| if offer.bytes > 0.0 { offer.bytes } else { f64::INFINITY }).sum();
    let packets = (2.0 * carried_bps / 8.0 * seconds).min(2.0 * sent_bytes) / 1_000.0;
    let what = format!("{} packets that the order checker remembers", counted(packets));
    scenario.measure.order.then(|| Part::new("measure.order", what, packets * per::WATCHED_PACKET))
}
