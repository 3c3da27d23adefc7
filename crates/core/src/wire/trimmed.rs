//! Trimmed packets: a switch cuts off the payload so that at least the header reaches the receiver.
//!
//! Sources: CP (Cheng et al., NSDI 2014), NDP (Handley et al., SIGCOMM 2017, section 3.1), and Ultra Ethernet's packet
//! trimming. There the switch sets a special DSCP, and the IP header keeps the original length of the packet; here a
//! shim contains both and takes no room on a link.

use crate::wire::packet::Packet;
use crate::wire::shim::{Shim, ShimId};
use crate::wire::transport::Transport;

/// The packet arrived without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct Trimmed {
    /// Original length of the frame.
    pub frame_bytes: u16,
}

impl Shim for Trimmed {
    const ID: ShimId = ShimId::new(2, 1);
    const WIRE_BYTES: u32 = 0;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.frame_bytes.to_be_bytes());
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self { frame_bytes: u16::from_be_bytes([bytes[0], bytes[1]]) }
    }
}

impl Packet {
    /// Cuts the payload off and makes the frame `frame_bytes` long. Only data can be cut, and only if the sender has
    /// declared that its receiver can handle a header alone (in Ultra Ethernet by a DSCP); here this applies to TCP,
    /// RoCE and spraying connections. Returns false and leaves the packet unchanged for any other packet, for a frame
    /// that is not longer, and for one with too many shims.
    pub fn trim(&mut self, frame_bytes: u32) -> bool {
        let is_read = matches!(self.transport, Transport::Tcp(_) | Transport::Roce(_) | Transport::Uet(_));
        let is_data = is_read && self.transport.has_payload();
        let Ok(before) = u16::try_from(self.frame_bytes) else { return false };
        if !is_data || self.frame_bytes <= frame_bytes || self.is_trimmed() {
            return false;
        }
        if self.push_shim(Trimmed { frame_bytes: before }).is_err() {
            return false;
        }
        self.frame_bytes = frame_bytes;
        true
    }

    #[inline]
    pub fn is_trimmed(&self) -> bool {
        !self.shims.is_empty() && self.shims.contains::<Trimmed>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::transport::{RoceHeader, RoceOpcode, TcpHeader, UdpHeader};
    use crate::wire::uet::{UetData, UetHeader, UetRequest};

    fn packet(transport: Transport, frame_bytes: u32) -> Packet {
        Packet { transport, frame_bytes, ..Packet::default() }
    }

    #[test]
    fn only_data_of_tcp_roce_and_uet_that_is_longer_is_cut_and_only_once() {
        let data = Transport::Tcp(TcpHeader { payload_bytes: 1_448, ..TcpHeader::default() });
        let rows = [
            (data, 1_518, true),
            (Transport::Uet(UetHeader::Data(UetData::default())), 4_150, true),
            (Transport::Roce(RoceHeader { payload_bytes: 1_024, ..RoceHeader::default() }), 1_102, true),
            (Transport::Roce(RoceHeader { opcode: RoceOpcode::Acknowledge, ..RoceHeader::default() }), 66, false),
            (Transport::Uet(UetHeader::Request(UetRequest::default())), 4_150, false),
            (data, 64, false),
            (Transport::Tcp(TcpHeader::default()), 98, false),
            (Transport::Udp(UdpHeader { payload_bytes: 1_000, ..UdpHeader::default() }), 1_046, false),
            (Transport::None, 1_518, false),
        ];
        for (transport, frame_bytes, expected) in rows {
            let before = packet(transport, frame_bytes);
            let mut cut = before;
            assert_eq!((cut.trim(64), cut.is_trimmed()), (expected, expected), "{before:?}");
            if expected {
                assert_eq!((cut.frame_bytes, cut.transport), (64, transport), "the receiver reads what it was");
                assert_eq!(cut.shims.get::<Trimmed>(), Some(Trimmed { frame_bytes: frame_bytes as u16 }));
                assert!(!cut.trim(60));
            } else {
                assert_eq!(cut, before);
            }
        }
    }
}
