//! Computes the tables: one breadth-first search per switch that has hosts.

use hitless_wire::PortId;

use super::hash::fmix32;
use super::table::{HopSet, HostPlace, PathChoice, Table};
use crate::topology::{LinkId, Node, Port, SwitchId, Topology};

const UNREACHED: u32 = u32::MAX;

pub(super) fn compute(topology: &Topology, choice: PathChoice, excluded: &[LinkId]) -> Table {
    let mut ports = Vec::new();
    let (places, edge_switches) = place_hosts(topology, excluded, &mut ports);
    let edges = edge_switches.len();
    let mut sets = vec![HopSet::default(); topology.switches.len() * edges];
    for (edge, &target) in edge_switches.iter().enumerate() {
        let distances = distances_to(topology, target, excluded);
        for switch in topology.switch_ids().filter(|&switch| switch != target) {
            let hops = closer_ports(topology, switch, &distances, excluded);
            sets[switch.0 as usize * edges + edge] = intern(&mut ports, &hops);
        }
    }
    // The salt is a hash of the switch's number plus one: zero would be a fixed point of the finaliser.
    let salts = topology.switch_ids().map(|switch| fmix32(switch.0 + 1)).collect();
    Table { choice, edges, places, sets, ports, salts }
}

/// Finds every host's attachment switch and gives it a number; puts every host's port into `ports`.
fn place_hosts(topology: &Topology, excluded: &[LinkId], ports: &mut Vec<PortId>) -> (Vec<HostPlace>, Vec<SwitchId>) {
    let mut edge_numbers = vec![None; topology.switches.len()];
    let mut edge_switches = Vec::new();
    let mut places = Vec::with_capacity(topology.hosts.len());
    for host in topology.host_ids() {
        let (switch, port) = topology.attachment(host);
        let edge = *edge_numbers[switch.0 as usize].get_or_insert_with(|| {
            edge_switches.push(switch);
            edge_switches.len() as u32 - 1
        });
        let usable = !excluded.contains(&topology.host(host).port.link.link);
        let hops = if usable { std::slice::from_ref(&port) } else { &[] };
        places.push(HostPlace { edge, switch, direct: HopSet::new(ports.len(), hops) });
        ports.push(port);
    }
    (places, edge_switches)
}

fn usable_switch_ports<'a>(
    topology: &'a Topology,
    switch: SwitchId,
    excluded: &'a [LinkId],
) -> impl Iterator<Item = (PortId, SwitchId)> + 'a {
    let usable = move |(number, port): (u16, &Port)| match port.peer.node {
        Node::Switch(peer) if !excluded.contains(&port.link.link) => Some((PortId(number), peer)),
        _ => None,
    };
    (0..).zip(&topology.switch(switch).ports).filter_map(usable)
}

fn distances_to(topology: &Topology, target: SwitchId, excluded: &[LinkId]) -> Vec<u32> {
    let mut distances = vec![UNREACHED; topology.switches.len()];
    distances[target.0 as usize] = 0;
    let mut frontier = vec![target];
    for distance in 1.. {
        let mut next = Vec::new();
        for &switch in &frontier {
            for (_, peer) in usable_switch_ports(topology, switch, excluded) {
                if distances[peer.0 as usize] == UNREACHED {
                    distances[peer.0 as usize] = distance;
                    next.push(peer);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    distances
}

fn closer_ports(topology: &Topology, switch: SwitchId, distances: &[u32], excluded: &[LinkId]) -> Vec<PortId> {
    let own = distances[switch.0 as usize];
    let closer = |&(_, peer): &(PortId, SwitchId)| distances[peer.0 as usize] < own;
    usable_switch_ports(topology, switch, excluded).filter(closer).map(|(port, _)| port).collect()
}

/// Appends `hops` unless the table's last run of ports is the same: neighbouring entries mostly are.
fn intern(ports: &mut Vec<PortId>, hops: &[PortId]) -> HopSet {
    if !ports.ends_with(hops) {
        ports.extend_from_slice(hops);
    }
    HopSet::new(ports.len() - hops.len(), hops)
}
