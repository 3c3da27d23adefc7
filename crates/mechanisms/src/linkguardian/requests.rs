//! Queues and timers that both ends of a link request from their switch.

use hitless_core::wire::{PortId, QueueId};
use hitless_switch::{Needs, QueueConfig};

/// Priority above normal traffic: repairs must not wait for the traffic that they repair.
pub const REPAIR_PRIORITY: u8 = 200;
/// Priority below all traffic: dummies and acknowledgements only fill gaps.
pub const FILLER_PRIORITY: u8 = 1;

/// The timer of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerKind {
    Backpressure,
    AckNumberTimeout,
    /// A sender checks for an answer.
    Answer,
    /// A receiver reads its counters.
    Monitor,
    /// A receiver checks whether its report of a loss was answered.
    Report,
    /// A receiver tests the depth of a paused queue.
    Depth,
}

pub(crate) fn timer_token(port: PortId, channel: u8, kind: TimerKind) -> u32 {
    assert!(channel < 2, "a link has two channels, and a timer one bit for them");
    u32::from(port.0) << 4 | u32::from(channel) << 3 | kind as u32
}

/// Requests another queue at `port`; returns its number.
pub(crate) fn request_queue(port: PortId, config: QueueConfig, counts: &mut [usize], wanted: &mut Needs) -> QueueId {
    let count = &mut counts[usize::from(port.0)];
    assert!(*count <= usize::from(u8::MAX), "the queues of a port are numbered by 8 bits");
    let queue = QueueId(*count as u8);
    *count += 1;
    wanted.queues.push((port, config));
    queue
}
