//! Ways back: which neighbour sends a packet back that it is given.

use hitless_wire::{HostId, PortId};

use super::Routing;
use crate::topology::select::SwitchPort;
use crate::topology::{Node, SwitchId, Topology};

/// By switch, port and destination: whether the neighbour at the port sends back. Of the tables as they were when it was
/// made; a switch's control plane would install it as a table by destination.
#[derive(Clone, Debug, Default)]
pub(super) struct Returns {
    /// By switch: the place of its first port.
    first_ports: Vec<usize>,
    /// By port of a switch and attachment switch of the destination.
    come_back: Vec<bool>,
}

impl Routing {
    /// Prepares for [`Self::returns`].
    pub fn learn_returns(&mut self, topology: &Topology) {
        let mut first_host = vec![None; self.edges];
        topology.host_ids().for_each(|host| {
            first_host[self.places[host.0 as usize].edge as usize].get_or_insert(host);
        });
        let mut returns = Returns::default();
        let mut ports = 0;
        for switch in topology.switch_ids() {
            returns.first_ports.push(ports);
            let count = topology.switch(switch).ports.len();
            ports += count;
            for port in (0..count as u16).map(PortId) {
                let at = SwitchPort { switch, port };
                let leads_back = |host: &Option<HostId>| host.is_some_and(|host| self.leads_back(topology, at, host));
                returns.come_back.extend(first_host.iter().map(leads_back));
            }
        }
        self.returns = returns;
    }

    /// Whether the neighbour at `port` sends packets for `destination` back to `switch`, whichever of its next hops it
    /// chooses. False before [`Self::learn_returns`].
    pub fn returns(&self, switch: SwitchId, port: PortId, destination: HostId) -> bool {
        let Some(first) = self.returns.first_ports.get(switch.0 as usize) else { return false };
        let place = (first + usize::from(port.0)) * self.edges + self.places[destination.0 as usize].edge as usize;
        self.returns.come_back[place]
    }

    /// Whether packets for `destination` that leave by port `at` could be given to a neighbour at another port, which sends
    /// them back.
    pub fn has_way_back(&self, topology: &Topology, at: SwitchPort, destination: HostId) -> bool {
        let ports = topology.switch(at.switch).ports.len() as u16;
        let mut others = (0..ports).map(PortId).filter(|&port| port != at.port);
        self.next_hops(at.switch, destination).contains(&at.port)
            && others.any(|port| self.leads_back(topology, SwitchPort { port, ..at }, destination))
    }

    fn leads_back(&self, topology: &Topology, at: SwitchPort, destination: HostId) -> bool {
        let peer = topology.switch(at.switch).ports[usize::from(at.port.0)].peer;
        let Node::Switch(neighbour) = peer.node else { return false };
        let ports = &topology.switch(neighbour).ports;
        let leads_back = |hop: &PortId| ports[usize::from(hop.0)].peer.node == Node::Switch(at.switch);
        let hops = self.next_hops(neighbour, destination);
        !hops.is_empty() && hops.iter().all(leads_back)
    }
}
