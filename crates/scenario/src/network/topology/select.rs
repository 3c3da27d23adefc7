//! Names of links and sets of hosts, as scenarios write them.

use std::collections::BTreeMap;

use hitless_core::settings::{in_short, suggestion};
use hitless_core::wire::{HostId, PortId};

use super::{DirectedLink, Node, SwitchId, Topology};

/// Returns the directed links called `name`: `"a->b"` is one, `"a<->b"` both directions. If several links join the two
/// nodes, it is the first, and `"a->b#1"` is the second.
pub fn select_links(topology: &Topology, name: &str) -> Result<Vec<DirectedLink>, String> {
    let (pair, number) = split_number(name)?;
    let both_ways = pair.contains("<->");
    let Some((sender, receiver)) = pair.split_once(if both_ways { "<->" } else { "->" }) else {
        return Err("a link is named by its two nodes, \"a->b\" or \"a<->b\"".into());
    };
    let [sender, receiver] = [sender.trim(), receiver.trim()];
    let ends = [find_node(topology, sender)?, find_node(topology, receiver)?];
    let links = topology.links_between(ends[0], ends[1]);
    let Some(&link) = links.get(number) else {
        return Err(match links.len() {
            0 => format!("there is no link between '{sender}' and '{receiver}'"),
            count => format!("only {count} links join '{sender}' and '{receiver}', counted from #0"),
        });
    };
    Ok(if both_ways { vec![link, link.reversed()] } else { vec![link] })
}

/// A port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SwitchPort {
    pub switch: SwitchId,
    /// The port; recirculation ports are numbered after the ports with links.
    pub port: PortId,
}

impl SwitchPort {
    /// Returns the name of its link, `sw2->sw6`; not for recirculation ports.
    pub fn name(self, topology: &Topology) -> String {
        topology.link_name(topology.switch(self.switch).ports[usize::from(self.port.0)].link)
    }
}

/// Returns the switch port called `name`: `"sw2->sw6"` is the port that sends on this link, `"sw2.recirculation0"` the
/// first of its `recirculation_ports` recirculation ports.
pub fn select_switch_ports(topology: &Topology, name: &str, recirculation_ports: u16) -> Result<SwitchPort, String> {
    if let Some((switch, number)) = name.split_once(".recirculation") {
        return recirculation_port(topology, switch, number, recirculation_ports);
    }
    let links = select_links(topology, name)?;
    let &[link] = links.as_slice() else {
        return Err("a port is named by the link that it sends on, in one direction: \"a->b\"".into());
    };
    let (from, _) = topology.ends(link);
    match from.node {
        Node::Switch(switch) => Ok(SwitchPort { switch, port: from.port }),
        Node::Host(_) => {
            Err(format!("'{}' is a host, and only switches have ports with queues", topology.name(from.node)))
        }
    }
}

/// Returns the switch ports called `name`: "a->b" is the port that sends on this link, "a" is all ports of a switch.
pub fn select_ports(topology: &Topology, name: &str) -> Result<Vec<SwitchPort>, String> {
    match topology.node(name) {
        Some(Node::Switch(switch)) => Ok(ports_of(topology, switch).collect()),
        Some(Node::Host(_)) => Err(format!("'{name}' is a host, and only switches have ports with queues")),
        None => select_switch_ports(topology, name, 0).map(|port| vec![port]),
    }
}

/// Returns the ports called `names`, in order, by switch; without names those of all switches. Unknown names are
/// ignored.
pub fn select_ports_by_switch(topology: &Topology, names: &[String]) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
    let named = |name: &String| select_ports(topology, name).unwrap_or_default();
    let ports: Vec<SwitchPort> = if names.is_empty() {
        topology.switch_ids().flat_map(|switch| ports_of(topology, switch)).collect()
    } else {
        names.iter().flat_map(named).collect()
    };
    let mut by_switch = BTreeMap::<SwitchId, Vec<SwitchPort>>::new();
    ports.into_iter().for_each(|port| by_switch.entry(port.switch).or_default().push(port));
    by_switch
}

fn ports_of(topology: &Topology, switch: SwitchId) -> impl Iterator<Item = SwitchPort> {
    let count = topology.switch(switch).ports.len() as u16;
    (0..count).map(move |port| SwitchPort { switch, port: PortId(port) })
}

fn recirculation_port(topology: &Topology, switch: &str, number: &str, count: u16) -> Result<SwitchPort, String> {
    let Node::Switch(id) = find_node(topology, switch)? else {
        return Err(format!("'{switch}' is a host, and hosts do not recirculate"));
    };
    match number.parse::<u16>() {
        Ok(number) if number < count => Ok(SwitchPort { switch: id, port: topology.recirculation_port(id, number) }),
        _ => Err(format!("'{switch}' has {count} recirculation ports, counted from 0")),
    }
}

