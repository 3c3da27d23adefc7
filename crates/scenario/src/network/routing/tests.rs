use hitless_core::wire::{BitRate, HostId, Packet, PortId};
use proptest::prelude::*;

use super::*;
use crate::network::topology::shapes::tests::{LINK, fat_tree, leaf_spine as leaf_spine_of};
use crate::network::topology::{FatTreeWiring, Node, Tier, TopologyBuilder};

fn leaf_spine() -> Topology {
    leaf_spine_of(8, 4, 16)
}

/// Follows a packet from `source` to `destination`; returns the visited switches.
fn walk(topology: &Topology, routing: &Routing, source: HostId, destination: HostId, flow_hash: u32) -> Vec<SwitchId> {
    let first = topology.host(source).ports[0].peer.node;
    walk_from(topology, routing, first, (source, destination), flow_hash)
}

/// Follows a packet from the node `at`.
fn walk_from(
    topology: &Topology,
    routing: &Routing,
    mut at: Node,
    (source, destination): (HostId, HostId),
    flow_hash: u32,
) -> Vec<SwitchId> {
    let packet = Packet { source, destination, flow_hash, ..Packet::default() };
    let mut visited = Vec::new();
    while let Node::Switch(switch) = at {
        assert!(!visited.contains(&switch), "a loop through {switch:?}");
        visited.push(switch);
        let port = routing.route(switch, &packet).expect("every host can be reached");
        at = topology.switch(switch).ports[port.0 as usize].peer.node;
    }
    assert_eq!(at, Node::Host(destination));
    visited
}

#[test]
fn a_leaf_has_every_spine_to_choose_from_and_a_spine_one_leaf() {
    let routing = Routing::new(&leaf_spine(), PathRule::FlowHash);
    let spines: Vec<PortId> = (16..20).map(PortId).collect();
    assert_eq!(routing.next_hops(SwitchId(0), HostId(127)), spines);
    assert_eq!(routing.next_hops(SwitchId(0), HostId(5)), [PortId(5)]);
    assert_eq!(routing.next_hops(SwitchId(8), HostId(127)), [PortId(7)]);
}

#[test]
fn by_sum_takes_the_spine_of_the_bench_workloads_both_ways() {
    let topology = leaf_spine();
    let routing = Routing::new(&topology, PathRule::BySum);
    for (source, destination) in [(0, 108), (1, 57), (127, 3)] {
        let (source, destination) = (HostId(source), HostId(destination));
        let spine = SwitchId(8 + (source.0 + destination.0) % 4);
        assert_eq!(walk(&topology, &routing, source, destination, 9)[1], spine);
        assert_eq!(walk(&topology, &routing, destination, source, 77)[1], spine);
    }
}

#[test]
fn switches_choose_independently_so_that_hashes_are_not_polarised() {
    let topology = fat_tree(8, FatTreeWiring::Standard);
    let routing = Routing::new(&topology, PathRule::FlowHash);
    let mut used = std::collections::BTreeMap::new();
    for port in 0..4_000 {
        let hash = flow_hash(0, 127, port, 80, 6);
        let path = walk(&topology, &routing, HostId(0), HostId(127), hash);
        *used.entry(path).or_insert(0_u32) += 1;
    }
    // 4 aggregations times 4 cores. If all switches used the same hash, only 4 of the 16 paths would be used.
    assert_eq!(used.len(), 16);
    assert!(used.values().all(|&count| (180..320).contains(&count)), "{used:?}");
}

#[test]
fn excluded_links_are_avoided() {
    let topology = leaf_spine();
    let port = topology.switch(SwitchId(0)).ports[17];
    let routing = Routing::without(&topology, PathRule::FlowHash, &[port.link.link]);
    assert_eq!(routing.next_hops(SwitchId(0), HostId(127)), [PortId(16), PortId(18), PortId(19)]);
    assert_eq!(routing.next_hops(SwitchId(1), HostId(0)), [PortId(16), PortId(18), PortId(19)]);
    let own = topology.host(HostId(3)).ports[0].link.link;
    let routing = Routing::without(&topology, PathRule::FlowHash, &[own]);
    assert_eq!(routing.route(SwitchId(0), &Packet { destination: HostId(3), ..Packet::default() }), None);
}

