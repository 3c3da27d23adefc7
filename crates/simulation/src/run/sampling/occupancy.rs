//! Packets of each flow in the buffer of a port: counted at each sample, kept as a histogram.

use hitless_core::wire::{PortId, Time};

use crate::run::fabric::Fabric;

/// The histogram of one port.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct Occupancy {
    /// Index n holds the number of flows with n packets, over all samples. Index 0 stays 0.
    flows: Vec<u64>,
    /// The flows of the packets present; a field only to keep its allocation between samples.
    present: Vec<u32>,
}

impl Occupancy {
    /// Counts the packets of each flow that are queued at a port or in transmission.
    pub fn sample<F: Fabric>(&mut self, now: Time, switch: u32, port: PortId, network: &mut F) {
        network.flows_at_port(now, switch, port, &mut self.present);
        self.count();
    }

    /// Pairs of a number of packets and the number of flows that had it.
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
