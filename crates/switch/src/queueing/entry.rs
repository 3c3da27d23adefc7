//! A packet in a queue.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::Time;

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Entry {
    /// The packet.
    pub packet: PacketHandle,
    /// Frame length at enqueue.
    pub frame_bytes: u32,
    /// Time of enqueue.
    pub enqueued_at: Time,
    /// Packets waiting in the queue at that time; only a scheduler of several queues fills it.
    pub packets_before: u32,
}

impl Entry {
    /// Creates the entry of a packet that arrives at its queue.
    #[inline]
    pub const fn new(packet: PacketHandle, frame_bytes: u32, enqueued_at: Time) -> Self {
        Self { packet, frame_bytes, enqueued_at, packets_before: 0 }
    }
}
