//! The phase of the sender's numbering, and the wishes that decide it.

use crate::linkguardian::headers::{Level, SequenceNumber};
use hitless_core::wire::Time;

use super::super::settings::Mode;

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) enum Phase {
    Off,
    /// Packets are not numbered yet: the receiver must confirm the first number.
    Starting {
        first: SequenceNumber,
    },
    On,
    /// Packets are numbered, but nothing new is sent until the receiver has everything.
    Closing {
        until: Time,
    },
}

/// Commands and requests about protection, and the resulting phase.
#[derive(Debug, hitless_core::state::Value)]
pub(super) struct Lifecycle {
    pub phase: Phase,
    /// Whether the control plane wants protection.
    pub is_commanded: bool,
    pub commanded_mode: Mode,
    pub level: Level,
    pub is_armed: bool,
    /// The latest acknowledgement when the last probe was due.
    pub seen_at_probe: Option<SequenceNumber>,
    /// The number of probes since the latest acknowledgement.
    pub unanswered_probes: u64,
}

impl Lifecycle {
    pub fn new(is_commanded: bool, mode: Mode, handshake: bool) -> Self {
        let phase = if is_commanded && !handshake { Phase::On } else { Phase::Off };
        let level = Level::AsCommanded;
        Self {
            phase,
            is_commanded,
            commanded_mode: mode,
            level,
            is_armed: false,
            seen_at_probe: None,
            unanswered_probes: 0,
        }
    }

    /// The mode in effect: a lower level than commanded drops the order.
    pub fn mode(&self) -> Mode {
        if self.level == Level::AsCommanded { self.commanded_mode } else { Mode::NonBlocking }
    }

    pub fn is_wanted(&self) -> bool {
        self.is_commanded && self.level != Level::Off
    }
}
