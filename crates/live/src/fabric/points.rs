//! The border of a fabric: nodes of the scenario that are real.

use std::collections::BTreeMap;

use hitless_core::wire::link::{LinkFormat, LinkHeaderSet};
use hitless_core::wire::{HostId, Time};
use hitless_hosts::host::NetworkCard;
use hitless_scenario::network::topology::select::select_links;
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId, Topology};

/// A link to a real node: a host, or a switch that runs elsewhere.
#[derive(Debug)]
pub struct Point {
    /// Name given by the caller.
    pub name: String,
    /// The link towards the external node.
    pub outwards: DirectedLink,
    /// The local switch at its end.
    pub switch: SwitchId,
    /// The destination of packets that leave here.
    pub host: HostId,
    pub(super) end: RealEnd,
    /// Headers of frames from or to a switch there.
    pub(super) spoken: LinkHeaderSet,
    /// Landing time of the last frame from a switch elsewhere.
    pub(super) last_landing: Time,
}

/// The real node behind a point.
#[derive(Debug)]
pub(super) enum RealEnd {
    /// A host; its network card paces the packets that it sends.
    Host(NetworkCard),
    /// A switch that runs elsewhere and has paced its packets itself, with the format of the link.
    Switch(LinkFormat),
}

impl Point {
    /// The link from the external node.
    pub fn inwards(&self) -> DirectedLink {
        self.outwards.reversed()
    }

    pub fn is_switch(&self) -> bool {
        matches!(self.end, RealEnd::Switch(_))
    }
}

/// The local part of a fabric and its border.
#[derive(Debug)]
pub struct Border {
    /// In the order of the names.
    pub points: Vec<Point>,
    pub is_here: Vec<bool>,
}

impl Border {
    /// Finds the links of `names`. Each is a node ("h1", "sw2") or, if several links lead to a switch, a link
    /// ("sw1->sw2#1").
    ///
    /// # Errors
    /// A sentence, for an unknown name, a host without a name, or ambiguous links to a switch.
    pub(super) fn new(
        topology: &Topology,
        names: &[String],
        real_end: impl Fn(&str, Node) -> RealEnd,
    ) -> Result<Self, String> {
        let ends: Vec<End> = names.iter().map(|name| end_of(topology, name)).collect::<Result<_, _>>()?;
        let external: Vec<_> = ends.iter().map(|end| end.node).collect();
        let is_here = switches_here(topology, &external, &ends);
        let mut points = BTreeMap::new();
        for (name, end) in names.iter().zip(&ends) {
            let link = end.link(topology, name, &is_here)?;
            if points.insert(link, name.clone()).is_some() {
                return Err(format!("'{}' is named twice", topology.link_name(link)));
            }
        }
        check_all_named(topology, &is_here, &external, &points)?;
        let by_name = names.iter().map(|name| {
            let (&link, _) = points.iter().find(|(_, other)| *other == name).expect("each name has its link");
            point(topology, name, link, &real_end)
        });
        Ok(Self { points: by_name.collect::<Result<_, String>>()?, is_here })
    }
}

/// The meaning of a name.
struct End {
    node: Node,
    /// `None` for the only link.
    link: Option<DirectedLink>,
}

impl End {
    fn link(&self, topology: &Topology, name: &str, is_here: &[bool]) -> Result<DirectedLink, String> {
        if let Some(link) = self.link {
            return Ok(link);
        }
        let ports = topology.ports(self.node).iter().filter(|port| is_one_here(is_here, port.peer.node));
        let links: Vec<_> = ports.map(|port| port.link.reversed()).collect();
        match links.as_slice() {
            [link] => Ok(*link),
            [] => Err(format!("no link joins '{name}' to a switch that runs here")),
            [first, ..] => Err(format!(
                "{} links join '{name}' to switches that run here; name each of them, as in \"{}\"",
                links.len(),
                topology.link_name(*first)
            )),
        }
    }
}

