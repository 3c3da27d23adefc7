use hitless_core::wire::Packet;

use super::*;
use crate::network::routing::{PathRule, Routing, flow_hash};
use crate::network::topology::shapes::tests::LINK;
use crate::network::topology::{FatTreeWiring, Tier, TopologyBuilder, shapes};

fn fat_tree(wiring: FatTreeWiring) -> Topology {
    shapes::tests::fat_tree(4, wiring)
}

/// The testbed of SQR's figure 2.
fn testbed() -> Topology {
    let mut builder = TopologyBuilder::new();
    for number in 1..=4 {
        builder.host(format!("h{number}"));
    }
    for number in 1..=10 {
        builder.switch(format!("sw{number}"), Tier::Unknown);
    }
    let switch_links =
        [(7, 3), (7, 4), (8, 3), (8, 4), (9, 5), (9, 6), (10, 5), (10, 6), (3, 1), (4, 2), (5, 1), (6, 2)];
    for number in 1..=4 {
        builder.link_by_name(&format!("h{number}"), &format!("sw{}", number + 6), LINK);
    }
    for (a, b) in switch_links {
        builder.link_by_name(&format!("sw{a}"), &format!("sw{b}"), LINK);
    }
    builder.finish().unwrap()
}

fn switch(topology: &Topology, name: &str) -> SwitchId {
    match topology.node(name) {
        Some(Node::Switch(switch)) => switch,
        other => panic!("{name}: {other:?}"),
    }
}

/// The port of `from` towards `to`.
fn port(topology: &Topology, from: &str, to: &str) -> PortId {
    let to = topology.node(to).unwrap();
    let ports = &topology.switch(switch(topology, from)).ports;
    PortId(ports.iter().position(|port| port.peer.node == to).unwrap() as u16)
}

/// The neighbours that are backups of the link between two switches, with the path lengths in links.
fn backups(topology: &Topology, from: &str, to: &str) -> Vec<(String, u32)> {
    let routing = Routing::new(topology, PathRule::FlowHash);
    let at = switch(topology, from);
    let name = |port: PortId| topology.name(topology.switch(at).ports[usize::from(port.0)].peer.node).to_owned();
    let detours = routing.detours(topology, at, port(topology, from, to));
    detours.into_iter().map(|detour| (name(detour.port), detour.links)).collect()
}

/// A link, its expected backups, and their path lengths in links.
type Row = (&'static str, &'static str, &'static [(&'static str, u32)]);

#[test]
fn backups_are_the_neighbours_that_do_not_send_back_the_shortest_way_first() {
    let tables: [(Topology, &[Row]); 3] = [
        (
            testbed(),
            &[
                // Down: through the other edge switch of the pod and the other aggregation switch.
                ("sw6", "sw10", &[("sw9", 3)]),
                // Up: the other uplink.
                ("sw10", "sw6", &[("sw5", 4)]),
                // sw4 is the only uplink of its pod's plane; through an edge switch there are two.
                ("sw4", "sw2", &[("sw7", 5), ("sw8", 5)]),
                ("sw2", "sw6", &[]),
                ("sw9", "h3", &[]),
            ],
        ),
        (
            fat_tree(FatTreeWiring::Standard),
            &[
                ("edge0", "agg0", &[("agg1", 4)]),
                ("agg0", "core0", &[("core1", 3), ("edge0", 5), ("edge1", 5)]),
                ("agg0", "edge0", &[("edge1", 3)]),
                // Through an aggregation switch of another pod, the other core of its row, and the same aggregation
                // switch below it.
                ("core0", "agg0", &[("agg2", 4), ("agg4", 4), ("agg6", 4)]),
            ],
        ),
        (
            fat_tree(FatTreeWiring::Ab),
            &[
                ("agg2", "core0", &[("core2", 3), ("edge2", 5), ("edge3", 5)]),
                // All other pods; those of the opposite type reach another aggregation switch of the pod.
                ("core0", "agg0", &[("agg2", 4), ("agg4", 4), ("agg6", 4)]),
            ],
        ),
    ];
    for (topology, table) in tables {
        for (from, to, expected) in table {
            let expected: Vec<_> = expected.iter().map(|&(name, links)| (name.to_owned(), links)).collect();
            assert_eq!(backups(&topology, from, to), expected, "{from}->{to} in {topology}");
        }
    }
}

