//! Frames of a simulation as bytes, and files of them.
//!
//! [`Flow::frame`] writes the headers of a packet as they would be on a link, with correct checksums. The payload is
//! zeros. [`pcapng`] writes the blocks of a capture file.
//!
//! Host number n, counted from 1, has the address 10.0.0.0 + n and the hardware address 02:00 followed by these four
//! bytes, as in a lab. A flow has one port of a client, 1,024 + its number modulo 64,512.
//!
//! TCP, UDP, RoCEv2 and pause frames have their formats on Ethernet. Three transports have formats of hitless over UDP,
//! because no standard layout fits their fields ([`own`]). A packet with headers of mechanisms has the format of a live
//! link ([`crate::wire::link`]).
//!
//! A frame is as long as the simulator counts, or longer if its headers do not fit; [`FrameBytes::counted_bytes`] then
//! differs from its length.

mod headers;
mod own;
pub mod pcapng;
mod real;
mod roce;
mod tcp;

pub use headers::{FrameBytes, control_frame, protocol};
pub use own::{NOTICE_PORT, PACKET_PAIR_PORT, SPRAYING_PORT};
pub use real::{header_bytes, real_frame};
pub use roce::PORT as ROCE_PORT;

use crate::wire::checksum::CRC_32;
use crate::wire::link::LinkHeaderSet;
use crate::wire::packet::{HostId, Packet, ServiceKey};
use crate::wire::transport::{TcpHeader, Transport, UdpHeader};
use crate::wire::trimmed::Trimmed;
use headers::Datagram;

/// Port of a server without a service. Its flows beyond the first 64,512 have the next ports.
const SERVER_PORT: u32 = 5_001;
/// First port of clients.
const CLIENT_PORTS_FROM: u32 = 1_024;
const CLIENT_PORTS: u32 = 0x1_0000 - CLIENT_PORTS_FROM;

/// The facts about a flow that are on its packets' wire but not in their descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::state::Value)]
pub struct Flow {
    /// The host that was connected to; the other host is the client.
    pub server: HostId,
    pub service: ServiceKey,
    /// Maximum segment size, which a SYN announces.
    pub mss_bytes: u16,
    /// Bytes of the client's request, which precedes the server's data; 0 without a request.
    pub request_bytes: u32,
}

impl Flow {
    /// Writes the frame of a packet of this flow. `spoken` has the headers of mechanisms on links. Without `is_whole`
    /// the checksum after a payload is left out.
    pub fn frame(&self, packet: &Packet, spoken: &LinkHeaderSet, is_whole: bool) -> FrameBytes {
        let mut datagram = Datagram::new(packet, self.service.vlan, spoken);
        match &packet.transport {
            Transport::Tcp(header) => self.put_tcp(header, packet, &mut datagram),
            Transport::Udp(header) => self.put_udp(header, packet, &mut datagram),
            Transport::Roce(header) => roce::put(header, packet, &mut datagram, is_whole),
            Transport::PacketPair(header) => own::put_packet_pair(header, packet, &mut datagram),
            Transport::Uet(header) => own::put_spraying(header, packet, &mut datagram),
            Transport::CongestionNotice(notice) => own::put_notice(notice, packet, &mut datagram),
            Transport::None => return control_frame(packet, spoken),
        }
        datagram.on_link(packet, spoken)
    }

    fn ports(&self, packet: &Packet) -> [u16; 2] {
        let client = CLIENT_PORTS_FROM + packet.flow.0 % CLIENT_PORTS;
        let server = match self.service.port {
            0 => SERVER_PORT + packet.flow.0 / CLIENT_PORTS,
            port => u32::from(port),
        };
        let ports = [client as u16, server as u16];
        if packet.source == self.server { [ports[1], ports[0]] } else { ports }
    }

    fn put_tcp(&self, header: &TcpHeader, packet: &Packet, datagram: &mut Datagram) {
        let is_trimmed = packet.shims.contains::<Trimmed>();
        let segment = tcp::Segment {
            header,
            ports: self.ports(packet),
            is_from_client: packet.source != self.server,
            request_bytes: self.request_bytes,
            mss_bytes: self.mss_bytes,
            payload_bytes: if is_trimmed { 0 } else { header.payload_bytes.into() },
        };
        datagram.protocol = protocol::TCP;
        datagram.payload_bytes = segment.payload_bytes;
        let counted_bytes = packet.shims.get::<Trimmed>().map(|trimmed| u32::from(trimmed.frame_bytes));
        let room_bytes = datagram.room_bytes(counted_bytes).saturating_sub(header.payload_bytes.into());
        datagram.transport = segment.bytes(room_bytes);
        datagram.put_checksum(tcp::CHECKSUM_AT);
    }

    /// Writes a datagram. Its payload starts with number and time of the measuring application.
    fn put_udp(&self, header: &UdpHeader, packet: &Packet, datagram: &mut Datagram) {
        let mut measured = Vec::with_capacity(16);
        if header.payload_bytes >= 16 {
            measured.extend(header.number.to_be_bytes());
            measured.extend(header.sent_at.as_ps().to_be_bytes());
        }
        datagram.payload_bytes = header.payload_bytes - measured.len() as u32;
        datagram.put_udp(self.ports(packet), &measured, &[]);
        datagram.put_checksum(headers::UDP_CHECKSUM_AT);
    }
}

/// Identifies a packet at several places of a capture: its flow in the upper 32 bits, a hash of its transport header in
/// the lower. Packets with equal headers, such as equal acknowledgements, share an identity. `None` for packets of
/// switches.
pub fn identity(packet: &Packet) -> Option<u64> {
    let transport = match packet.transport {
        Transport::None => return None,
        // Switches change this field.
        Transport::Tcp(header) => Transport::Tcp(TcpHeader { congestion_option: 0, ..header }),
        other => other,
    };
    let mut out = crate::state::Writer::default();
    out.value(&(packet.source, transport));
    Some(u64::from(packet.flow.0) << 32 | u64::from(CRC_32.checksum(&out.finish())))
}
