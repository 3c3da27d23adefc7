//! Builds a [`Topology`] node by node and link by link.

use hitless_core::wire::line_clock::RATE_MIN;
use hitless_core::wire::{Duration, HostId, PortId};

use super::{
    DirectedLink, Direction, Endpoint, Host, Link, LinkId, LinkSpec, Node, Port, Switch, SwitchId, Tier, Topology,
};

/// Maximum number of links, which keeps a mistyped number from filling the memory.
pub const LINKS_MAX: u64 = 1 << 24;
/// Maximum number of links of a host: a host keeps sets of its ports and planes as words of 64 bits.
pub const HOST_PORTS_MAX: usize = 64;
/// Maximum delay of a link.
pub const DELAY_MAX: Duration = Duration::from_seconds(200);

/// Adds nodes, then links, then [`TopologyBuilder::finish`].
#[derive(Default)]
pub struct TopologyBuilder {
    topology: Topology,
    /// Errors, each as a sentence.
    errors: Vec<String>,
}

impl TopologyBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn host(&mut self, name: impl Into<String>) -> Node {
        let node = Node::Host(HostId(self.topology.hosts.len() as u32));
        let name = self.register(name.into(), node);
        self.topology.hosts.push(Host { name, ports: Vec::new() });
        node
    }

    /// Returns host `number`, and adds it as "h" and its number if it is the next.
    pub(super) fn numbered_host(&mut self, number: u32) -> Node {
        let is_known = (number as usize) < self.topology.hosts.len();
        if is_known { Node::Host(HostId(number)) } else { self.host(format!("h{number}")) }
    }

    pub fn switch(&mut self, name: impl Into<String>, tier: Tier) -> Node {
        let node = Node::Switch(SwitchId(self.topology.switches.len() as u32));
        let name = self.register(name.into(), node);
        self.topology.switches.push(Switch { name, tier, ports: Vec::new(), exception: None });
        node
    }

    fn register(&mut self, name: String, node: Node) -> String {
        if self.topology.names.insert(name.clone(), node).is_some() {
            self.errors.push(format!("two nodes are called '{name}'"));
        }
        name
    }

    /// Joins two nodes; each gets its next free port number.
    pub fn link(&mut self, a: Node, b: Node, settings: LinkSpec) -> LinkId {
        let id = LinkId(self.topology.links.len() as u32);
        if let Some(error) = self.refuse(a, b, settings) {
            self.errors.push(error);
            return id;
        }
        let (a, b) = (self.next_endpoint(a), self.next_endpoint(b));
        self.plug(a, b, DirectedLink { link: id, direction: Direction::AToB });
        self.plug(b, a, DirectedLink { link: id, direction: Direction::BToA });
        self.topology.links.push(Link { a, b, specs: [settings; 2] });
        id
    }

    fn refuse(&self, a: Node, b: Node, LinkSpec { rate, delay, .. }: LinkSpec) -> Option<String> {
        let (name_a, name_b) = (self.topology.name(a), self.topology.name(b));
        if a == b {
            return Some(format!("a link joins '{name_a}' to itself"));
        }
        if delay > DELAY_MAX {
            return Some(format!("a link's delay is {delay}; at most {DELAY_MAX} can be simulated"));
        }
        if rate < RATE_MIN {
            return Some(format!("a link's rate is {rate}; at least {RATE_MIN} can be simulated"));
        }
        let both_hosts = !a.is_switch() && !b.is_switch();
        both_hosts.then(|| format!("a link joins the hosts '{name_a}' and '{name_b}' without a switch"))
    }

    /// Joins two nodes by name. [`Self::finish`] reports unknown names.
    pub fn link_by_name(&mut self, a: &str, b: &str, settings: LinkSpec) {
        let ends = [a, b].map(|name| self.topology.node(name));
        if let [Some(a), Some(b)] = ends {
            self.link(a, b, settings);
            return;
        }
        let unknown = [a, b].into_iter().zip(ends).filter(|(_, node)| node.is_none());
        self.errors.extend(unknown.map(|(name, _)| format!("a link names '{name}', which is no node")));
    }

    fn next_endpoint(&mut self, node: Node) -> Endpoint {
        let count = self.topology.ports(node).len();
        if count > usize::from(u16::MAX) {
            self.errors.push(format!("'{}' has more than {} ports", self.topology.name(node), u16::MAX));
        }
        Endpoint { node, port: PortId(count as u16) }
    }

    fn plug(&mut self, own: Endpoint, peer: Endpoint, link: DirectedLink) {
        let ports = match own.node {
            Node::Host(id) => &mut self.topology.hosts[id.0 as usize].ports,
            Node::Switch(id) => &mut self.topology.switches[id.0 as usize].ports,
        };
        ports.push(Port { link, peer });
    }

    /// Finishes the topology.
    pub fn finish(mut self) -> Result<Topology, Vec<String>> {
        self.check_hosts();
        if self.errors.is_empty() {
            self.check_reachable();
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let topology = self.topology;
        (0..2 * topology.links.len()).map(DirectedLink::from_index).for_each(|link| check_end(&topology, link));
        topology.check_planes().map_err(|error| vec![error])?;
        Ok(topology)
    }

    fn check_hosts(&mut self) {
        let hosts = &self.topology.hosts;
        if hosts.len() < 2 {
            self.errors.push(format!("{} hosts; a fabric needs at least 2", hosts.len()));
        }
        let is_refused = |host: &&Host| !(1..=HOST_PORTS_MAX).contains(&host.ports.len());
        let links = |host: &Host| {
            format!("host '{}' has {} links; a host has 1 to {HOST_PORTS_MAX}", host.name, host.ports.len())
        };
        self.errors.extend(hosts.iter().filter(is_refused).map(links));
    }

    fn check_reachable(&mut self) {
        let topology = &self.topology;
        let nodes = || topology.host_ids().map(Node::Host).chain(topology.switch_ids().map(Node::Switch));
        let mut seen = vec![false; nodes().count()];
        let mut open = vec![Node::Host(HostId(0))];
        while let Some(node) = open.pop() {
            let seen = &mut seen[node.index(topology.hosts.len())];
            if !std::mem::replace(seen, true) {
                open.extend(topology.ports(node).iter().map(|port| port.peer.node));
            }
        }
        let unreachable = nodes().zip(seen).filter(|(_, seen)| !seen);
        let error = |(node, _)| format!("no path leads from the first host to '{}'", topology.name(node));
        self.errors.extend(unreachable.map(error));
    }
}

/// Checks that the port at the start of a link refers to the link and to its other end.
fn check_end(topology: &Topology, link: DirectedLink) {
    let (from, to) = topology.ends(link);
    let port = topology.ports(from.node)[usize::from(from.port.0)];
    assert!(port.link == link && port.peer == to, "each end of a link names it and the other end");
}
