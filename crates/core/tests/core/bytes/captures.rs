//! Frames of captures, read by an independent parser, by our parsers, and by hand.

use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TransportSlice};
use hitless_core::wire::capture::{Flow, FrameBytes, control_frame, identity, real_frame};
use hitless_core::wire::frame::{EtherType, Frame, MacAddress};
use hitless_core::wire::link::{LinkFormat, LinkHeaderSet, PRIORITIES};
use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::shim::ShimStack;
use hitless_core::wire::{
    Ecn, FlowId, HostId, Packet, PriorityMark, RoceHeader, RoceOpcode, SackBlocks, ServiceKey, TcpFlags, TcpHeader,
    Time, Transport, UdpHeader,
};

const CLIENT: HostId = HostId(0);
const SERVER: HostId = HostId(300);

fn flow() -> Flow {
    let service = ServiceKey { port: 443, vlan: 0 };
    Flow { server: SERVER, service, mss_bytes: 1_448, request_bytes: 0 }
}

fn packet(transport: Transport, frame_bytes: u32, [source, destination]: [HostId; 2]) -> Packet {
    let ecn = Ecn::Capable;
    Packet { transport, frame_bytes, source, destination, flow: FlowId(3), ttl: 62, class: 5, ecn, ..Packet::default() }
}

fn bytes(frame: &FrameBytes) -> Vec<u8> {
    let mut out = Vec::new();
    frame.put(true, &mut out);
    assert_eq!(out.len() as u32, frame.length_bytes());
    out
}

fn tcp(header: TcpHeader, frame_bytes: u32, ends: [HostId; 2]) -> Vec<u8> {
    bytes(&flow().frame(&packet(Transport::Tcp(header), frame_bytes, ends), &LinkHeaderSet::default(), true))
}

#[test]
fn tcp_is_read_by_another_parser() {
    let data = TcpHeader {
        sequence: 5_000_000_000,
        payload_bytes: 1_448,
        timestamp: 77,
        flags: TcpFlags::ACK.with(TcpFlags::PSH).with(TcpFlags::CWR),
        ..TcpHeader::default()
    };
    let bytes = tcp(data, 1_518, [CLIENT, SERVER]);
    assert_eq!(bytes.len(), 1_514);
    let sliced = SlicedPacket::from_ethernet(&bytes).expect("a frame");
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) = (&sliced.net, &sliced.transport) else {
        panic!("{sliced:?}")
    };
    let header = ip.header();
    assert_eq!((header.source(), header.destination()), ([10, 0, 0, 1], [10, 0, 1, 45]));
    assert_eq!((header.ttl(), header.dcp().value(), header.ecn().value()), (62, 40, 2));
    assert_eq!(header.to_header().calc_header_checksum(), header.header_checksum());
    assert_eq!((tcp.source_port(), tcp.destination_port()), (1_027, 443));
    assert_eq!((tcp.sequence_number(), tcp.acknowledgment_number()), (5_000_000_001_u64 as u32, 1));
    assert_eq!((tcp.ack(), tcp.psh(), tcp.cwr(), tcp.syn(), tcp.fin()), (true, true, true, false, false));
    assert_eq!((tcp.payload(), tcp.window_size()), (&[0; 1_448][..], u16::MAX));
    assert_eq!(tcp.calc_checksum_ipv4(header.source(), header.destination()), Ok(tcp.checksum()));
    let options: Vec<_> = tcp.options_iterator().collect::<Result<_, _>>().expect("valid options");
    assert_eq!(options[2], TcpOptionElement::Timestamp(77, 0));
}

#[test]
fn an_acknowledgement_has_its_blocks_after_a_duplicate() {
    let sack = SackBlocks([(1_448, 2_896), (4_344, 5_792), (0, 0)]);
    let header = TcpHeader {
        acknowledgement: 10_000,
        sequence: 3_000,
        timestamp: 1_448,
        timestamp_echo: 9,
        sack,
        window_bytes: 1 << 20,
        flags: TcpFlags::ACK.with(TcpFlags::DSACK),
        ..TcpHeader::default()
    };
    let bytes = tcp(header, 70 + 4 + 24, [SERVER, CLIENT]);
    let sliced = SlicedPacket::from_ethernet(&bytes).expect("a frame");
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("{sliced:?}") };
    assert_eq!((tcp.source_port(), tcp.sequence_number(), tcp.acknowledgment_number()), (443, 1, 10_001));
    assert_eq!((bytes.len(), tcp.window_size(), tcp.payload().len()), (94, 64, 0));
    let options: Vec<_> = tcp.options_iterator().collect::<Result<_, _>>().expect("valid options");
    let expected = TcpOptionElement::SelectiveAcknowledgement(
        (3_001, 4_449),
        [Some((11_449, 12_897)), Some((14_345, 15_793)), None],
    );
    assert!(options.contains(&expected) && options.contains(&TcpOptionElement::Timestamp(0, 9)), "{options:?}");
}