prop_compose! {
    /// A connected graph of switches with hosts at one to three random ones.
    fn random_topology()(
        parents in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        extra in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..15),
        hosts in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 1..4), 2..10),
    ) -> Topology {
        let mut builder = TopologyBuilder::new();
        let switches: Vec<Node> =
            (0..=parents.len()).map(|number| builder.switch(format!("s{number}"), Tier::Unknown)).collect();
        for (number, parent) in parents.iter().enumerate() {
            builder.link(switches[number + 1], switches[parent.index(number + 1)], LINK);
        }
        for (a, b) in extra {
            let (a, b) = (a.index(switches.len()), b.index(switches.len()));
            if a != b {
                builder.link(switches[a], switches[b], LINK);
            }
        }
        for (number, places) in hosts.iter().enumerate() {
            let host = builder.host(format!("h{number}"));
            for place in places {
                builder.link(host, switches[place.index(switches.len())], LINK);
            }
        }
        builder.finish().expect("connected by construction")
    }
}

/// Distances between switches in links by Floyd and Warshall: slow, and independent of the code under test.
fn all_distances(topology: &Topology) -> Vec<Vec<usize>> {
    let count = topology.switches.len();
    let mut distances = vec![vec![count; count]; count];
    for from in topology.switch_ids() {
        distances[from.0 as usize][from.0 as usize] = 0;
        for port in &topology.switch(from).ports {
            if let Node::Switch(to) = port.peer.node {
                distances[from.0 as usize][to.0 as usize] = 1;
            }
        }
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                distances[from][to] = distances[from][to].min(distances[from][middle] + distances[middle][to]);
            }
        }
    }
    for (index, row) in distances.iter_mut().enumerate() {
        row[index] = 0;
    }
    distances
}

/// Distance from a switch to the nearest switch of a host.
fn distance_to(topology: &Topology, distances: &[Vec<usize>], switch: SwitchId, host: HostId) -> usize {
    let places = topology.attachments(host).map(|(place, _)| distances[switch.0 as usize][place.0 as usize]);
    places.min().expect("a host has a link")
}

proptest! {
    #[test]
    fn every_pair_is_routed_along_a_shortest_path(
        topology in random_topology(), hash in any::<u32>(), sum in any::<bool>(),
    ) {
        let routing = Routing::new(&topology, if sum { PathRule::BySum } else { PathRule::FlowHash });
        let distances = all_distances(&topology);
        for source in topology.host_ids() {
            for destination in topology.host_ids().filter(|&destination| destination != source) {
                for (first, _) in topology.attachments(source) {
                    let path = walk_from(&topology, &routing, Node::Switch(first), (source, destination), hash);
                    prop_assert_eq!(path.len() - 1, distance_to(&topology, &distances, first, destination));
                }
            }
        }
    }

    #[test]
    fn next_hops_are_exactly_the_ports_that_come_closer(topology in random_topology()) {
        let routing = Routing::new(&topology, PathRule::FlowHash);
        let distances = all_distances(&topology);
        for switch in topology.switch_ids() {
            for host in topology.host_ids() {
                let own = distance_to(&topology, &distances, switch, host);
                let closer = |port: &crate::network::topology::Port| match port.peer.node {
                    Node::Switch(peer) => distance_to(&topology, &distances, peer, host) < own,
                    Node::Host(peer) => peer == host,
                };
                let ports = &topology.switch(switch).ports;
                let expected: Vec<PortId> =
                    (0..).zip(ports).filter(|(_, port)| closer(port)).map(|(number, _)| PortId(number)).collect();
                prop_assert_eq!(routing.next_hops(switch, host), expected);
            }
        }
    }
}

