//! Signals between Bolt's hosts and switches (Arslan et al., NSDI 2023).
//!
//! The flags of data packets take a byte ([`crate::wire::TcpHeader::congestion_option`]). A switch with a long queue
//! informs the sender with a separate packet (SRC, sub-RTT control), which is a variant of [`crate::wire::Transport`]
//! here.

use crate::wire::units::BitRate;

/// Flags of a data packet (section 3). They are in [`crate::wire::TcpHeader::congestion_option`] of data packets only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct BoltFlags(pub u8);

impl BoltFlags {
    /// The sender runs Bolt: set on each of its data packets.
    pub const BOLT: BoltFlags = BoltFlags(1);
    /// The sender asks for a larger window; switches without spare bandwidth clear the flag.
    pub const INC: BoltFlags = BoltFlags(2);
    /// A switch has informed the sender of congestion; other switches then do not.
    pub const DEC: BoltFlags = BoltFlags(4);
    /// Sent before the flow's first acknowledgement arrived.
    pub const FIRST: BoltFlags = BoltFlags(8);
    /// Belongs to the flow's last window: its bandwidth is free one round-trip time later.
    pub const LAST: BoltFlags = BoltFlags(16);

    #[must_use]
    pub const fn with(self, other: BoltFlags) -> BoltFlags {
        BoltFlags(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, other: BoltFlags) -> BoltFlags {
        BoltFlags(self.0 & !other.0)
    }

    pub const fn contains(self, other: BoltFlags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Message from a switch to the sender of a data packet that met a long queue (SRC; section 3.1, algorithm 1). The
/// paper's packet carries the time at which the data packet was sent; here the sender looks it up by sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, crate::state::Value)]
pub struct CongestionNotice {
    /// Offset in the flow of the data packet's first byte.
    pub sequence: u64,
    /// Rate of the queue's link.
    pub rate: BitRate,
    pub queue_bytes: u32,
}
