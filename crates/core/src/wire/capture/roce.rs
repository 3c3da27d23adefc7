//! RoCEv2: the base transport header of InfiniBand over UDP (InfiniBand, volume 1, section 9, and annexes A16 and A17).

use super::headers::{Datagram, UDP_BYTES, UDP_CHECKSUM_AT};
use crate::wire::checksum::CRC_32;
use crate::wire::packet::Packet;
use crate::wire::transport::{RoceHeader, RoceOpcode};

pub const PORT: u16 = 4_791;
const BASE_BYTES: u32 = 12;
const EXTENDED_BYTES: u32 = 16;
const CHECK_BYTES: u32 = 4;
/// Length of the base header with the extended header of an RDMA write.
pub const HEADER_BYTES_MAX: usize = (BASE_BYTES + EXTENDED_BYTES) as usize;
/// Queue pairs 0 and 1 belong to the subnet's management.
const QUEUE_PAIRS_FROM: u32 = 256;
const BACKWARD_NOTIFICATION: u8 = 0x40;

/// Opcodes of a reliable connection.
mod opcode {
    pub const WRITE_MIDDLE: u8 = 0x07;
    pub const WRITE_LAST: u8 = 0x08;
    pub const WRITE_ONLY: u8 = 0x0a;
    pub const ACKNOWLEDGE: u8 = 0x11;
    pub const NOTIFICATION: u8 = 0x81;
}

/// Syndromes of the ACK header: an acknowledgement without credits, and a sequence error.
const SYNDROME_OK: u8 = 0x1f;
const SYNDROME_SEQUENCE_ERROR: u8 = 0x60;
/// Reserved by the specification; here a notice of a trimmed packet, with its number in place of the message's.
const SYNDROME_TRIMMED: u8 = 0x40;

/// Writes a packet. If the simulator counts an RDMA extended header for it, the packet is a write of its own, because a
/// descriptor does not tell the first packet of a message; the remote key is the message's number and the address the
/// number of the packet.
pub fn put(header: &RoceHeader, packet: &Packet, datagram: &mut Datagram, is_whole: bool) {
    let room_bytes = datagram.room_bytes(None).saturating_sub(UDP_BYTES + BASE_BYTES + CHECK_BYTES);
    let is_write = header.opcode == RoceOpcode::Write;
    let payload_bytes = if is_write { header.payload_bytes } else { 0 };
    let is_extended = is_write && room_bytes >= payload_bytes + EXTENDED_BYTES;
    let opcode = match header.opcode {
        RoceOpcode::Write if is_extended => opcode::WRITE_ONLY,
        RoceOpcode::Write if header.last => opcode::WRITE_LAST,
        RoceOpcode::Write => opcode::WRITE_MIDDLE,
        RoceOpcode::Acknowledge | RoceOpcode::NegativeAcknowledge | RoceOpcode::TrimNotice => opcode::ACKNOWLEDGE,
        RoceOpcode::CongestionNotification => opcode::NOTIFICATION,
    };
    let is_notification = header.opcode == RoceOpcode::CongestionNotification;
    let notification = if is_notification { BACKWARD_NOTIFICATION } else { 0 };
    let queue_pair = QUEUE_PAIRS_FROM.wrapping_add(packet.flow.0) & 0x00ff_ffff;
    let asks_for_acknowledgement = u32::from(is_write && header.last) << 31;
    let mut after_udp = vec![opcode, 0, 0xff, 0xff];
    after_udp.extend((u32::from(notification) << 24 | queue_pair).to_be_bytes());
    after_udp.extend((asks_for_acknowledgement | header.packet_sequence as u32 & 0x00ff_ffff).to_be_bytes());
    match header.opcode {
        RoceOpcode::Write if is_extended => {
            after_udp.extend(header.packet_sequence.to_be_bytes());
            after_udp.extend((header.message as u32).to_be_bytes());
            after_udp.extend(payload_bytes.to_be_bytes());
        }
        RoceOpcode::Write => {}
        RoceOpcode::Acknowledge => put_acknowledgement(SYNDROME_OK, header.message, &mut after_udp),
        RoceOpcode::NegativeAcknowledge => {
            put_acknowledgement(SYNDROME_SEQUENCE_ERROR, header.message, &mut after_udp);
        }
        RoceOpcode::TrimNotice => put_acknowledgement(SYNDROME_TRIMMED, header.arrived, &mut after_udp),
        RoceOpcode::CongestionNotification => after_udp.extend([0; 16]),
    }
    datagram.payload_bytes = payload_bytes;
    // The source port spreads connections over paths; its checksum is 0.
    let source_port = 0xc000 | packet.flow_hash as u16 & 0x3fff;
    datagram.put_udp([source_port, PORT], &after_udp, &[0; CHECK_BYTES as usize]);
    if is_whole || payload_bytes == 0 {
        let check = invariant_check(packet, datagram);
        datagram.tail.copy_from_slice(&check);
    }
}

fn put_acknowledgement(syndrome: u8, number: u64, out: &mut Vec<u8>) {
    out.extend((u32::from(syndrome) << 24 | number as u32 & 0x00ff_ffff).to_be_bytes());
}

/// Computes the invariant CRC (annex A17): over all bytes from the IP header, with ones for a local header and in the
/// fields that routers change.
fn invariant_check(packet: &Packet, datagram: &Datagram) -> [u8; 4] {
    let mut ipv4 = datagram.ipv4(packet);
    for at in [1, 8, 10, 11] {
        ipv4[at] = 0xff;
    }
    let mut transport = datagram.transport.clone();
    for at in [UDP_CHECKSUM_AT, UDP_CHECKSUM_AT + 1, UDP_BYTES as usize + 4] {
        transport[at] = 0xff;
    }
    let mut check = CRC_32.digest();
    let payload = vec![0; datagram.payload_bytes as usize];
    for part in [&[0xff; 8][..], &ipv4, &transport, &payload] {
        check.update(part);
    }
    check.finalize().to_le_bytes()
}
