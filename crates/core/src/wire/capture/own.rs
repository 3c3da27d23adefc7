//! Formats of hitless for transports without a standard layout, over UDP. Numbers are in network order.
//!
//! Each begins with a kind (1 byte), flags (1) and the flow (4). Then, with bytes in parentheses:
//!
//! | port, kind | fields |
//! |---|---|
//! | 65001, 1: data | sequence (4), credit target (8) |
//! | 65001, 2: acknowledgement | cumulative (4), base (4), bitmap (8), acknowledged (4), received (8), disorder (4) |
//! | 65001, 3: negative acknowledgement | sequence (4) |
//! | 65001, 4: credit; 5: request | bytes granted; credit target (8) |
//! | 65001, 6: probe; 7: echo | |
//! | 65002, 1: data | measured segments (2), pair (4), sequence (8), timestamp (4) |
//! | 65002, 2: acknowledgement | acknowledgement (8), gap in ps (6), timestamp echo (4), SACK blocks (8 each) |
//! | 65003, 1: notice | sequence (4), rate in Mb/s (4), queue in bytes (4) |
//!
//! Flags of 65001: 1 is a retransmission, or the acknowledgement of one; 2 asks for an acknowledgement, or echoes
//! congestion; 4 is a trimmed packet. Those of 65002 are the position in the pair, or 1 for congestion.
//!
//! The ports are for private use (RFC 6335, section 6). The source port of 65001 is the entropy value.

use super::headers::{Datagram, UDP_CHECKSUM_AT};
use crate::wire::CongestionNotice;
use crate::wire::packet::Packet;
use crate::wire::transport::PacketPairHeader;
use crate::wire::uet::UetHeader;

/// Port of spraying connections.
pub const SPRAYING_PORT: u16 = 65_001;
/// Port of packet-pair flow control.
pub const PACKET_PAIR_PORT: u16 = 65_002;
/// Port of notices of congestion from switches.
pub const NOTICE_PORT: u16 = 65_003;

/// A header in the making.
struct Own(Vec<u8>);

impl Own {
    fn new(kind: u8, flags: u8, packet: &Packet) -> Self {
        Self(vec![kind, flags]).long(packet.flow.0)
    }

    fn with(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn short(self, number: u16) -> Self {
        self.with(&number.to_be_bytes())
    }

    fn long(self, number: u32) -> Self {
        self.with(&number.to_be_bytes())
    }

    fn quad(self, number: u64) -> Self {
        self.with(&number.to_be_bytes())
    }

    fn put(self, ports: [u16; 2], payload_bytes: u32, datagram: &mut Datagram) {
        datagram.payload_bytes = payload_bytes;
        datagram.put_udp(ports, &self.0, &[]);
        datagram.put_checksum(UDP_CHECKSUM_AT);
    }
}

fn flags(all: &[bool]) -> u8 {
    all.iter().rev().fold(0, |bits, &is_set| bits << 1 | u8::from(is_set))
}

pub fn put_spraying(header: &UetHeader, packet: &Packet, datagram: &mut Datagram) {
    let mut payload_bytes = 0;
    let own = |kind, flags| Own::new(kind, flags, packet);
    let header_bytes = match *header {
        UetHeader::Data(data) => {
            let is_trimmed = packet.is_trimmed();
            payload_bytes = if is_trimmed { 0 } else { data.payload_bytes };
            let flags = flags(&[data.is_retransmission, data.acknowledge_now, is_trimmed]);
            own(1, flags).long(data.sequence as u32).quad(data.credit_target)
        }
        UetHeader::Acknowledgement(ack) | UetHeader::TailAnswer(ack) => {
            let kind = if matches!(header, UetHeader::TailAnswer(_)) { 9 } else { 2 };
            let numbers = own(kind, flags(&[ack.is_retransmission, ack.congestion])).long(ack.cumulative as u32);
            let bitmap = numbers.long(ack.bitmap_base as u32).quad(ack.bitmap);
            bitmap.long(ack.acknowledged as u32).quad(ack.received_bytes).long(ack.out_of_order)
        }
        UetHeader::NegativeAcknowledgement(negative) => {
            own(3, flags(&[negative.is_retransmission])).long(negative.sequence as u32)
        }
        UetHeader::Credit(credit) => own(4, 0).quad(credit.granted_bytes),
        UetHeader::Request(request) => own(5, 0).quad(request.credit_target),
        UetHeader::Probe(_) => own(6, 0),
        UetHeader::ProbeEcho(_) => own(7, 0),
        UetHeader::TailProbe(_) => own(8, 0),
    };
    header_bytes.put([header.entropy(), SPRAYING_PORT], payload_bytes, datagram);
}

pub fn put_packet_pair(header: &PacketPairHeader, packet: &Packet, datagram: &mut Datagram) {
    let ports = [PACKET_PAIR_PORT; 2];
    match *header {
        PacketPairHeader::Data(data) => {
            let numbers = Own::new(1, data.position as u8, packet).short(data.measured_segments).long(data.pair);
            numbers.quad(data.sequence).long(data.timestamp).put(ports, data.payload_bytes.into(), datagram);
        }
        PacketPairHeader::Acknowledgement(ack) => {
            let numbers = Own::new(2, flags(&[ack.congestion]), packet).quad(ack.acknowledgement);
            let times = numbers.with(&ack.gap.as_ps().to_be_bytes()[2..]).long(ack.timestamp_echo);
            let blocks = ack.sack.absolute(ack.acknowledgement);
            let all = blocks.fold(times, |own, (start, end)| own.long(start as u32).long(end as u32));
            all.put(ports, 0, datagram);
        }
    }
}

pub fn put_notice(notice: &CongestionNotice, packet: &Packet, datagram: &mut Datagram) {
    let rate_mbps = (notice.rate.as_bps() / 1_000_000) as u32;
    let own = Own::new(1, 0, packet).long(notice.sequence as u32).long(rate_mbps).long(notice.queue_bytes);
    own.put([NOTICE_PORT; 2], 0, datagram);
}
