//! Converts a packet's descriptor to header bytes, and a program's changes back into the descriptor.
//!
//! A host has the IPv4 address 10.0.0.0 plus its number, and the MAC address 02:00:00:00:00:00 plus its number. The
//! traffic class is in the upper three bits of the type of service, ECN in the lower two.

use hitless_core::engine::identity::source_port;
use hitless_core::wire::checksum::ones_complement_sum;
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::priority_mark::PriorityMark;
use hitless_core::wire::{Ecn, HostId, Packet, Shim, TcpFlags, Transport};

use super::layers::{ETHERNET_BYTES, IPV4_BYTES, MARK_BYTES, MARK_PROTOCOL, base_bytes, unwrap, wrap};

/// The number of bytes that a program sees behind the headers of mechanisms: headers, and zeros for the payload.
pub const SEEN_BYTES: usize = 96;
const CHECK_SEQUENCE_BYTES: usize = 4;
const NETWORK: u32 = 0x0a00_0000;
const IP: usize = ETHERNET_BYTES;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The protocol for experiments (RFC 3692), for packets made by switches.
const OTHER: u8 = 254;
const ROCE_PORT: u16 = 4791;
const SERVER_PORT: u16 = 5001;

pub fn address(host: HostId) -> u32 {
    NETWORK + host.0
}

pub fn card(host: HostId) -> u64 {
    0x0200_0000_0000 | u64::from(host.0)
}

/// Writes the visible bytes of the packet into `bytes`; returns the number of the remaining bytes.
pub fn build(packet: &Packet, bytes: &mut Vec<u8>) -> usize {
    let unseen_bytes = build_base(packet, bytes);
    wrap(packet, bytes, unseen_bytes)
}

/// Like [`build`], without the headers that mechanisms put before IPv4.
fn build_base(packet: &Packet, bytes: &mut Vec<u8>) -> usize {
    let mark = packet.shims.get::<PriorityMark>();
    let frame = (base_bytes(packet) as usize).max(ETHERNET_BYTES + 28);
    bytes.clear();
    bytes.resize(frame.min(SEEN_BYTES), 0);
    bytes[0..6].copy_from_slice(&card(packet.destination).to_be_bytes()[2..]);
    bytes[6..12].copy_from_slice(&card(packet.source).to_be_bytes()[2..]);
    bytes[12..14].copy_from_slice(&0x0800u16.to_be_bytes());
    let (protocol, destination) = match packet.transport {
        Transport::Tcp(_) => (TCP, SERVER_PORT),
        Transport::Roce(_) => (UDP, ROCE_PORT),
        Transport::Udp(_) | Transport::PacketPair(_) | Transport::Uet(_) | Transport::CongestionNotice(_) => {
            (UDP, SERVER_PORT)
        }
        Transport::None => (OTHER, 0),
    };
    bytes[IP] = 0x45;
    bytes[IP + 1] = (packet.class << 5) | packet.ecn as u8;
    let total = u16::try_from(frame - IP).unwrap_or(u16::MAX);
    bytes[IP + 2..IP + 4].copy_from_slice(&total.to_be_bytes());
    // The switch has already counted the hop; a program counts it itself.
    bytes[IP + 8] = packet.ttl.saturating_add(1);
    bytes[IP + 9] = if mark.is_some() { MARK_PROTOCOL } else { protocol };
    bytes[IP + 12..IP + 16].copy_from_slice(&address(packet.source).to_be_bytes());
    bytes[IP + 16..IP + 20].copy_from_slice(&address(packet.destination).to_be_bytes());
    let sum = !ones_complement_sum(&bytes[IP..IP + IPV4_BYTES]);
    bytes[IP + 10..IP + 12].copy_from_slice(&sum.to_be_bytes());
    let mut behind = IP + IPV4_BYTES;
    if let Some(mark) = mark {
        mark.emit(&mut bytes[behind..behind + PriorityMark::BYTES]);
        bytes[behind + PriorityMark::BYTES] = protocol;
        behind += MARK_BYTES;
    }
    transport(packet, destination, &mut bytes[behind..]);
    frame - bytes.len()
}

/// Writes the transport header: ports, and other fields that a switch may read.
fn transport(packet: &Packet, destination: u16, bytes: &mut [u8]) {
    let source = source_port(packet.flow_hash);
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

/// A limit of simulated packets that a program exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub what: &'static str,
    pub cause: Cause,
}

