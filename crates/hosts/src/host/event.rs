//! Events at hosts, which the driver returns when they are due.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{FlowId, HostId, PortId};

use crate::transport::TimeoutPurpose;

/// A direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Direction {
    /// The direction of the flow's data.
    Flow,
    /// The direction of the client's request.
    Request,
}

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Side {
    Sender,
    Receiver,
}

impl Side {
    /// Returns the other end; a request goes from a flow's receiver to its sender.
    pub fn other(self) -> Self {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        }
    }
}

/// The line of flows that wait for a port, or [`Lane::ALL`] for the connections that wait for all ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Lane(pub u16);

impl Lane {
    pub const ALL: Self = Self(u16::MAX);
}

/// The timers of one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Timer {
    Sender,
    Receiver,
    Reorder,
}

/// An event at a host; the driver passes it to [`Hosts::handle`](crate::Hosts::handle) when it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum HostEvent {
    FlowStart(FlowId),
    /// All flows with a [`Self::FlowStart`] at this time and host start.
    StartFlows(HostId),
    /// An unlimited flow stops writing.
    FlowStop(FlowId),
    /// The receiving end learns that the sending end has ended.
    SenderEnded(FlowId),
    /// The wait for late datagrams ends.
    FlowEnd(FlowId),
    /// The gap before the next message is over.
    NextMessage(FlowId),
    /// A timer of one direction of the flow's connection expires.
    Timer(FlowId, Direction, Timer),
    /// The server starts its response.
    Answer(FlowId),
    /// A packet has passed the receive delay.
    Deliver(PacketHandle),
    /// The kernel polls the ring with packets for one end.
    Poll(FlowId, Side),
    /// A packet has passed the send delay.
    Emit(PacketHandle),
    /// The network card has drained: waiting senders can continue.
    CardDrained(HostId),
    /// A packet has passed the send delay of a host with several ports.
    EmitByPort(PacketHandle, PortId),
    /// A port has drained, or all ports have: waiting senders can continue.
    PortDrained(HostId, Lane),
    /// A port with a changing line can send its next frame.
    LineFree(HostId, PortId),
    /// A packet for a card with a queue for each class has passed the send delay.
    QueueByClass(PacketHandle),
    /// The frames in the stack of a card with a queue for each class have drained: waiting senders can continue.
    ClassTurns(HostId),
    /// A frame of a card with a queue for each class has left.
    FrameSent(HostId),
    /// The pause of a class begins.
    PauseBegins(HostId, u8),
    /// The pause of a class may be over.
    PauseEnds(HostId, u8),
    /// The count of freed credits of a class is due at the switch.
    UpdateCredits(HostId, u8),
    /// The count of consumed credits of a class is due at the switch.
    SyncCredits(HostId, u8),
    /// The switch's oldest count of freed credits takes effect.
    CreditsFreed(HostId),
    /// The host grants the next credit.
    Credit(HostId),
}

/// An end of a flow, by the host: the flow's sender or its receiver, for both directions of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEnd {
    pub flow: FlowId,
    pub side: Side,
}

/// The reason for a visit to an end of a flow, if it is not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The application starts, continues or answers.
    Application,
    /// The network card has room.
    Card,
    Sender(TimeoutPurpose),
    Receiver,
    Credit,
}

/// A step of a flow at its hosts, for [`HostEnvironment::observe`](super::HostEnvironment::observe). A packet sent is
/// an effect of the latest [`HostStep::Received`] or [`HostStep::Woken`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostStep {
    /// A packet has passed the card and the stack of its destination.
    Reached(PacketHandle),
    /// The transport of this end handles the packet, which a reorder buffer can have held.
    Received(FlowEnd, PacketHandle),
    Woken(FlowEnd, Wake),
    /// The application has written the flow's next message.
    Wrote(FlowEnd),
    /// The sender waits in line for this class of this host's network card.
    HeldBack(FlowEnd, (HostId, u8)),
    /// A packet has joined the queue of its class, in a card with flow control.
    Queued(PacketHandle),
    /// A packet leaves that queue.
    Dequeued(PacketHandle),
    /// A pause of a card's class, or its wait for credit, has begun or ended.
    CardPaused {
        host: HostId,
        class: u8,
        is_paused: bool,
    },
    /// The transport of this end has sent a packet.
    Sent(FlowEnd, PacketHandle),
    /// The last byte of this message has been delivered.
    Delivered {
        end: FlowEnd,
        group: u32,
        number: u64,
        bytes: u64,
    },
}
