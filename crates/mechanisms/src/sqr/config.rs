//! SQR on one switch.

use hitless_core::wire::PortId;
use hitless_core::wire::packet::MTU_FRAME_BYTES;

use super::settings::SqrSettings;

/// The ports of a switch with SQR, and the settings that they share.
#[derive(Clone, Debug, PartialEq)]
pub struct SqrConfig {
    /// The ports whose links are protected.
    pub protected: Vec<PortId>,
    /// Ports that face a link, numbered from 0; each gets a caching queue, for any may become a backup.
    pub line_ports: u16,
    /// The ports whose caching queues make up the ring.
    pub caching_ports: Vec<PortId>,
    /// By port: what of it the ring may take; a full share where none is named.
    pub ring_shares: Vec<RingShare>,
    /// What holds for all of them; with its delays.
    pub settings: SqrSettings,
}

/// What the ring may take of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingShare {
    /// Bytes per round among the queues of the port.
    pub quantum_bytes: u32,
    /// From this depth of its queue on nothing is copied: a ring that reads so slowly would keep copies longer than
    /// anybody needs them.
    pub limit_bytes: u64,
}

impl SqrConfig {
    /// What the ring may take of `port`.
    pub(super) fn ring_share(&self, port: PortId) -> RingShare {
        let whole = RingShare { quantum_bytes: MTU_FRAME_BYTES, limit_bytes: u64::MAX };
        self.ring_shares.get(usize::from(port.0)).copied().unwrap_or(whole)
    }

    /// The number of copies in the longest frames that the ring may hold for one port.
    pub(super) fn copies_max(&self) -> u64 {
        let limits = self.ring_shares.iter().map(|share| share.limit_bytes);
        limits.filter(|&bytes| bytes < u64::MAX).max().map_or(64, |bytes| bytes.div_ceil(u64::from(MTU_FRAME_BYTES)))
    }
}
