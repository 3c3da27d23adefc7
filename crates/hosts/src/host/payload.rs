//! The position of a packet's payload in its flow, as layers below the transport read it from the header.

use hitless_core::wire::{PacketPairHeader, RoceOpcode, Transport, UetHeader};

/// Position of a data packet in its flow, in the transport's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Bytes(u64),
    Packets(u64),
}

/// Returns the position and length of a packet's payload; `None` without payload (an acknowledgement, a SYN).
#[inline]
pub fn payload(transport: &Transport) -> Option<(Place, u32)> {
    let (place, bytes) = match transport {
        Transport::Tcp(header) => (Place::Bytes(header.sequence), header.payload_bytes.into()),
        Transport::PacketPair(PacketPairHeader::Data(data)) => (Place::Bytes(data.sequence), data.payload_bytes.into()),
        Transport::Roce(header) if header.opcode == RoceOpcode::Write => {
            (Place::Packets(header.packet_sequence), header.payload_bytes)
        }
        Transport::Udp(header) => (Place::Packets(header.number), header.payload_bytes),
        Transport::Uet(UetHeader::Data(data)) => (Place::Packets(data.sequence), data.payload_bytes),
        Transport::PacketPair(_) | Transport::Roce(_) | Transport::Uet(_) => return None,
        Transport::CongestionNotice(_) | Transport::None => return None,
    };
    (bytes > 0).then_some((place, bytes))
}

/// Returns the position of a packet's payload, for comparison with others of its flow; `None` without payload.
pub fn position(transport: &Transport) -> Option<u64> {
    payload(transport).map(|(place, _)| match place {
        Place::Bytes(position) | Place::Packets(position) => position,
    })
}

/// Returns whether the receiving end of a connection has sent the packet: an acknowledgement, or the opening of the
/// connection on its behalf.
pub fn is_from_receiver(transport: &Transport) -> bool {
    match transport {
        // Only the end that receives data announces a window.
        Transport::Tcp(header) => header.window_bytes > 0,
        Transport::Roce(header) => header.opcode != RoceOpcode::Write,
        Transport::PacketPair(header) => matches!(header, PacketPairHeader::Acknowledgement(_)),
        Transport::Uet(header) => header.is_from_receiver(),
        // Switches notify the sender of data.
        Transport::CongestionNotice(_) => true,
        Transport::Udp(_) | Transport::None => false,
    }
}