fn end_of(topology: &Topology, name: &str) -> Result<End, String> {
    if name.contains("->") {
        return match *select_links(topology, name)? {
            [link] => Ok(End { node: topology.ends(link).1.node, link: Some(link) }),
            _ => {
                Err(format!("'{name}' is both directions of a link; the one to the external node is wanted, \"a->b\""))
            }
        };
    }
    match topology.node(name) {
        Some(node) => Ok(End { node, link: None }),
        None => Err(format!("there is no node called '{name}' in this scenario")),
    }
}

/// Finds the switches that are connected to a real host, or to each other, without passing a switch that runs
/// elsewhere. Without a named host, these are the neighbours of the named switches.
fn switches_here(topology: &Topology, external: &[Node], ends: &[End]) -> Vec<bool> {
    let mut is_here = vec![false; topology.switches.len()];
    let neighbours = |node: Node| topology.ports(node).iter().filter_map(|port| port.peer.node.switch());
    let hosts = external.iter().filter(|node| !node.is_switch()).flat_map(|&node| neighbours(node));
    let before_links = ends.iter().filter_map(|end| topology.ends(end.link?).0.node.switch());
    let mut open: Vec<SwitchId> = hosts.chain(before_links).collect();
    if open.is_empty() {
        open = external.iter().flat_map(|&node| neighbours(node)).collect();
    }
    while let Some(switch) = open.pop() {
        let is_new = !external.contains(&Node::Switch(switch)) && !is_here[switch.0 as usize];
        if is_new {
            is_here[switch.0 as usize] = true;
            open.extend(neighbours(Node::Switch(switch)));
        }
    }
    is_here
}

/// Returns whether a node is a local switch.
pub(super) fn is_one_here(is_here: &[bool], node: Node) -> bool {
    node.switch().is_some_and(|id| is_here[id.0 as usize])
}

/// Checks that every port of a local switch leads to another local switch or to a named end.
fn check_all_named(
    topology: &Topology,
    is_here: &[bool],
    external: &[Node],
    points: &BTreeMap<DirectedLink, String>,
) -> Result<(), String> {
    if !is_here.contains(&true) {
        return Err("no switch of the scenario runs here: name the hosts, or the switches beyond".into());
    }
    for switch in topology.switch_ids().filter(|id| is_here[id.0 as usize]) {
        for port in &topology.switch(switch).ports {
            if !is_one_here(is_here, port.peer.node) && !points.contains_key(&port.link) {
                let (name, node) = (topology.name(port.peer.node), topology.name(Node::Switch(switch)));
                let hint = if external.contains(&port.peer.node) { " (by this link of several)" } else { "" };
                return Err(format!("'{name}' hangs on switch '{node}', which runs here, and is not named{hint}"));
            }
        }
    }
    Ok(())
}

fn point(
    topology: &Topology,
    name: &str,
    outwards: DirectedLink,
    real_end: impl Fn(&str, Node) -> RealEnd,
) -> Result<Point, String> {
    let (from, to) = topology.ends(outwards);
    let Node::Switch(switch) = from.node else {
        return Err(format!("'{name}' begins at a host: the external link begins at a switch that runs here"));
    };
    let host = match to.node {
        Node::Host(host) => Some(host),
        Node::Switch(next) => host_beyond(topology, switch, next),
    };
    let host = host.ok_or_else(|| format!("no host is reached through '{name}'"))?;
    let (end, spoken) = (real_end(name, to.node), LinkHeaderSet::default());
    Ok(Point { name: name.to_owned(), outwards, switch, host, end, spoken, last_landing: Time::ZERO })
}

