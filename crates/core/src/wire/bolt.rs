//! What Bolt's hosts and switches tell each other (Arslan et al., NSDI 2023).
//!
//! The flags of data packets take a byte ([`crate::wire::TcpHeader::congestion_option`]). A switch with a long queue
//! tells the sender by a packet of its own (SRC, sub-RTT control), which is a [`crate::wire::Transport`] of its own
//! here.

use crate::wire::units::BitRate;

/// Flags of a data packet (section 3). They are in [`crate::wire::TcpHeader::congestion_option`], of data packets only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct BoltFlags(pub u8);

impl BoltFlags {
    /// Its sender runs Bolt: set on every data packet of it.
    pub const BOLT: BoltFlags = BoltFlags(1);
    /// The sender asks for a larger window; switches without spare bandwidth clear it.
    pub const INC: BoltFlags = BoltFlags(2);
    /// A switch has told the sender of congestion; no other one does.
    pub const DEC: BoltFlags = BoltFlags(4);
    /// Sent before the flow's first acknowledgement came.
    pub const FIRST: BoltFlags = BoltFlags(8);
    /// Of the flow's last window: what it takes will be free a round-trip time later.
    pub const LAST: BoltFlags = BoltFlags(16);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: BoltFlags) -> BoltFlags {
        BoltFlags(self.0 | other.0)
    }

    /// The set without those of `other`.
    #[must_use]
    pub const fn without(self, other: BoltFlags) -> BoltFlags {
        BoltFlags(self.0 & !other.0)
    }

    /// Whether all of `other` are set.
    pub const fn contains(self, other: BoltFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a switch tells the sender of a data packet that met a long queue (SRC; section 3.1, algorithm 1). The paper's
/// packet carries the time at which the data packet was sent; here the sender knows it by the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, crate::state::Value)]
pub struct CongestionNotice {
    /// Offset in the flow of the data packet's first byte.
    pub sequence: u64,
    /// Rate of the link behind the queue.
    pub rate: BitRate,
    /// Bytes in the queue.
    pub queue_bytes: u32,
}
