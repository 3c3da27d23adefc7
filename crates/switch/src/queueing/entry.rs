//! A packet in a queue.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::Time;

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Entry {
    /// The packet.
    pub packet: PacketHandle,
    /// Its length when it was enqueued.
    pub frame_bytes: u32,
    /// When it was enqueued.
    pub enqueued_at: Time,
    /// Packets that waited in its queue then, where a scheduler of several queues has it.
    pub packets_before: u32,
}

impl Entry {
    /// A packet that comes to its queue.
    #[inline]
    pub const fn new(packet: PacketHandle, frame_bytes: u32, enqueued_at: Time) -> Self {
        Self { packet, frame_bytes, enqueued_at, packets_before: 0 }
    }
}
