//! The timers of a port whose packets change their way.

use hitless_core::wire::PortId;
use hitless_switch::TimerToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Hold {
        primary: PortId,
        number: u16,
    },
    /// The control plane looks after copies.
    Look {
        primary: PortId,
        number: u16,
    },
}

const LOOK: u32 = 1 << 31;

/// The top bit marks a look. The bits below it hold 15 bits of port and 16 of the number.
impl TimerToken for Timer {
    fn to_token(&self) -> u32 {
        let (Self::Hold { primary, number } | Self::Look { primary, number }) = *self;
        assert!(primary.0 < 1 << 15, "the token has 15 bits for a port");
        let look = if matches!(self, Self::Look { .. }) { LOOK } else { 0 };
        look | u32::from(primary.0) << 16 | u32::from(number)
    }

    fn from_token(token: u32) -> Self {
        let (primary, number) = (PortId(((token & !LOOK) >> 16) as u16), token as u16);
        if token & LOOK == 0 { Self::Hold { primary, number } } else { Self::Look { primary, number } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_survives_its_token() {
        let changes = [(0, 0), (1, u16::MAX), ((1 << 15) - 1, 1)].map(|(port, number)| (PortId(port), number));
        let timers = changes
            .into_iter()
            .flat_map(|(primary, number)| [Timer::Hold { primary, number }, Timer::Look { primary, number }]);
        hitless_switch::testing::assert_tokens(timers);
    }
}
