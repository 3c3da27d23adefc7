//! The mechanisms that a kind builds for a run, and the commands of the control plane to them.

use hitless_core::wire::{Bytes, PortId, Time};
use hitless_switch::{LinkEnd, Mechanism};

use crate::network::topology::SwitchId;

/// Mechanisms, each with its switch. A switch has one mechanism for each kind, or one for each entry.
pub type Built = Vec<(SwitchId, Box<dyn Mechanism>)>;

/// Boxes a mechanism of a switch, for [`Built`].
pub fn built<M: Mechanism + 'static>((switch, mechanism): (SwitchId, M)) -> (SwitchId, Box<dyn Mechanism>) {
    (switch, Box::new(mechanism))
}

/// A command of the control plane to the mechanism that an entry has built on a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlCommand {
    pub at: Time,
    pub switch: SwitchId,
    /// Number of the command, defined by the mechanism.
    pub number: u32,
}

/// Limit of the queue of a recirculation port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecirculationLimit {
    pub switch: SwitchId,
    /// The number of the recirculation port at the switch.
    pub port: u16,
    /// The limit; if several mechanisms share the port, the maximum applies.
    pub most: Bytes,
}

/// A command to one end of a protected link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtectionOrder {
    /// Protect the link.
    On {
        /// Number of copies sent of each lost packet, at least 1.
        copies: u8,
        /// Whether packets keep their order.
        keeps_order: bool,
    },
    /// Stop protecting it.
    Off,
}

/// One end of a protected link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    pub switch: SwitchId,
    pub port: PortId,
    /// Whether it is the sending or the receiving end.
    pub end: LinkEnd,
}
