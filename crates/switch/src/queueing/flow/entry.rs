//! Packets of a port that queues by flow: arriving, waiting, and dropped.

use hitless_core::engine::PacketHandle;

use super::flows::FlowKey;
use crate::drop_reason::DropReason;
use crate::queueing::entry::Entry;

/// A packet that reaches the scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    /// The packet.
    pub entry: Entry,
    /// Its flow.
    pub flow: FlowKey,
    /// Its traffic class.
    pub class: u8,
    /// Whether it is ECN-capable.
    pub can_mark: bool,
}

impl Arriving {
    #[inline]
    pub(super) fn waiting(&self) -> Waiting {
        Waiting { entry: self.entry, flow: self.flow, can_mark: self.can_mark }
    }
}

/// A packet in the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Waiting {
    /// The packet.
    pub entry: Entry,
    /// Its flow.
    pub flow: FlowKey,
    /// Whether it is ECN-capable.
    pub can_mark: bool,
}

/// A packet that the scheduler has dropped. It counted as admitted, even if it had just arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Ended {
    /// The packet.
    pub packet: PacketHandle,
    /// Frame length.
    pub frame_bytes: u32,
    /// Reason for the drop.
    pub reason: DropReason,
}