#[test]
fn a_request_shifts_the_numbers_of_the_response() {
    let with_request = Flow { request_bytes: 200, ..flow() };
    let numbers = |header: TcpHeader, ends| {
        let packet = packet(Transport::Tcp(header), 1_000, ends);
        let bytes = bytes(&with_request.frame(&packet, &LinkHeaderSet::default(), true));
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        (word(38), word(42))
    };
    let data = TcpHeader { payload_bytes: 200, flags: TcpFlags::ACK, ..TcpHeader::default() };
    let ack = TcpHeader { acknowledgement: 200, flags: TcpFlags::ACK, ..TcpHeader::default() };
    let syn = TcpHeader { flags: TcpFlags::SYN, ..TcpHeader::default() };
    let syn_ack = TcpHeader { flags: TcpFlags::SYN.with(TcpFlags::ACK), ..TcpHeader::default() };
    let (up, down) = ([CLIENT, SERVER], [SERVER, CLIENT]);
    let rows = [(syn, up), (syn_ack, down), (data, up), (ack, down), (data, down), (ack, up)];
    let expected = [(0, 0), (0, 1), (1, 1), (1, 201), (1, 201), (201, 201)];
    assert_eq!(rows.map(|(header, ends)| numbers(header, ends)), expected);
}

#[test]
fn a_tag_a_short_frame_and_a_trimmed_one_keep_their_lengths() {
    let service = ServiceKey { port: 53, vlan: 7 };
    let udp = UdpHeader { number: 9, sent_at: Time(5), payload_bytes: 20 };
    let datagram = packet(Transport::Udp(udp), 70, [CLIENT, SERVER]);
    let frame = Flow { service, ..flow() }.frame(&datagram, &LinkHeaderSet::default(), true);
    assert_eq!((frame.length_bytes(), frame.counted_bytes), (66, 66));
    let parsed = Frame::parse(&bytes(&frame)).expect("a frame");
    assert_eq!((parsed.vlan.outer.map(|tag| (tag.identifier, tag.priority)), parsed.class()), (Some((7, 5)), 5));
    assert_eq!((parsed.payload_bytes(), parsed.padding_bytes(), parsed.service_key().port), (20, 0, 53));
    let mut data = packet(
        Transport::Tcp(TcpHeader { payload_bytes: 1_448, flags: TcpFlags::ACK, ..TcpHeader::default() }),
        1_518,
        [CLIENT, SERVER],
    );
    assert!(data.trim(64));
    let trimmed = flow().frame(&data, &LinkHeaderSet::default(), false);
    assert_eq!((trimmed.length_bytes(), trimmed.counted_bytes, trimmed.payload_bytes), (66, 60, 0));
}

#[test]
fn a_packet_with_headers_of_mechanisms_is_a_frame_of_a_link() {
    let mut spoken = LinkHeaderSet::default();
    spoken.add(&PRIORITIES).expect("the first headers");
    let mark = PriorityMark { rank_bytes: 70_000, ..PriorityMark::default() };
    let roce = RoceHeader { payload_bytes: 1_024, opcode: RoceOpcode::Write, ..RoceHeader::default() };
    let mut marked = packet(Transport::Roce(roce), 1_102, [CLIENT, SERVER]);
    let plain = bytes(&flow().frame(&marked, &spoken, true));
    marked.push_shim(mark).expect("an empty stack");
    let framed = bytes(&flow().frame(&marked, &spoken, true));
    let format = LinkFormat {
        ether_type: EtherType::EXPERIMENTAL_1,
        local: MacAddress([2, 0, 10, 0, 1, 45]),
        remote: MacAddress([2, 0, 10, 0, 0, 1]),
    };
    let decoded = format.decode(&spoken, &framed).expect("a frame of the link");
    assert_eq!((decoded.shims.get(), decoded.inner), (Some(mark), Some(&plain[..])));
    assert_eq!(identity(&marked).map(|identity| identity >> 32), Some(3));
}

