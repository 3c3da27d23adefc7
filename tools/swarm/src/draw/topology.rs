//! Fabrics with few hosts, so that hundreds of worlds run in a minute.

use hitless_core::wire::BitRate;
use hitless_scenario::network::topology::{DirectedLink, Node, Topology, TopologySettings};
use toml::Table;

use super::parts::parsed;
use crate::dice::Dice;

/// Minimum 10 Gbps: when an application stops, the megabytes that it has written must drain within the world.
pub const RATES: [&str; 5] = ["10 Gbps", "10 Gbps", "25 Gbps", "100 Gbps", "40 Gbps"];
pub const DELAYS: [&str; 8] = ["1 us", "1 us", "100 ns", "0 s", "1 ps", "1 ns", "5 us", "30 us"];

const DUAL_TOR: &str = "leaves_per_host = 2";
/// Ports of hosts in a leaf-spine.
const HOMES: [&str; 8] = ["", "", "", "", "", "planes = 2", "planes = 3", DUAL_TOR];

fn link(dice: &mut Dice) -> String {
    format!("{{ rate = \"{}\", delay = \"{}\" }}", dice.pick(&RATES), dice.pick(&DELAYS))
}

fn names(prefix: &str, count: u64) -> String {
    let each: Vec<String> = (0..count).map(|number| format!("\"{prefix}{number}\"")).collect();
    each.join(", ")
}

/// Two switches with `hosts` hosts each; all links have the same rate, so the link between the switches is the
/// bottleneck.
pub fn dumbbell(hosts: u64, rate: &str, delay: &str) -> Table {
    parsed(&format!(
        "kind = \"dumbbell\"\nhosts_left = {hosts}\nhosts_right = {hosts}\n\
         host_link = {{ rate = \"{rate}\", delay = \"{delay}\" }}\n\
         bottleneck = {{ rate = \"{rate}\", delay = \"{delay}\" }}"
    ))
}

/// Two switches with `hosts` hosts each, and a third switch that gives a second path between them.
pub fn triangle(hosts: u64, rate: &str, delay: &str) -> Table {
    let ends = |a: &str, b: &str| format!("{{ ends = [\"{a}\", \"{b}\"], rate = \"{rate}\", delay = \"{delay}\" }}");
    let of_hosts = (0..2 * hosts).map(|host| ends(&format!("h{host}"), if host < hosts { "left" } else { "right" }));
    let of_switches = [("left", "right"), ("left", "round"), ("round", "right")].map(|(a, b)| ends(a, b));
    let links: Vec<String> = of_hosts.chain(of_switches).collect();
    parsed(&format!(
        "kind = \"graph\"\nhosts = [{}]\nswitches = [\"left\", \"right\", \"round\"]\nlinks = [{}]",
        names("h", 2 * hosts),
        links.join(", ")
    ))
}

pub fn any(dice: &mut Dice) -> Table {
    let (host, core) = (link(dice), link(dice));
    let homes = dice.pick(&HOMES);
    let text = match dice.between(0, 9) {
        0..=2 => format!(
            "kind = \"dumbbell\"\nhosts_left = {}\nhosts_right = {}\nhost_link = {host}\nbottleneck = {core}",
            dice.between(1, 5),
            dice.between(1, 5)
        ),
        3..=5 => format!(
            "kind = \"leaf-spine\"\nleaves = {}\nspines = {}\nhosts_per_leaf = {}\nhost_link = {host}\n\
             core_link = {core}\n{}",
            if homes == DUAL_TOR { 2 * dice.between(1, 2) } else { dice.between(2, 3) },
            dice.between(1, 3),
            // A pair of leaves shares its hosts, and a fabric has at least two.
            dice.between(if homes == DUAL_TOR { 2 } else { 1 }, 3),
            homes
        ),
        6 => format!(
            "kind = \"chain\"\nhosts_left = [{}]\nswitches = [{}]\nhosts_right = [{}]\nhost_link = {host}\n\
             switch_link = {core}",
            names("left", dice.between(1, 3)),
            names("sw", dice.between(1, 4)),
            names("right", dice.between(1, 3))
        ),
        7 => format!(
            "kind = \"fat-tree\"\nk = {}\nwiring = \"{}\"\nhost_link = {host}\ncore_link = {core}\n{}",
            dice.pick(&[2, 4]),
            dice.pick(&["standard", "ab"]),
            dice.pick(&["", "", "", "planes = 2"])
        ),
        _ => return triangle(dice.between(1, 4), dice.pick(&RATES), dice.pick(&DELAYS)),
    };
    parsed(&text)
}

/// A fabric's names, which the rest of a world refers to.
pub struct Places {
    pub hosts: Vec<String>,
    /// Links between switches, with both names of each: "a->b", "b->a".
    pub core: Vec<[String; 2]>,
    pub links: Vec<[String; 2]>,
    pub switches: Vec<String>,
    /// The rate of the slowest link of a host, in bits per second.
    pub host_rate_bps: u64,
}

impl Places {
    /// Collects the names of a fabric; `None` if it cannot be built.
    pub fn of(fabric: &Table) -> Option<Self> {
        let settings: TopologySettings = fabric.clone().try_into().ok()?;
        Some(Self::in_topology(&settings.build().ok()?))
    }

    fn in_topology(topology: &Topology) -> Self {
        let both = |number: usize| DirectedLink::from_index(2 * number);
        let named = |link: DirectedLink| [link, link.reversed()].map(|link| topology.link_name(link));
        let is_core = |link: DirectedLink| {
            let (from, to) = topology.ends(link);
            [from, to].iter().all(|end| matches!(end.node, Node::Switch(_)))
        };
        let all = || (0..topology.links.len()).map(both);
        Self {
            hosts: topology.hosts.iter().map(|host| host.name.clone()).collect(),
            core: all().filter(|&link| is_core(link)).map(named).collect(),
            links: all().map(named).collect(),
            switches: topology.switches.iter().map(|switch| switch.name.clone()).collect(),
            host_rate_bps: topology
                .host_ids()
                .flat_map(|host| topology.port_rates(host))
                .map(BitRate::as_bps)
                .min()
                .unwrap_or(1),
        }
    }

    /// Draws a link between switches, with the names of both directions; without such links, any link.
    pub fn core_link<'a>(&'a self, dice: &mut Dice) -> &'a [String; 2] {
        dice.one_of(if self.core.is_empty() { &self.links } else { &self.core })
    }
}
