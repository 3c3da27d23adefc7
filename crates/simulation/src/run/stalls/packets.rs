//! Where the packets of flows are, and what stops them.

use std::collections::BTreeMap;

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{FlowId, Packet, PortId, Transport};
use hitless_hosts::position;
use hitless_scenario::network::topology::{Node, SwitchId};

use super::View;
use super::gates::Gate;
use crate::run::edge::Edge;
use crate::run::network::Network;

/// The reason why a packet does not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Its class is stopped by the link partner of the port where it waits.
    Gate(Gate),
    /// A mechanism has paused its queue.
    Mechanism(SwitchId, PortId),
    /// The reorder buffer of its receiving host waits for a packet before it.
    Gap,
}

/// The packets of a flow, in both directions.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    /// Packets that move: on a link, in a pipeline or a host's stack, or in a queue that is served.
    pub moving: u64,
    /// Position of the first stopped packet in the flow, and the reason.
    first_stopped: Option<(u64, Stop)>,
}

impl Packets {
    /// The reason why the first stopped packet does not move.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.first_stopped.map(|(_, stop)| stop)
    }

    fn add(&mut self, packet: &Packet, stop: Option<Stop>) {
        let Some(stop) = stop else {
            self.moving += 1;
            return;
        };
        // Data comes before answers.
        let place = position(&packet.transport).unwrap_or(u64::MAX);
        if self.first_stopped.is_none_or(|(first, _)| place < first) {
            self.first_stopped = Some((place, stop));
        }
    }
}

impl<E: Edge> View<'_, E> {
    /// The packets of `flows`. `held` has the packets in reorder buffers by their host's network.
    pub(super) fn packets_of(
        &self,
        flows: impl Iterator<Item = FlowId>,
        held: &[Vec<PacketHandle>],
    ) -> BTreeMap<u32, Packets> {
        let mut found: BTreeMap<u32, Packets> = flows.map(|flow| (flow.0, Packets::default())).collect();
        for (network, held) in self.networks.iter().zip(held) {
            let mut stops = self.stops_in(network);
            stops.extend(held.iter().map(|packet| (packet.0, Stop::Gap)));
            for handle in network.shared.packets.handles() {
                let packet = &network.shared.packets[handle];
                if packet.transport != Transport::None
                    && let Some(of_flow) = found.get_mut(&packet.flow.0)
                {
                    of_flow.add(packet, stops.get(&handle.0).copied());
                }
            }
        }
        found
    }

    /// The stopped packets in the queues of a network's switches and cards, by handle.
    fn stops_in(&self, network: &Network<E>) -> BTreeMap<u32, Stop> {
        let (topology, packets) = (self.topology(), &network.shared.packets);
        let is_here = |node: Node| std::ptr::eq(self.network_of(node), network);
        let mut stops = BTreeMap::new();
        for id in topology.switch_ids().filter(|&id| is_here(Node::Switch(id))) {
            for port in (0..topology.switch(id).ports.len() as u16).map(PortId) {
                let look = |packet: PacketHandle| {
                    let gate = Gate { node: Node::Switch(id), port, class: packets[packet].class & 7 };
                    let stop = self.stopped_since(gate).map_or(Stop::Mechanism(id, port), |_| Stop::Gate(gate));
                    stops.insert(packet.0, stop);
                };
                network.switches[id.0 as usize].each_stopped(port, look);
            }
        }
        for id in topology.host_ids().filter(|&id| is_here(Node::Host(id))) {
            network.hosts.each_stopped(id, |packet| {
                let gate = Gate { node: Node::Host(id), port: PortId(0), class: packets[packet].class & 7 };
                stops.insert(packet.0, Stop::Gate(gate));
            });
        }
        stops
    }
}
