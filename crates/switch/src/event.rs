//! What a mechanism is told beside the way of packets.

use hitless_core::wire::{OrderedSet, PortId, QueueId};

/// The state of a port as the switch knows it: what failure detection and route recovery have told it, each after its
/// own delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub enum PortState {
    /// Its link is whole, and is the way of its packets.
    Up,
    /// The failure of its link has been detected, and no other way is known yet.
    Down,
    /// Route recovery has found a way: what would leave by the port shall leave by `backup`.
    Rerouted {
        /// The other port.
        backup: PortId,
    },
}

/// Something that a mechanism is told of and decides nothing about: a pass through ingress of its own, like that of a
/// generated packet. All mechanisms are told, but of timers and commands, which are for one, and of queues, to whose
/// being empty a mechanism subscribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The control plane's start: time for bootstrap packets and the like. A run that goes on from a checkpoint does
    /// not tell it again: what it sets up is state.
    Start,
    /// A timer of [`Context::wake_at`](crate::Context::wake_at) has run out; the token is the mechanism's.
    Timer(u32),
    /// A queue has just been emptied: its last packet has left it to be sent.
    QueueEmpty {
        /// The port.
        port: PortId,
        /// Its queue.
        queue: QueueId,
    },
    /// A port has changed its state.
    PortState {
        /// The port.
        port: PortId,
        /// What it is now.
        state: PortState,
    },
    /// A frame with a bad check sequence has come in: the MAC has dropped it, and nothing else is known of it.
    FcsError {
        /// The port by which it came.
        port: PortId,
    },
    /// The partner of a port has sent a control ordered set.
    OrderedSet {
        /// The port.
        port: PortId,
        /// What it says.
        set: OrderedSet,
    },
    /// A command of the control plane; the meaning of the number is the mechanism's.
    Command(u32),
}
