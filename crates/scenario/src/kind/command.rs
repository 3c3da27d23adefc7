//! What a kind makes of its entries for a run, and what the control plane tells them.

use hitless_core::wire::{Bytes, PortId, Time};
use hitless_switch::{LinkEnd, Mechanism};

use crate::network::topology::SwitchId;

/// Mechanisms, each with its switch. A switch has one of a kind, or one of each entry.
pub type Built = Vec<(SwitchId, Box<dyn Mechanism>)>;

/// A mechanism of a switch, for [`Built`].
pub fn built<M: Mechanism + 'static>((switch, mechanism): (SwitchId, M)) -> (SwitchId, Box<dyn Mechanism>) {
    (switch, Box::new(mechanism))
}

/// A command of the control plane for what an entry has built on a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlCommand {
    /// When.
    pub at: Time,
    /// The switch.
    pub switch: SwitchId,
    /// What the mechanism knows the command by.
    pub number: u32,
}

/// What the queue of a recirculation port may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecirculationLimit {
    /// The switch.
    pub switch: SwitchId,
    /// The number of the recirculation port there.
    pub port: u16,
    /// The limit; the largest counts where several share the port.
    pub most: Bytes,
}

/// What one end of a protected link is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtectionOrder {
    /// To protect it.
    On {
        /// Copies sent of each lost packet, from 1 on.
        copies: u8,
        /// Whether packets keep their order.
        keeps_order: bool,
    },
    /// To stop.
    Off,
}

/// One end of a protected link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The switch there.
    pub switch: SwitchId,
    /// Its port.
    pub port: PortId,
    /// Which end.
    pub end: LinkEnd,
}
