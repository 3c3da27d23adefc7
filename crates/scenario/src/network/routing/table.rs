//! The tables of next hops: computed once, and looked up for every packet.

use hitless_core::engine::identity::fmix32;
use hitless_core::wire::{HostId, Packet, PortId};

use super::PathRule;
use super::hash;
use crate::network::topology::SwitchId;

/// Where a host is attached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostPlace {
    /// Number of the attachment switch among those that have hosts.
    pub edge: u32,
    /// The host's port there.
    pub port: PortId,
    /// False when its link is out of service.
    pub is_usable: bool,
}

/// What a switch needs to look up a next hop. A power of two in length, so that it is found by a shift.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct SwitchPlace {
    /// Its number among those that have hosts, or [`NO_EDGE`].
    pub edge: u32,
    /// The first block number of its row.
    pub row: u32,
    /// What its choices are mixed with.
    pub salt: u32,
}

pub(super) const NO_EDGE: u32 = u32::MAX;

/// Some next hops: a piece of the list of ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HopSet {
    pub first: u32,
    pub count: u16,
    /// The only one, when there is one: most packets need not look at the list.
    pub only: PortId,
}

impl HopSet {
    /// The ports `hops`, which are in the list from `first` on.
    pub fn new(first: usize, hops: &[PortId]) -> Self {
        assert!(hops.len() <= usize::from(u16::MAX), "{} next hops are counted by 16 bits", hops.len());
        assert!(u32::try_from(first + hops.len()).is_ok(), "the list of next hops has places of 32 bits");
        Self { first: first as u32, count: hops.len() as u16, only: hops.first().copied().unwrap_or_default() }
    }
}

/// Edges of a block.
pub(super) const BLOCK: usize = 64;
/// Next hops towards as many edges as a block has.
pub(super) type Block = [HopSet; BLOCK];

/// Next hops of every switch towards every host.
///
/// A switch has a row of block numbers, and a block has the next hops towards 64 edges. Equal blocks and equal rows are
/// kept once, so that the table of a regular fabric stays in a processor's cache: that of a fat tree has about as many
/// rows as the fabric has pods.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub choice: PathRule,
    /// How many switches have hosts.
    pub edges: usize,
    pub places: Vec<HostPlace>,
    pub switches: Vec<SwitchPlace>,
    /// The rows, each with [`Self::row_blocks`] numbers.
    pub rows: Vec<u32>,
    pub blocks: Vec<Block>,
    /// That of each host at its switch, then the lists of next hops.
    pub ports: Vec<PortId>,
}

impl Table {
    /// Blocks of a row.
    pub fn row_blocks(&self) -> usize {
        self.edges.div_ceil(BLOCK)
    }

    pub fn hops(&self, set: HopSet) -> &[PortId] {
        &self.ports[set.first as usize..set.first as usize + usize::from(set.count)]
    }

    /// The port for a packet, of which no more is read than the choice is made by; `None`: the entry is empty.
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

    /// The number of the entry of `switch` for `destination`.
    pub fn place(&self, switch: SwitchId, destination: HostId) -> usize {
        switch.0 as usize * self.edges + self.places[destination.0 as usize].edge as usize
    }

    /// Whether `destination` is attached to `switch`.
    pub fn is_at(&self, destination: HostId, switch: SwitchId) -> bool {
        self.places[destination.0 as usize].edge == self.switches[switch.0 as usize].edge
    }

    /// Empties the entry of that number, and returns what it was. The switch no longer shares it with others.
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

    /// Which of `count` next hops a packet takes at the switch of this salt.
    #[inline(always)]
    pub fn choose(&self, salt: u32, packet: &Packet, count: u32) -> u32 {
        match self.choice {
            // Two choices are the switch's own; what it has no say in goes by the hash.
            PathRule::FlowHash | PathRule::TwoChoices => hash::reduce(fmix32(packet.flow_hash ^ salt), count),
            PathRule::BySum => packet.source.0.wrapping_add(packet.destination.0) % count,
        }
    }
}
