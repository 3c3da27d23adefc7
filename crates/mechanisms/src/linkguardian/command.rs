//! Commands of the control plane for an end of a link, and their encoding as a number.

use hitless_core::wire::PortId;
use hitless_switch::LinkEnd;

use super::settings::Mode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Protect the link, as configured or last commanded.
    Activate,
    /// Protect the link with this number of copies per lost packet, at least 1. Copies and mode only affect the sender.
    Protect {
        /// Retransmitted copies per lost packet; see [`copies_for`](super::parameters::copies_for).
        copies: u8,
        mode: Mode,
    },
    /// Stop protecting the link; buffered packets are still acknowledged or retransmitted.
    Deactivate,
}

/// A command of the control plane. On a port with both directions protected it addresses one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    pub port: PortId,
    pub end: LinkEnd,
    pub action: Action,
}

impl Command {
    /// The encoding of the command for a switch: bit 0 on or off, 16 bits of port, 8 of copies (0: unchanged), one bit
    /// for the mode and one for the end.
    pub fn number(self) -> u32 {
        let Command { port: PortId(port), end, action } = self;
        let what = match action {
            Action::Deactivate => 0,
            Action::Activate => 1,
            Action::Protect { copies, mode } => {
                u32::from(mode == Mode::NonBlocking) << 25 | u32::from(copies) << 17 | 1
            }
        };
        u32::from(end == LinkEnd::Receiver) << 26 | u32::from(port) << 1 | what
    }

    pub(super) fn from_number(number: u32) -> Self {
        let (is_active, copies) = (number & 1 == 1, (number >> 17) as u8);
        let mode = if number >> 25 & 1 == 1 { Mode::NonBlocking } else { Mode::Blocking };
        let action = match (is_active, copies) {
            (false, _) => Action::Deactivate,
            (true, 0) => Action::Activate,
            (true, _) => Action::Protect { copies, mode },
        };
        let end = if number >> 26 & 1 == 1 { LinkEnd::Receiver } else { LinkEnd::Sender };
        Command { port: PortId((number >> 1) as u16), end, action }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_its_number() {
        let protect = |copies, mode| Action::Protect { copies, mode };
        let actions =
            [Action::Activate, Action::Deactivate, protect(1, Mode::Blocking), protect(255, Mode::NonBlocking)];
        for port in [PortId(0), PortId(1), PortId(u16::MAX)] {
            for (end, action) in
                actions.iter().flat_map(|&action| [(LinkEnd::Sender, action), (LinkEnd::Receiver, action)])
            {
                let command = Command { port, end, action };
                assert_eq!(Command::from_number(command.number()), command);
            }
        }
    }
}
