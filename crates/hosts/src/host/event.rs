//! What happens at hosts: the events that a driver hands back.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{FlowId, HostId};

/// Which way of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Direction {
    /// That of the flow.
    Flow,
    /// The other one, on which a client asks for it.
    Request,
}

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Side {
    /// That which has data.
    Sender,
    /// That which takes it.
    Receiver,
}

impl Side {
    /// The other end: what sends a flow takes the request for it.
    pub fn other(self) -> Self {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        }
    }
}

/// The timers of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Timer {
    /// Of the sending transport.
    Sender,
    /// Of the receiving transport.
    Receiver,
    /// Of the reorder buffer.
    Reorder,
}

/// Something that happens at a host at a time. To be handed back to [`Hosts::handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum HostEvent {
    /// A flow starts.
    FlowStart(FlowId),
    /// An unlimited flow stops writing.
    FlowStop(FlowId),
    /// The receiving end learns that the sending end has ended.
    SenderEnded(FlowId),
    /// No late datagrams are waited for any more.
    FlowEnd(FlowId),
    /// The gap before the next message is over.
    NextMessage(FlowId),
    /// A timer of one way of the flow's connection.
    Timer(FlowId, Direction, Timer),
    /// The server begins its answer.
    Answer(FlowId),
    /// A packet has passed the receive delay.
    Deliver(PacketHandle),
    /// The kernel polls the ring in which packets for one end wait.
    Poll(FlowId, Side),
    /// A packet has passed the send delay.
    Emit(PacketHandle),
    /// The network card has drained: senders that wait may go on.
    CardDrained(HostId),
}
