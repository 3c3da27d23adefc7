//! The path that a flow's packets take now: links that are down, routes that are missing, and its round-trip time.

use hitless_core::wire::{Duration, HostId, Packet, Time};
use hitless_scenario::network::routing::PathRule;
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId};

use super::View;
use crate::run::edge::Edge;

/// The path of a packet by the routing tables.
struct Path {
    links: Vec<DirectedLink>,
    /// Number of first links that every packet between these hosts takes.
    certain: usize,
    /// The switch where the path ends without reaching the host.
    dead_end: Option<SwitchId>,
}

/// The reason why no packet of a flow arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// A link that has been down since this time.
    Link(DirectedLink, Time),
    /// A switch without a route to a host.
    Route(SwitchId, HostId),
}

impl<E: Edge> View<'_, E> {
    /// Follows the routing tables for `packet` from its first port on.
    fn path(&self, packet: &Packet) -> Path {
        let (topology, mut packet) = (self.topology(), *packet);
        let mut path = Path { links: vec![topology.host(packet.source).ports[0].link], certain: 1, dead_end: None };
        while let Some(&last) = path.links.last() {
            let to = topology.ends(last).1;
            let Node::Switch(switch) = to.node else { break };
            packet.ingress_port = to.port;
            let routing = &self.network_of(to.node).shared.routing;
            let is_only = routing.next_hops(switch, packet.destination).len() <= 1;
            path.certain += usize::from(is_only && path.certain == path.links.len());
            let port = routing.route(switch, &packet).or_else(|| routing.route_watched(switch, &packet));
            match port.and_then(|port| topology.switch(switch).ports.get(usize::from(port.0))) {
                // A loop is as bad as a missing route.
                Some(port) if !path.links.contains(&port.link) => path.links.push(port.link),
                _ => {
                    path.dead_end = Some(switch);
                    break;
                }
            }
        }
        path
    }

    /// Returns the reason why packets with these addresses cannot arrive, if the tables show one. Packets that spread
    /// over all paths avoid a broken one, and switches can choose among next hops themselves, so only the links that
    /// every packet takes count. Hosts with several ports lack such links.
    pub(super) fn broken(&self, packet: &Packet, spreads: bool) -> Option<Broken> {
        if self.topology().has_multi_homed_hosts() {
            return None;
        }
        let choice = self.global.scenario.routing.choice;
        let spreads = spreads || matches!(choice, PathRule::TwoChoices | PathRule::Flowlets);
        let Path { mut links, certain, dead_end } = self.path(packet);
        let is_certain = !spreads || certain >= links.len();
        links.truncate(if spreads { certain } else { usize::MAX });
        let down_since = |&link: &DirectedLink| {
            let end = self.topology().ends(link).1.node;
            self.network_of(end).shared.links.down_since(link.index()).map(|since| Broken::Link(link, since))
        };
        let no_route = dead_end.filter(|_| is_certain).map(|switch| Broken::Route(switch, packet.destination));
        links.iter().find_map(down_since).or(no_route)
    }

    /// Upper bound of the round-trip time of `packet` in the idle fabric: the path twice with the longest frame, at the
    /// lowest rates and longest delays.
    pub(super) fn idle_rtt(&self, packet: &Packet) -> Duration {
        let (topology, scenario) = (self.topology(), &self.global.scenario);
        let of_link = |link| scenario.hop_bound(topology, link);
        self.path(packet).links.iter().fold(Duration::ZERO, |sum, &link| sum + of_link(link)) * 2
    }
}
