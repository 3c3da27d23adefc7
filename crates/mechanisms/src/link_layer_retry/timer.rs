//! The timers of the two ends of a link.

use hitless_core::wire::PortId;
use hitless_switch::TimerToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Transmitter(PortId),
    Receiver(PortId),
}

/// 16 bits of port, one of the owner.
impl TimerToken for Timer {
    fn to_token(&self) -> u32 {
        match self {
            Self::Transmitter(port) => u32::from(port.0) << 1,
            Self::Receiver(port) => u32::from(port.0) << 1 | 1,
        }
    }

    fn from_token(token: u32) -> Self {
        let port = PortId((token >> 1) as u16);
        if token & 1 == 0 { Self::Transmitter(port) } else { Self::Receiver(port) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_survives_its_token() {
        let ports = [0, 1, u16::MAX].map(PortId);
        let timers = ports.into_iter().flat_map(|port| [Timer::Transmitter(port), Timer::Receiver(port)]);
        hitless_switch::testing::assert_tokens(timers);
    }
}
