//! The timers of a port with two groups of queues.

use hitless_core::wire::PortId;
use hitless_switch::TimerToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Swap(PortId),
    /// The end of a period with this number, below [`PERIODS`].
    Period(PortId, u16),
}

/// The number of periods before their numbers repeat.
pub(super) const PERIODS: u16 = 1 << 15;

/// 16 bits of port, one for the end of a period, 15 of its number.
impl TimerToken for Timer {
    fn to_token(&self) -> u32 {
        match *self {
            Self::Swap(port) => u32::from(port.0) << 16,
            Self::Period(port, number) => {
                assert!(number < PERIODS, "periods are numbered by 15 bits");
                u32::from(port.0) << 16 | u32::from(PERIODS | number)
            }
        }
    }

    fn from_token(token: u32) -> Self {
        let (port, low) = (PortId((token >> 16) as u16), token as u16);
        if low & PERIODS == 0 { Self::Swap(port) } else { Self::Period(port, low & (PERIODS - 1)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_survives_its_token() {
        let ports = [0, 1, u16::MAX].map(PortId);
        let of_port = |port| [Timer::Swap(port), Timer::Period(port, 0), Timer::Period(port, PERIODS - 1)];
        hitless_switch::testing::assert_tokens(ports.into_iter().flat_map(of_port));
    }
}
