//! The timers of the two ends of a link.

use hitless_core::wire::PortId;

/// The owner of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    Transmitter,
    Receiver,
}

pub(crate) fn timer_token(port: PortId, timer: Timer) -> u32 {
    u32::from(port.0) << 1 | u32::from(timer == Timer::Receiver)
}