#[test]
fn in_an_ab_fat_tree_a_pod_of_the_other_type_leads_round_the_switch_behind_the_link() {
    for (wiring, neighbour, behind) in [
        (FatTreeWiring::Standard, "agg2", "agg0"),
        (FatTreeWiring::Ab, "agg4", "agg0"),
        (FatTreeWiring::Ab, "agg2", "agg1"),
    ] {
        let topology = fat_tree(wiring);
        let mut routing = Routing::new(&topology, PathRule::FlowHash);
        let core = switch(&topology, "core0");
        let broken = port(&topology, "core0", "agg0");
        routing.watch(&topology, core, broken);
        routing.set_detour(core, broken, Some(port(&topology, "core0", neighbour)));
        for path in paths(&topology, &routing, "core0", HostId(0)) {
            assert_eq!(path[1], neighbour);
            assert_eq!(path[3], behind, "{wiring:?}: {path:?}");
        }
    }
}

/// The switches that packets from `origin` to `destination` visit, for many flows.
fn paths(topology: &Topology, routing: &Routing, origin: &str, destination: HostId) -> Vec<Vec<String>> {
    (0..200)
        .map(|flow| path(topology, routing, origin, destination, flow_hash(15, destination.0, flow, 80, 6)))
        .collect()
}

fn path(topology: &Topology, routing: &Routing, origin: &str, destination: HostId, flow_hash: u32) -> Vec<String> {
    let (mut at, mut ingress_port, mut visited) = (switch(topology, origin), PortId(u16::MAX), Vec::new());
    let source = HostId(topology.hosts.len() as u32 - 1);
    loop {
        visited.push(topology.switch(at).name.clone());
        assert!(visited.len() < 10, "a loop: {visited:?}");
        let packet = Packet { source, destination, flow_hash, ingress_port, ..Packet::default() };
        let port = routing.route(at, &packet).or_else(|| routing.route_watched(at, &packet)).expect("a route");
        let peer = topology.switch(at).ports[usize::from(port.0)].peer;
        match peer.node {
            Node::Switch(next) => (at, ingress_port) = (next, peer.port),
            Node::Host(host) => {
                assert_eq!(host, destination);
                return visited;
            }
        }
    }
}

/// For every failed link and every backup, each redirected packet arrives and no packet comes back.
#[test]
fn every_detour_leads_to_the_destination_and_never_back() {
    for topology in [testbed(), fat_tree(FatTreeWiring::Standard), fat_tree(FatTreeWiring::Ab)] {
        let original = Routing::new(&topology, PathRule::FlowHash);
        for at in topology.switch_ids() {
            for number in 0..topology.switch(at).ports.len() as u16 {
                for detour in original.detours(&topology, at, PortId(number)) {
                    let mut routing = original.clone();
                    routing.watch(&topology, at, PortId(number));
                    routing.set_detour(at, PortId(number), Some(detour.port));
                    assert_detoured(&topology, &original, &routing, at, PortId(number));
                }
            }
        }
    }
}

fn assert_detoured(topology: &Topology, original: &Routing, routing: &Routing, at: SwitchId, broken: PortId) {
    let name = &topology.switch(at).name;
    for destination in topology.host_ids() {
        if !original.next_hops(at, destination).contains(&broken) {
            continue;
        }
        for path in paths(topology, routing, name, destination) {
            assert_eq!(path.iter().filter(|visited| *visited == name).count(), 1, "{path:?}");
        }
    }
}

#[test]
fn only_what_would_leave_by_the_port_takes_the_detour_and_all_of_it_returns() {
    let topology = fat_tree(FatTreeWiring::Standard);
    let original = Routing::new(&topology, PathRule::FlowHash);
    let at = switch(&topology, "edge0");
    let (broken, backup) = (port(&topology, "edge0", "agg0"), port(&topology, "edge0", "agg1"));
    let mut routing = original.clone();
    routing.watch(&topology, at, broken);
    let route = |routing: &Routing, flow: u16| {
        let (destination, flow_hash) = (HostId(15), flow_hash(0, 15, flow, 80, 6));
        let packet = Packet { destination, flow_hash, ..Packet::default() };
        routing.route(at, &packet).or_else(|| routing.route_watched(at, &packet))
    };
    let expected: Vec<_> = (0..100).map(|flow| route(&original, flow)).collect();
    assert!(expected.contains(&Some(broken)) && expected.contains(&Some(backup)));
    assert_eq!((0..100).map(|flow| route(&routing, flow)).collect::<Vec<_>>(), expected);
    routing.set_detour(at, broken, Some(backup));
    assert!((0..100).all(|flow| route(&routing, flow) == Some(backup)));
    routing.set_detour(at, broken, None);
    assert_eq!((0..100).map(|flow| route(&routing, flow)).collect::<Vec<_>>(), expected);
    assert_eq!(routing.next_hops(at, HostId(15)), original.next_hops(at, HostId(15)));
}
