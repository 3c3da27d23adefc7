//! The tables of next hops: computed once, and looked up for every packet.

use hitless_wire::{HostId, PortId};

use super::hash::{self, fmix32};
use crate::topology::SwitchId;

/// How one of several next hops is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathChoice {
    /// By the packet's flow hash, mixed with a salt of the switch so that a leaf and a spine choose independently.
    #[default]
    FlowHash,
    /// By (source + destination) mod number of next hops: the same for a flow and its acknowledgements.
    BySum,
}

/// Where a host is attached.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostPlace {
    /// Number of the attachment switch among those that have hosts.
    pub edge: u32,
    pub switch: SwitchId,
    /// The host's port there; empty when its link is out of service.
    pub direct: HopSet,
}

/// Some next hops: a piece of the list of ports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HopSet {
    pub first: u32,
    pub count: u16,
    /// The only one, when there is one: most packets need not look at the list.
    pub only: PortId,
}

impl HopSet {
    /// The ports `hops`, which are in the list from `first` on.
    pub fn new(first: usize, hops: &[PortId]) -> Self {
        Self { first: first as u32, count: hops.len() as u16, only: hops.first().copied().unwrap_or_default() }
    }
}

/// Next hops of every switch towards every host.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub choice: PathChoice,
    pub edges: usize,
    pub places: Vec<HostPlace>,
    /// By switch * edges + edge.
    pub sets: Vec<HopSet>,
    pub ports: Vec<PortId>,
    pub salts: Vec<u32>,
}

impl Table {
    pub fn hops(&self, set: HopSet) -> &[PortId] {
        &self.ports[set.first as usize..set.first as usize + usize::from(set.count)]
    }

    /// The port for a packet; `None`: the entry is empty.
    #[inline(always)]
    pub fn route(&self, switch: SwitchId, source: HostId, destination: HostId, flow_hash: u32) -> Option<PortId> {
        let set = self.set(switch, destination);
        if set.count == 1 {
            return Some(set.only);
        }
        if set.count == 0 {
            return None;
        }
        let choice = self.choose(switch, source, destination, flow_hash, u32::from(set.count));
        Some(self.ports[(set.first + choice) as usize])
    }

    #[inline(always)]
    pub fn set(&self, switch: SwitchId, destination: HostId) -> &HopSet {
        let place = &self.places[destination.0 as usize];
        if place.switch == switch {
            return &place.direct;
        }
        &self.sets[self.place(switch, destination)]
    }

    /// Where in the table the next hops of `switch` towards `destination` stand.
    #[inline(always)]
    pub fn place(&self, switch: SwitchId, destination: HostId) -> usize {
        switch.0 as usize * self.edges + self.places[destination.0 as usize].edge as usize
    }

    #[inline(always)]
    pub fn choose(&self, switch: SwitchId, source: HostId, destination: HostId, flow_hash: u32, count: u32) -> u32 {
        match self.choice {
            PathChoice::FlowHash => hash::reduce(fmix32(flow_hash ^ self.salts[switch.0 as usize]), count),
            PathChoice::BySum => source.0.wrapping_add(destination.0) % count,
        }
    }
}
