//! The tables of next hops: computed once, and looked up for every packet.

use std::collections::BTreeSet;

use hitless_core::engine::identity::fmix32;
use hitless_core::wire::{HostId, Packet, PortId};

use super::PathRule;
use super::hash;
use crate::network::topology::SwitchId;

/// The attachment of a host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostPlace {
    /// Number of its attachment switch among the destinations, or its own number if it has several ports.
    pub edge: u32,
    /// The port at the first switch.
    pub port: PortId,
    /// False if its link is out of service.
    pub is_usable: bool,
}

/// The data that a switch needs to look up a next hop. Its length is a power of two, so that an index becomes a shift.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct SwitchPlace {
    /// Number among the destinations, or [`NO_EDGE`] without hosts that only have this port.
    pub edge: u32,
    /// Index of the row's first block number.
    pub row: u32,
    /// Salt of the switch's choices.
    pub salt: u32,
}

pub(super) const NO_EDGE: u32 = u32::MAX;

/// A set of next hops: a range of the list of ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HopSet {
    pub first: u32,
    pub count: u16,
    /// The first port of the set. If it is the only one, most packets need not read the list.
    pub only: PortId,
}

impl HopSet {
    /// Describes the ports `hops`, which start at `first` in the list.
    pub fn new(first: usize, hops: &[PortId]) -> Self {
        assert!(hops.len() <= usize::from(u16::MAX), "{} next hops are counted by 16 bits", hops.len());
        assert!(u32::try_from(first + hops.len()).is_ok(), "the list of next hops has places of 32 bits");
        Self { first: first as u32, count: hops.len() as u16, only: hops.first().copied().unwrap_or_default() }
    }
}

/// Number of edges of a block.
pub(super) const BLOCK: usize = 64;
/// Next hops towards the edges of a block.
pub(super) type Block = [HopSet; BLOCK];

/// Next hops of every switch towards every host.
///
/// A switch has a row of block numbers, and a block has the next hops towards 64 edges. Equal blocks and equal rows are
/// stored once, so that the table of a regular fabric stays in the processor's cache: a fat tree has about as many rows
/// as pods.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub choice: PathRule,
    /// Number of destinations: hosts with several ports, and switches with other hosts.
    pub edges: usize,
    pub places: Vec<HostPlace>,
    pub switches: Vec<SwitchPlace>,
    /// The rows, each with [`Self::row_blocks`] numbers.
    pub rows: Vec<u32>,
    pub blocks: Vec<Block>,
    /// The ports of hosts at their switches, followed by the lists of next hops.
    pub ports: Vec<PortId>,
}

impl Table {
    pub fn row_blocks(&self) -> usize {
        self.edges.div_ceil(BLOCK)
    }

    pub fn hops(&self, set: HopSet) -> &[PortId] {
        &self.ports[set.first as usize..set.first as usize + usize::from(set.count)]
    }

    /// Returns the port for a packet, reading only the fields that the choice needs; `None` if the entry is empty.
    #[inline(always)]
    pub fn route(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        let place = self.places[packet.destination.0 as usize];
        let at = &self.switches[switch.0 as usize];
        if place.edge == at.edge {
            return place.is_usable.then_some(place.port);
        }
        let block = self.rows[at.row as usize + place.edge as usize / BLOCK];
        let set = &self.blocks[block as usize][place.edge as usize % BLOCK];
        if set.count == 1 {
            return Some(set.only);
        }
        if set.count == 0 {
            return None;
        }
        let choice = self.choose(at.salt, packet, set.count.into());
        Some(self.ports[(set.first + choice) as usize])
    }

    pub fn set(&self, switch: SwitchId, destination: HostId) -> HopSet {
        let place = self.places[destination.0 as usize];
        let switch = self.switches[switch.0 as usize];
        if place.edge == switch.edge {
            return HopSet { first: destination.0, count: place.is_usable.into(), only: place.port };
        }
        let block = self.rows[switch.row as usize + place.edge as usize / BLOCK];
        self.blocks[block as usize][place.edge as usize % BLOCK]
    }

    /// Numbers the entry of `switch` for `destination`.
    pub fn place(&self, switch: SwitchId, destination: HostId) -> usize {
        switch.0 as usize * self.edges + self.places[destination.0 as usize].edge as usize
    }

    pub fn is_at(&self, destination: HostId, switch: SwitchId) -> bool {
        self.places[destination.0 as usize].edge == self.switches[switch.0 as usize].edge
    }

    /// Takes the entries of these switches from another table for the same fabric.
    pub fn adopt(&mut self, other: &Self, switches: &[SwitchId]) {
        let [rows, blocks, ports] = [self.rows.len(), self.blocks.len(), self.ports.len()].map(|length| length as u32);
        self.rows.extend(other.rows.iter().map(|number| number + blocks));
        self.blocks
            .extend(other.blocks.iter().map(|block| block.map(|set| HopSet { first: set.first + ports, ..set })));
        self.ports.extend(&other.ports);
        let length = self.rows.len().max(self.blocks.len()).max(self.ports.len());
        assert!(u32::try_from(length).is_ok(), "the parts of the table have places of 32 bits");
        let mut edges = BTreeSet::new();
        for switch in switches.iter().map(|switch| switch.0 as usize) {
            self.switches[switch].row = other.switches[switch].row + rows;
            edges.insert(self.switches[switch].edge);
        }
        // The switch of a host knows whether the host's own link is in service.
        let places = self.places.iter_mut().zip(&other.places).filter(|(own, _)| edges.contains(&own.edge));
        places.for_each(|(own, other)| own.is_usable = other.is_usable);
    }

    /// Empties the entry with this number, and returns its previous value. The switch stops sharing the row with
    /// others.
    pub fn take(&mut self, place: usize) -> HopSet {
        assert!(place < self.switches.len() * self.edges, "entry {place} is none of the table");
        let (switch, edge, count) = (place / self.edges, place % self.edges, self.row_blocks());
        let (row, end) = (self.switches[switch].row as usize, self.rows.len());
        let mut block = self.blocks[self.rows[row + edge / BLOCK] as usize];
        let set = std::mem::take(&mut block[edge % BLOCK]);
        if set.count > 0 {
            self.rows.extend_from_within(row..row + count);
            self.switches[switch].row = end as u32;
            self.rows[end + edge / BLOCK] = self.blocks.len() as u32;
            self.blocks.push(block);
        }
        set
    }

    /// Returns the index of a packet's next hop among `count`, at the switch with this salt.
    #[inline(always)]
    pub fn choose(&self, salt: u32, packet: &Packet, count: u32) -> u32 {
        match self.choice {
            // The switch itself compares two choices and keeps flowlets; packets with one next hop use the hash.
            PathRule::FlowHash | PathRule::WeightedHash | PathRule::TwoChoices | PathRule::Flowlets => {
                hash::reduce(fmix32(packet.flow_hash ^ salt), count)
            }
            PathRule::BySum => packet.source.0.wrapping_add(packet.destination.0) % count,
        }
    }
}
