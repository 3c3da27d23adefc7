//! SQR's configuration on a switch.

use hitless_core::wire::PortId;
use hitless_core::wire::packet::MTU_FRAME_BYTES;

use super::settings::SqrSettings;

#[derive(Clone, Debug, PartialEq)]
pub struct SqrConfig {
    pub protected: Vec<PortId>,
    /// The number of ports with a link, numbered from 0. Each gets a caching queue, because any can become a backup.
    pub line_ports: u16,
    pub caching_ports: Vec<PortId>,
    /// The ring's share of each port; a full share for ports beyond the end.
    pub ring_shares: Vec<RingShare>,
    /// Settings of all ports, with delays filled in.
    pub settings: SqrSettings,
}

/// The ring's share of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingShare {
    /// Quantum of the ring's queue in a round of the port's queues.
    pub quantum_bytes: u32,
    /// The queue depth at which copying stops. A ring that reads so slowly would keep copies longer than needed.
    pub limit_bytes: u64,
}

impl SqrConfig {
    pub(super) fn ring_share(&self, port: PortId) -> RingShare {
        let whole = RingShare { quantum_bytes: MTU_FRAME_BYTES, limit_bytes: u64::MAX };
        self.ring_shares.get(usize::from(port.0)).copied().unwrap_or(whole)
    }

    /// The maximum number of copies in the ring for one port, in full frames.
    pub(super) fn copies_max(&self) -> u64 {
        let limits = self.ring_shares.iter().map(|share| share.limit_bytes);
        limits.filter(|&bytes| bytes < u64::MAX).max().map_or(64, |bytes| bytes.div_ceil(u64::from(MTU_FRAME_BYTES)))
    }
}
