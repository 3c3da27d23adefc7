//! Reads early what the next arrivals will need.
//!
//! The state of a large fabric does not fit into a processor's caches, and an arrival finds its link, its packet, two
//! ports and a flow in memory one after the other, each by what the one before says. Here the same is read for several
//! arrivals at a time, so that the processor waits for them together. Nothing is changed and nothing is decided by what
//! is read: what happens does not depend on it.

use std::hint::black_box;

use hitless_network::topology::Node;
use hitless_wire::PortId;

use super::edge::Edge;
use super::network::Network;

/// Arrivals that are looked at together.
pub(super) const ARRIVALS: u64 = 8;
const BATCH: usize = ARRIVALS as usize;
/// With fewer directed links most of the state is in a cache anyway, and looking costs more than it saves.
const LINKS_MIN: usize = 16_384;

/// Where an arrival goes on.
#[derive(Clone, Copy)]
enum Next {
    Port { switch: u32, from: PortId, towards: PortId },
    Host { host: u32, flow: u32 },
}

impl<E: Edge> Network<E> {
    /// Whether looking ahead pays.
    pub fn is_large(&self) -> bool {
        self.shared.links.iter().len() >= LINKS_MIN
    }

    /// Reads what the next [`ARRIVALS`] need.
    #[inline(never)]
    pub fn look_ahead(&self) {
        let mut links = [0; BATCH];
        let count = self.shared.queue.sources_ahead(&mut links);
        let links = &links[..count];
        let mut read = 0;
        let mut packets = [None; BATCH];
        for (packet, &link) in packets.iter_mut().zip(links) {
            *packet = self.shared.links[link as usize].first();
        }
        let mut next = [None; BATCH];
        for ((next, packet), &link) in next.iter_mut().zip(packets).zip(links) {
            let Some(packet) = packet else { continue };
            let packet = &self.shared.packets[packet];
            let to = self.shared.links[link as usize].to();
            *next = match to.node {
                Node::Switch(switch) => {
                    let port = self.shared.routing.route_packet(switch, packet);
                    port.map(|towards| Next::Port { switch: switch.0, from: to.port, towards })
                }
                Node::Host(host) => Some(Next::Host { host: host.0, flow: packet.flow.0 }),
            };
        }
        let mut lines = [None; BATCH];
        for (line, next) in lines.iter_mut().zip(next) {
            match next {
                Some(Next::Port { switch, from, towards }) => {
                    let (out, ports) = self.switches[switch as usize].read_ahead(from, towards);
                    *line = Some(out);
                    read ^= ports;
                }
                Some(Next::Host { host, flow }) => read ^= self.hosts.read_ahead(host, flow),
                None => {}
            }
        }
        for (line, next) in lines.into_iter().zip(next) {
            match (line, next) {
                (Some(line), _) => read ^= self.shared.links[line as usize].read_ahead(),
                (None, Some(Next::Host { flow, .. })) => read ^= self.hosts.read_flow_ahead(flow),
                _ => {}
            }
        }
        black_box(read);
    }
}
