//! Computes the tables with breadth-first searches from the switches with hosts, 64 at a time. A host with several
//! ports has a separate search, from all its switches.
//!
//! Each switch has a word with one bit for each of the 64 searches. A step of the search spreads the newest bits to all
//! neighbours. The ports through which a bit arrives first are the next hops towards its origin.

use std::collections::BTreeMap;

use hitless_core::engine::identity::fmix32;
use hitless_core::wire::PortId;

use super::PathRule;
use super::table::{BLOCK, Block, HopSet, HostPlace, NO_EDGE, SwitchPlace, Table};
use super::weights::Capacities;
use crate::network::topology::{LinkId, SwitchId, Topology};

pub(super) fn compute(topology: &Topology, choice: PathRule, excluded: &[LinkId]) -> Table {
    let (places, edges) = place_hosts(topology, excluded);
    let mut search = Search::new(topology, excluded, places.iter().map(|place| place.port).collect());
    let width = edges.len().div_ceil(BLOCK);
    let mut rows = vec![0; topology.switches.len() * width];
    for (number, origins) in edges.chunks(BLOCK).enumerate() {
        let mut blocks = search.next_hops(origins);
        if choice == PathRule::WeightedHash {
            blocks = search.weighted(topology, origins, &blocks);
        }
        for (switch, block) in blocks.into_iter().enumerate() {
            rows[switch * width + number] = search.numbered(block);
        }
    }
    // The salt is a hash of the switch's number plus one: zero would be a fixed point of the finaliser.
    let unplaced = |switch: SwitchId| SwitchPlace { edge: NO_EDGE, row: 0, salt: fmix32(switch.0 + 1) };
    let mut switches: Vec<SwitchPlace> = topology.switch_ids().map(unplaced).collect();
    for (number, edge) in (0..).zip(&edges) {
        if let Edge::Switch(switch) = edge {
            switches[switch.0 as usize].edge = number;
        }
    }
    let rows = share_rows(&rows, width, &mut switches);
    let Search { blocks, ports, .. } = search;
    Table { choice, edges: edges.len(), places, switches, rows, blocks, ports }
}

/// Keeps equal rows once, and tells each switch its own.
fn share_rows(rows: &[u32], width: usize, switches: &mut [SwitchPlace]) -> Vec<u32> {
    let (mut shared, mut known) = (Vec::new(), BTreeMap::new());
    for (row, switch) in rows.chunks(width.max(1)).zip(switches) {
        switch.row = *known.entry(row).or_insert_with(|| {
            shared.extend_from_slice(row);
            assert!(u32::try_from(shared.len()).is_ok(), "the rows of the table have places of 32 bits");
            (shared.len() - row.len()) as u32
        });
    }
    shared
}

/// A destination of the search.
enum Edge {
    /// A switch, for all its hosts with one port.
    Switch(SwitchId),
    /// A host with several ports: its switches, and its usable ports there.
    Host(BTreeMap<SwitchId, Vec<PortId>>),
}

impl Edge {
    fn switches(&self) -> Vec<SwitchId> {
        match self {
            Edge::Switch(switch) => vec![*switch],
            Edge::Host(ports) => ports.keys().copied().collect(),
        }
    }

    /// Returns the switches, with the capacity in bits per second from each to the destination. All hosts of a switch
    /// share its paths, so their own links count only if they lead to a host with several ports.
    fn capacities(&self, topology: &Topology) -> Vec<(SwitchId, u64)> {
        let sum = |(switch, ports): (&SwitchId, &Vec<PortId>)| {
            let rate = |port: &PortId| topology.spec(topology.switch(*switch).ports[usize::from(port.0)].link).rate;
            (*switch, ports.iter().map(|port| rate(port).as_bps()).fold(0, u64::saturating_add))
        };
        match self {
            Edge::Switch(switch) => vec![(*switch, u64::MAX)],
            Edge::Host(ports) => ports.iter().map(sum).collect(),
        }
    }
}

