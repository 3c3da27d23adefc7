//! What is known of a flow before it runs.

use hitless_core::wire::{Duration, HostId, Time};
use hitless_hosts::Request;

/// How much a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub enum FlowSize {
    /// This many bytes of payload in each message.
    Bytes(u64),
    /// As much as it can until it is stopped.
    Unlimited,
}

/// How many messages a flow sends over its connection, one after the other.
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
    /// The host that sends.
    pub source: HostId,
    /// The host that receives; never the source.
    pub destination: HostId,
    /// Payload of each message.
    pub size: FlowSize,
    /// When the application hands over the first message (and opens the connection, where one is opened).
    pub start: Time,
    /// When the application stops sending, whatever is left; `None`: when everything is sent.
    pub stop: Option<Time>,
    /// Index into [`crate::Scenario::transport_configs`].
    pub transport: usize,
    /// Messages on this connection.
    pub messages: Messages,
    /// Traffic class (priority) of its packets.
    pub class: u8,
    /// Index of the group that it belongs to, for results.
    pub group: usize,
    /// Position among the flows that its group defines, counted from 0: with the group, the identity of the flow.
    pub position: u64,
    /// The open connection that carries it, of those that its group has between the two hosts; `None`: one of its own.
    pub connection: Option<u32>,
    /// The query that it answers, counted from 0 within the group; `None` outside incast groups.
    pub query: Option<u64>,
    /// What the destination asks first: then `start` is when it opens the connection. `None`: nothing.
    pub request: Option<Request>,
}