/// How a program exceeded a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, hitless_core::state::Value)]
pub enum Cause {
    /// It wrote this byte of the departing frame.
    Byte(u32),
    Length,
    /// It combined incompatible headers.
    Headers,
}

impl From<&'static str> for Limit {
    fn from(what: &'static str) -> Self {
        Self { what, cause: Cause::Headers }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Written<'b> {
    pub bytes: &'b [u8],
    /// The number of the remaining bytes.
    pub unseen_bytes: usize,
    pub is_cut: bool,
}

/// Copies only the headers of mechanisms to a packet on its way to a queue.
///
/// # Errors The part that is no header of a simulated packet.
pub fn carry_headers(bytes: &[u8], packet: &mut Packet) -> Result<(), &'static str> {
    let unwrapped = unwrap(bytes)?;
    unwrapped.put_on(packet)?;
    if unwrapped.base.is_none() {
        packet.frame_bytes = MINIMUM_FRAME_BYTES;
    }
    Ok(())
}

/// Copies the program's changes to the packet: headers of mechanisms, addresses, class, ECN, time to live. `hosts` is
/// the number of hosts; `room` provides buffers.
///
/// # Errors The exceeded limit of simulated packets, and its place.
pub fn carry_back(written: Written<'_>, hosts: u32, packet: &mut Packet, room: &mut [Vec<u8>; 2]) -> Result<(), Limit> {
    let unwrapped = unwrap(written.bytes)?;
    unwrapped.put_on(packet)?;
    let Some((addresses, rest)) = unwrapped.base else {
        // A frame of the link without a packet has the minimum length.
        (packet.transport, packet.frame_bytes) = (Transport::None, MINIMUM_FRAME_BYTES);
        return Ok(());
    };
    let [after, before] = room;
    after.clear();
    after.extend_from_slice(addresses);
    after.extend_from_slice(rest);
    let unseen_bytes = build_base(packet, before);
    let is_shortest = written.is_cut && written.bytes.len() + CHECK_SEQUENCE_BYTES == MINIMUM_FRAME_BYTES as usize;
    // The descriptor has no payload bytes, so that a program may change the length only by headers that it knows.
    let is_whole = after.len() + written.unseen_bytes == before.len() + unseen_bytes && !written.is_cut;
    if after.len() < IP + IPV4_BYTES || !(is_whole || is_shortest) {
        let what = "it has no headers of a program's own, and can be cut off to the shortest frame alone";
        return Err(Limit { what, cause: Cause::Length });
    }
    carry_back_base(before, after, hosts, packet).map_err(|(what, at)| {
        // The addresses are the first bytes of the inner frame, and the rest is the end of the whole frame.
        let start = addresses.as_ptr() as usize - written.bytes.as_ptr() as usize;
        let byte = if at < addresses.len() { start + at } else { written.bytes.len() - after.len() + at };
        Limit { what, cause: Cause::Byte(byte as u32) }
    })?;
    if is_shortest {
        (packet.transport, packet.frame_bytes) = (Transport::None, MINIMUM_FRAME_BYTES);
    }
    Ok(())
}

