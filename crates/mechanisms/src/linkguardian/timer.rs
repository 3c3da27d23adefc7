//! The timers of the two ends of a link.

use hitless_core::wire::PortId;
use hitless_switch::TimerToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub port: PortId,
    pub channel: u8,
    pub kind: TimerKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerKind {
    Backpressure,
    AckNumberTimeout,
    Answer,
    Monitor,
    /// A receiver checks whether its report of a loss was answered.
    Report,
    /// A receiver tests the depth of a paused queue.
    Depth,
}

const KINDS: [TimerKind; 6] = {
    use TimerKind::*;
    [Backpressure, AckNumberTimeout, Answer, Monitor, Report, Depth]
};

/// 16 bits of port, one of channel, three of kind.
impl TimerToken for Timer {
    fn to_token(&self) -> u32 {
        assert!(self.channel < 2, "a link has two channels, and a timer one bit for them");
        u32::from(self.port.0) << 4 | u32::from(self.channel) << 3 | self.kind as u32
    }

    fn from_token(token: u32) -> Self {
        let (port, channel) = (PortId((token >> 4) as u16), (token >> 3 & 1) as u8);
        Self { port, channel, kind: KINDS[(token & 7) as usize] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_survives_its_token() {
        let ends = [0, 1, u16::MAX].into_iter().flat_map(|port| [(PortId(port), 0), (PortId(port), 1)]);
        let timers = ends.flat_map(|(port, channel)| KINDS.map(|kind| Timer { port, channel, kind }));
        hitless_switch::testing::assert_tokens(timers);
    }
}
