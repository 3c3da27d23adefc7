//! Protections of links that a control plane may switch on and off while the run goes on.

use crate::network::topology::SwitchId;
use hitless_core::wire::PortId;
use hitless_switch::LinkEnd;

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
