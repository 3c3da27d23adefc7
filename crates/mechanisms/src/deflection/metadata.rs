//! Metadata between the two halves of a switch that deflects (Practical Packet Deflection, sections 4.1 and 4.2).
//!
//! Both kinds stay within a switch and never go on a link. The authors' program puts the second into a separate packet
//! of 72 bytes on the recirculation port.

use hitless_core::wire::shim::{Shim, ShimId};

/// The new moving average of a queue's ranks, which a packet carries from ingress to egress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct CarriedMean(pub u32);

hitless_core::metadata_number!(CarriedMean, ShimId::new(4, 3));

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct QueueState {
    pub index: u16,
    pub is_full: bool,
    pub depth_bytes: u32,
    pub mean_rank: u32,
}

impl Shim for QueueState {
    const ID: ShimId = ShimId::new(11, 0);
    const WIRE_BYTES: u32 = 0;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes[..2].copy_from_slice(&self.index.to_be_bytes());
        bytes[2] = u8::from(self.is_full);
        bytes[3..7].copy_from_slice(&self.depth_bytes.to_be_bytes());
        bytes[7..11].copy_from_slice(&self.mean_rank.to_be_bytes());
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            index: u16::from_be_bytes([bytes[0], bytes[1]]),
            is_full: bytes[2] != 0,
            depth_bytes: word(3),
            mean_rank: word(7),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::wire::Packet;

    #[test]
    fn both_are_read_back_and_take_no_room_on_a_line() {
        let state = QueueState { index: 511, is_full: true, depth_bytes: 0x0102_0304, mean_rank: 0xfffe_fdfc };
        let mut packet = Packet { frame_bytes: 72, ..Packet::default() };
        packet.push_shim(state).unwrap();
        packet.push_shim(CarriedMean(0x0a0b_0c0d)).unwrap();
        assert_eq!((packet.frame_bytes, packet.shims.get::<QueueState>()), (72, Some(state)));
        assert_eq!(packet.remove_shim::<CarriedMean>(), Some(CarriedMean(0x0a0b_0c0d)));
    }
}
