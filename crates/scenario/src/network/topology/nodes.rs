//! Nodes, links, and the connections between them.

use std::collections::BTreeMap;
use std::fmt;

use hitless_core::settings::quantity::Text;
use hitless_core::wire::packet::ETHERNET_OVERHEAD_BYTES;
use hitless_core::wire::{BitRate, Duration, HostId, PortId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::loss::ErrorCorrection;

/// A switch of the fabric, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, hitless_core::state::Value)]
pub struct SwitchId(pub u32);

/// A link of the fabric (both directions), counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, hitless_core::state::Value)]
pub struct LinkId(pub u32);

/// A node of the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    Host(HostId),
    Switch(SwitchId),
}

impl Node {
    pub const fn is_switch(self) -> bool {
        matches!(self, Node::Switch(_))
    }

    /// Returns the index of the node in a list with the hosts first and then the switches.
    pub const fn index(self, hosts: usize) -> usize {
        match self {
            Node::Host(host) => host.0 as usize,
            Node::Switch(switch) => hosts + switch.0 as usize,
        }
    }

    pub const fn switch(self) -> Option<SwitchId> {
        if let Node::Switch(id) = self { Some(id) } else { None }
    }
}

/// One end of a link: a node and the number of its port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    pub node: Node,
    pub port: PortId,
}

/// A link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Rate of each direction.
    #[serde(with = "Text::<BitRate>")]
    pub rate: BitRate,
    /// Propagation delay.
    #[serde(with = "Text::<Duration>")]
    pub delay: Duration,
    /// Overhead of each frame in bytes: 8 of preamble and 12 of gap on Ethernet.
    #[serde(default = "ethernet_overhead")]
    pub overhead_bytes: u32,
    /// Forward error correction with its latency in each direction: the receiver waits for the rest of a codeword of
    /// 5,120 bits of data (IEEE 802.3, clauses 91, 108, 119 and 134), or of two interleaved codewords from 200 Gb/s on.
    /// At 100 Gb/s these are 51.2 ns. The time that the decoder computes depends on the product: add it to `delay`.
    #[serde(default, skip_serializing_if = "ErrorCorrection::is_none")]
    pub fec: ErrorCorrection,
    /// Time in the MACs and coding of both ends, from `[switch]`; zero until the scenario shapes its topology.
    #[serde(skip)]
    pub phy_latency: Duration,
}

fn ethernet_overhead() -> u32 {
    ETHERNET_OVERHEAD_BYTES
}

impl LinkSpec {
    /// Makes an Ethernet link of `rate` and `delay`: 20 bytes of overhead for each frame (IEEE 802.3).
    pub const fn ethernet(rate: BitRate, delay: Duration) -> Self {
        let (fec, phy_latency) = (ErrorCorrection::None, Duration::ZERO);
        Self { rate, delay, overhead_bytes: ETHERNET_OVERHEAD_BYTES, fec, phy_latency }
    }

    /// Returns the time of a bit from one end of the link to the other, including coding.
    pub fn flight_time(self) -> Duration {
        Duration(self.delay.as_ps().saturating_add(self.phy_latency.as_ps()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The end named first.
    pub a: Endpoint,
    pub b: Endpoint,
    /// Rate, delay and overhead by direction: from `a` to `b`, and back.
    pub specs: [LinkSpec; 2],
}

/// Rates and delays of a link in one direction during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    pub lowest_rate: BitRate,
    pub highest_rate: BitRate,
    pub shortest_delay: Duration,
    pub longest_delay: Duration,
}

impl LineRange {
    /// Makes the range of a line that keeps its rate and delay.
    pub const fn constant(spec: LinkSpec) -> Self {
        let LinkSpec { rate, delay, .. } = spec;
        Self { lowest_rate: rate, highest_rate: rate, shortest_delay: delay, longest_delay: delay }
    }

    /// Returns the range of both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            lowest_rate: self.lowest_rate.min(other.lowest_rate),
            highest_rate: self.highest_rate.max(other.highest_rate),
            shortest_delay: self.shortest_delay.min(other.shortest_delay),
            longest_delay: self.longest_delay.max(other.longest_delay),
        }
    }
}

