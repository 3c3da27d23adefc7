//! How many packets each flow has in the buffer of a port: counted at each sample, kept as a histogram.

use hitless_engine::PacketHandle;
use hitless_wire::{PortId, Time, Transport};

use crate::run::edge::Edge;
use crate::run::network::Network;

/// The histogram of one port.
#[derive(Clone, Debug, Default)]
pub(super) struct Occupancy {
    /// By packets: how many flows had so many, all samples together. The first, of none, stays 0.
    flows: Vec<u64>,
    /// The flows of the packets that are there; only its memory outlives a sample.
    present: Vec<u32>,
}

impl Occupancy {
    /// Counts the packets of each flow that wait at a port or are being sent.
    pub fn sample<E: Edge>(&mut self, now: Time, switch: u32, port: PortId, network: &mut Network<E>) {
        let Network { shared, switches, .. } = network;
        let mut look = |packet: PacketHandle| {
            let packet = &shared.packets[packet];
            if packet.transport != Transport::None {
                self.present.push(packet.flow.0);
            }
        };
        let state = &mut switches[switch as usize];
        state.each_waiting(port, &mut look);
        // What has been handed over and has not left is the last that was put on the link.
        let not_left = state.frames_not_left(now, port);
        if let Some(link) = shared.switch_links.link(switch, port) {
            shared.links[link].last_sent(not_left).for_each(look);
        }
        self.count();
    }

    /// Packets, and how many flows had so many.
    pub fn histogram(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..).zip(self.flows.iter().copied()).filter(|&(_, flows)| flows > 0)
    }

    fn count(&mut self) {
        self.present.sort_unstable();
        for run in self.present.chunk_by(|a, b| a == b) {
            if self.flows.len() <= run.len() {
                self.flows.resize(run.len() + 1, 0);
            }
            self.flows[run.len()] += 1;
        }
        self.present.clear();
    }
}
