//! The usual shapes: dumbbell, chain, leaf-spine, fat tree.
//!
//! Every shape numbers hosts and switches from 0 in the order of the drawing, left to right, bottom to top, and gives
//! a switch its host ports before its switch ports.

use super::{LinkSettings, Node, Tier, Topology, TopologyBuilder, TopologyError};

/// A dumbbell: `hosts_left` hosts on `left`, `hosts_right` hosts on `right`, one link between the two switches.
///
/// # Errors
/// When there are fewer than two hosts.
pub fn dumbbell(
    hosts_left: u32,
    hosts_right: u32,
    host_link: LinkSettings,
    bottleneck: LinkSettings,
) -> Result<Topology, Vec<TopologyError>> {
    let mut builder = TopologyBuilder::new();
    let left = builder.switch("left", Tier::Edge);
    let right = builder.switch("right", Tier::Edge);
    attach_hosts(&mut builder, left, 0..hosts_left, host_link);
    attach_hosts(&mut builder, right, hosts_left..hosts_left + hosts_right, host_link);
    builder.link(left, right, bottleneck);
    builder.finish()
}

/// A chain: hosts, switches in a row, hosts. LinkGuardian's testbed h4-sw2-sw6-h8 is one.
///
/// `switches` names the switches from left to right; `hosts_left` hang on the first, `hosts_right` on the last.
///
/// # Errors
/// When a name is given twice or there are no switches.
pub fn chain(
    hosts_left: &[String],
    switches: &[String],
    hosts_right: &[String],
    host_link: LinkSettings,
    switch_link: LinkSettings,
) -> Result<Topology, Vec<TopologyError>> {
    let mut builder = TopologyBuilder::new();
    let row: Vec<Node> = switches.iter().map(|name| builder.switch(name, Tier::Unknown)).collect();
    let sides = [(row.first(), hosts_left), (row.last(), hosts_right)];
    for (switch, names) in sides {
        for name in names {
            let host = builder.host(name);
            if let Some(&switch) = switch {
                builder.link(host, switch, host_link);
            }
        }
    }
    for pair in row.windows(2) {
        builder.link(pair[0], pair[1], switch_link);
    }
    builder.finish()
}

/// A leaf-spine: every leaf is linked to every spine. Host h is on leaf h / `hosts_per_leaf`.
///
/// Port p of a leaf faces its p-th host, then come the spines in order; port p of a spine faces leaf p.
///
/// # Errors
/// When there are fewer than two hosts, or several leaves and no spine.
pub fn leaf_spine(
    leaves: u32,
    spines: u32,
    hosts_per_leaf: u32,
    host_link: LinkSettings,
    core_link: LinkSettings,
) -> Result<Topology, Vec<TopologyError>> {
    let mut builder = TopologyBuilder::new();
    let leaf_nodes: Vec<Node> = (0..leaves).map(|leaf| builder.switch(format!("leaf{leaf}"), Tier::Edge)).collect();
    let spine_nodes: Vec<Node> = (0..spines).map(|spine| builder.switch(format!("spine{spine}"), Tier::Core)).collect();
    for (leaf, first_host) in leaf_nodes.iter().zip((0..).step_by(hosts_per_leaf.max(1) as usize)) {
        attach_hosts(&mut builder, *leaf, first_host..first_host + hosts_per_leaf, host_link);
        link_all(&mut builder, *leaf, &spine_nodes, core_link);
    }
    builder.finish()
}

/// Which cores the aggregation switches of a pod are linked to. "Row" i of the cores is those from i * k/2 on,
/// "column" i is those with the number i in their row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoreWiring {
    /// Aggregation switch i of every pod to the cores of row i (Al-Fares et al., SIGCOMM 2008).
    #[default]
    Standard,
    /// Even pods as in a standard fat tree, aggregation switch i of an odd pod to the cores of column i: the AB fat
    /// tree of F10 (Liu et al., NSDI 2013).
    Ab,
}

/// A fat tree of `k`-port switches: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k^3/4 hosts.
///
/// `k` must be even; an odd one is rounded down.
///
/// # Errors
/// When `k` is below 2.
pub fn fat_tree(
    k: u32,
    wiring: CoreWiring,
    host_link: LinkSettings,
    core_link: LinkSettings,
) -> Result<Topology, Vec<TopologyError>> {
    let half = k / 2;
    let mut builder = TopologyBuilder::new();
    let mut switches = |kind: &str, tier: Tier, count: u32| -> Vec<Node> {
        (0..count).map(|number| builder.switch(format!("{kind}{number}"), tier)).collect()
    };
    let edges = switches("edge", Tier::Edge, 2 * half * half);
    let aggregations = switches("agg", Tier::Aggregation, 2 * half * half);
    let cores = switches("core", Tier::Core, half * half);
    for (number, edge) in (0..).zip(&edges) {
        attach_hosts(&mut builder, *edge, number * half..(number + 1) * half, host_link);
    }
    let columns: Vec<Node> =
        (0..half).flat_map(|column| cores.iter().skip(column as usize).step_by(half as usize)).copied().collect();
    let pods = in_pods(&edges, half).zip(in_pods(&aggregations, half));
    for (pod, (pod_edges, pod_aggregations)) in pods.enumerate() {
        for edge in pod_edges {
            link_all(&mut builder, *edge, pod_aggregations, core_link);
        }
        let is_type_b = wiring == CoreWiring::Ab && pod % 2 == 1;
        let groups = in_pods(if is_type_b { &columns } else { &cores }, half);
        for (up, group) in pod_aggregations.iter().zip(groups) {
            link_all(&mut builder, *up, group, core_link);
        }
    }
    builder.finish()
}

fn in_pods(nodes: &[Node], size: u32) -> std::slice::Chunks<'_, Node> {
    nodes.chunks(size.max(1) as usize)
}

fn link_all(builder: &mut TopologyBuilder, lower: Node, uppers: &[Node], link: LinkSettings) {
    for upper in uppers {
        builder.link(lower, *upper, link);
    }
}

fn attach_hosts(builder: &mut TopologyBuilder, switch: Node, numbers: std::ops::Range<u32>, link: LinkSettings) {
    for number in numbers {
        let host = builder.host(format!("h{number}"));
        builder.link(host, switch, link);
    }
}

#[cfg(test)]
mod tests;