/// Suggests a correction of the unknown link, port or host `name`: similar or existing nodes, an arrow, or neighbours.
pub fn suggested(topology: &Topology, name: &str, hosts_only: bool) -> Option<String> {
    let switches = topology.switches.iter().map(|switch| &*switch.name).filter(|_| !hosts_only);
    let known = topology.hosts.iter().map(|host| &*host.name).chain(switches);
    let with_arrow = |(a, b): (&str, &str)| {
        let link = format!("{}->{}", a.trim(), b.trim());
        (!hosts_only && !name.contains("->") && select_links(topology, &link).is_ok()).then_some(link)
    };
    if let Some(link) = SEPARATORS.iter().filter_map(|separator| name.split_once(separator)).find_map(with_arrow) {
        return Some(format!("did you mean \"{link}\"?"));
    }
    let words = name.split("<->").flat_map(|part| part.split("->")).flat_map(|part| part.split(".."));
    let words: Vec<&str> = words.filter_map(|word| word.split(['#', '.']).next()).map(str::trim).collect();
    let is_known = |word: &str| topology.node(word).is_some_and(|node| !(hosts_only && node.is_switch()));
    if let Some(word) = words.iter().find(|word| !is_known(word)) {
        return suggestion(word, known);
    }
    let first = topology.node(words.first()?).filter(|_| !hosts_only && select_links(topology, name).is_err())?;
    let neighbours: Vec<&str> = topology.ports(first).iter().map(|port| topology.name(port.peer.node)).collect();
    Some(format!("{} has links to {}", topology.name(first), in_short(&neighbours)))
}

/// Other ways to write the arrow of a link.
const SEPARATORS: [&str; 6] = ["=>", "\u{2192}", "--", "-", ":", " "];

fn split_number(name: &str) -> Result<(&str, usize), String> {
    let Some((pair, number)) = name.split_once('#') else { return Ok((name, 0)) };
    let number = number.trim().parse().map_err(|_| "what follows '#' is the number of a parallel link".to_string())?;
    Ok((pair, number))
}

fn find_node(topology: &Topology, name: &str) -> Result<Node, String> {
    topology.node(name).ok_or_else(|| format!("there is no node called '{name}'"))
}

