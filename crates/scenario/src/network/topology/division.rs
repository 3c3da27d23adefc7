//! Divides a network into parts that can run in parallel.

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::wire::{Duration, HostId, PortId};

use super::{DirectedLink, Node, SwitchId, Topology};

/// The part of each node. Parts are numbered from 0, and none is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// By [`HostId`].
    of_hosts: Vec<u32>,
    /// By [`SwitchId`].
    of_switches: Vec<u32>,
    parts: usize,
}

impl Division {
    /// Divides the network into at most `parts` parts. Links without delay are never cut, and a host stays with the
    /// switch at its first port. An exception: with at least as many `parts` as nodes, each node is a separate part,
    /// where possible.
    ///
    /// Switches with hosts are divided into ranges with about the same number of ports, in the order of their hosts (in
    /// a fat tree, the order of pods). Every other switch joins the part to which it has the most links, and in a tie
    /// the part with the fewest ports: so an aggregation switch joins its pod, and cores and spines are spread.
    pub fn new(topology: &Topology, parts: usize) -> Self {
        let ports = topology.switches.iter().map(|switch| switch.ports.len() as u64);
        let weights: Vec<u64> = topology.hosts.iter().map(|_| 1).chain(ports).collect();
        Self::weighed(topology, parts, &weights)
    }

    /// Like [`Self::new`], with a weight for each node, hosts first, instead of its number of ports.
    pub fn weighed(topology: &Topology, parts: usize, weights: &[u64]) -> Self {
        let nodes = topology.hosts.len() + topology.switches.len();
        let groups = Groups::new(topology, parts < nodes);
        let of_groups =
            if parts < nodes { assign(topology, &groups, parts.max(1), weights) } else { numbered(&groups) };
        let mut numbers = BTreeMap::new();
        let mut number = |node: usize| {
            let next = numbers.len() as u32;
            *numbers.entry(of_groups[&groups.of(node)]).or_insert(next)
        };
        let of_nodes: Vec<u32> = (0..nodes).map(&mut number).collect();
        let (of_hosts, of_switches) = of_nodes.split_at(topology.hosts.len());
        let division = Self { of_hosts: of_hosts.to_vec(), of_switches: of_switches.to_vec(), parts: numbers.len() };
        assert!(division.parts <= parts.max(1), "{} parts, and not more than {parts}", division.parts);
        for link in (0..2 * topology.links.len()).map(DirectedLink::from_index) {
            let (from, to) = division.of_link(topology, link);
            let delay = topology.spec(link).delay;
            assert!(from == to || delay > Duration::ZERO, "a link without delay is within a part");
        }
        division
    }

    pub fn parts(&self) -> usize {
        self.parts
    }

    pub fn of_host(&self, host: HostId) -> u32 {
        self.of_hosts[host.0 as usize]
    }

    pub fn of_switch(&self, switch: SwitchId) -> u32 {
        self.of_switches[switch.0 as usize]
    }

    /// Returns the parts at both ends of a link: sender, receiver.
    pub fn of_link(&self, topology: &Topology, link: DirectedLink) -> (u32, u32) {
        let (from, to) = topology.ends(link);
        let of = |node: Node| match node {
            Node::Host(host) => self.of_host(host),
            Node::Switch(switch) => self.of_switch(switch),
        };
        (of(from.node), of(to.node))
    }
}

/// Groups of nodes that stay together, as a forest: each node refers to another of its group. Hosts come first, then
/// switches.
struct Groups {
    with: Vec<usize>,
}

impl Groups {
    fn new(topology: &Topology, hosts_with_switches: bool) -> Self {
        let hosts = topology.hosts.len();
        let mut groups = Self { with: (0..hosts + topology.switches.len()).collect() };
        for link in &topology.links {
            let ends = [link.a, link.b];
            let is_first_of_host = ends.iter().any(|end| !end.node.is_switch() && end.port == PortId(0));
            let is_immediate = link.specs.iter().any(|spec| spec.delay == Duration::ZERO);
            if is_immediate || (is_first_of_host && hosts_with_switches) {
                groups.join(link.a.node.index(hosts), link.b.node.index(hosts));
            }
        }
        groups
    }

