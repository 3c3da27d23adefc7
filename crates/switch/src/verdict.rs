//! A hook's decision about a packet.

use hitless_core::wire::{Duration, PortId, QueueId};

use crate::drop_reason::DropReason;

/// A hook's decision about its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "ports, queues and packets are named so")]
pub enum Verdict {
    /// Lets the packet go on.
    Continue,
    /// Sends the packet to this queue at once and skips the remaining hooks of this half. In egress the hardware
    /// mirrors the packet and drops the original (SQR, section III-F); this counts as a move, neither as a loss nor as
    /// a new packet.
    Forward { port: PortId, queue: QueueId },
    /// Like [`Verdict::Forward`], to a queue that keeps the packet for a time before it may be served. Valid from
    /// egress only; existing traffic managers cannot do it (SQR, section VII: "a useful primitive for future switch
    /// ASICs").
    Hold {
        port: PortId,
        queue: QueueId,
        /// The holding time from now.
        duration: Duration,
    },
    /// Ends the packet here, for this reason.
    Drop(DropReason),
}

/// A half of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Half {
    /// Before the traffic manager: the hooks `rx` and `ingress`, and events.
    Ingress,
    /// After the traffic manager: `egress`, `tx` and `on_tm_drop`.
    Egress,
}