/// The next hops of each switch towards each host, by one plain search per switch with hosts.
fn next_hops_by_plain_search(topology: &Topology, excluded: &[LinkId], target: SwitchId) -> Vec<Vec<PortId>> {
    let usable = |switch: SwitchId| {
        let ports = (0..).map(PortId).zip(&topology.switch(switch).ports);
        ports.filter_map(|(number, port)| match port.peer.node {
            Node::Switch(peer) if !excluded.contains(&port.link.link) => Some((number, peer)),
            _ => None,
        })
    };
    let mut distances = vec![usize::MAX; topology.switches.len()];
    distances[target.0 as usize] = 0;
    let mut queue = std::collections::VecDeque::from([target]);
    while let Some(switch) = queue.pop_front() {
        for (_, peer) in usable(switch) {
            if distances[peer.0 as usize] == usize::MAX {
                distances[peer.0 as usize] = distances[switch.0 as usize] + 1;
                queue.push_back(peer);
            }
        }
    }
    let closer = |switch: SwitchId| {
        let own = distances[switch.0 as usize];
        usable(switch).filter(|(_, peer)| distances[peer.0 as usize] < own).map(|(port, _)| port).collect()
    };
    topology.switch_ids().map(closer).collect()
}

#[test]
fn the_tables_are_those_of_a_plain_search_whatever_is_out_of_service() {
    let topologies =
        [leaf_spine(), leaf_spine_of(70, 3, 1), fat_tree(6, FatTreeWiring::Ab), fat_tree(12, FatTreeWiring::Standard)];
    for topology in &topologies {
        let last = topology.links.len() as u32 - 1;
        for excluded in [vec![], vec![LinkId(0), LinkId(last), LinkId(last / 2)]] {
            let routing = Routing::without(topology, PathRule::FlowHash, &excluded);
            for host in topology.host_ids() {
                let (target, port) = topology.attachment(host);
                let expected = next_hops_by_plain_search(topology, &excluded, target);
                for switch in topology.switch_ids().filter(|&switch| switch != target) {
                    assert_eq!(routing.next_hops(switch, host), expected[switch.0 as usize], "{topology}");
                }
                let is_usable = !excluded.contains(&topology.host(host).ports[0].link.link);
                assert_eq!(routing.next_hops(target, host), if is_usable { vec![port] } else { vec![] });
            }
        }
    }
}

#[test]
fn a_host_with_a_dual_tor_is_reached_by_the_link_that_is_left() {
    let shape = crate::network::topology::LeafSpine {
        leaves: 4,
        spines: 2,
        hosts_per_leaf: 2,
        leaves_per_host: 2,
        planes: 1,
        host_link: LINK,
        core_link: LINK,
    };
    let topology = shape.build().expect("the shape can be built");
    let host = HostId(1);
    let [first, second] = [0, 1].map(|port| topology.host(host).ports[port].link.link);
    // The spines are switches 4 and 5; the ports of a leaf are two hosts, and then the spines.
    let (both, own, up) = (vec![PortId(0), PortId(1)], vec![PortId(1)], vec![PortId(2), PortId(3)]);
    let table = [
        (vec![], [&both, &own, &own]),
        (vec![first], [&own, &up, &own]),
        (vec![second], [&vec![PortId(0)], &own, &up]),
        (vec![first, second], [&vec![], &vec![], &vec![]]),
    ];
    for (excluded, expected) in table {
        let routing = Routing::without(&topology, PathRule::FlowHash, &excluded);
        let found = [4, 0, 1].map(|switch| routing.next_hops(SwitchId(switch), host));
        assert_eq!(found, expected.map(Vec::as_slice), "without {excluded:?}");
    }
    let routing = Routing::new(&topology, PathRule::FlowHash);
    let detours = |switch, port| -> Vec<(u32, u16)> {
        let found = routing.detours(&topology, SwitchId(switch), PortId(port));
        found.iter().map(|detour| (detour.links, detour.port.0)).collect()
    };
    // Around the link to the host: up, and down to the other ToR. Around the link from a spine: directly to it.
    assert_eq!(detours(0, 1), [(2, 2), (2, 3)]);
    assert_eq!(detours(4, 0)[0], (1, 1));
}

