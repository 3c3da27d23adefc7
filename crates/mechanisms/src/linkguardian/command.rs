//! What the control plane may tell one end of a link, and the number by which a switch passes it on.

use hitless_core::wire::PortId;
use hitless_switch::LinkEnd;

use super::settings::Mode;

/// What the control plane has one end of a link do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Protect the link, as configured or last told.
    Activate,
    /// Protect the link with so many copies of each lost packet, from 1 on. What is told here decides at the sender
    /// alone.
    Protect {
        /// Copies retransmitted per lost packet; see [`copies_for`](super::parameters::copies_for).
        copies: u8,
        /// In-order delivery or not.
        mode: Mode,
    },
    /// Stop protecting it; what is buffered is still acknowledged or retransmitted.
    Deactivate,
}

/// A command of the control plane. Of a port on which both directions are protected it reaches one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The port of the link.
    pub port: PortId,
    /// Which end of the link the port is.
    pub end: LinkEnd,
    /// What it is to do.
    pub action: Action,
}

impl Command {
    /// The number by which a switch passes the command on: bit 0 on or off, 16 bits of port, 8 of copies (0: as they
    /// are), one for the mode and one for the end.
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

    /// The command that a number stands for.
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
