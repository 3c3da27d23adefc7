//! What the MACs at the two ends of a link tell each other: pause frames and ordered sets.

use crate::wire::shim::{Shim, ShimId};

/// A PFC frame is a minimum-size Ethernet frame.
pub const PAUSE_FRAME_BYTES: u32 = 64;

/// What a PFC frame asks of the MAC that receives it.
///
/// Carried as a shim so that it needs no packet type of its own; the frame has no other payload, hence the shim
/// adds nothing to the frame's [`PAUSE_FRAME_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct PauseFrame {
    /// The traffic class (0-7) that is meant.
    pub class: u8,
    /// Quanta of 512 bit times for which to pause; 0 resumes, 65,535 is the longest pause.
    pub quanta: u16,
}

impl PauseFrame {
    /// Pauses `class` until it is resumed or the longest time that the format can name has passed.
    pub const fn pause(class: u8) -> Self {
        Self { class, quanta: u16::MAX }
    }

    /// Lets `class` go on.
    pub const fn resume(class: u8) -> Self {
        Self { class, quanta: 0 }
    }

    /// Whether the frame resumes its class.
    pub const fn is_resume(&self) -> bool {
        self.quanta == 0
    }
}

impl Shim for PauseFrame {
    const ID: ShimId = ShimId::new(3, 2);
    const WIRE_BYTES: u32 = 0;

    fn emit(&self, bytes: &mut [u8]) {
        bytes[0] = self.class;
        bytes[1..3].copy_from_slice(&self.quanta.to_be_bytes());
    }

    fn parse(bytes: &[u8]) -> Self {
        Self { class: bytes[0], quanta: u16::from_be_bytes([bytes[1], bytes[2]]) }
    }
}

/// Bytes of the line's time that a set takes: one 64-bit block.
pub const ORDERED_SET_BYTES: u32 = 8;

/// What a set says: the 32 bits that are of use to whoever defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, crate::state::Value)]
pub struct OrderedSet(pub u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_inverts_emit() {
        for frame in [PauseFrame::pause(1), PauseFrame::resume(7)] {
            let mut bytes = [0; PauseFrame::BYTES];
            frame.emit(&mut bytes);
            assert_eq!(PauseFrame::parse(&bytes), frame);
        }
    }
}
