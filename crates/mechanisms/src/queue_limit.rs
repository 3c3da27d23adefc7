//! What a queue of a mechanism may hold.

use hitless_settings::quantity::QueueLength;
use hitless_switch::QueueLimit;

/// The limit that a length means. In a checked scenario 32 bits can count its packets.
pub(crate) const fn queue_limit(length: QueueLength) -> QueueLimit {
    match length {
        QueueLength::Packets(packets) => QueueLimit::Packets(packets as u32),
        QueueLength::Bytes(bytes) => QueueLimit::Bytes(bytes.0),
    }
}
