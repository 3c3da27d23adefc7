use hitless_wire::{BitRate, Duration, HostId, PortId};

use super::*;
use crate::topology::SwitchId;

fn link(gbps: u64) -> LinkSettings {
    LinkSettings::ethernet(BitRate::from_gbps(gbps), Duration::from_us(1))
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn shapes_have_the_sizes_they_are_known_for() {
    let table = [
        ("leaf-spine 8x4x40", leaf_spine(8, 4, 40, link(10), link(40)), (320, 12, 352)),
        ("fat tree k=4", fat_tree(4, CoreWiring::Standard, link(10), link(10)), (16, 20, 48)),
        ("fat tree k=8", fat_tree(8, CoreWiring::Standard, link(10), link(10)), (128, 80, 384)),
        ("dumbbell", dumbbell(2, 3, link(10), link(10)), (5, 2, 6)),
    ];
    for (name, topology, (hosts, switches, links)) in table {
        let topology = topology.unwrap();
        assert_eq!(
            (topology.hosts.len(), topology.switches.len(), topology.links.len()),
            (hosts, switches, links),
            "{name}"
        );
        for switch in &topology.switches {
            assert!(
                switch.ports.iter().skip_while(|port| !port.faces_switch()).all(|port| port.faces_switch()),
                "{name}"
            );
        }
    }
}

#[test]
fn capacities_are_those_of_the_deflection_papers_fabric() {
    let fabric = leaf_spine(8, 4, 40, link(10), link(40)).unwrap();
    assert_eq!(fabric.host_capacity_bps(), 3_200_000_000_000);
    assert_eq!(fabric.edge_uplink_capacity_bps(), 1_280_000_000_000);
}

#[test]
fn ports_are_numbered_hosts_first() {
    let fabric = leaf_spine(8, 4, 16, link(10), link(40)).unwrap();
    assert_eq!(fabric.attachment(HostId(37)), (SwitchId(2), PortId(5)));
    let (leaf, spine) = (fabric.node("leaf2").unwrap(), fabric.node("spine3").unwrap());
    let (from, to) = fabric.ends(fabric.links_between(leaf, spine)[0]);
    assert_eq!((from.port, to.port), (PortId(19), PortId(2)));
}

#[test]
fn a_fat_tree_is_wired_as_al_fares_drew_it() {
    let tree = fat_tree(4, CoreWiring::Standard, link(10), link(10)).unwrap();
    let joined = |a: &str, b: &str| !tree.links_between(tree.node(a).unwrap(), tree.node(b).unwrap()).is_empty();
    let table = [
        ("edge0", "agg0", true),
        ("edge0", "agg1", true),
        ("edge0", "agg2", false),
        ("agg0", "core0", true),
        ("agg0", "core1", true),
        ("agg0", "core2", false),
        ("agg1", "core2", true),
        ("agg7", "core3", true),
        ("agg6", "core3", false),
    ];
    for (a, b, expected) in table {
        assert_eq!(joined(a, b), expected, "{a} {b}");
    }
}

#[test]
fn in_an_ab_fat_tree_odd_pods_are_linked_to_columns_of_cores() {
    let tree = fat_tree(4, CoreWiring::Ab, link(10), link(10)).unwrap();
    let cores = |name: &str| -> Vec<&str> {
        let Some(Node::Switch(switch)) = tree.node(name) else { panic!("{name}") };
        let peers = tree.switch(switch).ports.iter().map(|port| tree.name(port.peer.node));
        peers.filter(|name| name.starts_with("core")).collect()
    };
    let table = [
        ("agg0", ["core0", "core1"]),
        ("agg1", ["core2", "core3"]),
        ("agg2", ["core0", "core2"]),
        ("agg3", ["core1", "core3"]),
        ("agg4", ["core0", "core1"]),
        ("agg7", ["core1", "core3"]),
    ];
    for (name, expected) in table {
        assert_eq!(cores(name), expected, "{name}");
    }
}

#[test]
fn the_testbed_of_linkguardian_is_a_chain() {
    let testbed = chain(&texts(&["h4"]), &texts(&["sw2", "sw6"]), &texts(&["h8"]), link(25), link(25)).unwrap();
    let names: Vec<String> = (0..2 * testbed.links.len())
        .map(|index| testbed.link_name(crate::topology::DirectedLink::from_index(index)))
        .collect();
    assert_eq!(names, ["h4->sw2", "sw2->h4", "h8->sw6", "sw6->h8", "sw2->sw6", "sw6->sw2"]);
}

#[test]
fn a_bad_topology_says_everything_that_is_wrong() {
    let mut builder = TopologyBuilder::new();
    builder.host("a");
    builder.host("b");
    builder.host("a");
    builder.switch("s", Tier::Unknown);
    for (a, b) in [("b", "s"), ("b", "s"), ("s", "s"), ("s", "t"), ("a", "b")] {
        builder.link_by_name(a, b, link(10));
    }
    let messages: Vec<String> = builder.finish().unwrap_err().iter().map(|error| error.to_string()).collect();
    let expected = [
        "two nodes are called 'a'",
        "a link joins 's' to itself",
        "a link names 't', which is no node",
        "a link joins the hosts 'a' and 'b' without a switch",
        "host 'a' has 0 links; a host has exactly one",
        "host 'b' has 2 links; a host has exactly one",
        "host 'a' has 0 links; a host has exactly one",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn islands_are_found() {
    let mut builder = TopologyBuilder::new();
    for (host, switch) in [("a", "s"), ("b", "t")] {
        let (host, switch) = (builder.host(host), builder.switch(switch, Tier::Edge));
        builder.link(host, switch, link(10));
    }
    let errors = builder.finish().unwrap_err();
    assert_eq!(errors, [TopologyError::Unreachable("b".into()), TopologyError::Unreachable("t".into())]);
}

#[test]
fn parallel_links_have_numbers() {
    let mut builder = TopologyBuilder::new();
    let (a, b, s, t) =
        (builder.host("a"), builder.host("b"), builder.switch("s", Tier::Edge), builder.switch("t", Tier::Edge));
    for (from, to) in [(a, s), (b, t), (s, t), (s, t)] {
        builder.link(from, to, link(10));
    }
    let topology = builder.finish().unwrap();
    let second = crate::topology::select::select_links(&topology, "t->s#1").unwrap()[0];
    assert_eq!(second.index(), 7);
    assert_eq!(topology.link_name(second), "t->s#1");
}
