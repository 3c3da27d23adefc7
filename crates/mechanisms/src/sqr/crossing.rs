//! Which flows cross a protected link: on all of their paths, or on some.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use hitless_core::wire::HostId;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::routing::{PathRule, Routing};
use hitless_scenario::network::topology::select::select_hosts;
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId, Topology};
use hitless_scenario::{FlowGroup, FlowPattern};

/// The shortest paths of a fabric, and its protected links.
pub(super) struct Crossings<'a> {
    topology: &'a Topology,
    /// Computed at the first use: most scenarios do not ask.
    routing: OnceCell<Routing>,
    links: Vec<DirectedLink>,
}

impl<'a> Crossings<'a> {
    pub fn new(around: Surroundings<'a>, links: Vec<DirectedLink>) -> Self {
        Self { topology: around.topology, routing: OnceCell::new(), links }
    }

    /// Whether a shortest path between hosts of `group` crosses a protected link. Receivers answer, so both directions
    /// count.
    pub fn can_cross(&self, group: &FlowGroup) -> bool {
        let (some, others) = self.hosts(group);
        self.is_between(&some, &others) || self.is_between(&others, &some)
    }

    /// The hosts at the two ends of a group's flows. Lists of flows are not read: they can name all hosts.
    fn hosts(&self, group: &FlowGroup) -> (Vec<HostId>, Vec<HostId>) {
        let all = ["all".to_owned()];
        let (some, others): (&[String], &[String]) = match &group.pattern {
            FlowPattern::Poisson(flows) => (&flows.sources, &flows.destinations),
            FlowPattern::Schedule(flows) => (&flows.sources, &flows.destinations),
            FlowPattern::Sequence(flows) => (&flows.sources, &flows.destinations),
            FlowPattern::Incast(flows) => (&flows.servers, &flows.clients),
            FlowPattern::Long(flows) | FlowPattern::ConstantRate(flows) => (&flows.sources, &flows.destinations),
            FlowPattern::Requests(flows) => (&flows.sources, &flows.destinations),
            FlowPattern::Permutation(flows) => (&flows.hosts, &flows.hosts),
            FlowPattern::AllToAll(flows) => (&flows.hosts, &flows.hosts),
            FlowPattern::List(_) | FlowPattern::DependencyList(_) => (&all, &all),
        };
        let select = |names| select_hosts(self.topology, names).unwrap_or_default();
        (select(some), select(others))
    }

    fn is_between(&self, sources: &[HostId], destinations: &[HostId]) -> bool {
        destinations.iter().any(|&destination| self.is_on_a_path(sources, destination))
    }

    /// Whether a path from one of `sources` crosses a protected link. Walks from all sources at once, so that each
    /// switch is visited once.
    fn is_on_a_path(&self, sources: &[HostId], destination: HostId) -> bool {
        let others = sources.iter().filter(|&&source| source != destination);
        let mut waiting: Vec<SwitchId> =
            others.flat_map(|&source| self.topology.attachments(source)).map(|(switch, _)| switch).collect();
        let routing = self.routing.get_or_init(|| Routing::new(self.topology, PathRule::default()));
        let mut seen = BTreeSet::new();
        while let Some(switch) = waiting.pop() {
            if !seen.insert(switch) {
                continue;
            }
            for hop in routing.next_hops(switch, destination) {
                let port = &self.topology.switch(switch).ports[usize::from(hop.0)];
                if self.links.contains(&port.link) {
                    return true;
                }
                waiting.extend(port.peer.node.switch());
            }
        }
        false
    }
}

/// Whether every path from `switch` to `destination` crosses `link`.
pub(super) fn always_crosses(
    topology: &Topology,
    routing: &Routing,
    switch: SwitchId,
    // Paths share switches: without the memory the recursion would visit each path instead of each switch.
    destination: HostId,
    link: DirectedLink,
    known: &mut BTreeMap<SwitchId, bool>,
) -> bool {
    if let Some(&known) = known.get(&switch) {
        return known;
    }
    let hops = routing.next_hops(switch, destination);
    let crosses = !hops.is_empty()
        && hops.iter().all(|hop| {
            let port = &topology.switch(switch).ports[usize::from(hop.0)];
            match port.peer.node {
                _ if port.link == link => true,
                Node::Switch(next) => always_crosses(topology, routing, next, destination, link, known),
                Node::Host(_) => false,
            }
        });
    known.insert(switch, crosses);
    crosses
}
