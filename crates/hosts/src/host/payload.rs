//! Which bytes of its flow a packet carries: what the layers below a transport read from its header.

use hitless_core::wire::{PacketPairHeader, RoceOpcode, Transport};

/// Where a data packet is in its flow, in the units in which its transport counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Bytes before it.
    Bytes(u64),
    /// Packets before it.
    Packets(u64),
}

/// The place and the length of a packet's payload; `None` for one without: an acknowledgement, a SYN.
#[inline]
pub fn payload(transport: &Transport) -> Option<(Place, u32)> {
    let (place, bytes) = match transport {
        Transport::Tcp(header) => (Place::Bytes(header.sequence), header.payload_bytes.into()),
        Transport::PacketPair(PacketPairHeader::Data(data)) => (Place::Bytes(data.sequence), data.payload_bytes.into()),
        Transport::Roce(header) if header.opcode == RoceOpcode::Write => {
            (Place::Packets(header.packet_sequence), header.payload_bytes)
        }
        Transport::Udp(header) => (Place::Packets(header.number), header.payload_bytes),
        Transport::PacketPair(_) | Transport::Roce(_) | Transport::CongestionNotice(_) | Transport::None => {
            return None;
        }
    };
    (bytes > 0).then_some((place, bytes))
}

/// Whether the end of a connection that takes data has sent a packet: an acknowledgement, or what opens the
/// connection on its behalf.
pub fn is_from_receiver(transport: &Transport) -> bool {
    match transport {
        // Only who takes data has a window to offer.
        Transport::Tcp(header) => header.window_bytes > 0,
        Transport::Roce(header) => header.opcode != RoceOpcode::Write,
        Transport::PacketPair(header) => matches!(header, PacketPairHeader::Acknowledgement(_)),
        // What a switch says, it says to who sends data.
        Transport::CongestionNotice(_) => true,
        Transport::Udp(_) | Transport::None => false,
    }
}
