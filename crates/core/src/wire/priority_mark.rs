//! A sender's mark: the urgency of a packet for switches, and its flowlet for the receiver.
//!
//! Vertigo and Preemptive Deflection mark packets below the transport, at the sending host, with the remaining bytes of
//! their flow (Practical Packet Deflection, section 3; Vertigo, CoNEXT 2021, section 3.1), or with the bytes already
//! sent (least attained service, appendix A). Neither paper gives a format; this one is 8 bytes between IP and the
//! transport.

use crate::wire::packet::Packet;
use crate::wire::shim::{Shim, ShimId};

/// The mark that a priority tagger has written on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::state::Value)]
pub struct PriorityMark {
    /// Bytes of the flow that remain, including this packet, or bytes sent before it; 0 has the highest priority.
    pub rank_bytes: u32,
    /// Number of the flowlet within the connection, modulo 2^16: a message, or the part of a message between two
    /// pauses.
    pub flowlet: u16,
    /// Whether this is the first packet of its flowlet.
    pub is_first: bool,
    /// Number of earlier transmissions, plus the number inherited from its flowlet; at most
    /// [`Self::MOST_RETRANSMISSIONS`].
    pub retransmissions: u8,
}

impl PriorityMark {
    /// Maximum of the field `retransmissions`.
    pub const MOST_RETRANSMISSIONS: u8 = 31;

    /// The urgency that switches compare: the rank, halved with each retransmission, so that a late packet is not
    /// delayed again.
    #[inline]
    pub const fn urgency(self) -> u32 {
        self.rank_bytes >> self.retransmissions
    }
}

impl Packet {
    /// The packet's urgency: [`PriorityMark::urgency`], or 0, the highest, without a mark. So acknowledgements and
    /// control packets go first, as in Vertigo's published code.
    #[inline]
    pub fn urgency(&self) -> u32 {
        self.shims.get::<PriorityMark>().map_or(0, PriorityMark::urgency)
    }
}

impl Shim for PriorityMark {
    const ID: ShimId = ShimId::new(7, 0);
    /// 7 bytes of fields and one reserved byte, which is zero.
    const WIRE_BYTES: u32 = 8;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes[..4].copy_from_slice(&self.rank_bytes.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.flowlet.to_be_bytes());
        bytes[6] = u8::from(self.is_first) << 7 | self.retransmissions.min(Self::MOST_RETRANSMISSIONS);
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self {
            rank_bytes: u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            flowlet: u16::from_be_bytes([bytes[4], bytes[5]]),
            is_first: bytes[6] & 0x80 != 0,
            retransmissions: bytes[6] & Self::MOST_RETRANSMISSIONS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Packet;

    #[test]
    fn a_mark_is_read_back_from_its_bytes() {
        let mark = PriorityMark { rank_bytes: 0x0102_0304, flowlet: 0xa1b2, is_first: true, retransmissions: 31 };
        let mut bytes = [0xff; 7];
        mark.emit(&mut bytes);
        assert_eq!(bytes, [1, 2, 3, 4, 0xa1, 0xb2, 0x9f]);
        assert_eq!(PriorityMark::parse(&bytes), mark);
        let mut packet = Packet { frame_bytes: 1_518, ..Packet::default() };
        assert_eq!(packet.urgency(), 0);
        packet.push_shim(PriorityMark { retransmissions: 0, ..mark }).unwrap();
        assert_eq!(packet.urgency(), 0x0102_0304);
        packet.shims.replace(mark);
        assert_eq!((packet.frame_bytes, packet.remove_shim::<PriorityMark>()), (1_526, Some(mark)));
    }

    #[test]
    fn each_retransmission_halves_what_switches_go_by() {
        let urgency =
            |retransmissions| PriorityMark { rank_bytes: 40_000, retransmissions, ..Default::default() }.urgency();
        assert_eq!([0, 1, 2, 31].map(urgency), [40_000, 20_000, 10_000, 0]);
    }
}