/// Finds the attachment switch of every host, and numbers the destinations.
fn place_hosts(topology: &Topology, excluded: &[LinkId]) -> (Vec<HostPlace>, Vec<Edge>) {
    let mut edge_numbers = vec![None; topology.switches.len()];
    let mut edges = Vec::new();
    let mut places = Vec::with_capacity(topology.hosts.len());
    for host in topology.host_ids() {
        let (switch, port) = topology.attachment(host);
        let ports = &topology.host(host).ports;
        let is_usable = |link: LinkId| !excluded.contains(&link);
        let mut add = |edge| {
            edges.push(edge);
            edges.len() as u32 - 1
        };
        let edge = if topology.host(host).is_multi_homed() {
            let mut usable = BTreeMap::<SwitchId, Vec<PortId>>::new();
            let ends = ports.iter().zip(topology.attachments(host)).filter(|(own, _)| is_usable(own.link.link));
            ends.for_each(|(_, (switch, port))| usable.entry(switch).or_default().push(port));
            add(Edge::Host(usable))
        } else {
            *edge_numbers[switch.0 as usize].get_or_insert_with(|| add(Edge::Switch(switch)))
        };
        places.push(HostPlace { edge, port, is_usable: is_usable(ports[0].link.link) });
    }
    (places, edges)
}

fn usable_switch_ports<'a>(
    topology: &'a Topology,
    switch: SwitchId,
    excluded: &'a [LinkId],
) -> impl Iterator<Item = (PortId, SwitchId)> + 'a {
    let ports = (0..).zip(&topology.switch(switch).ports);
    let usable = ports.filter(|(_, port)| !excluded.contains(&port.link.link));
    usable.filter_map(|(number, port)| Some((PortId(number), port.peer.node.switch()?)))
}

/// Searches over the links between switches, with their results.
struct Search {
    /// The end of each switch's neighbours in the list, by switch.
    ends: Vec<u32>,
    neighbours: Vec<(PortId, SwitchId)>,
    blocks: Vec<Block>,
    block_numbers: BTreeMap<Block, u32>,
    ports: Vec<PortId>,
    port_lists: BTreeMap<Vec<PortId>, HopSet>,
    /// The block and the list of the previous lookup: neighbouring switches usually have the same.
    last_block: u32,
    last_list: HopSet,
}

impl Search {
    fn new(topology: &Topology, excluded: &[LinkId], ports: Vec<PortId>) -> Self {
        let (mut neighbours, mut ends) = (Vec::new(), Vec::new());
        for switch in topology.switch_ids() {
            neighbours.extend(usable_switch_ports(topology, switch, excluded));
            ends.push(neighbours.len() as u32);
        }
        let (blocks, block_numbers, port_lists, last_block, last_list) = Default::default();
        Self { ends, neighbours, blocks, block_numbers, ports, port_lists, last_block, last_list }
    }

    fn neighbours_of(&self, switch: usize) -> &[(PortId, SwitchId)] {
        let begin = switch.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.neighbours[begin as usize..self.ends[switch] as usize]
    }

    /// Returns the next hops of every switch towards at most 64 destinations.
    fn next_hops(&mut self, origins: &[Edge]) -> Vec<Block> {
        let mut blocks = vec![[HopSet::default(); BLOCK]; self.ends.len()];
        let mut latest = vec![0_u64; self.ends.len()];
        for (bit, origin) in origins.iter().enumerate() {
            origin.switches().iter().for_each(|switch| latest[switch.0 as usize] |= 1_u64 << bit);
        }
        let mut reached = latest.clone();
        let mut hops = Vec::new();
        while latest.iter().any(|&bits| bits != 0) {
            let next = self.spread(&latest, &reached);
            for (switch, &bits) in next.iter().enumerate().filter(|&(_, &bits)| bits != 0) {
                self.note(switch, bits, &latest, &mut hops, &mut blocks[switch]);
                reached[switch] |= bits;
            }
            latest = next;
        }
        for (bit, origin) in origins.iter().enumerate() {
            match origin {
                // The entry of a switch for itself is never used. The neighbour entry's value makes its block equal to
                // more others.
                Edge::Switch(switch) => {
                    let block = &mut blocks[switch.0 as usize];
                    block[bit] = block[bit ^ 1];
                }
                Edge::Host(ports) => {
                    ports.iter().for_each(|(switch, ports)| blocks[switch.0 as usize][bit] = self.listed(ports));
                }
            }
        }
        blocks
    }

