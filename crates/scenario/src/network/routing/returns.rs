//! Neighbours that send a packet back.

use hitless_core::wire::{HostId, PortId};

use super::table::Table;
use crate::network::topology::select::SwitchPort;
use crate::network::topology::{Node, SwitchId, Topology};

/// Whether the neighbour at a port sends packets back, by switch, port and destination. It describes the tables at the
/// time of construction; a switch's control plane would install it as a table by destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Returns {
    /// Index of the first port of each switch.
    first_ports: Vec<usize>,
    /// By port of a switch and attachment switch of the destination.
    come_back: Vec<bool>,
}

impl Returns {
    /// Returns whether nothing was computed.
    pub fn is_empty(&self) -> bool {
        self.first_ports.is_empty()
    }

    /// Computes it from tables in which `hops` finds the next hops of a switch towards a host.
    pub fn new<'t>(topology: &Topology, table: &Table, hops: impl Fn(SwitchId, HostId) -> &'t [PortId]) -> Self {
        let mut first_host = vec![None; table.edges];
        topology.host_ids().for_each(|host| {
            first_host[table.places[host.0 as usize].edge as usize].get_or_insert(host);
        });
        let mut returns = Self::default();
        let mut ports = 0;
        for switch in topology.switch_ids() {
            returns.first_ports.push(ports);
            let count = topology.switch(switch).ports.len();
            ports += count;
            for port in (0..count as u16).map(PortId) {
                let at = SwitchPort { switch, port };
                let leads_back = |host: &Option<HostId>| host.is_some_and(|host| leads_back(topology, at, host, &hops));
                returns.come_back.extend(first_host.iter().map(leads_back));
            }
        }
        assert_eq!(returns.come_back.len(), ports * table.edges, "each port has an entry for each edge");
        returns
    }

    /// Returns whether the neighbour at `port` of `switch` sends packets back; false before anything was computed.
    pub fn come_back(&self, table: &Table, switch: SwitchId, port: PortId, destination: HostId) -> bool {
        let Some(first) = self.first_ports.get(switch.0 as usize) else { return false };
        let edge = table.places[destination.0 as usize].edge as usize;
        self.come_back[(first + usize::from(port.0)) * table.edges + edge]
    }
}

/// Returns whether the neighbour at port `at` sends packets for `destination` back, for each of its next hops.
pub(super) fn leads_back<'t>(
    topology: &Topology,
    at: SwitchPort,
    destination: HostId,
    hops: impl Fn(SwitchId, HostId) -> &'t [PortId],
) -> bool {
    let peer = topology.switch(at.switch).ports[usize::from(at.port.0)].peer;
    let Node::Switch(neighbour) = peer.node else { return false };
    let ports = &topology.switch(neighbour).ports;
    let leads_back = |hop: &PortId| ports[usize::from(hop.0)].peer.node == Node::Switch(at.switch);
    let hops = hops(neighbour, destination);
    !hops.is_empty() && hops.iter().all(leads_back)
}
