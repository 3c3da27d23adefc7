//! Packets of a port that queues by flow: as they come, as they wait, and as they are given up.

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

/// A packet that the scheduler has given up. It counted as admitted, the one that had just arrived included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Ended {
    /// The packet.
    pub packet: PacketHandle,
    /// Its length.
    pub frame_bytes: u32,
    /// Why.
    pub reason: DropReason,
}
