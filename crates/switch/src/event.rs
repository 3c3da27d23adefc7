//! Events that mechanisms receive outside the path of a packet.

use hitless_core::wire::{OrderedSet, PortId, QueueId};

/// The state of a port as the switch knows it. Failure detection and route recovery report it, each after its delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub enum PortState {
    /// The link works, and packets use it.
    Up,
    /// The failure of the link has been detected; no backup path is known yet.
    Down,
    /// Route recovery has found a path: packets for this port must leave through `backup`.
    Rerouted {
        /// The port to use instead.
        backup: PortId,
    },
}

/// An event for mechanisms. It needs no decision and counts as a separate pass through ingress, like a generated
/// packet. All mechanisms receive it, with two exceptions: timers and commands go to one mechanism, and
/// [`Event::QueueEmpty`] to subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "ports, queues and packets are named so")]
pub enum Event {
    /// The control plane starts: the time for bootstrap packets and the like. A run resumed from a checkpoint does not
    /// repeat it, because its effects are state.
    Start,
    /// A timer of [`Context::wake_at`](crate::Context::wake_at) has expired. [`TimerToken::from_token`] returns the
    /// timer.
    Timer(u32),
    /// A queue has just become empty: its last packet has left to be sent.
    QueueEmpty { port: PortId, queue: QueueId },
    /// The state of a port has changed.
    PortState { port: PortId, state: PortState },
    /// A frame with a bad check sequence has come in. The MAC has dropped it, and nothing else is known about it.
    FcsError { port: PortId },
    /// The partner of a port has sent a control ordered set.
    OrderedSet { port: PortId, set: OrderedSet },
    /// A command of the control plane; the mechanism defines the number's meaning.
    Command(u32),
}

/// A timer of a mechanism. The switch keeps it as a token; only this conversion knows its bits.
pub trait TimerToken: Sized {
    /// Returns the token of a timer.
    fn to_token(&self) -> u32;

    /// Returns the timer of a token from [`Self::to_token`].
    fn from_token(token: u32) -> Self;
}

/// A mechanism may choose the tokens itself.
impl TimerToken for u32 {
    fn to_token(&self) -> u32 {
        *self
    }

    fn from_token(token: u32) -> Self {
        token
    }
}

/// A mechanism with one timer per port needs only the port.
impl TimerToken for PortId {
    fn to_token(&self) -> u32 {
        self.0.into()
    }

    fn from_token(token: u32) -> Self {
        Self(token as u16)
    }
}