/// Returns the host nearest to `next` that `switch` reaches through `next`.
fn host_beyond(topology: &Topology, switch: SwitchId, next: SwitchId) -> Option<HostId> {
    let mut seen = vec![false; topology.switches.len()];
    seen[switch.0 as usize] = true;
    let mut open = std::collections::VecDeque::from([next]);
    while let Some(id) = open.pop_front() {
        if std::mem::replace(&mut seen[id.0 as usize], true) {
            continue;
        }
        for port in &topology.switch(id).ports {
            match port.peer.node {
                Node::Host(host) => return Some(host),
                Node::Switch(peer) => open.push_back(peer),
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use hitless_core::wire::{BitRate, Duration};
    use hitless_hosts::NetworkCardConfig;

    use super::*;
    use hitless_scenario::network::topology::{LinkSpec, Tier, TopologyBuilder};

    /// h1 - sw1 = sw2 - sw3 - h3, with h2 on sw2 and two links between sw1 and sw2.
    fn chain() -> Topology {
        let mut builder = TopologyBuilder::new();
        let [h1, h2, h3] = ["h1", "h2", "h3"].map(|name| builder.host(name));
        let [sw1, sw2, sw3] = ["sw1", "sw2", "sw3"].map(|name| builder.switch(name, Tier::Unknown));
        let settings = LinkSpec::ethernet(BitRate::from_gbps(1), Duration::from_us(1));
        for (a, b) in [(h1, sw1), (sw1, sw2), (sw1, sw2), (sw2, sw3), (h2, sw2), (h3, sw3)] {
            builder.link(a, b, settings);
        }
        builder.finish().expect("the chain is sound")
    }

    /// Points by link, each with its host; and the local switches.
    type Found = (Vec<(String, u32)>, Vec<bool>);

    fn border(names: &[&str]) -> Result<Found, String> {
        let topology = chain();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let card = NetworkCard::new(&NetworkCardConfig::at_rate(BitRate::from_gbps(1)));
        let border = Border::new(&topology, &names, |_, _| RealEnd::Host(card.clone()))?;
        let points = border.points.iter().map(|point| (topology.link_name(point.outwards), point.host.0)).collect();
        Ok((points, border.is_here))
    }

    #[test]
    fn all_of_a_fabric_or_a_part_of_it_is_here() {
        let of = |text: &[(&str, u32)]| text.iter().map(|&(name, host)| (name.to_owned(), host)).collect::<Vec<_>>();
        type Case = (&'static [&'static str], &'static [(&'static str, u32)], [bool; 3]);
        let cases: [Case; 4] = [
            (&["h3", "h1", "h2"], &[("sw3->h3", 2), ("sw1->h1", 0), ("sw2->h2", 1)], [true, true, true]),
            (&["sw2", "h3"], &[("sw3->sw2", 1), ("sw3->h3", 2)], [false, false, true]),
            (
                &["h1", "sw1->sw2", "sw1->sw2#1"],
                &[("sw1->h1", 0), ("sw1->sw2", 1), ("sw1->sw2#1", 1)],
                [true, false, false],
            ),
            (
                &["sw2->sw1", "sw2->sw1#1", "h2", "sw3"],
                &[("sw2->sw1", 0), ("sw2->sw1#1", 0), ("sw2->h2", 1), ("sw2->sw3", 2)],
                [false, true, false],
            ),
        ];
        for (names, points, is_here) in cases {
            assert_eq!(border(names), Ok((of(points), is_here.to_vec())), "{names:?}");
        }
    }

    #[test]
    fn what_is_wrong_with_names_is_said() {
        let cases: [(&[&str], &str); 6] = [
            (&["h9"], "there is no node called 'h9' in this scenario"),
            (&["h1", "h2"], "'h3' hangs on switch 'sw3', which runs here, and is not named"),
            (&["h1", "sw2"], "2 links join 'sw2' to switches that run here; name each of them, as in \"sw1->sw2\""),
            (
                &["h1", "sw1->sw2"],
                "'sw2' hangs on switch 'sw1', which runs here, and is not named (by this link of several)",
            ),
            (&["h1", "h1", "h2", "h3"], "'sw1->h1' is named twice"),
            (&[], "no switch of the scenario runs here: name the hosts, or the switches beyond"),
        ];
        for (names, message) in cases {
            assert_eq!(border(names), Err(message.to_owned()), "{names:?}");
        }
    }
}