#[test]
fn switches_that_forward_alike_share_their_table() {
    let topology = fat_tree(16, FatTreeWiring::Standard);
    let table = paths::compute(&topology, PathRule::FlowHash, &[]);
    // One row for all edge switches, one for the aggregation switches of each pod, one for all cores.
    assert_eq!(table.rows.len() / table.row_blocks(), 1 + 16 + 1);
}

#[test]
fn a_spine_sends_back_what_is_for_the_leaf_that_it_came_from() {
    let topology = leaf_spine();
    let mut routing = Routing::new(&topology, PathRule::FlowHash);
    let leaf = |host| topology.attachment(HostId(host)).0;
    let spine = PortId(16);
    assert!(!routing.returns(leaf(0), spine, HostId(1)), "nothing was learned");
    routing.learn_returns(&topology);
    // (destination, port, whether the neighbour at the port sends back)
    for (host, port, comes_back) in [(1, spine, true), (16, spine, false), (127, spine, false), (16, PortId(3), false)]
    {
        assert_eq!(routing.returns(leaf(0), port, HostId(host)), comes_back, "host {host} by {port:?}");
    }
}

/// The share of each next hop, as port and number of entries.
fn entries(routing: &Routing, switch: SwitchId, destination: HostId) -> Vec<(PortId, usize)> {
    let hops = routing.next_hops(switch, destination);
    hops.chunk_by(|one, next| one == next).map(|equal| (equal[0], equal.len())).collect()
}

#[test]
fn weights_follow_from_the_slowest_link_of_each_path() {
    let slow = |topology: &mut Topology, name: &str, gbps: u64| {
        let links = crate::network::topology::select::select_links(topology, name).expect("the link exists");
        links.iter().for_each(|&link| topology.set_spec(link, Some(BitRate::from_gbps(gbps)), None));
    };
    let mut topology = leaf_spine();
    let ports =
        |weights: [usize; 4]| (16..20).map(PortId).zip(weights).filter(|&(_, weight)| weight > 0).collect::<Vec<_>>();
    let of = |topology: &Topology, leaf: u32| {
        entries(&Routing::new(topology, PathRule::WeightedHash), SwitchId(leaf), HostId(127))
    };
    assert_eq!(of(&topology, 0), ports([1, 1, 1, 1]));
    // The link from the leaf of the destination to the second spine does not matter, its other direction does.
    slow(&mut topology, "leaf7->spine1", 1);
    assert_eq!(of(&topology, 0), ports([1, 1, 1, 1]));
    slow(&mut topology, "spine1->leaf7", 4);
    assert_eq!(of(&topology, 0), ports([10, 1, 10, 10]));
    slow(&mut topology, "leaf0<->spine3", 16);
    assert_eq!(of(&topology, 0), ports([10, 1, 10, 4]));
    assert_eq!(of(&topology, 1), ports([10, 1, 10, 10]));
    assert_eq!(entries(&Routing::new(&topology, PathRule::FlowHash), SwitchId(0), HostId(127)), ports([1, 1, 1, 1]));
    // Two tiers up: the four uplinks of agg0 have 10, 10, 10 and 2 Gb/s, those of agg1 to agg3 10 each.
    let mut topology = fat_tree(8, FatTreeWiring::Standard);
    slow(&mut topology, "agg0->core3", 2);
    let tree = Routing::new(&topology, PathRule::WeightedHash);
    assert_eq!(entries(&tree, SwitchId(0), HostId(127)).iter().map(|entry| entry.1).collect::<Vec<_>>(), [1; 4]);
    slow(&mut topology, "agg0->core2", 1);
    slow(&mut topology, "agg0->core1", 1);
    slow(&mut topology, "agg0->core0", 1);
    let tree = Routing::new(&topology, PathRule::WeightedHash);
    // 5 of 10 Gb/s remain behind the first aggregation switch.
    assert_eq!(entries(&tree, SwitchId(0), HostId(127)).iter().map(|entry| entry.1).collect::<Vec<_>>(), [1, 2, 2, 2]);
}

