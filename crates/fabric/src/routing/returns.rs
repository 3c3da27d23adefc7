//! Ways back: which neighbour sends a packet back that it is given.

use hitless_wire::{HostId, PortId};

use super::Routing;
use crate::topology::select::SwitchPort;
use crate::topology::{Node, SwitchId, Topology};

impl Routing {
    /// Whether the neighbour at `port` sends packets for `destination` back to `switch`, whichever of its next hops it
    /// chooses.
    pub fn returns(&self, topology: &Topology, switch: SwitchId, port: PortId, destination: HostId) -> bool {
        let Node::Switch(neighbour) = topology.switch(switch).ports[usize::from(port.0)].peer.node else {
            return false;
        };
        let ports = &topology.switch(neighbour).ports;
        let leads_back = |hop: &PortId| ports[usize::from(hop.0)].peer.node == Node::Switch(switch);
        let hops = self.next_hops(neighbour, destination);
        !hops.is_empty() && hops.iter().all(leads_back)
    }

    /// Whether packets for `destination` that leave by port `at` could be given to a neighbour at another port, which sends
    /// them back.
    pub fn has_way_back(&self, topology: &Topology, at: SwitchPort, destination: HostId) -> bool {
        let ports = topology.switch(at.switch).ports.len() as u16;
        let mut others = (0..ports).map(PortId).filter(|&port| port != at.port);
        self.next_hops(at.switch, destination).contains(&at.port)
            && others.any(|port| self.returns(topology, at.switch, port, destination))
    }
}
