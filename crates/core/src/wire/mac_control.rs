//! Signals between the MACs at the two ends of a link: pause frames, messages about credits, and ordered sets.

use crate::wire::shim::{Shim, ShimId, ShimStack};

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

/// A message about the credits of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditMessage {
    /// The traffic class, 0-7.
    pub class: u8,
    pub kind: CreditCount,
    /// The count, in 20 bits.
    pub count: u32,
}

/// The contents of a [`CreditMessage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditCount {
    /// From the receiver of frames: its count of freed credits, as an ordered set (CF_Update).
    Freed,
    /// From the sender of frames: its count of consumed credits, as a frame (CC_Update).
    Consumed,
}

/// Length of the frame with a count of consumed credits: the minimum of Ethernet.
pub const CREDIT_SYNC_BYTES: u32 = 64;

impl CreditMessage {
    /// Puts the message on `shims`, below a [`PauseFrame`]: a MAC looks for that shim only.
    pub fn put(self, shims: &mut ShimStack) {
        let is_put = shims.push(self).and_then(|()| shims.push(PauseFrame::resume(self.class)));
        is_put.expect("a message about credits carries no other shim");
    }

    /// Returns the bytes of the message without overhead.
    pub const fn frame_bytes(&self) -> u32 {
        match self.kind {
            CreditCount::Freed => ORDERED_SET_BYTES,
            CreditCount::Consumed => CREDIT_SYNC_BYTES,
        }
    }

    /// Returns the time on the line in bytes. Preamble and gap belong to frames only.
    pub const fn line_bytes(&self, overhead_bytes: u32) -> u32 {
        match self.kind {
            CreditCount::Freed => ORDERED_SET_BYTES,
            CreditCount::Consumed => CREDIT_SYNC_BYTES + overhead_bytes,
        }
    }
}

impl Shim for CreditMessage {
    const ID: ShimId = ShimId::new(5, 2);
    const WIRE_BYTES: u32 = 0;

    fn emit(&self, bytes: &mut [u8]) {
        let is_consumed = self.kind == CreditCount::Consumed;
        bytes[0] = self.class | if is_consumed { 1 << 7 } else { 0 };
        bytes[1..5].copy_from_slice(&self.count.to_be_bytes());
    }

    fn parse(bytes: &[u8]) -> Self {
        let kind = if bytes[0] >> 7 == 1 { CreditCount::Consumed } else { CreditCount::Freed };
        let count = u32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
        Self { class: bytes[0] & 7, kind, count }
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
        for kind in [CreditCount::Freed, CreditCount::Consumed] {
            let message = CreditMessage { class: 7, kind, count: (1 << 20) - 1 };
            let mut shims = ShimStack::default();
            message.put(&mut shims);
            assert_eq!(shims.get::<CreditMessage>(), Some(message));
            assert!(shims.contains::<PauseFrame>());
        }
    }
}
