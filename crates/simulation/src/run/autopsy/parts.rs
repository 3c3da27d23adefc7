//! The parts of a completion time, and the losses and recoveries on its path.

use hitless_core::wire::PortId;
use hitless_switch::DropReason;

/// A part of a completion time, in the order of the table's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Part {
    /// The application: a server's thinking time, or a step between two of its writes.
    Application,
    /// Earlier messages of the same connection.
    EarlierMessages,
    /// The host's stack: its delays, and polling with receive offload.
    Stack,
    /// The network card: its queue, and the line of flows that wait for it.
    Card,
    /// The sender's rate.
    Pacing,
    /// The receiver's queue for credit.
    Credit,
    /// An acknowledgement that the receiver delays.
    DelayedAcknowledgement,
    Serialisation,
    /// Links, with their PHYs.
    Propagation,
    /// Fixed latencies of switches.
    Pipeline,
    /// Queues of switches, except while they are paused.
    Queue,
    /// Queues of switches that the link partner has paused.
    Paused,
    /// A mechanism held the packet, or sent a copy of it later.
    Mechanism,
    /// From the loss of the packet until the link or a mechanism repeated it.
    LinkRecovery,
    /// From a loss until an acknowledgement made the sender repeat the packet.
    FastRecovery,
    /// From a loss until the end of the wait for reordered packets.
    ReorderingTimer,
    /// From a loss until the tail loss probe.
    Probe,
    /// From a loss until the retransmission timeout.
    Timeout,
    /// The reorder buffer of the receiving host.
    ReorderBuffer,
}

/// Number of parts.
pub(super) const PARTS: usize = Part::ReorderBuffer as usize + 1;

/// The column of each part.
pub(super) const COLUMNS: [&str; PARTS] = [
    "application_ps",
    "earlier_messages_ps",
    "stack_ps",
    "card_ps",
    "pacing_ps",
    "credit_ps",
    "delayed_acknowledgement_ps",
    "serialisation_ps",
    "propagation_ps",
    "pipeline_ps",
    "queue_ps",
    "paused_ps",
    "mechanism_ps",
    "link_recovery_ps",
    "fast_recovery_ps",
    "reordering_timer_ps",
    "probe_ps",
    "timeout_ps",
    "reorder_buffer_ps",
];

/// The place of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On a link, by its number.
    Link(u32),
    /// At the egress port of a switch.
    Port(u32, PortId),
    /// In the network card of a host.
    Host(u32),
}

/// The cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Corrupted,
    LinkDown,
    Switch(DropReason),
    CardFull,
    /// A switch has cut off the payload.
    Trimmed,
}

/// A loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub place: Place,
    pub cause: Cause,
}

/// The recovery that took the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recovery {
    pub time_ps: u64,
    pub part: Part,
    /// `None` if no packet was lost: a timer ran out too early, or acknowledgements were lost.
    pub loss: Option<Loss>,
}
