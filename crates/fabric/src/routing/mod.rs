//! Routing: equal-cost shortest paths to every host, and the choice among them.
//!
//! Tables are static and computed once per topology (again when a link is taken out of service). A switch's table is
//! kept by the *attachment switch* of the destination, not by host: all hosts of a leaf share one entry. The hosts
//! of the switch itself are reached by their own ports.

mod detours;
mod hash;
mod paths;
mod returns;

use hitless_wire::{HostId, PortId};

use crate::topology::{LinkId, SwitchId, Topology};

pub use detours::Detour;
pub use hash::{flow_hash, fmix32};

/// How one of several next hops is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathChoice {
    /// By the packet's flow hash, mixed with a salt of the switch so that a leaf and a spine choose independently.
    #[default]
    FlowHash,
    /// By (source + destination) mod number of next hops: the same for a flow and its acknowledgements.
    BySum,
}

#[derive(Clone, Copy, Debug, Default)]
struct HostPlace {
    /// Number of the attachment switch among those that have hosts.
    edge: u32,
    switch: SwitchId,
    /// The host's port there; empty when its link is out of service.
    direct: HopSet,
}

#[derive(Clone, Copy, Debug, Default)]
struct HopSet {
    first: u32,
    count: u16,
    /// The only one, when there is one: most packets need not look at the list.
    only: PortId,
}

impl HopSet {
    /// The ports `hops`, which are in the list from `first` on.
    fn new(first: usize, hops: &[PortId]) -> Self {
        Self { first: first as u32, count: hops.len() as u16, only: hops.first().copied().unwrap_or_default() }
    }
}

/// Next hops of every switch towards every host.
#[derive(Clone, Debug)]
pub struct Routing {
    choice: PathChoice,
    edges: usize,
    places: Vec<HostPlace>,
    /// By switch * edges + edge.
    sets: Vec<HopSet>,
    ports: Vec<PortId>,
    salts: Vec<u32>,
    watch: detours::Watch,
    returns: returns::Returns,
}

impl Routing {
    /// Shortest paths (fewest links) over all links of `topology`.
    pub fn new(topology: &Topology, choice: PathChoice) -> Self {
        Self::without(topology, choice, &[])
    }

    /// Shortest paths that avoid the links in `excluded`. Where no path is left, next hops are empty.
    pub fn without(topology: &Topology, choice: PathChoice, excluded: &[LinkId]) -> Self {
        paths::compute(topology, choice, excluded)
    }

    /// All equal-cost next hops of `switch` towards `destination`, in order of port number. Empty: unreachable.
    pub fn next_hops(&self, switch: SwitchId, destination: HostId) -> &[PortId] {
        self.hops(self.watched(switch, destination).unwrap_or_else(|| *self.set(switch, destination)))
    }

    fn hops(&self, set: HopSet) -> &[PortId] {
        &self.ports[set.first as usize..set.first as usize + usize::from(set.count)]
    }

    /// The port by which `switch` sends a packet with `flow_hash` from `source` to `destination`; `None`: unreachable, or
    /// a matter for [`Self::route_watched`].
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
    fn set(&self, switch: SwitchId, destination: HostId) -> &HopSet {
        let place = &self.places[destination.0 as usize];
        if place.switch == switch {
            return &place.direct;
        }
        &self.sets[self.place(switch, destination)]
    }

    /// Where in the table the next hops of `switch` towards `destination` stand.
    #[inline(always)]
    fn place(&self, switch: SwitchId, destination: HostId) -> usize {
        switch.0 as usize * self.edges + self.places[destination.0 as usize].edge as usize
    }

    #[inline(always)]
    fn choose(&self, switch: SwitchId, source: HostId, destination: HostId, flow_hash: u32, count: u32) -> u32 {
        match self.choice {
            PathChoice::FlowHash => hash::reduce(fmix32(flow_hash ^ self.salts[switch.0 as usize]), count),
            PathChoice::BySum => source.0.wrapping_add(destination.0) % count,
        }
    }
}

#[cfg(test)]
mod tests;
