//! The headers of a packet as bytes, made of its descriptor, and what a program did to them back into it.
//!
//! A host has the IPv4 address 10.0.0.0 plus its number, and a card 02:00:00:00:00:00 plus its number. The traffic
//! class is in the upper three bits of the type of service, ECN in the lower two.

use hitless_wire::{Ecn, HostId, Packet, TcpFlags, Transport};

/// Bytes of a packet that a program sees: headers, and zeros for the payload.
pub const SEEN_BYTES: usize = 96;
/// Ethernet header and check sequence.
const ETHERNET_BYTES: u32 = 14;
const CHECK_SEQUENCE_BYTES: u32 = 4;
const NETWORK: u32 = 0x0a00_0000;
const IP: usize = 14;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// For experiments (RFC 3692): packets that switches make themselves.
const OTHER: u8 = 253;
const ROCE_PORT: u16 = 4791;
const SERVER_PORT: u16 = 5001;

/// The IPv4 address of a host.
pub fn address(host: HostId) -> u32 {
    NETWORK + host.0
}

/// The address of a host's card.
pub fn card(host: HostId) -> u64 {
    0x0200_0000_0000 | u64::from(host.0)
}

/// Writes what is seen of the packet into `bytes`, and gives how many bytes follow.
pub fn build(packet: &Packet, bytes: &mut Vec<u8>) -> usize {
    let frame = packet.frame_bytes.saturating_sub(CHECK_SEQUENCE_BYTES).max(ETHERNET_BYTES + 28) as usize;
    bytes.clear();
    bytes.resize(frame.min(SEEN_BYTES), 0);
    bytes[0..6].copy_from_slice(&card(packet.destination).to_be_bytes()[2..]);
    bytes[6..12].copy_from_slice(&card(packet.source).to_be_bytes()[2..]);
    bytes[12..14].copy_from_slice(&0x0800u16.to_be_bytes());
    let (protocol, destination) = match packet.transport {
        Transport::Tcp(_) => (TCP, SERVER_PORT),
        Transport::Roce(_) => (UDP, ROCE_PORT),
        Transport::Udp(_) | Transport::PacketPair(_) | Transport::CongestionNotice(_) => (UDP, SERVER_PORT),
        Transport::None => (OTHER, 0),
    };
    bytes[IP] = 0x45;
    bytes[IP + 1] = (packet.class << 5) | packet.ecn as u8;
    let total = u16::try_from(frame - IP).unwrap_or(u16::MAX);
    bytes[IP + 2..IP + 4].copy_from_slice(&total.to_be_bytes());
    // The switch has counted the hop already; a program does it itself.
    bytes[IP + 8] = packet.ttl.saturating_add(1);
    bytes[IP + 9] = protocol;
    bytes[IP + 12..IP + 16].copy_from_slice(&address(packet.source).to_be_bytes());
    bytes[IP + 16..IP + 20].copy_from_slice(&address(packet.destination).to_be_bytes());
    let sum = hitless_p4::hash::internet_checksum(&bytes[IP..IP + 20]);
    bytes[IP + 10..IP + 12].copy_from_slice(&sum.to_be_bytes());
    transport(packet, destination, &mut bytes[IP + 20..]);
    frame - bytes.len()
}

/// The header of the transport: ports, and what else a switch may look at.
fn transport(packet: &Packet, destination: u16, bytes: &mut [u8]) {
    let source = 0xc000 | (packet.flow.0 & 0x3fff) as u16;
    let mut put = |at: usize, value: &[u8]| {
        if let Some(place) = bytes.get_mut(at..at + value.len()) {
            place.copy_from_slice(value);
        }
    };
    if packet.transport == Transport::None {
        return;
    }
    put(0, &source.to_be_bytes());
    put(2, &destination.to_be_bytes());
    let length = |payload: u32, header: u32| (payload + header) as u16;
    match packet.transport {
        Transport::Tcp(header) => {
            put(4, &(header.sequence as u32).to_be_bytes());
            put(8, &(header.acknowledgement as u32).to_be_bytes());
            let flags = [(TcpFlags::FIN, 1), (TcpFlags::SYN, 2), (TcpFlags::PSH, 8), (TcpFlags::ACK, 16)];
            let flags = flags.into_iter().chain([(TcpFlags::ECE, 64), (TcpFlags::CWR, 128)]);
            let flags = flags.filter(|&(flag, _)| header.flags.contains(flag)).map(|(_, bit)| bit).sum();
            put(12, &[0x50, flags]);
            put(14, &(header.window_bytes.min(65_535) as u16).to_be_bytes());
        }
        Transport::Udp(header) => put(4, &length(header.payload_bytes, 8).to_be_bytes()),
        Transport::Roce(header) => {
            put(4, &length(header.payload_bytes, 24).to_be_bytes());
            put(17, &(header.packet_sequence as u32).to_be_bytes()[1..]);
        }
        _ => put(4, &8u16.to_be_bytes()),
    }
}