impl Link {
    /// Returns the lower rate and the longer delay of the two directions.
    pub fn slowest(&self) -> LinkSpec {
        let [there, back] = self.specs;
        LinkSpec { rate: there.rate.min(back.rate), delay: there.delay.max(back.delay), ..there }
    }
}

/// One of the two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    AToB,
    BToA,
}

/// A link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectedLink {
    pub link: LinkId,
    pub direction: Direction,
}

impl DirectedLink {
    /// A number below twice the number of links, for flat arrays: `2 * link`, plus one for the reverse direction.
    pub const fn index(self) -> usize {
        2 * self.link.0 as usize + matches!(self.direction, Direction::BToA) as usize
    }

    pub const fn from_index(index: usize) -> Self {
        let direction = if index.is_multiple_of(2) { Direction::AToB } else { Direction::BToA };
        Self { link: LinkId((index / 2) as u32), direction }
    }

    pub const fn reversed(self) -> Self {
        let direction = match self.direction {
            Direction::AToB => Direction::BToA,
            Direction::BToA => Direction::AToB,
        };
        Self { link: self.link, direction }
    }
}

/// Position of a switch. It does not affect forwarding, only how loads are computed and nodes are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// A switch with hosts: leaf, edge, top of rack.
    Edge,
    /// A switch between edge and core.
    Aggregation,
    /// A switch at the top: spine, core.
    Core,
    /// Unknown, for example in a graph from a file.
    #[default]
    Unknown,
}

/// A port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The port's link, in its sending direction.
    pub link: DirectedLink,
    pub peer: Endpoint,
}

