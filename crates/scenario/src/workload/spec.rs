//! The specification of a flow before it runs.

use hitless_core::wire::{Duration, HostId, Time};
use hitless_hosts::Request;

/// The amount of data of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub enum FlowSize {
    /// This many bytes of payload in each message.
    Bytes(u64),
    /// Unlimited: the flow sends until it is stopped.
    Unlimited,
}

/// The number of messages that a flow sends over its connection, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct Messages {
    /// Number of messages, at least 1.
    pub count: u64,
    /// Pause between the completion of a message and the start of the next.
    pub gap: Duration,
}

impl Messages {
    /// A single message: an ordinary flow.
    pub const ONE: Messages = Messages { count: 1, gap: Duration::ZERO };
}

/// One flow (connection) to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct FlowSpec {
    pub source: HostId,
    /// The receiving host, different from the source.
    pub destination: HostId,
    /// Payload of each message.
    pub size: FlowSize,
    /// Time at which the application writes the first message (and opens the connection, if it must be opened).
    pub start: Time,
    /// Time at which the application stops sending, even with data left; `None`: after all data.
    pub stop: Option<Time>,
    /// Index into [`crate::Scenario::transport_configs`].
    pub transport: usize,
    pub messages: Messages,
    /// Traffic class (priority) of its packets.
    pub class: u8,
    /// Index of its group, for results.
    pub group: usize,
    /// Position among the flows of its group, counted from 0: group and position are the identity of the flow.
    pub position: u64,
    /// The open connection that carries it, among those that its group has between the two hosts; `None`: a separate
    /// connection.
    pub connection: Option<u32>,
    /// The query that it answers, counted from 0 within the group; `None` outside incast groups.
    pub query: Option<u64>,
    /// Request of the destination: `start` is then the time at which it opens the connection. `None`: no request.
    pub request: Option<Request>,
}
