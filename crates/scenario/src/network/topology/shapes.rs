//! The usual shapes: dumbbell, chain, leaf-spine, fat tree.
//!
//! Every shape numbers hosts and switches from 0 in the order of the drawing, left to right, bottom to top, and gives a
//! switch its host ports before its switch ports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LinkSpec, Node, Tier, Topology, TopologyBuilder};

/// Two switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Number of hosts on the switch `left`: h0, h1, ...
    #[schemars(range(min = 1, max = 4096))]
    pub hosts_left: u32,
    /// Number of hosts on the switch `right`; their numbers continue after those on the left.
    #[schemars(range(min = 1, max = 4096))]
    pub hosts_right: u32,
    /// The link of each host.
    pub host_link: LinkSpec,
    /// The link between the two switches.
    pub bottleneck: LinkSpec,
}

impl Dumbbell {
    pub(crate) fn build(&self) -> Result<Topology, Vec<String>> {
        let mut builder = TopologyBuilder::new();
        let left = builder.switch("left", Tier::Edge);
        let right = builder.switch("right", Tier::Edge);
        attach_hosts(&mut builder, left, 0..self.hosts_left, self.host_link);
        attach_hosts(&mut builder, right, self.hosts_left..self.hosts_left + self.hosts_right, self.host_link);
        builder.link(left, right, self.bottleneck);
        builder.finish()
    }
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

impl Chain {
    pub(crate) fn build(&self) -> Result<Topology, Vec<String>> {
        let mut builder = TopologyBuilder::new();
        let row: Vec<Node> = self.switches.iter().map(|name| builder.switch(name, Tier::Unknown)).collect();
        let sides = [(row.first(), &self.hosts_left), (row.last(), &self.hosts_right)];
        for (switch, names) in sides {
            for name in names {
                let host = builder.host(name);
                if let Some(&switch) = switch {
                    builder.link(host, switch, self.host_link);
                }
            }
        }
        for pair in row.windows(2) {
            builder.link(pair[0], pair[1], self.switch_link);
        }
        builder.finish()
    }
}

/// Leaves, spines, and the same number of hosts on every leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaf switches of a plane.
    #[schemars(range(min = 1, max = 4096))]
    pub leaves: u32,
    /// Number of spine switches of a plane.
    #[schemars(range(min = 1, max = 4096))]
    pub spines: u32,
    /// Number of hosts on each leaf; host h is on leaf h / hosts_per_leaf.
    #[schemars(range(min = 1, max = 4096))]
    pub hosts_per_leaf: u32,
    /// Number of consecutive leaves with a link to the same host, in each plane; left out: 1. 2 is a dual ToR: h0 is
    /// on leaf0 and leaf1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 64))]
    pub leaves_per_host: u32,
    /// Number of parallel fabrics; left out: 1. Each host has ports in all of them, and only hosts connect them. With
    /// several planes the names of switches start with their plane: p0-leaf0, p1-spine3.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 64))]
    pub planes: u32,
    /// The link of each host.
    pub host_link: LinkSpec,
    /// Each link between a leaf and a spine.
    pub core_link: LinkSpec,
}

pub(super) fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(super) fn is_one(number: &u32) -> bool {
    *number == 1
}

/// Returns the start of the names of a plane's switches.
fn plane_prefix(plane: u32, planes: u32) -> String {
    if planes == 1 { String::new() } else { format!("p{plane}-") }
}

impl LeafSpine {
    /// Port p of a leaf connects its p-th host; the spines follow in order. Port p of a spine connects leaf p.
    pub(crate) fn build(&self) -> Result<Topology, Vec<String>> {
        let (leaves, on_each) = (self.leaves, self.leaves_per_host.max(1));
        if !leaves.is_multiple_of(on_each) {
            return Err(vec![format!("{leaves} leaves cannot be divided into groups of leaves_per_host = {on_each}")]);
        }
        let mut builder = TopologyBuilder::new();
        for plane in 0..self.planes {
            let prefix = plane_prefix(plane, self.planes);
            let leaves = switches(&mut builder, &format!("{prefix}leaf"), Tier::Edge, leaves);
            let spines = switches(&mut builder, &format!("{prefix}spine"), Tier::Core, self.spines);
            for (number, leaf) in (0..).zip(&leaves) {
                let first_host = number / on_each * self.hosts_per_leaf;
                attach_hosts(&mut builder, *leaf, first_host..first_host + self.hosts_per_leaf, self.host_link);
                link_all(&mut builder, *leaf, &spines, self.core_link);
            }
        }
        builder.finish()
    }
}