#[test]
fn flows_are_spread_by_weight() {
    let mut topology = leaf_spine();
    let links = crate::network::topology::select::select_links(&topology, "leaf0->spine1").expect("the link exists");
    topology.set_spec(links[0], Some(BitRate::from_gbps(4)), None);
    let routing = Routing::new(&topology, PathRule::WeightedHash);
    let mut used = [0_u32; 4];
    for port in 0..31_000 {
        let packet =
            Packet { destination: HostId(127), flow_hash: flow_hash(0, 127, port, 80, 6), ..Packet::default() };
        used[usize::from(routing.route(SwitchId(0), &packet).expect("a path").0) - 16] += 1;
    }
    // 1,000 of 31,000 and 10,000 each, within five standard deviations.
    assert!((840..=1_160).contains(&used[1]), "{used:?}");
    assert!([0, 2, 3].iter().all(|&spine| (9_590..=10_410).contains(&used[spine])), "{used:?}");
}

#[test]
fn withdrawn_paths_are_avoided_and_come_back() {
    let topology = fat_tree(4, FatTreeWiring::Standard);
    let link =
        crate::network::topology::select::select_links(&topology, "agg0<->core0").expect("the link exists")[0].link;
    let mut routing = Routing::new(&topology, PathRule::FlowHash);
    let before: Vec<Vec<PortId>> = hops_of_all(&topology, &routing);
    let all: Vec<SwitchId> = topology.switch_ids().collect();
    routing.withdraw(&topology, &[(vec![link], all.clone())].into());
    let packets = (0..200).map(|port| flow_hash(0, 15, port, 80, 6));
    for hash in packets {
        // From the first pod to the last: no path over agg0 and core0, which is the first switch of 8 + 8.
        let there = walk(&topology, &routing, HostId(0), HostId(15), hash);
        let back = walk(&topology, &routing, HostId(15), HostId(0), hash);
        for path in [there, back] {
            assert!(
                !path.windows(2).any(|pair| pair.contains(&SwitchId(8)) && pair.contains(&SwitchId(16))),
                "{path:?}"
            );
        }
    }
    routing.withdraw(&topology, &[(Vec::new(), all)].into());
    assert_eq!(hops_of_all(&topology, &routing), before);
}

#[test]
fn each_switch_avoids_the_links_that_it_knows_of() {
    let topology = fat_tree(4, FatTreeWiring::Standard);
    let link = |name: &str| crate::network::topology::select::select_links(&topology, name).expect(name)[0].link;
    let lists = [Vec::new(), vec![link("agg0<->core0")], vec![link("agg0<->core0"), link("h3<->edge1")]];
    for choice in [PathRule::FlowHash, PathRule::WeightedHash] {
        let alone = lists.each_ref().map(|links| hops_of_all(&topology, &Routing::without(&topology, choice, links)));
        let mut known = Withdrawn::new();
        for switch in topology.switch_ids() {
            known.entry(lists[(switch.0 as usize + 1) % 3].clone()).or_default().push(switch);
        }
        let mut routing = Routing::new(&topology, choice);
        routing.withdraw(&topology, &known);
        let mixed = hops_of_all(&topology, &routing);
        let hosts = topology.hosts.len();
        for (place, hops) in mixed.iter().enumerate() {
            assert_eq!(*hops, alone[(place / hosts + 1) % 3][place], "entry {place}");
        }
        assert!(mixed.iter().any(Vec::is_empty) && mixed != alone[1], "the lists make no difference");
    }
}

fn hops_of_all(topology: &Topology, routing: &Routing) -> Vec<Vec<PortId>> {
    let pairs = topology.switch_ids().flat_map(|switch| topology.host_ids().map(move |host| (switch, host)));
    pairs.map(|(switch, host)| routing.next_hops(switch, host).to_vec()).collect()
}