    /// Returns the first node of a group, which represents it.
    fn of(&self, mut node: usize) -> usize {
        while self.with[node] != node {
            node = self.with[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.with[a.max(b)] = a.min(b);
    }
}

/// Makes each group a separate part.
fn numbered(groups: &Groups) -> BTreeMap<usize, u32> {
    (0..groups.with.len()).map(|node| groups.of(node)).map(|group| (group, group as u32)).collect()
}

/// Assigns a part to each group; groups are keyed by their representative.
fn assign(topology: &Topology, groups: &Groups, parts: usize, weights: &[u64]) -> BTreeMap<usize, u32> {
    let hosts = topology.hosts.len();
    let mut sizes = BTreeMap::new();
    for (node, weight) in weights.iter().enumerate() {
        *sizes.entry(groups.of(node)).or_insert(0) += weight;
    }
    let with_hosts: BTreeSet<usize> = (0..hosts).map(|host| groups.of(host)).collect();
    let total: u64 = with_hosts.iter().map(|group| sizes[group]).sum();
    let mut of_groups = BTreeMap::new();
    let mut loads = vec![0; parts];
    let mut before = 0;
    for group in with_hosts {
        // A group goes to the part that contains the middle of its range of weights.
        let size = sizes[&group];
        let part = ((2 * before + size) * parts as u64 / (2 * total).max(1)).min(parts as u64 - 1);
        of_groups.insert(group, part as u32);
        loads[part as usize] += size;
        before += size;
    }
    // From the hosts up: each round assigns the switches that have a neighbour with a part.
    loop {
        let mut found = BTreeMap::new();
        for (number, switch) in topology.switches.iter().enumerate() {
            let group = groups.of(hosts + number);
            if of_groups.contains_key(&group) {
                continue;
            }
            let peers = switch.ports.iter().map(|port| groups.of(port.peer.node.index(hosts)));
            let links = found.entry(group).or_insert_with(|| vec![0_usize; parts]);
            peers.filter_map(|peer| of_groups.get(&peer)).for_each(|&part| links[part as usize] += 1);
        }
        let ready: Vec<_> = found.into_iter().filter(|(_, links)| links.iter().any(|&count| count > 0)).collect();
        if ready.is_empty() {
            break;
        }
        // Links were counted before this round, so its assignments influence each other only through `loads`.
        for (group, links) in ready {
            let most = links.iter().copied().max().unwrap_or(0);
            let candidates = (0..parts).filter(|&part| links[part] == most);
            let part = candidates.min_by_key(|&part| loads[part]).unwrap_or(0);
            loads[part] += sizes[&group];
            of_groups.insert(group, part as u32);
        }
    }
    // Nodes that no host can reach.
    for node in 0..groups.with.len() {
        of_groups.entry(groups.of(node)).or_insert(0);
    }
    of_groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::shapes::tests::{LINK, dumbbell, fat_tree, leaf_spine};
    use crate::network::topology::{FatTreeWiring, LinkSpec};

    fn cut(topology: &Topology, division: &Division) -> usize {
        let is_cut = |link: &DirectedLink| {
            let (from, to) = division.of_link(topology, *link);
            from != to
        };
        (0..2 * topology.links.len()).map(DirectedLink::from_index).filter(is_cut).count()
    }

    fn hosts_of_parts(topology: &Topology, division: &Division) -> Vec<usize> {
        let mut hosts = vec![0; division.parts()];
        topology.host_ids().for_each(|host| hosts[division.of_host(host) as usize] += 1);
        hosts
    }

    #[test]
    fn pods_of_a_fat_tree_stay_whole_and_cores_are_spread() {
        let topology = fat_tree(8, FatTreeWiring::Standard);
        let division = Division::new(&topology, 2);
        assert_eq!(hosts_of_parts(&topology, &division), [64, 64]);
        // Each of the 16 cores has a link to each of the 8 pods, half of them in the other part.
        assert_eq!(cut(&topology, &division), 2 * 16 * 4);
        let of_cores = topology.switch_ids().skip(64).map(|core| division.of_switch(core));
        assert_eq!(of_cores.filter(|&part| part == 0).count(), 8);
    }

    #[test]
    fn leaves_have_their_hosts_and_spines_are_shared_out() {
        let topology = leaf_spine(8, 4, 40);
        for parts in [1, 2, 4] {
            let division = Division::new(&topology, parts);
            assert_eq!(hosts_of_parts(&topology, &division), vec![320 / parts; parts]);
            assert_eq!(cut(&topology, &division), 2 * 32 * (parts - 1) / parts);
        }
    }

    #[test]
    fn there_are_no_more_parts_than_can_be_told_apart() {
        let topology = dumbbell(4, 4, LINK, LINK);
        assert_eq!(Division::new(&topology, 8).parts(), 2);
        assert_eq!(Division::new(&topology, 10).parts(), 10, "each node by itself");
    }

    #[test]
    fn a_busy_leaf_has_a_part_of_its_own() {
        let topology = leaf_spine(8, 4, 40);
        let busy = topology.host_ids().map(|host| 1 + 1_000 * u64::from(host.0 < 40));
        let weights: Vec<u64> = busy.chain(topology.switch_ids().map(|_| 1)).collect();
        let division = Division::weighed(&topology, 2, &weights);
        assert_eq!(hosts_of_parts(&topology, &division), [40, 280]);
    }

    #[test]
    fn a_link_without_delay_is_never_cut() {
        let at_once = LinkSpec { delay: Duration::ZERO, ..LINK };
        let topology = dumbbell(4, 4, at_once, LINK);
        assert_eq!(Division::new(&topology, 10).parts(), 2);
        let topology = dumbbell(4, 4, at_once, at_once);
        assert_eq!(Division::new(&topology, 10).parts(), 1);
    }
}
