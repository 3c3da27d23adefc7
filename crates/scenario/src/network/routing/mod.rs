//! Routing: equal-cost shortest paths to every host, and the choice among them.
//!
//! Tables are computed once per topology, and again when links are withdrawn or restored. A switch's table is
//! indexed by the *attachment switch* of the destination, not by host: all hosts of a leaf share one entry. The
//! switch's own hosts are reached through their ports.

mod detours;
mod hash;
mod paths;
mod returns;
mod settings;
mod table;
mod weights;

use std::collections::BTreeMap;

use hitless_core::wire::{HostId, Packet, PortId};

use crate::network::topology::select::SwitchPort;
use crate::network::topology::{LinkId, SwitchId, Topology};
use detours::Watch;
use returns::Returns;
use table::Table;

pub use detours::Detour;
pub use hash::flow_hash;
pub use settings::{PathRule, RoutingSettings};

/// The links without paths that switches know of: for each set of links, the switches that know of exactly these.
pub type Withdrawn = BTreeMap<Vec<LinkId>, Vec<SwitchId>>;

/// Next hops of every switch towards every host, detours round links that have failed, and neighbours that send back.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Routing {
    #[configured]
    table: Table,
    #[part]
    watch: Watch,
    #[configured]
    returns: Returns,
}

impl Routing {
    /// Computes shortest paths (fewest links) over all links of `topology`.
    pub fn new(topology: &Topology, choice: PathRule) -> Self {
        Self::without(topology, choice, &[])
    }

    /// Computes shortest paths that avoid the links in `excluded`. Unreachable destinations have no next hops.
    pub fn without(topology: &Topology, choice: PathRule, excluded: &[LinkId]) -> Self {
        let table = paths::compute(topology, choice, excluded);
        Self { table, watch: Watch::default(), returns: Returns::default() }
    }

    /// Withdraws the paths over the links that each switch knows of, and restores all others. Every switch finds its
    /// paths as if all others knew the same links.
    pub fn withdraw(&mut self, topology: &Topology, known: &Withdrawn) {
        assert!(self.watch.is_empty(), "a detour keeps entries of the table that a withdrawal replaces");
        let choice = self.table.choice;
        let mut tables = known.iter().map(|(links, switches)| (paths::compute(topology, choice, links), switches));
        let Some((mut table, _)) = tables.next() else { return };
        tables.for_each(|(other, switches)| table.adopt(&other, switches));
        self.table = table;
        if !self.returns.is_empty() {
            self.learn_returns(topology);
        }
    }

    /// Returns all equal-cost next hops of `switch` towards `destination`, in order of port number; empty if
    /// unreachable. With weights a port appears as often as its weight.
    pub fn next_hops(&self, switch: SwitchId, destination: HostId) -> &[PortId] {
        self.watch.next_hops(&self.table, switch, destination)
    }

    /// Returns the port through which `switch` sends a packet; `None` if the destination is unreachable or
    /// [`Self::route_watched`] must decide.
    #[inline(always)]
    pub fn route(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        self.table.route(switch, packet)
    }

    /// Routes a packet for which [`Self::route`] found no port; the choice depends on the packet's ingress port.
    #[cold]
    #[inline(never)]
    pub fn route_watched(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        let hops = self.watch.onward(&self.table, switch, packet.destination, packet.ingress_port)?;
        let choice = self.table.choose(self.table.switches[switch.0 as usize].salt, packet, hops.len() as u32);
        Some(self.watch.detour_of(switch, hops[choice as usize]))
    }

    /// Returns the ports that can be the backup of `port`, in order of path length, then by number.
    ///
    /// Behind such a port, the tables lead every packet that `switch` sends through `port` to its destination without a
    /// return to `switch`, for every choice among several next hops. A switch sends a packet back through its ingress
    /// port only if there is no other choice.
    pub fn detours(&self, topology: &Topology, switch: SwitchId, port: PortId) -> Vec<Detour> {
        self.watch.detours(&self.table, topology, switch, port)
    }

    /// Prepares for detours around `port` of `switch`: redirected packets are no longer sent back.
    pub fn watch(&mut self, topology: &Topology, switch: SwitchId, port: PortId) {
        self.watch.add(&mut self.table, topology, switch, port);
    }

    /// Redirects packets for `port` to `backup`; `None` ends the detour.
    ///
    /// Only for watched ports.
    pub fn set_detour(&mut self, switch: SwitchId, port: PortId, backup: Option<PortId>) {
        self.watch.set_detour(switch, port, backup);
    }

    /// Computes the table that [`Self::returns`] uses.
    pub fn learn_returns(&mut self, topology: &Topology) {
        let Self { table, watch, .. } = self;
        let hops = |switch, destination| watch.next_hops(table, switch, destination);
        self.returns = Returns::new(topology, table, hops);
    }

    /// Returns whether the neighbour at `port` sends packets for `destination` back to `switch`, for each of its next
    /// hops. False before [`Self::learn_returns`].
    pub fn returns(&self, switch: SwitchId, port: PortId, destination: HostId) -> bool {
        self.returns.come_back(&self.table, switch, port, destination)
    }

    /// Returns whether packets for `destination` that leave through port `at` could go to a neighbour at another port
    /// that sends them back.
    pub fn has_path_back(&self, topology: &Topology, at: SwitchPort, destination: HostId) -> bool {
        let ports = topology.switch(at.switch).ports.len() as u16;
        let mut others = (0..ports).map(PortId).filter(|&port| port != at.port);
        let hops = |switch, destination| self.next_hops(switch, destination);
        self.next_hops(at.switch, destination).contains(&at.port)
            && others.any(|port| returns::leads_back(topology, SwitchPort { port, ..at }, destination, hops))
    }
}

#[cfg(test)]
mod tests;