    /// Returns the bits that each switch receives for the first time, from neighbours with the bits `latest`.
    fn spread(&self, latest: &[u64], reached: &[u64]) -> Vec<u64> {
        let mut next = vec![0; latest.len()];
        for (switch, &bits) in latest.iter().enumerate().filter(|&(_, &bits)| bits != 0) {
            for (_, peer) in self.neighbours_of(switch) {
                next[peer.0 as usize] |= bits & !reached[peer.0 as usize];
            }
        }
        next
    }

    /// Records the ports of `switch` through which `bits` have arrived from neighbours with the bits `latest`; `hops`
    /// is scratch space.
    fn note(&mut self, switch: usize, mut bits: u64, latest: &[u64], hops: &mut Vec<PortId>, block: &mut Block) {
        while bits != 0 {
            let bit = 1_u64 << bits.trailing_zeros();
            // All bits that arrive through the same ports as the first are recorded together.
            let mut alike = bits;
            hops.clear();
            for &(port, peer) in self.neighbours_of(switch) {
                let from = latest[peer.0 as usize];
                let comes = from & bit != 0;
                alike &= if comes { from } else { !from };
                if comes {
                    hops.push(port);
                }
            }
            assert!(!hops.is_empty() && alike & bit != 0, "the search comes to a switch by a port of it");
            let set = self.listed(hops);
            (0..BLOCK).filter(|place| alike >> place & 1 != 0).for_each(|place| block[place] = set);
            bits &= !alike;
        }
    }

    /// Repeats each next hop by its weight.
    fn weighted(&mut self, topology: &Topology, origins: &[Edge], blocks: &[Block]) -> Vec<Block> {
        let mut weighted = blocks.to_vec();
        for (bit, origin) in origins.iter().enumerate() {
            let hops_of = |switch: SwitchId| {
                let set = blocks[switch.0 as usize][bit];
                self.ports[set.first as usize..set.first as usize + usize::from(set.count)].to_vec()
            };
            let ends = origin.capacities(topology);
            let mut capacities = Capacities::new(topology, &ends, hops_of);
            let others = topology.switch_ids().filter(|switch| ends.iter().all(|(end, _)| end != switch));
            let lists: Vec<_> = others.map(|switch| (switch, capacities.repeated_hops(switch))).collect();
            for (switch, list) in lists.into_iter().filter(|(_, list)| list.len() > 1) {
                weighted[switch.0 as usize][bit] = self.listed(&list);
            }
        }
        weighted
    }

    fn listed(&mut self, hops: &[PortId]) -> HopSet {
        let Self { ports, port_lists, last_list, .. } = self;
        let last = &ports[last_list.first as usize..last_list.first as usize + usize::from(last_list.count)];
        if last != hops {
            *last_list = port_lists.get(hops).copied().unwrap_or_else(|| {
                let set = HopSet::new(ports.len(), hops);
                ports.extend_from_slice(hops);
                port_lists.insert(hops.to_vec(), set);
                set
            });
        }
        *last_list
    }

    fn numbered(&mut self, block: Block) -> u32 {
        if self.blocks.get(self.last_block as usize) != Some(&block) {
            self.last_block = *self.block_numbers.entry(block).or_insert_with(|| {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            });
        }
        self.last_block
    }
}
