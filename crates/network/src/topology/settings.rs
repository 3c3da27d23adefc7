//! `[topology]`: the fabric's shape.

use hitless_settings::quantity::Text;
use hitless_wire::packet::ETHERNET_OVERHEAD_BYTES;
use hitless_wire::{BitRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::topology::shapes::CoreWiring;
use crate::topology::{LINKS_MAX, LinkSettings, Tier, Topology, TopologyBuilder, TopologyError, shapes};

/// The fabric: hosts, switches and the links between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TopologySettings {
    /// Every leaf is linked to every spine. Names: h0, h1, ... leaf0, ... spine0, ...
    LeafSpine(LeafSpine),
    /// A k-ary fat tree (Al-Fares et al., SIGCOMM 2008). Names: h0, ... edge0, ... agg0, ... core0, ...
    FatTree(FatTree),
    /// Hosts, two switches with one link between them, hosts. Names: h0, ... left, right
    Dumbbell(Dumbbell),
    /// Hosts, switches in a row, hosts, with names of your own.
    Chain(Chain),
    /// Any graph: lists of hosts, switches and links.
    Graph(Graph),
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Rate of each direction.
    #[serde(with = "Text::<BitRate>")]
    pub rate: BitRate,
    /// Propagation delay.
    #[serde(with = "Text::<Duration>")]
    pub delay: Duration,
    /// Bytes that every frame costs beyond its own length: 8 of preamble and 12 of gap on Ethernet.
    #[serde(default = "ethernet_overhead")]
    pub overhead_bytes: u32,
}

fn ethernet_overhead() -> u32 {
    ETHERNET_OVERHEAD_BYTES
}

impl LinkSpec {
    /// As the topology keeps it.
    pub fn settings(&self) -> LinkSettings {
        LinkSettings { rate: self.rate, delay: self.delay, overhead_bytes: self.overhead_bytes }
    }
}

/// Leaves, spines, and the same number of hosts on every leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaf switches.
    #[schemars(range(min = 1, max = 4096))]
    pub leaves: u32,
    /// Number of spine switches.
    #[schemars(range(min = 1, max = 4096))]
    pub spines: u32,
    /// Hosts on each leaf; host h hangs on leaf h / hosts_per_leaf.
    #[schemars(range(min = 1, max = 4096))]
    pub hosts_per_leaf: u32,
    /// The link of each host.
    pub host_link: LinkSpec,
    /// Each link between a leaf and a spine.
    pub core_link: LinkSpec,
}

/// k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of each switch; even.
    #[schemars(range(min = 2, max = 256))]
    pub k: u32,
    /// Which cores each aggregation switch is linked to.
    #[serde(default)]
    pub wiring: FatTreeWiring,
    /// The link of each host.
    pub host_link: LinkSpec,
    /// Each link between two switches.
    pub core_link: LinkSpec,
}

/// Which cores each aggregation switch of a fat tree is linked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FatTreeWiring {
    /// Number i of every pod to the same k/2 cores.
    #[default]
    Standard,
    /// The AB fat tree (F10, NSDI 2013): in odd pods number i to core i of each group of k/2, so that a switch has a
    /// detour of three links round any link below it.
    Ab,
}

/// Two switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Hosts on the switch `left`: h0, h1, ...
    #[schemars(range(min = 1, max = 4096))]
    pub hosts_left: u32,
    /// Hosts on the switch `right`; their numbers go on where those on the left end.
    #[schemars(range(min = 1, max = 4096))]
    pub hosts_right: u32,
    /// The link of each host.
    pub host_link: LinkSpec,
    /// The link between the two switches.
    pub bottleneck: LinkSpec,
}

/// Switches in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// Names of the hosts on the first switch.
    #[schemars(length(min = 1))]
    pub hosts_left: Vec<String>,
    /// Names of the switches, from left to right.
    #[schemars(length(min = 1))]
    pub switches: Vec<String>,
    /// Names of the hosts on the last switch.
    #[schemars(length(min = 1))]
    pub hosts_right: Vec<String>,
    /// The link of each host.
    pub host_link: LinkSpec,
    /// Each link between two switches.
    pub switch_link: LinkSpec,
}

/// A graph given node by node and link by link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Names of the hosts; each has exactly one link.
    #[schemars(length(min = 2))]
    pub hosts: Vec<String>,
    /// Names of the switches.
    #[schemars(length(min = 1))]
    pub switches: Vec<String>,
    /// The links. A node's ports are numbered in the order of this list.
    #[schemars(length(min = 1))]
    pub links: Vec<GraphLink>,
}

/// A link of a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GraphLink {
    /// The two nodes that it joins. Two links may join the same two switches.
    pub ends: [String; 2],
    /// What the link is like.
    #[serde(flatten)]
    pub link: LinkSpec,
}

impl TopologySettings {
    /// Builds the fabric.
    ///
    /// # Errors
    /// What is wrong with it: names given twice, hosts without a link or with several, unreachable nodes.
    pub fn build(&self) -> Result<Topology, Vec<TopologyError>> {
        let links = self.link_count();
        if links > LINKS_MAX {
            return Err(vec![TopologyError::TooManyLinks(links)]);
        }
        match self {
            TopologySettings::LeafSpine(t) => {
                let (host, core) = (t.host_link.settings(), t.core_link.settings());
                shapes::leaf_spine(t.leaves, t.spines, t.hosts_per_leaf, host, core)
            }
            TopologySettings::FatTree(t) => {
                let wiring = match t.wiring {
                    FatTreeWiring::Standard => CoreWiring::Standard,
                    FatTreeWiring::Ab => CoreWiring::Ab,
                };
                shapes::fat_tree(t.k, wiring, t.host_link.settings(), t.core_link.settings())
            }
            TopologySettings::Dumbbell(t) => {
                shapes::dumbbell(t.hosts_left, t.hosts_right, t.host_link.settings(), t.bottleneck.settings())
            }
            TopologySettings::Chain(t) => {
                let (host, switch) = (t.host_link.settings(), t.switch_link.settings());
                shapes::chain(&t.hosts_left, &t.switches, &t.hosts_right, host, switch)
            }
            TopologySettings::Graph(t) => t.build(),
        }
    }
}

impl TopologySettings {
    /// How many links it will have: known before anything is built.
    pub fn link_count(&self) -> u64 {
        let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
        match self {
            TopologySettings::LeafSpine(t) => product(t.leaves, t.spines) + product(t.leaves, t.hosts_per_leaf),
            TopologySettings::FatTree(t) => 3 * u64::from(t.k / 2).pow(2) * u64::from(t.k),
            TopologySettings::Dumbbell(t) => u64::from(t.hosts_left) + u64::from(t.hosts_right) + 1,
            TopologySettings::Chain(t) => (t.hosts_left.len() + t.switches.len() + t.hosts_right.len()) as u64,
            TopologySettings::Graph(t) => t.links.len() as u64,
        }
    }
}

impl Graph {
    fn build(&self) -> Result<Topology, Vec<TopologyError>> {
        let mut builder = TopologyBuilder::new();
        for name in &self.hosts {
            builder.host(name);
        }
        for name in &self.switches {
            builder.switch(name, Tier::Unknown);
        }
        for link in &self.links {
            builder.link_by_name(&link.ends[0], &link.ends[1], link.link.settings());
        }
        builder.finish()
    }
}
