use hitless_core::wire::{BitRate, Duration, HostId, PortId};

use super::*;
use crate::network::topology::{SwitchId, TopologySettings};

pub(crate) const LINK: LinkSpec = LinkSpec::ethernet(BitRate::from_gbps(10), Duration::from_us(1));

pub(crate) fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Topology {
    let core_link = LinkSpec { rate: BitRate::from_gbps(40), ..LINK };
    LeafSpine { leaves, spines, hosts_per_leaf, leaves_per_host: 1, planes: 1, host_link: LINK, core_link }
        .build()
        .unwrap()
}

pub(crate) fn fat_tree(k: u32, wiring: FatTreeWiring) -> Topology {
    FatTree { k, wiring, planes: 1, host_link: LINK, core_link: LINK }.build().unwrap()
}

pub(crate) fn dumbbell(hosts_left: u32, hosts_right: u32, host_link: LinkSpec, bottleneck: LinkSpec) -> Topology {
    Dumbbell { hosts_left, hosts_right, host_link, bottleneck }.build().unwrap()
}

#[test]
fn shapes_have_the_sizes_they_are_known_for() {
    let table = [
        ("leaf-spine 8x4x40", leaf_spine(8, 4, 40), (320, 12, 352)),
        ("fat tree k=4", fat_tree(4, FatTreeWiring::Standard), (16, 20, 48)),
        ("fat tree k=8", fat_tree(8, FatTreeWiring::Standard), (128, 80, 384)),
        ("dumbbell", dumbbell(2, 3, LINK, LINK), (5, 2, 6)),
    ];
    for (name, topology, (hosts, switches, links)) in table {
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
    let fabric = leaf_spine(8, 4, 40);
    assert_eq!(fabric.host_capacity_bps(), 3_200_000_000_000);
    assert_eq!(fabric.edge_uplink_capacity_bps(), 1_280_000_000_000);
}

#[test]
fn ports_are_numbered_hosts_first() {
    let fabric = leaf_spine(8, 4, 16);
    assert_eq!(fabric.attachment(HostId(37)), (SwitchId(2), PortId(5)));
    let (leaf, spine) = (fabric.node("leaf2").unwrap(), fabric.node("spine3").unwrap());
    let (from, to) = fabric.ends(fabric.links_between(leaf, spine)[0]);
    assert_eq!((from.port, to.port), (PortId(19), PortId(2)));
}

#[test]
fn a_fat_tree_is_wired_as_al_fares_drew_it() {
    let tree = fat_tree(4, FatTreeWiring::Standard);
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
    let tree = fat_tree(4, FatTreeWiring::Ab);
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

/// The links of host `h` as names of switches, by port.
fn switches_of(topology: &Topology, host: u32) -> Vec<&str> {
    topology.attachments(HostId(host)).map(|(switch, _)| topology.switch(switch).name.as_str()).collect()
}

#[test]
fn a_host_has_ports_in_each_plane_and_on_each_leaf_of_its_group() {
    let shape = LeafSpine {
        leaves: 4,
        spines: 2,
        hosts_per_leaf: 3,
        leaves_per_host: 2,
        planes: 2,
        host_link: LINK,
        core_link: LINK,
    };
    let fabric = shape.build().unwrap();
    assert_eq!((fabric.hosts.len(), fabric.switches.len(), fabric.links.len()), (6, 12, 40));
    assert_eq!(fabric.links.len() as u64, TopologySettings::LeafSpine(shape.clone()).link_count());
    assert_eq!(switches_of(&fabric, 2), ["p0-leaf0", "p0-leaf1", "p1-leaf0", "p1-leaf1"]);
    assert_eq!(switches_of(&fabric, 3), ["p0-leaf2", "p0-leaf3", "p1-leaf2", "p1-leaf3"]);
    let odd = LeafSpine { leaves: 3, ..shape };
    assert_eq!(odd.build().unwrap_err(), ["3 leaves cannot be divided into groups of leaves_per_host = 2"]);
    let tree = FatTree { k: 4, wiring: FatTreeWiring::Standard, planes: 2, host_link: LINK, core_link: LINK };
    let trees = tree.build().unwrap();
    assert_eq!((trees.hosts.len(), trees.switches.len(), trees.links.len()), (16, 40, 96));
    assert_eq!(trees.links.len() as u64, TopologySettings::FatTree(tree).link_count());
    assert_eq!(switches_of(&trees, 5), ["p0-edge2", "p1-edge2"]);
}

#[test]
fn the_testbed_of_linkguardian_is_a_chain() {
    let [hosts_left, switches, hosts_right] =
        [&["h4"][..], &["sw2", "sw6"], &["h8"]].map(|names| names.iter().map(|name| name.to_string()).collect());
    let testbed = Chain { hosts_left, switches, hosts_right, host_link: LINK, switch_link: LINK }.build().unwrap();
    let names: Vec<String> = (0..2 * testbed.links.len())
        .map(|index| testbed.link_name(crate::network::topology::DirectedLink::from_index(index)))
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
        builder.link_by_name(a, b, LINK);
    }
    let expected = [
        "two nodes are called 'a'",
        "a link joins 's' to itself",
        "a link names 't', which is no node",
        "a link joins the hosts 'a' and 'b' without a switch",
        "host 'a' has 0 links; a host has 1 to 64",
        "host 'a' has 0 links; a host has 1 to 64",
    ];
    assert_eq!(builder.finish().unwrap_err(), expected);
}

#[test]
fn islands_are_found() {
    let mut builder = TopologyBuilder::new();
    for (host, switch) in [("a", "s"), ("b", "t")] {
        let (host, switch) = (builder.host(host), builder.switch(switch, Tier::Edge));
        builder.link(host, switch, LINK);
    }
    let errors = builder.finish().unwrap_err();
    assert_eq!(errors, ["b", "t"].map(|name| format!("no path leads from the first host to '{name}'")));
}

#[test]
fn parallel_links_have_numbers() {
    let mut builder = TopologyBuilder::new();
    let (a, b, s, t) =
        (builder.host("a"), builder.host("b"), builder.switch("s", Tier::Edge), builder.switch("t", Tier::Edge));
    for (from, to) in [(a, s), (b, t), (s, t), (s, t)] {
        builder.link(from, to, LINK);
    }
    let topology = builder.finish().unwrap();
    let second = crate::network::topology::select::select_links(&topology, "t->s#1").unwrap()[0];
    assert_eq!(second.index(), 7);
    assert_eq!(topology.link_name(second), "t->s#1");
}
