//! How many packets each flow has in the buffer of a port: counted at each sample, kept as a histogram.

use hitless_wire::{PortId, Time, Transport};

use super::Simulation;
use crate::results::Table;

/// The histogram of one port.
#[derive(Clone, Debug, Default)]
pub(super) struct Occupancy {
    /// By packets: how many flows had so many, all samples together. The first, of none, stays 0.
    flows: Vec<u64>,
    /// The flows of the packets that are there; only its memory outlives a sample.
    present: Vec<u32>,
}

impl Occupancy {
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

impl Simulation {
    /// Counts the packets of each flow that wait at a port or are being sent.
    pub(super) fn sample_occupancy(&mut self, now: Time, switch: u32, port: PortId, occupancy: &mut Occupancy) {
        let packets = &self.medium.packets;
        let mut look = |packet| {
            let packet: &hitless_wire::Packet = &packets[packet];
            if packet.transport != Transport::None {
                occupancy.present.push(packet.flow.0);
            }
        };
        let state = &mut self.switches[switch as usize];
        state.each_waiting(port, &mut look);
        // What has been handed over and has not left is the last that was put on the link.
        let not_left = state.frames_not_left(now, port);
        if let Some(link) = self.medium.switch_links.link(switch, port) {
            self.medium.links[link].last_sent(not_left).for_each(look);
        }
        occupancy.count();
    }

    /// The table of how many packets flows had in the buffers that were looked at.
    pub(super) fn occupancy_table(&self) -> Table {
        let histograms = self.samplers.iter().filter_map(|sampler| Some((&sampler.name, sampler.occupancy()?)));
        let rows: Vec<_> = histograms
            .flat_map(|(name, occupancy)| {
                let bars = occupancy.flows.iter().enumerate().filter(|(_, flows)| **flows > 0);
                bars.map(move |(packets, &flows)| (name.clone(), packets as u64, flows))
            })
            .collect();
        Table::new("queue_flows")
            .text("port", &rows, |row| row.0.clone())
            .unsigned("packets", &rows, |row| row.1)
            .unsigned("count", &rows, |row| row.2)
    }
}
