//! What a hook decides about a packet.

use hitless_core::wire::{Duration, PortId, QueueId};

use crate::drop_reason::DropReason;

/// What a hook decides about the packet before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Goes on its way.
    Continue,
    /// Goes to that queue at once; the remaining hooks of this half are skipped. In egress the hardware mirrors the
    /// packet and drops the original (SQR, section III-F): a move, which is neither a loss nor a new packet.
    Forward {
        /// The egress port.
        port: PortId,
        /// Its queue.
        queue: QueueId,
    },
    /// As [`Verdict::Forward`], to a queue that keeps the packet for a time before it may be served. From egress only;
    /// the traffic managers of today cannot do it (SQR, section VII: "a useful primitive for future switch ASICs").
    Hold {
        /// The egress port.
        port: PortId,
        /// Its queue.
        queue: QueueId,
        /// From now.
        duration: Duration,
    },
    /// Ends here, and why.
    Drop(DropReason),
}
