//! A packet in a queue.

use hitless_engine::PacketHandle;
use hitless_wire::Time;

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_state::Value)]
pub struct Entry {
    /// The packet.
    pub packet: PacketHandle,
    /// Its length when it was enqueued.
    pub frame_bytes: u32,
    /// When it was enqueued.
    pub enqueued_at: Time,
}