/// k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Number of ports of each switch; even.
    #[schemars(range(min = 2, max = 256))]
    pub k: u32,
    /// Wiring between aggregation and core switches.
    #[serde(default)]
    pub wiring: FatTreeWiring,
    /// Number of parallel fat trees; left out: 1. Each host has a port in each of them, and only hosts connect them.
    /// With several planes the names of switches start with their plane: p0-edge0, p1-core3.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 64))]
    pub planes: u32,
    /// The link of each host.
    pub host_link: LinkSpec,
    /// Each link between two switches.
    pub core_link: LinkSpec,
}

/// Wiring between the aggregation and core switches of a fat tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FatTreeWiring {
    /// Standard: aggregation switch i of every pod is connected to the same k/2 cores.
    #[default]
    Standard,
    /// The AB fat tree (F10, NSDI 2013): in odd pods aggregation switch i is connected to core i of each group of k/2,
    /// so that a switch has a detour of three links around any link below it.
    Ab,
}

impl FatTree {
    /// "Row" i of the cores starts at i * k/2; "column" i is the cores with position i in their row.
    pub(crate) fn build(&self) -> Result<Topology, Vec<String>> {
        let mut builder = TopologyBuilder::new();
        (0..self.planes).for_each(|plane| self.add_plane(&mut builder, &plane_prefix(plane, self.planes)));
        builder.finish()
    }

    fn add_plane(&self, builder: &mut TopologyBuilder, prefix: &str) {
        let half = self.k / 2;
        let edges = switches(builder, &format!("{prefix}edge"), Tier::Edge, 2 * half * half);
        let aggregations = switches(builder, &format!("{prefix}agg"), Tier::Aggregation, 2 * half * half);
        let cores = switches(builder, &format!("{prefix}core"), Tier::Core, half * half);
        for (number, edge) in (0..).zip(&edges) {
            attach_hosts(builder, *edge, number * half..(number + 1) * half, self.host_link);
        }
        let columns: Vec<Node> =
            (0..half).flat_map(|column| cores.iter().skip(column as usize).step_by(half as usize)).copied().collect();
        let pods = in_pods(&edges, half).zip(in_pods(&aggregations, half));
        for (pod, (pod_edges, pod_aggregations)) in pods.enumerate() {
            for edge in pod_edges {
                link_all(builder, *edge, pod_aggregations, self.core_link);
            }
            let is_type_b = self.wiring == FatTreeWiring::Ab && pod % 2 == 1;
            let groups = in_pods(if is_type_b { &columns } else { &cores }, half);
            for (up, group) in pod_aggregations.iter().zip(groups) {
                link_all(builder, *up, group, self.core_link);
            }
        }
    }
}

fn switches(builder: &mut TopologyBuilder, kind: &str, tier: Tier, count: u32) -> Vec<Node> {
    (0..count).map(|number| builder.switch(format!("{kind}{number}"), tier)).collect()
}

fn in_pods(nodes: &[Node], size: u32) -> std::slice::Chunks<'_, Node> {
    nodes.chunks(size.max(1) as usize)
}

fn link_all(builder: &mut TopologyBuilder, lower: Node, uppers: &[Node], link: LinkSpec) {
    for upper in uppers {
        builder.link(lower, *upper, link);
    }
}

fn attach_hosts(builder: &mut TopologyBuilder, switch: Node, numbers: std::ops::Range<u32>, link: LinkSpec) {
    for number in numbers {
        let host = builder.numbered_host(number);
        builder.link(host, switch, link);
    }
}

#[cfg(test)]
pub(crate) mod tests;
