//! What happens at hosts: the events that a driver hands back.

use hitless_engine::PacketHandle;
use hitless_wire::{FlowId, HostId};

/// Which way of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// That of the flow.
    Flow,
    /// The other one, on which a client asks for it.
    Request,
}

hitless_state::value!(
    enum Direction {
        Flow,
        Request,
    }
);

/// The timers of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Of the sending transport.
    Sender,
    /// Of the receiving transport.
    Receiver,
    /// Of the reorder buffer.
    Reorder,
}

hitless_state::value!(
    enum Timer {
        Sender,
        Receiver,
        Reorder,
    }
);

/// Something that happens at a host at a time. To be handed back to [`Hosts::handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The sender's timer.
    SenderTimer(FlowId),
    /// The receiver's timer.
    ReceiverTimer(FlowId),
    /// The timer of the receiving host's reorder buffer.
    ReorderTimer(FlowId),
    /// A timer of the way of the request that the flow answers.
    RequestTimer(FlowId, Timer),
    /// The server begins its answer.
    Answer(FlowId),
    /// A packet has passed the receive delay.
    Deliver(PacketHandle),
    /// The kernel polls the ring in which packets for the sender wait.
    SenderPoll(FlowId),
    /// The same for packets for the receiver.
    ReceiverPoll(FlowId),
    /// A packet has passed the send delay.
    Emit(PacketHandle),
    /// The network card has drained: senders that wait may go on.
    CardDrained(HostId),
}

hitless_state::value!(
    enum HostEvent {
        FlowStart(flow_start),
        FlowStop(flow_stop),
        SenderEnded(sender_ended),
        FlowEnd(flow_end),
        NextMessage(next_message),
        SenderTimer(sender_timer),
        ReceiverTimer(receiver_timer),
        ReorderTimer(reorder_timer),
        RequestTimer(a, b),
        Answer(answer),
        Deliver(deliver),
        SenderPoll(sender_poll),
        ReceiverPoll(receiver_poll),
        Emit(emit),
        CardDrained(card_drained),
    }
);

impl Timer {
    /// The event of this timer on one way of a flow.
    pub fn event(self, flow: FlowId, direction: Direction) -> HostEvent {
        match (direction, self) {
            (Direction::Request, timer) => HostEvent::RequestTimer(flow, timer),
            (Direction::Flow, Timer::Sender) => HostEvent::SenderTimer(flow),
            (Direction::Flow, Timer::Receiver) => HostEvent::ReceiverTimer(flow),
            (Direction::Flow, Timer::Reorder) => HostEvent::ReorderTimer(flow),
        }
    }
}
