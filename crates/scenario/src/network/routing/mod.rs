//! Routing: equal-cost shortest paths to every host, and the choice among them.
//!
//! Tables are static and computed once per topology (again when a link is taken out of service). A switch's table is
//! kept by the *attachment switch* of the destination, not by host: all hosts of a leaf share one entry. The hosts
//! of the switch itself are reached by their own ports.

mod detours;
mod hash;
mod paths;
mod returns;
mod settings;
mod table;

use hitless_core::wire::{HostId, Packet, PortId};

use crate::network::topology::select::SwitchPort;
use crate::network::topology::{LinkId, SwitchId, Topology};
use detours::Watch;
use returns::Returns;
use table::Table;

pub use detours::Detour;
pub use hash::flow_hash;
pub use settings::{PathRule, RoutingSettings};

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
    /// Shortest paths (fewest links) over all links of `topology`.
    pub fn new(topology: &Topology, choice: PathRule) -> Self {
        Self::without(topology, choice, &[])
    }

    /// Shortest paths that avoid the links in `excluded`. Where no path is left, next hops are empty.
    pub fn without(topology: &Topology, choice: PathRule, excluded: &[LinkId]) -> Self {
        let table = paths::compute(topology, choice, excluded);
        Self { table, watch: Watch::default(), returns: Returns::default() }
    }

    /// All equal-cost next hops of `switch` towards `destination`, in order of port number. Empty: unreachable.
    pub fn next_hops(&self, switch: SwitchId, destination: HostId) -> &[PortId] {
        self.watch.next_hops(&self.table, switch, destination)
    }

    /// The port by which `switch` sends a packet; `None`: unreachable, or a matter for [`Self::route_watched`].
    #[inline(always)]
    pub fn route(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        self.table.route(switch, packet)
    }

    /// [`Self::route`] where that finds nothing, by the port at which the packet came.
    #[cold]
    #[inline(never)]
    pub fn route_watched(&self, switch: SwitchId, packet: &Packet) -> Option<PortId> {
        let hops = self.watch.onward(&self.table, switch, packet.destination, packet.ingress_port)?;
        let choice = self.table.choose(self.table.switches[switch.0 as usize].salt, packet, hops.len() as u32);
        Some(self.watch.detour_of(switch, hops[choice as usize]))
    }

    /// The ports that can be the backup of `port`, those with the shortest path first, then by number.
    ///
    /// From the neighbour at such a port every packet that `switch` sends out of `port` gets to its destination by the
    /// tables, whichever of several next hops is chosen, and never comes back to `switch`. A switch does not send a
    /// packet back out of the port by which it came where it has another choice.
    pub fn detours(&self, topology: &Topology, switch: SwitchId, port: PortId) -> Vec<Detour> {
        self.watch.detours(&self.table, topology, switch, port)
    }

    /// Prepares for detours round `port` of `switch`: from now on packets that take one are not sent back.
    pub fn watch(&mut self, topology: &Topology, switch: SwitchId, port: PortId) {
        self.watch.add(&mut self.table, topology, switch, port);
    }

    /// Sends by `backup` what the table would send out of `port`; `None`: as the table says again.
    ///
    /// Holds for ports that are watched.
    pub fn set_detour(&mut self, switch: SwitchId, port: PortId, backup: Option<PortId>) {
        self.watch.set_detour(switch, port, backup);
    }

    /// Prepares for [`Self::returns`].
    pub fn learn_returns(&mut self, topology: &Topology) {
        let Self { table, watch, .. } = self;
        let hops = |switch, destination| watch.next_hops(table, switch, destination);
        self.returns = Returns::new(topology, table, hops);
    }

    /// Whether the neighbour at `port` sends packets for `destination` back to `switch`, whichever of its next hops it
    /// chooses. False before [`Self::learn_returns`].
    pub fn returns(&self, switch: SwitchId, port: PortId, destination: HostId) -> bool {
        self.returns.come_back(&self.table, switch, port, destination)
    }

    /// Whether packets for `destination` that leave by port `at` could be given to a neighbour at another port, which
    /// sends them back.
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