/// Takes over what the program changed: addresses, class, ECN, time to live. `hosts` is how many there are.
///
/// # Errors
/// What was changed that a simulated packet has no room for.
pub fn carry_back(before: &[u8], after: &[u8], hosts: u32, packet: &mut Packet) -> Result<(), &'static str> {
    if after.len() != before.len() {
        return Err("added, removed or cut off bytes");
    }
    let fixed = [
        (12..14, "the EtherType"),
        (IP..IP + 1, "the version or length of the IPv4 header"),
        (IP + 2..IP + 4, "the length of the IPv4 packet"),
        (IP + 4..IP + 8, "identification or fragments of IPv4"),
        (IP + 9..IP + 10, "the protocol of IPv4"),
        (IP + 20..before.len(), "what follows the IPv4 header"),
    ];
    for (range, what) in fixed {
        if before.get(range.clone()) != after.get(range) {
            return Err(what);
        }
    }
    let service = after[IP + 1];
    packet.ecn = match service & 3 {
        0 => Ecn::NotCapable,
        3 => Ecn::CongestionExperienced,
        // The traffic manager may have marked it since ingress.
        _ if packet.ecn == Ecn::CongestionExperienced => Ecn::CongestionExperienced,
        _ => Ecn::Capable,
    };
    if service & 0x1c != 0 {
        return Err("a code point (DSCP) that is no class");
    }
    packet.class = service >> 5;
    packet.ttl = after[IP + 8];
    let host = |at: usize| {
        let address = u32::from_be_bytes([after[at], after[at + 1], after[at + 2], after[at + 3]]);
        address.checked_sub(NETWORK).filter(|&host| host < hosts).map(HostId)
    };
    match (host(IP + 12), host(IP + 16)) {
        (Some(source), Some(destination)) => (packet.source, packet.destination) = (source, destination),
        _ => return Err("an address that no host has"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hitless_wire::FlowId;

    use super::*;

    fn packet() -> Packet {
        Packet {
            frame_bytes: 1518,
            flow: FlowId(7),
            source: HostId(3),
            destination: HostId(260),
            class: 5,
            ecn: Ecn::Capable,
            ttl: 63,
            ..Packet::default()
        }
    }

    #[test]
    fn headers_are_those_of_the_descriptor_and_come_back() {
        let mut bytes = Vec::new();
        let unseen = build(&packet(), &mut bytes);
        assert_eq!(bytes.len() + unseen, 1514);
        assert_eq!(bytes[IP + 16..IP + 20], [10, 0, 1, 4]);
        assert_eq!((bytes[IP + 1], bytes[IP + 8]), (0xa2, 64));
        assert_eq!(hitless_p4::hash::internet_checksum(&bytes[IP..IP + 20]), 0);
        let mut after = bytes.clone();
        (after[IP + 1], after[IP + 8], after[IP + 19]) = (0x63, 60, 5);
        let mut changed = packet();
        assert_eq!(carry_back(&bytes, &after, 300, &mut changed), Ok(()));
        let expected =
            Packet { class: 3, ecn: Ecn::CongestionExperienced, ttl: 60, destination: HostId(261), ..packet() };
        assert_eq!(changed, expected);
    }

    #[test]
    fn what_has_no_room_is_named() {
        let mut bytes = Vec::new();
        build(&packet(), &mut bytes);
        let carried = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut after = bytes.clone();
            change(&mut after);
            carry_back(&bytes, &after, 300, &mut packet())
        };
        assert_eq!(carried(&|after| after.truncate(60)), Err("added, removed or cut off bytes"));
        assert_eq!(carried(&|after| after[12] = 9), Err("the EtherType"));
        assert_eq!(carried(&|after| after[IP + 16] = 11), Err("an address that no host has"));
        assert_eq!(carried(&|after| after[IP + 1] |= 4), Err("a code point (DSCP) that is no class"));
        assert_eq!(carried(&|after| after[50] = 1), Err("what follows the IPv4 header"));
    }
}