#[test]
fn a_pause_frame_is_that_of_ethernet() {
    let mut pause = Packet { frame_bytes: 64, ..Packet::default() };
    pause.push_shim(PauseFrame::pause(3)).expect("an empty stack");
    let mut expected = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x88, 0x08, 1, 1, 0, 8];
    expected.extend([0, 0, 0, 0, 0, 0, 0xff, 0xff]);
    expected.resize(60, 0);
    assert_eq!(bytes(&control_frame(&pause, &LinkHeaderSet::default())), expected);
}

/// An Ethernet header of this type, and the bytes after it.
fn ethernet(ether_type: u16, after: &[&[u8]]) -> Vec<u8> {
    [&[2; 12], &ether_type.to_be_bytes()[..], &after.concat()].concat()
}

/// An IPv4 header with this protocol and fragment field, before `after_bytes`.
fn ipv4(protocol: u8, fragment: u16, after_bytes: usize) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 20 + after_bytes as u8, 0, 0, 0, 0, 64, protocol, 0, 0];
    header[6..8].copy_from_slice(&fragment.to_be_bytes());
    header.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    header
}

#[test]
fn a_real_frame_is_cut_after_the_headers_that_are_known() {
    let udp = |port: u16| [&[0, 1], &port.to_be_bytes()[..], &[0, 58, 0, 0], &[7; 50]].concat();
    let mut tcp = vec![0; 70];
    tcp[12] = 8 << 4;
    let ipv6 = [&[0x60, 0, 0, 0, 0, 58, 17, 64][..], &[1; 32]].concat();
    let rows = [
        ("UDP", ethernet(0x0800, &[&ipv4(17, 0, 58), &udp(9)]), 42),
        ("UDP over IPv6", ethernet(0x86dd, &[&ipv6, &udp(9)]), 62),
        ("TCP with 12 bytes of options", ethernet(0x0800, &[&ipv4(6, 0, 70), &tcp]), 66),
        ("a tag", ethernet(0x8100, &[&[0, 5, 0x08, 0], &ipv4(17, 0, 58), &udp(9)]), 46),
        ("RoCEv2, with the header of a write", ethernet(0x0800, &[&ipv4(17, 0, 58), &udp(4_791)]), 70),
        ("a later fragment", ethernet(0x0800, &[&ipv4(17, 5, 58), &udp(9)]), 34),
        ("ICMP", ethernet(0x0800, &[&ipv4(1, 0, 58), &udp(9)]), 92),
        ("ARP", ethernet(0x0806, &[&[0; 28]]), 42),
        ("a broken IP header", ethernet(0x0800, &[&[0; 46]]), 60),
        ("no Ethernet header", vec![1; 5], 5),
    ];
    let none = ShimStack::default();
    for (name, body, header_bytes) in rows {
        let [cut, whole] = [false, true].map(|is_whole| real_frame(&body, &none, &LinkHeaderSet::default(), is_whole));
        assert_eq!((&cut.head[..], cut.length_bytes()), (&body[..header_bytes], body.len() as u32), "{name}");
        assert_eq!((bytes(&whole), whole.counted_bytes), (body.clone(), body.len() as u32), "{name}");
    }
}

#[test]
fn headers_of_mechanisms_are_around_a_real_frame() {
    let mut spoken = LinkHeaderSet::default();
    spoken.add(&PRIORITIES).expect("it is the only one");
    let mut shims = ShimStack::default();
    shims.push(PriorityMark { rank_bytes: 70_000, ..PriorityMark::default() }).expect("there is room");
    let body = ethernet(0x0800, &[&ipv4(17, 0, 58), &[0; 58]]);
    let [cut, whole] = [false, true].map(|is_whole| real_frame(&body, &shims, &spoken, is_whole));
    let inner = whole.head.len() - body.len();
    assert_eq!((&whole.head[..14], &whole.head[inner..]), (&ethernet(0x88b5, &[])[..], &body[..]));
    assert_eq!((&cut.head[..], cut.length_bytes()), (&whole.head[..inner + 42], whole.length_bytes()));
}