impl Port {
    /// Returns whether the other end is a switch (and not a host).
    pub const fn faces_switch(&self) -> bool {
        self.peer.node.is_switch()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Name, unique among all nodes.
    pub name: String,
    /// Ports by number; at least one.
    pub ports: Vec<Port>,
}

impl Host {
    pub fn is_multi_homed(&self) -> bool {
        self.ports.len() > 1
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub name: String,
    pub tier: Tier,
    pub ports: Vec<Port>,
    /// Index of its entry of `[[switch.exceptions]]`.
    pub exception: Option<usize>,
}

/// Hosts, switches, and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// By [`HostId`].
    pub hosts: Vec<Host>,
    /// By [`SwitchId`].
    pub switches: Vec<Switch>,
    /// By [`LinkId`].
    pub links: Vec<Link>,
    /// By [`DirectedLink::index`], only for lines that change during the run.
    pub(super) changing: BTreeMap<usize, LineRange>,
    pub(super) names: BTreeMap<String, Node>,
}

impl Topology {
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.0 as usize]
    }

    pub fn switch(&self, id: SwitchId) -> &Switch {
        &self.switches[id.0 as usize]
    }

    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.0 as usize]
    }

    /// Returns rate, delay and overhead of a directed link.
    pub fn spec(&self, directed: DirectedLink) -> LinkSpec {
        self.link(directed.link).specs[directed.direction as usize]
    }

    /// Returns rate, delay and overhead of each direction of each link.
    pub fn specs(&self) -> impl Iterator<Item = LinkSpec> + '_ {
        self.links.iter().flat_map(|link| link.specs)
    }

    /// Gives one direction of a link another rate or delay.
    pub fn set_spec(&mut self, directed: DirectedLink, rate: Option<BitRate>, delay: Option<Duration>) {
        let spec = self.spec_mut(directed);
        spec.rate = rate.unwrap_or(spec.rate);
        spec.delay = delay.unwrap_or(spec.delay);
    }

    /// Gives one direction of a link another error correction.
    pub fn set_fec(&mut self, directed: DirectedLink, fec: ErrorCorrection) {
        self.spec_mut(directed).fec = fec;
    }

    fn spec_mut(&mut self, directed: DirectedLink) -> &mut LinkSpec {
        &mut self.links[directed.link.0 as usize].specs[directed.direction as usize]
    }

    /// Returns the latency of the error correction of a directed link, at its first rate.
    pub fn fec_latency(&self, directed: DirectedLink) -> Duration {
        let spec = self.spec(directed);
        spec.fec.latency(spec.rate)
    }

    /// Adds the latency of the error correction to the delay of each link, once all rates are known. From then on
    /// delays contain it.
    pub fn add_fec_latencies(&mut self) {
        for index in 0..2 * self.links.len() {
            let directed = DirectedLink::from_index(index);
            let latency = self.fec_latency(directed);
            self.spec_mut(directed).delay += latency;
            if let Some(range) = self.changing.get_mut(&index) {
                range.shortest_delay += latency;
                range.longest_delay += latency;
            }
        }
    }

    /// Notes that one direction of a link takes another rate or delay during the run.
    pub fn note_change(&mut self, directed: DirectedLink, rate: Option<BitRate>, delay: Option<Duration>) {
        let spec = self.spec(directed);
        let changed = LinkSpec { rate: rate.unwrap_or(spec.rate), delay: delay.unwrap_or(spec.delay), ..spec };
        let range = self.line_range(directed).joined(LineRange::constant(changed));
        self.changing.insert(directed.index(), range);
    }

    /// Returns whether rate or delay of a directed link change during the run.
    pub fn line_changes(&self, directed: DirectedLink) -> bool {
        self.changing.contains_key(&directed.index())
    }

    /// Returns the lines that change during the run, by [index](DirectedLink::index).
    pub const fn changing_lines(&self) -> &BTreeMap<usize, LineRange> {
        &self.changing
    }

    /// Returns the rates and delays of a directed link during the run.
    pub fn line_range(&self, directed: DirectedLink) -> LineRange {
        let known = self.changing.get(&directed.index()).copied();
        known.unwrap_or_else(|| LineRange::constant(self.spec(directed)))
    }

    /// Returns the lowest rate and the longest delay of a directed link during the run: the worst for times.
    pub fn slowest_spec(&self, directed: DirectedLink) -> LinkSpec {
        let range = self.line_range(directed);
        LinkSpec { rate: range.lowest_rate, delay: range.longest_delay, ..self.spec(directed) }
    }

    /// Returns [`Self::slowest_spec`] of each direction of each link.
    pub fn slowest_specs(&self) -> impl Iterator<Item = LinkSpec> + '_ {
        (0..2 * self.links.len()).map(|index| self.slowest_spec(DirectedLink::from_index(index)))
    }

    pub fn node(&self, name: &str) -> Option<Node> {
        self.names.get(name).copied()
    }

    pub fn name(&self, node: Node) -> &str {
        match node {
            Node::Host(id) => &self.host(id).name,
            Node::Switch(id) => &self.switch(id).name,
        }
    }

    /// Returns all names of nodes in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    pub fn host_ids(&self) -> impl Iterator<Item = HostId> + use<> {
        (0..self.hosts.len() as u32).map(HostId)
    }

    pub fn switch_ids(&self) -> impl Iterator<Item = SwitchId> + use<> {
        (0..self.switches.len() as u32).map(SwitchId)
    }

    /// Returns recirculation port `number` of `switch`: these ports come after the ports with links.
    pub fn recirculation_port(&self, switch: SwitchId, number: u16) -> PortId {
        PortId(self.switch(switch).ports.len() as u16 + number)
    }

    /// Returns the two ends of `directed`: sending, receiving.
    pub fn ends(&self, directed: DirectedLink) -> (Endpoint, Endpoint) {
        let link = self.link(directed.link);
        match directed.direction {
            Direction::AToB => (link.a, link.b),
            Direction::BToA => (link.b, link.a),
        }
    }

    /// Returns the switch at the first port of host `id`, and the port there.
    pub fn attachment(&self, id: HostId) -> (SwitchId, PortId) {
        self.attachments(id).next().expect("the builder refuses hosts without links")
    }

    /// Returns the switch at each port of host `id`, and the port there.
    pub fn attachments(&self, id: HostId) -> impl Iterator<Item = (SwitchId, PortId)> + '_ {
        let end =
            |port: &Port| (port.peer.node.switch().expect("the builder refuses links between hosts"), port.peer.port);
        self.host(id).ports.iter().map(end)
    }

    /// Returns whether host `id` has a link to `switch`.
    pub fn is_attached(&self, id: HostId, switch: SwitchId) -> bool {
        self.host(id).ports.iter().any(|port| port.peer.node == Node::Switch(switch))
    }

    pub fn has_multi_homed_hosts(&self) -> bool {
        self.hosts.iter().any(Host::is_multi_homed)
    }

    /// Returns whether a host needs a card for each port: if it has several, or a line that changes during the run.
    pub fn needs_card_per_port(&self, host: &Host) -> bool {
        host.is_multi_homed() || host.ports.iter().any(|port| self.line_changes(port.link))
    }

    pub fn ports(&self, node: Node) -> &[Port] {
        match node {
            Node::Host(id) => &self.host(id).ports,
            Node::Switch(id) => &self.switch(id).ports,
        }
    }

    /// Returns the links from `sender` to `receiver`, in the order of their addition.
    pub fn links_between(&self, sender: Node, receiver: Node) -> Vec<DirectedLink> {
        let ports = self.ports(sender).iter().filter(|port| port.peer.node == receiver);
        let mut links: Vec<_> = ports.map(|port| port.link).collect();
        links.sort_unstable();
        links
    }

    /// Returns the name as scenarios write it, `sw2->sw6`; the second parallel link is `sw2->sw6#1`.
    pub fn link_name(&self, directed: DirectedLink) -> String {
        let (from, to) = self.ends(directed);
        let position = self.links_between(from.node, to.node).iter().position(|&link| link == directed);
        let suffix = match position {
            Some(number @ 1..) => format!("#{number}"),
            _ => String::new(),
        };
        format!("{}->{}{suffix}", self.name(from.node), self.name(to.node))
    }

    /// Returns the direction of a link that leads to `port`, with the longer delay of both directions: the pause frames
    /// for it cross the other one.
    pub fn incoming(&self, port: &Port) -> LinkSpec {
        let (arriving, leaving) = (self.spec(port.link.reversed()), self.spec(port.link));
        LinkSpec { delay: arriving.delay.max(leaving.delay), ..arriving }
    }

    /// Returns the sum of the rates of the links of host `id`.
    pub fn host_rate(&self, id: HostId) -> BitRate {
        let sum_bps = self.port_rates(id).map(BitRate::as_bps).fold(0, u64::saturating_add);
        BitRate::from_bps(sum_bps).expect("a host has a link, and no link has a rate of zero")
    }

    /// Returns the rate of each link of host `id`, by port.
    pub fn port_rates(&self, id: HostId) -> impl Iterator<Item = BitRate> + '_ {
        self.host(id).ports.iter().map(|port| self.spec(port.link).rate)
    }

    /// Returns the sum of the rates of all hosts' links, in one direction, in bits per second.
    pub fn host_capacity_bps(&self) -> u64 {
        self.host_ids().map(|host| self.host_rate(host).as_bps()).sum()
    }

    /// Returns the sum of the rates of the links between two switches if at least one of them has hosts, each in its
    /// slower direction, in bits per second.
    ///
    /// In a leaf-spine this is leaves x spines x core rate, the denominator of the deflection papers.
    pub fn edge_uplink_capacity_bps(&self) -> u64 {
        let has_hosts = |id| self.switch(id).ports.iter().any(|port| !port.faces_switch());
        let ends = |link: &Link| link.a.node.switch().zip(link.b.node.switch());
        let uplinks = self.links.iter().filter(|link| ends(link).is_some_and(|(a, b)| has_hosts(a) || has_hosts(b)));
        uplinks.map(|link| link.slowest().rate.as_bps()).sum()
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hosts, {} switches, {} links", self.hosts.len(), self.switches.len(), self.links.len())
    }
}
