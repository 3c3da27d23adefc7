//! Headers that mechanisms put on packets.

use std::collections::BTreeSet;

use crate::network::topology::select::SwitchPort;
use hitless_core::wire::{Shim, ShimStack};

/// Headers that a mechanism writes on a packet, and where the packet bears them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What they are, as messages call it. Headers of one name are the same headers: whoever finds them there writes
    /// no others.
    pub of: &'static str,
    /// Their length in the descriptor of a packet, each with the byte of its kind.
    pub bytes: usize,
    /// Where packets bear them.
    pub reach: Reach,
}

/// Where packets bear a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// From switch to switch, wherever they go.
    Everywhere,
    /// At these ports, whatever else packets bear there.
    Along(BTreeSet<SwitchPort>),
    /// At these ports, or on the links of these: a packet bears one header of this reach at a time.
    OneHop(Vec<SwitchPort>),
}

impl Header {
    /// A header of the type `S`.
    pub const fn of<S: Shim>(of: &'static str, reach: Reach) -> Self {
        Self { of, bytes: ShimStack::needed_bytes::<S>(), reach }
    }

    /// Another beside it, of the type `S`.
    #[must_use]
    pub fn and<S: Shim>(self) -> Self {
        Self { bytes: self.bytes + ShimStack::needed_bytes::<S>(), ..self }
    }
}
