//! Failing links, and the state that their ends believe in.

use std::collections::BTreeSet;

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Duration, HostId, PortId};
use hitless_scenario::Scenario;
use hitless_scenario::kind::{Claim, Claimed};
use hitless_scenario::network::recovery::{Detection, RecoveryScheme};
use hitless_scenario::network::routing::{Detour, Routing};
use hitless_scenario::network::topology::select::select_links;
use hitless_scenario::network::topology::{DirectedLink, Direction, LinkId, Node, SwitchId, Topology};
use hitless_switch::PortState;
use rand::Rng;

use super::course::Detector;

/// One end of a failing link.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct End {
    /// The switch or host.
    #[configured]
    pub node: Node,
    /// The host and its port at the other end, if that is a host.
    #[configured]
    pub peer: Option<(HostId, PortId)>,
    #[configured]
    pub port: PortId,
    /// The state that this end believes the port to be in.
    pub state: PortState,
    /// Reconfiguration is done: the end may use another port.
    pub may_reroute: bool,
    /// Whether a packet at this end finds a way to the host at the other end.
    pub reaches_peer: bool,
    /// Ports that can serve as a backup.
    #[configured]
    pub detours: Vec<Detour>,
    /// A mechanism redirects the packets that routing sends to this port.
    #[configured]
    pub is_redirected: bool,
}

/// A link with failures in the scenario.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct FailingLink {
    #[configured]
    pub link: LinkId,
    #[configured]
    pub detector: Detector,
    pub is_down: bool,
    /// Number of the latest failure's record; events of earlier failures are ignored.
    pub latest: Option<u32>,
    /// By distance: failures that the switches there know of, without knowing the repair.
    pub withdrawn_by: Vec<BTreeSet<u32>>,
    /// By switch: its distance from the nearer end, in links; empty if all learn of a failure at once.
    #[configured]
    distances: Vec<u16>,
    #[part]
    pub ends: [End; 2],
}

impl FailingLink {
    /// The link's two directions.
    pub fn directions(&self) -> [DirectedLink; 2] {
        [Direction::AToB, Direction::BToA].map(|direction| DirectedLink { link: self.link, direction })
    }

    /// Returns whether a switch has withdrawn the paths over this link.
    pub fn is_withdrawn_at(&self, switch: usize) -> bool {
        let distance = self.distances.get(switch).copied().unwrap_or(0);
        !self.withdrawn_by[usize::from(distance)].is_empty()
    }
}

/// The failing links of `scenario`, each once, and for each failure entry the index of its link.
///
/// # Errors
/// If a name matches no link, which cannot happen in a checked scenario; the message is a sentence.
pub(super) fn failing_links(
    scenario: &Scenario,
    topology: &Topology,
    routing: &Routing,
    streams: &RandomStreams,
) -> Result<(Vec<FailingLink>, Vec<usize>), String> {
    let redirected = redirected(scenario, topology);
    let (mut links, mut of_entry) = (Vec::<FailingLink>::new(), Vec::new());
    for failure in &scenario.failures {
        let link = select_links(topology, &failure.link)?[0].link;
        let known = links.iter().position(|known| known.link == link);
        of_entry.push(known.unwrap_or(links.len()));
        if known.is_none() {
            let ends = [Direction::AToB, Direction::BToA].map(|direction| {
                let sends_on = DirectedLink { link, direction };
                end(scenario, topology, routing, sends_on, redirected.contains(&sends_on))
            });
            let detector = detector(scenario, topology, streams, link);
            let distances = distances(scenario, topology, link);
            let places = usize::from(distances.iter().copied().max().unwrap_or(0)) + 1;
            let withdrawn_by = vec![BTreeSet::new(); places];
            links.push(FailingLink { link, detector, is_down: false, latest: None, withdrawn_by, distances, ends });
        }
    }
    Ok((links, of_entry))
}

/// The distance of each switch from the nearer end of a link, if news of a failure take time for each hop. Zero for
/// switches in other planes, because they do not use the link.
fn distances(scenario: &Scenario, topology: &Topology, link: LinkId) -> Vec<u16> {
    let scheme = scenario.recovery.as_ref().map(|recovery| recovery.scheme);
    let takes_time = matches!(scheme, Some(RecoveryScheme::Withdraw(scheme)) if scheme.notice_per_hop > Duration::ZERO);
    if !takes_time {
        return Vec::new();
    }
    let ends = topology.link(link);
    let mut latest: Vec<SwitchId> = [ends.a, ends.b].iter().filter_map(|end| end.node.switch()).collect();
    let mut distances = vec![None; topology.switches.len()];
    latest.iter().for_each(|switch| distances[switch.0 as usize] = Some(0));
    for distance in 1.. {
        let peers = latest.iter().flat_map(|&switch| &topology.switch(switch).ports);
        let peers: Vec<SwitchId> = peers.filter_map(|port| port.peer.node.switch()).collect();
        latest.clear();
        for peer in peers {
            if distances[peer.0 as usize].is_none() {
                distances[peer.0 as usize] = Some(distance);
                latest.push(peer);
            }
        }
        if latest.is_empty() {
            break;
        }
    }
    distances.into_iter().map(Option::unwrap_or_default).collect()
}

fn redirected(scenario: &Scenario, topology: &Topology) -> Vec<DirectedLink> {
    let claims = scenario.mechanisms.iter().flat_map(|entry| entry.claims(topology));
    let redirects = claims.filter(|claimed: &Claimed| claimed.claim == Claim::RedirectsAtEgress);
    redirects.flat_map(|claimed| claimed.at.links().to_vec()).collect()
}

fn end(
    scenario: &Scenario,
    topology: &Topology,
    routing: &Routing,
    sends_on: DirectedLink,
    is_redirected: bool,
) -> End {
    let (from, to) = topology.ends(sends_on);
    let switch = from.node.switch();
    let scheme = scenario.recovery.as_ref().map(|recovery| recovery.scheme);
    let detours = match (switch, scheme) {
        (Some(switch), Some(RecoveryScheme::LocalReroute(_))) => routing.detours(topology, switch, from.port),
        _ => Vec::new(),
    };
    let peer = match to.node {
        Node::Host(host) => Some((host, to.port)),
        Node::Switch(_) => None,
    };
    let (node, port, state) = (from.node, from.port, PortState::Up);
    End { node, peer, port, state, may_reroute: false, reaches_peer: true, detours, is_redirected }
}

impl End {
    pub fn switch(&self) -> Option<SwitchId> {
        self.node.switch()
    }
}

fn detector(scenario: &Scenario, topology: &Topology, streams: &RandomStreams, link: LinkId) -> Detector {
    let detection = scenario.detection();
    let phases = [Direction::AToB, Direction::BToA].map(|direction| match detection {
        Detection::Probes(probes) => {
            let to_this_end = DirectedLink { link, direction }.reversed();
            let mut stream = streams.stream(&format!("link {} probes", to_this_end.index()));
            Duration(stream.next_u64() % probes.interval.as_ps())
        }
        _ => Duration::ZERO,
    });
    Detector { detection, phases, flight: topology.link(link).slowest().flight_time() }
}
