//! What both ends of a link ask of their switch: queues, and timers.

use hitless_core::wire::{PortId, QueueId};
use hitless_switch::{Needs, QueueConfig};

/// Above normal traffic: what repairs must not wait for what it repairs.
pub const REPAIR_PRIORITY: u8 = 200;
/// Below all traffic: dummies and acknowledgements fill gaps only.
pub const FILLER_PRIORITY: u8 = 1;

/// Which timer a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    Backpressure,
    AckNumberTimeout,
    /// A sender looks whether it was answered.
    Answer,
    /// A receiver looks at its counters.
    Monitor,
    /// A receiver looks whether its report of a loss was answered.
    Report,
    /// A receiver tests the depth of a paused queue.
    Depth,
}

pub(crate) fn timer_token(port: PortId, channel: u8, kind: TimerKind) -> u32 {
    assert!(channel < 2, "a link has two channels, and a timer one bit for them");
    u32::from(port.0) << 4 | u32::from(channel) << 3 | kind as u32
}

/// Asks for one more queue at `port`; returns its number.
pub(crate) fn request_queue(port: PortId, config: QueueConfig, counts: &mut [usize], wanted: &mut Needs) -> QueueId {
    let count = &mut counts[usize::from(port.0)];
    assert!(*count <= usize::from(u8::MAX), "the queues of a port are numbered by 8 bits");
    let queue = QueueId(*count as u8);
    *count += 1;
    wanted.queues.push((port, config));
    queue
}
