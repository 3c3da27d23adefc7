//! `[topology]`: the fabric's shape.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shapes::{Chain, Dumbbell, FatTree, LeafSpine};
use super::{LINKS_MAX, LinkSpec, Tier, Topology, TopologyBuilder};

/// The fabric: hosts, switches and the links between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TopologySettings {
    /// Leaf-spine: every leaf has a link to every spine. Names: h0, h1, ... leaf0, ... spine0, ...
    LeafSpine(LeafSpine),
    /// A k-ary fat tree (Al-Fares et al., SIGCOMM 2008). Names: h0, ... edge0, ... agg0, ... core0, ...
    FatTree(FatTree),
    /// Dumbbell: two switches with one link between them, and hosts at both. Names: h0, ... left, right
    Dumbbell(Dumbbell),
    /// Chain: hosts, switches in a row, hosts, with names of your choice.
    Chain(Chain),
    /// Any graph: lists of hosts, switches and links.
    Graph(Graph),
}

/// A graph given node by node and link by link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Names of the hosts. A host with several links has several ports, numbered in the order of `links`.
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
    /// The two nodes. Several links can join the same two nodes.
    pub ends: [String; 2],
    /// Rate, delay and overhead of the link.
    #[serde(flatten)]
    pub link: LinkSpec,
}

impl TopologySettings {
    /// Builds the fabric.
    ///
    /// # Errors
    /// All errors: duplicate names, hosts without a link, unreachable nodes.
    pub fn build(&self) -> Result<Topology, Vec<String>> {
        let links = self.link_count();
        if links > LINKS_MAX {
            return Err(vec![format!("{links} links; at most {LINKS_MAX} can be simulated")]);
        }
        match self {
            TopologySettings::LeafSpine(shape) => shape.build(),
            TopologySettings::FatTree(shape) => shape.build(),
            TopologySettings::Dumbbell(shape) => shape.build(),
            TopologySettings::Chain(shape) => shape.build(),
            TopologySettings::Graph(shape) => shape.build(),
        }
    }

    /// Returns the number of links, without building anything.
    pub fn link_count(&self) -> u64 {
        let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
        match self {
            TopologySettings::LeafSpine(t) => {
                u64::from(t.planes).saturating_mul(product(t.leaves, t.spines) + product(t.leaves, t.hosts_per_leaf))
            }
            TopologySettings::FatTree(t) => u64::from(t.planes) * 3 * u64::from(t.k / 2).pow(2) * u64::from(t.k),
            TopologySettings::Dumbbell(t) => u64::from(t.hosts_left) + u64::from(t.hosts_right) + 1,
            TopologySettings::Chain(t) => (t.hosts_left.len() + t.switches.len() + t.hosts_right.len()) as u64,
            TopologySettings::Graph(t) => t.links.len() as u64,
        }
    }
}

impl Graph {
    fn build(&self) -> Result<Topology, Vec<String>> {
        let mut builder = TopologyBuilder::new();
        for name in &self.hosts {
            builder.host(name);
        }
        for name in &self.switches {
            builder.switch(name, Tier::Unknown);
        }
        for link in &self.links {
            builder.link_by_name(&link.ends[0], &link.ends[1], link.link);
        }
        builder.finish()
    }
}
