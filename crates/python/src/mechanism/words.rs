//! Arguments and results of a Python hook: verdicts, reasons, events.

use hitless_core::wire::{Duration, PortId, QueueId};
use hitless_switch::{DropReason, Event, PortState, Verdict};
use pyo3::prelude::*;
use strum::VariantArray;

/// Reasons why a packet ends in a switch: those of [`DropReason`], in their order.
#[pyclass(
    eq,
    frozen,
    hash,
    from_py_object,
    module = "hitless._native",
    name = "DropReason",
    rename_all = "SCREAMING_SNAKE_CASE"
)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, VariantArray)]
pub enum ReasonView {
    /// Its queue was at its limit.
    QueueFull,
    /// The shared buffer had no room for its queue.
    BufferFull,
    /// No route to its destination.
    NoRoute,
    /// Its time to live ran out.
    TimeToLive,
    /// A mechanism dropped it: the packet is lost.
    Mechanism,
    /// It had been admitted, and was evicted for another packet.
    Evicted,
    /// It had waited too long in its queue.
    QueueingDelay,
    /// It was sent to an unknown port or queue, or to a group without copies.
    Nowhere,
    /// A second copy; nothing is lost.
    Duplicate,
    /// A copy that was not needed; nothing is lost.
    CopyRetired,
    /// A control packet that has done its work; nothing is lost.
    ControlAbsorbed,
    /// The other end of the link will retransmit it; nothing is lost.
    OutOfSequence,
}

impl ReasonView {
    /// Converts a reason of a switch.
    pub fn of(reason: DropReason) -> Self {
        Self::VARIANTS[reason as usize]
    }

    /// Converts to a reason of a switch.
    pub fn reason(self) -> DropReason {
        DropReason::ALL[self as usize]
    }
}

/// A hook's decision about its packet.
#[pyclass(eq, frozen, hash, module = "hitless._native", name = "Verdict")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VerdictView {
    decided: Decided,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Decided {
    Continue,
    Forward { port: u16, queue: u8 },
    Hold { port: u16, queue: u8, duration_ps: u64 },
    Drop(ReasonView),
}

impl VerdictView {
    /// Converts to a verdict of a switch.
    pub fn verdict(&self) -> Verdict {
        match self.decided {
            Decided::Continue => Verdict::Continue,
            Decided::Forward { port, queue } => Verdict::Forward { port: PortId(port), queue: QueueId(queue) },
            Decided::Hold { port, queue, duration_ps } => {
                Verdict::Hold { port: PortId(port), queue: QueueId(queue), duration: Duration(duration_ps) }
            }
            Decided::Drop(reason) => Verdict::Drop(reason.reason()),
        }
    }
}

#[pymethods]
impl VerdictView {
    /// The packet continues.
    #[classattr]
    const CONTINUE: Self = Self { decided: Decided::Continue };

    /// The packet goes to this queue at once.
    #[staticmethod]
    const fn forward(port: u16, queue: u8) -> Self {
        Self { decided: Decided::Forward { port, queue } }
    }

    /// Like `forward`, to a queue that holds the packet for a time. Only from egress.
    #[staticmethod]
    const fn hold(port: u16, queue: u8, duration_ps: u64) -> Self {
        Self { decided: Decided::Hold { port, queue, duration_ps } }
    }

    /// The packet ends here.
    #[staticmethod]
    #[pyo3(signature = (reason=ReasonView::Mechanism))]
    const fn drop(reason: ReasonView) -> Self {
        Self { decided: Decided::Drop(reason) }
    }
}

/// An event for a mechanism, apart from packets.
#[pyclass(frozen, module = "hitless._native", name = "Event")]
pub enum EventView {
    /// The control plane's start.
    Start(),
    /// A timer of `Context.wake_at` has expired.
    Timer {
        /// The token that was passed to `wake_at`.
        token: u32,
    },
    /// A queue has just become empty.
    QueueEmpty {
        /// The port.
        port: u16,
        /// Its queue.
        queue: u8,
    },
    /// A port has changed its state.
    PortState {
        /// The port.
        port: u16,
        /// Whether its link is whole and carries its packets.
        is_up: bool,
        /// The port that carries its packets instead, if known.
        backup: Option<u16>,
    },
    /// A frame with a bad check sequence has arrived.
    FcsError {
        /// The port at which it arrived.
        port: u16,
    },
    /// The partner of a port has sent a control ordered set.
    OrderedSet {
        /// The port.
        port: u16,
    },
    /// A command of the control plane.
    Command {
        /// Its number, defined by the mechanism.
        number: u32,
    },
}

impl EventView {
    /// Converts an event of a switch.
    pub fn of(event: Event) -> Self {
        match event {
            Event::Start => Self::Start(),
            Event::Timer(token) => Self::Timer { token },
            Event::QueueEmpty { port, queue } => Self::QueueEmpty { port: port.0, queue: queue.0 },
            Event::PortState { port, state } => {
                let backup = if let PortState::Rerouted { backup } = state { Some(backup.0) } else { None };
                Self::PortState { port: port.0, is_up: state == PortState::Up, backup }
            }
            Event::FcsError { port } => Self::FcsError { port: port.0 },
            Event::OrderedSet { port, .. } => Self::OrderedSet { port: port.0 },
            Event::Command(number) => Self::Command { number },
        }
    }
}
