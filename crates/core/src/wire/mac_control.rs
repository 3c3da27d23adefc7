//! Signals between the MACs at the two ends of a link: pause frames and ordered sets.

use crate::wire::shim::{Shim, ShimId};

/// Length of a PFC frame: the minimum of Ethernet.
pub const PAUSE_FRAME_BYTES: u32 = 64;

/// The contents of a PFC frame.
///
/// It is a shim because that needs no separate packet type. The frame has no other payload, so the shim adds nothing to
/// the frame's [`PAUSE_FRAME_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct PauseFrame {
    /// The traffic class, 0-7.
    pub class: u8,
    /// Length of the pause in quanta of 512 bit times; 0 resumes, 65,535 is the longest pause.
    pub quanta: u16,
}

impl PauseFrame {
    /// Pauses `class` until it is resumed or the longest pause has passed.
    pub const fn pause(class: u8) -> Self {
        Self { class, quanta: u16::MAX }
    }

    pub const fn resume(class: u8) -> Self {
        Self { class, quanta: 0 }
    }

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

/// Time on the line of an ordered set, in bytes: one 64-bit block.
pub const ORDERED_SET_BYTES: u32 = 8;

/// The contents of an ordered set: 32 bits that its user defines.
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