/// Copies changes before the payload. An error names the exceeded limit and the byte of `after` that exceeds it.
fn carry_back_base(before: &[u8], after: &[u8], hosts: u32, packet: &mut Packet) -> Result<(), (&'static str, usize)> {
    let fixed = [
        (12..14, "its EtherType is 0x0800"),
        (IP..IP + 1, "its IPv4 header has version 4 and no options"),
        (IP + 2..IP + 4, "the length of its IPv4 packet is that of the frame"),
        (IP + 4..IP + 8, "it has no identification and no fragments of IPv4"),
        (IP + 9..IP + 10, "its protocol is that of its transport"),
        (IP + IPV4_BYTES..before.len().min(after.len()), "what follows its IPv4 header is its transport's"),
    ];
    for (range, what) in fixed {
        if let Some(at) = range.into_iter().find(|&at| before.get(at) != after.get(at)) {
            return Err((what, at));
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
        return Err(("its code point (DSCP) is 8 times its class, one of 8", IP + 1));
    }
    packet.class = service >> 5;
    // The switch has counted the hop. The result is the same whether the program counts the hop or not.
    packet.ttl = after[IP + 8].saturating_sub(1).max(packet.ttl.min(after[IP + 8]));
    let host = |at: usize| {
        let address = u32::from_be_bytes([after[at], after[at + 1], after[at + 2], after[at + 3]]);
        let host = address.checked_sub(NETWORK).filter(|&host| host < hosts).map(HostId);
        host.ok_or(("its addresses are those of hosts", at))
    };
    (packet.source, packet.destination) = (host(IP + 12)?, host(IP + 16)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::linkguardian::headers::{AckHeader, DataHeader, Era, PacketType, SequenceNumber};
    use crate::rimm::headers::{DetourHeader, TelemetryHeader};
    use hitless_core::wire::{FlowId, ShimId};

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

    fn carried(before: &[u8], unseen_bytes: usize, packet: &mut Packet) -> Result<(), Limit> {
        let written = Written { bytes: before, unseen_bytes, is_cut: false };
        carry_back(written, 300, packet, &mut [Vec::new(), Vec::new()])
    }

    #[test]
    fn headers_are_those_of_the_descriptor_and_come_back() {
        let mut bytes = Vec::new();
        let unseen = build(&packet(), &mut bytes);
        assert_eq!(bytes.len() + unseen, 1514);
        assert_eq!(bytes[IP + 16..IP + 20], [10, 0, 1, 4]);
        assert_eq!((bytes[IP + 1], bytes[IP + 8]), (0xa2, 64));
        assert_eq!(ones_complement_sum(&bytes[IP..IP + 20]), 0xffff);
        (bytes[IP + 1], bytes[IP + 8], bytes[IP + 19]) = (0x63, 60, 5);
        let mut changed = packet();
        assert_eq!(carried(&bytes, unseen, &mut changed), Ok(()));
        let expected =
            Packet { class: 3, ecn: Ecn::CongestionExperienced, ttl: 60, destination: HostId(261), ..packet() };
        assert_eq!(changed, expected);
    }

    /// The hop is counted once, and additions of a program to the time to live count.
    #[test]
    fn the_time_to_live_is_that_of_the_switch_and_of_the_program() {
        let mut bytes = Vec::new();
        let unseen = build(&packet(), &mut bytes);
        for (written, ttl) in [(64, 63), (63, 63), (62, 62), (0, 0), (66, 65)] {
            bytes[IP + 8] = written;
            let mut changed = packet();
            assert_eq!((carried(&bytes, unseen, &mut changed), changed.ttl), (Ok(()), ttl), "{written}");
        }
    }

    fn data(dummy: bool) -> DataHeader {
        let sequence = SequenceNumber::new(7, Era::Odd);
        DataHeader { dummy, blocking: true, ..DataHeader::new(PacketType::Data, sequence) }
    }

    /// Every header that a program sees is converted to bytes and back, alone and with others, and removed again.
    #[test]
    fn headers_of_mechanisms_come_and_go() {
        let acknowledged = SequenceNumber::new(9, Era::Even);
        let mark = PriorityMark { rank_bytes: 5, flowlet: 6, is_first: true, retransmissions: 2 };
        let detour = DetourHeader { sequence: 1, origin: 2, detours: 3, depth_segments: 4 };
        let with = |change: &dyn Fn(&mut Packet)| {
            let mut packet = packet();
            change(&mut packet);
            packet
        };
        let all = [
            with(&|_| ()),
            with(&|packet| packet.push_shim(mark).unwrap()),
            with(&|packet| packet.push_shim(detour).unwrap()),
            with(&|packet| packet.push_shim(TelemetryHeader { depth_segments: 8 }).unwrap()),
            with(&|packet| packet.push_shim(data(false)).unwrap()),
            with(&|packet| {
                packet.push_shim(mark).unwrap();
                packet.push_shim(detour).unwrap();
                packet.push_shim(AckHeader { channel: 0, acknowledged, piggybacked: true }).unwrap();
                packet.push_shim(data(false)).unwrap();
            }),
        ];
        for (from, to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
            let mut bytes = Vec::new();
            let unseen = build(to, &mut bytes);
            let mut changed = *from;
            assert_eq!(carried(&bytes, unseen, &mut changed), Ok(()), "{from:?} {to:?}");
            let headers = |packet: &Packet| {
                SEEN_IDS.map(|id| packet.shims.iter().find(|(of, _)| *of == id).map(|(_, bytes)| bytes.to_vec()))
            };
            assert_eq!(headers(&changed), headers(to));
            assert_eq!(changed.frame_bytes, to.frame_bytes);
        }
    }

    const SEEN_IDS: [ShimId; 5] =
        [PriorityMark::ID, DetourHeader::ID, TelemetryHeader::ID, AckHeader::ID, DataHeader::ID];

    #[test]
    fn a_frame_of_the_link_without_a_packet_is_the_shortest() {
        let mut dummy = Packet { frame_bytes: 61, ..Packet::default() };
        dummy.push_shim(data(true)).unwrap();
        let mut bytes = Vec::new();
        assert_eq!((build(&dummy, &mut bytes), bytes.len()), (0, 60));
        let mut made = packet();
        assert_eq!(carried(&bytes, 0, &mut made), Ok(()));
        assert_eq!((made.frame_bytes, made.transport, made.shims), (64, Transport::None, dummy.shims));
    }

    /// The length in a queue includes the headers that ingress has added, without those that it has removed.
    #[test]
    fn a_packet_on_its_way_to_a_queue_is_as_long_as_its_headers_make_it() {
        let mut detoured = packet();
        detoured.push_shim(DetourHeader { sequence: 1, origin: 2, detours: 3, depth_segments: 4 }).unwrap();
        let mut dummy = Packet { frame_bytes: 61, ..Packet::default() };
        dummy.push_shim(data(true)).unwrap();
        for (from, to, frame_bytes) in [(packet(), detoured, 1528), (detoured, packet(), 1518), (detoured, dummy, 64)] {
            let (mut bytes, mut changed) = (Vec::new(), from);
            build(&to, &mut bytes);
            assert_eq!(carry_headers(&bytes, &mut changed), Ok(()));
            assert_eq!((changed.shims, changed.frame_bytes), (to.shims, frame_bytes));
        }
        assert_eq!(carry_headers(&[0; 13], &mut packet()), Err("half a header"));
    }

    #[test]
    fn what_has_no_room_is_named() {
        let mut bytes = Vec::new();
        let unseen = build(&packet(), &mut bytes);
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut after = bytes.clone();
            change(&mut after);
            let limit = carried(&after, unseen, &mut packet()).unwrap_err();
            (limit.what, limit.cause)
        };
        let (what, cause) = refused(&|after| after.truncate(60));
        assert!(what.starts_with("it has no headers of a program's own") && cause == Cause::Length, "{what}");
        let byte = |at: usize| Cause::Byte(at as u32);
        assert_eq!(refused(&|after| after[12] = 9), ("its EtherType is 0x0800", byte(12)));
        assert_eq!(refused(&|after| after[IP + 16] = 11), ("its addresses are those of hosts", byte(IP + 16)));
        let dscp = "its code point (DSCP) is 8 times its class, one of 8";
        assert_eq!(refused(&|after| after[IP + 1] |= 4), (dscp, byte(IP + 1)));
        let identification = "it has no identification and no fragments of IPv4";
        assert_eq!(refused(&|after| after[IP + 5] = 1), (identification, byte(IP + 5)));
        assert_eq!(refused(&|after| after[50] = 1), ("what follows its IPv4 header is its transport's", byte(50)));
        assert_eq!(refused(&|after| after.truncate(13)), ("half a header", Cause::Headers));
        let version = refused(&|after| after[12..15].copy_from_slice(&[0x88, 0xb5, 2]));
        assert_eq!(version, ("another version of the link's header", Cause::Headers));
        let unknown = refused(&|after| after[12..17].copy_from_slice(&[0x88, 0xb5, 1, 1, 9]));
        assert_eq!(unknown, ("a header of the link that is not known", Cause::Headers));
    }

    /// Behind headers of mechanisms the byte is counted from the beginning of the departing frame.
    #[test]
    fn the_byte_of_a_limit_is_one_of_the_whole_frame() {
        let mut wrapped = packet();
        wrapped.push_shim(data(false)).unwrap();
        wrapped.push_shim(DetourHeader { sequence: 1, origin: 2, detours: 3, depth_segments: 4 }).unwrap();
        let mut bytes = Vec::new();
        let unseen = build(&wrapped, &mut bytes);
        let ip = bytes.windows(2).position(|two| two == [0x45, 0xa2]).unwrap();
        for at in [ip + 4, ip + 17] {
            let mut after = bytes.clone();
            after[at] = 77;
            let limit = carried(&after, unseen, &mut wrapped.clone()).unwrap_err();
            assert_eq!(limit.cause, Cause::Byte(if at == ip + 4 { at } else { ip + 16 } as u32), "{limit:?}");
        }
    }
}