/// Returns the hosts called `names`: `"all"`, a host's name, or a range of numbered names such as `"h0..h15"` (both
/// ends included), in the order of the list.
pub fn select_hosts(topology: &Topology, names: &[String]) -> Result<Vec<HostId>, String> {
    let each = names.iter().map(|name| select_named(topology, name, topology.host_ids(), find_host));
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Like [`select_hosts`], also with patterns such as `"gpu*"`.
pub fn select_hosts_by_pattern(topology: &Topology, names: &[String]) -> Result<Vec<HostId>, String> {
    let name_of = |host: &HostId| topology.host(*host).name.as_str();
    let each = names.iter().map(|name| match select_fitting(name, topology.host_ids(), name_of) {
        Some(hosts) if hosts.is_empty() => Err(format!("no host has a name like '{name}'")),
        Some(hosts) => Ok(hosts),
        None => select_named(topology, name, topology.host_ids(), find_host),
    });
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns the switches called `names`, as [`select_hosts_by_pattern`] does for hosts.
pub fn select_switches_by_pattern(topology: &Topology, names: &[String]) -> Result<Vec<SwitchId>, String> {
    let name_of = |switch: &SwitchId| topology.switch(*switch).name.as_str();
    let each = names.iter().map(|name| match select_fitting(name, topology.switch_ids(), name_of) {
        Some(switches) if switches.is_empty() => Err(format!("no switch has a name like '{name}'")),
        Some(switches) => Ok(switches),
        None => select_named(topology, name, topology.switch_ids(), find_switch),
    });
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns the nodes called `name`: all of them, one, or a range.
fn select_named<T>(
    topology: &Topology,
    name: &str,
    all: impl Iterator<Item = T>,
    find: fn(&Topology, &str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    match name.split_once("..") {
        _ if name == "all" && topology.node("all").is_none() => Ok(all.collect()),
        Some((first, last)) => {
            range(first.trim(), last.trim())?.iter().map(|name| find(topology, name)).collect::<Result<_, _>>()
        }
        None => Ok(vec![find(topology, name)?]),
    }
}

/// Returns the nodes with names that fit a pattern; `None` for a name without `*`.
fn select_fitting<'a, T>(
    pattern: &str,
    all: impl Iterator<Item = T>,
    name_of: impl Fn(&T) -> &'a str,
) -> Option<Vec<T>> {
    pattern.contains('*').then(|| all.filter(|node| fits_pattern(name_of(node), pattern)).collect())
}

/// Returns whether a name fits a pattern. There `*` stands for any characters.
pub fn fits_pattern(name: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(place) = name.find(part) else { return false };
        name = &name[place + part.len()..];
    }
    name.ends_with(last)
}

fn find_host(topology: &Topology, name: &str) -> Result<HostId, String> {
    match find_node(topology, name)? {
        Node::Host(host) => Ok(host),
        Node::Switch(_) => Err(format!("'{name}' is a switch, not a host")),
    }
}

fn find_switch(topology: &Topology, name: &str) -> Result<SwitchId, String> {
    match find_node(topology, name)? {
        Node::Switch(switch) => Ok(switch),
        Node::Host(_) => Err(format!("'{name}' is a host, not a switch")),
    }
}

/// Returns the names of a range.
fn range(first: &str, last: &str) -> Result<Vec<String>, String> {
    let rule = || format!("'{first}..{last}' is no range: it goes from one number to a higher one, as in \"h0..h15\"");
    let (first_stem, first_number) = split_digits(first).ok_or_else(rule)?;
    let (last_stem, last_number) = split_digits(last).ok_or_else(rule)?;
    if first_stem != last_stem || first_number > last_number {
        return Err(rule());
    }
    Ok((first_number..=last_number).map(|number| format!("{first_stem}{number}")).collect())
}

fn split_digits(name: &str) -> Option<(&str, u32)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((stem, name[stem.len()..].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::shapes::tests::leaf_spine;

    fn fabric() -> Topology {
        leaf_spine(2, 2, 4)
    }

    #[test]
    fn links_are_found_by_name_and_named_again() {
        let fabric = fabric();
        for name in ["leaf0->spine1", "spine1->leaf0", "h0->leaf0", "leaf1->h5"] {
            let links = select_links(&fabric, name).unwrap();
            assert_eq!(links.len(), 1);
            assert_eq!(fabric.link_name(links[0]), name);
        }
        let both = select_links(&fabric, "leaf0 <-> spine1").unwrap();
        assert_eq!(both[1], both[0].reversed());
    }

    #[test]
    fn links_that_do_not_exist_say_why() {
        let table = [
            ("leaf0", "a link is named by its two nodes, \"a->b\" or \"a<->b\""),
            ("leaf0->leaf9", "there is no node called 'leaf9'"),
            ("leaf0->leaf1", "there is no link between 'leaf0' and 'leaf1'"),
            ("leaf0->spine0#1", "only 1 links join 'leaf0' and 'spine0', counted from #0"),
            ("leaf0->spine0#x", "what follows '#' is the number of a parallel link"),
        ];
        for (name, message) in table {
            assert_eq!(select_links(&fabric(), name).unwrap_err(), message);
        }
    }

    #[test]
    fn ports_are_named_by_their_links_or_by_number() {
        let port = |name: &str| select_switch_ports(&fabric(), name, 2).map(|found| (found.switch.0, found.port.0));
        assert_eq!(port("leaf1->spine0"), Ok((1, 4)));
        assert_eq!(port("leaf1->h6"), Ok((1, 2)));
        assert_eq!(port("spine1.recirculation1"), Ok((3, 3)));
        for bad in ["h0->leaf0", "leaf0<->spine0", "leaf0.recirculation2", "leaf0.recirculation", "h0.recirculation0"] {
            assert!(port(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        let table = [
            ("leaf1", "leaf*", true),
            ("leaf", "leaf*", true),
            ("spine1", "leaf*", false),
            ("p0-leaf1", "p*-leaf*", true),
            ("p0-spine1", "p*-leaf*", false),
            ("p0-leaf1", "*", true),
            ("p0-leaf1", "*1", true),
            ("p0-leaf1", "*0*f1", true),
            ("ab", "a*b*b", false),
            ("aba", "a*ba*a", false),
            ("leaf1", "leaf", false),
        ];
        for (name, pattern, expected) in table {
            assert_eq!(fits_pattern(name, pattern), expected, "{name} {pattern}");
        }
        let numbers = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            select_hosts_by_pattern(&fabric(), &names).map(|hosts| hosts.iter().map(|host| host.0).collect::<Vec<_>>())
        };
        assert_eq!(numbers(&["*6", "h0..h1"]).unwrap(), [6, 0, 1]);
        assert_eq!(numbers(&["x*"]).unwrap_err(), "no host has a name like 'x*'");
    }

    #[test]
    fn host_sets_are_lists_ranges_or_all() {
        let numbers = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            select_hosts(&fabric(), &names).map(|hosts| hosts.iter().map(|host| host.0).collect::<Vec<_>>())
        };
        assert_eq!(numbers(&["all"]).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(numbers(&["h7", "h1..h3"]).unwrap(), [7, 1, 2, 3]);
        for bad in ["h3..h1", "h1..leaf0", "h1..", "h6..h9", "leaf0", "nobody"] {
            assert!(numbers(&[bad]).is_err(), "{bad}");
        }
    }
}
