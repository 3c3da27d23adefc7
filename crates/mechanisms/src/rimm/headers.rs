//! Headers that RIMM's switches exchange on packets (Lin, Hung and Wen, IEEE Access 2022).
//!
//! Each header follows the Ethernet header and begins with a separate EtherType; the packet's original type comes
//! behind it. These two bytes are counted in [`Shim::WIRE_BYTES`] and not stored, because the kind of the shim implies
//! them. A packet carries at most one of the three headers: on a detoured packet, the depth is a field of the detour
//! header.

use hitless_core::wire::link::{LinkHeader, LinkHeaders, parse};
use hitless_core::wire::packet::{MINIMUM_FRAME_BYTES, Packet, PortId};
use hitless_core::wire::shim::{Shim, ShimId, ShimStack};
use hitless_core::wire::transport::Transport;

const ETHER_TYPE_BYTES: u32 = 2;

/// The headers on links between processes, at most one per packet.
pub static ON_LINKS: LinkHeaders = LinkHeaders {
    headers: &[
        LinkHeader::new::<DetourHeader>(6, |bytes, stack| parse(bytes, stack, |_: &DetourHeader| true)).off_path(),
        LinkHeader::new::<TelemetryHeader>(7, |bytes, stack| parse(bytes, stack, |_: &TelemetryHeader| true)),
        LinkHeader::new::<MessageHeader>(8, |bytes, stack| parse(bytes, stack, |_: &MessageHeader| true))
            .off_path()
            .truncating_payload(),
    ],
    may_combine: |shims, has_packet| {
        let [detoured, telemetry, message] =
            [shims.contains::<DetourHeader>(), shims.contains::<TelemetryHeader>(), shims.contains::<MessageHeader>()];
        has_packet && u8::from(detoured) + u8::from(telemetry) + u8::from(message) == 1
    },
    is_retransmission: |_| false,
};

/// The header of a detoured packet (section III-B: 32 bits of number; the paper leaves the other fields open).
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct DetourHeader {
    /// Position among the detoured packets of the slot; wraps.
    pub sequence: u32,
    /// The switch that assigned the number. Only this switch may release the packet.
    pub origin: u8,
    pub detours: u8,
    pub depth_segments: u16,
}

impl Shim for DetourHeader {
    const ID: ShimId = ShimId::new(8, 0);
    const WIRE_BYTES: u32 = Self::BYTES as u32 + ETHER_TYPE_BYTES;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes[0..4].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[4] = self.origin;
        bytes[5] = self.detours;
        bytes[6..8].copy_from_slice(&self.depth_segments.to_be_bytes());
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self {
            sequence: u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            origin: bytes[4],
            detours: bytes[5],
            depth_segments: u16::from_be_bytes([bytes[6], bytes[7]]),
        }
    }
}

/// In-band telemetry on any packet from one switch to another (section III-A, detouring-port selector).
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct TelemetryHeader {
    /// Depth of the queue that the packet left, at the port towards the reading switch.
    pub depth_segments: u16,
}

impl Shim for TelemetryHeader {
    const ID: ShimId = ShimId::new(2, 0);
    const WIRE_BYTES: u32 = Self::BYTES as u32 + ETHER_TYPE_BYTES;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.depth_segments.to_be_bytes());
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self { depth_segments: u16::from_be_bytes([bytes[0], bytes[1]]) }
    }
}

/// The message with a depth from egress of a switch to its ingress, through a neighbour (section III-A, microburst
/// detector).
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct MessageHeader {
    /// The switch that sent the message and reads it.
    pub origin: u8,
    /// The port of the queue, below [`Self::PORTS`].
    pub port: PortId,
    /// Whether it repeats that the queue is above its threshold, without a crossing.
    pub is_repeated: bool,
    pub depth_segments: u16,
}

impl Shim for MessageHeader {
    const ID: ShimId = ShimId::new(5, 0);
    const WIRE_BYTES: u32 = Self::BYTES as u32 + ETHER_TYPE_BYTES;

    fn emit(&self, bytes: &mut [u8]) {
        bytes[0] = self.origin;
        bytes[1..3].copy_from_slice(&(self.port.0 | u16::from(self.is_repeated) << 15).to_be_bytes());
        bytes[3..5].copy_from_slice(&self.depth_segments.to_be_bytes());
    }

    fn parse(bytes: &[u8]) -> Self {
        Self {
            origin: bytes[0],
            port: PortId(u16::from_be_bytes([bytes[1] & 0x7f, bytes[2]])),
            is_repeated: bytes[1] & 0x80 != 0,
            depth_segments: u16::from_be_bytes([bytes[3], bytes[4]]),
        }
    }
}

impl MessageHeader {
    pub const PORTS: u16 = 1 << 15;

    /// Turns a copy of `packet` into a message: its headers without payload, so that it takes the same path.
    pub fn put_on_copy(self, packet: &mut Packet) {
        packet.transport = Transport::None;
        packet.shims = ShimStack::default();
        packet.frame_bytes = MINIMUM_FRAME_BYTES - Self::WIRE_BYTES;
        packet.push_shim(self).expect("an empty stack has room");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any bytes parse, every bit has a meaning, and the meaning survives being written.
        #[test]
        fn emit_inverts_parse(bytes in any::<[u8; 8]>()) {
            let mut again = [0; 8];
            DetourHeader::parse(&bytes).emit(&mut again);
            prop_assert_eq!(again, bytes);
            TelemetryHeader::parse(&bytes[..2]).emit(&mut again[..2]);
            MessageHeader::parse(&bytes[3..]).emit(&mut again[3..]);
            prop_assert_eq!(again, bytes);
        }

        #[test]
        fn parse_inverts_emit(
            sequence: u32,
            origin: u8,
            detours: u8,
            depth_segments: u16,
            port: u16,
            is_repeated: bool,
        ) {
            let detour = DetourHeader { sequence, origin, detours, depth_segments };
            let telemetry = TelemetryHeader { depth_segments };
            let port = PortId(port % MessageHeader::PORTS);
            let message = MessageHeader { origin, port, is_repeated, depth_segments };
            let mut packet = Packet { frame_bytes: 1_518, ..Packet::default() };
            packet.push_shim(detour).unwrap();
            packet.push_shim(telemetry).unwrap();
            packet.push_shim(message).unwrap();
            prop_assert_eq!(packet.frame_bytes, 1_518 + 10 + 4 + 7);
            prop_assert_eq!(packet.remove_shim(), Some(detour));
            prop_assert_eq!(packet.remove_shim(), Some(telemetry));
            prop_assert_eq!(packet.remove_shim(), Some(message));
            prop_assert_eq!(packet.frame_bytes, 1_518);
        }
    }

    #[test]
    fn a_message_has_the_headers_of_a_packet_and_nothing_else() {
        let mut packet = Packet { frame_bytes: 1_518, flow_hash: 7, ttl: 60, ..Packet::default() };
        packet.push_shim(DetourHeader { sequence: 1, origin: 2, detours: 3, depth_segments: 4 }).unwrap();
        let message = MessageHeader { origin: 2, port: PortId(5), is_repeated: false, depth_segments: 20_001 };
        message.put_on_copy(&mut packet);
        assert_eq!((packet.frame_bytes, packet.flow_hash, packet.ttl), (64, 7, 60));
        assert_eq!(packet.shims.iter().count(), 1);
        assert_eq!(packet.shims.get(), Some(message));
    }
}
