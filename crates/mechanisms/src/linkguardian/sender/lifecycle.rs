//! Whether the sender numbers packets, and whose wish that is.

use crate::linkguardian::headers::{Level, SequenceNumber};
use hitless_core::wire::Time;

use super::super::settings::Mode;

/// Whether packets are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) enum Phase {
    /// No.
    Off,
    /// Not yet: the receiver is to confirm where numbers begin.
    Starting {
        /// The number.
        first: SequenceNumber,
    },
    /// Yes.
    On,
    /// Yes, but nothing new is sent until the receiver has everything.
    Closing {
        /// When that is given up.
        until: Time,
    },
}

/// What has been said about protection, and what came of it.
#[derive(Debug, hitless_core::state::Value)]
pub(super) struct Lifecycle {
    pub phase: Phase,
    /// What the control plane wants.
    pub is_commanded: bool,
    pub commanded_mode: Mode,
    /// What the receiver asks for.
    pub level: Level,
    pub is_armed: bool,
    /// What was acknowledged when the last probe was due.
    pub seen_at_probe: Option<SequenceNumber>,
}

impl Lifecycle {
    pub fn new(is_commanded: bool, mode: Mode, handshake: bool) -> Self {
        let phase = if is_commanded && !handshake { Phase::On } else { Phase::Off };
        let level = Level::AsCommanded;
        Self { phase, is_commanded, commanded_mode: mode, level, is_armed: false, seen_at_probe: None }
    }

    /// Whether packets are to be kept in order.
    pub fn mode(&self) -> Mode {
        if self.level == Level::AsCommanded { self.commanded_mode } else { Mode::NonBlocking }
    }

    pub fn is_wanted(&self) -> bool {
        self.is_commanded && self.level != Level::Off
    }
}
