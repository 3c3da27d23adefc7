//! The frame parser compared with tables, arbitrary bytes, and an independent parser.

use std::net::IpAddr;

use super::samples::{DESTINATION, Extension, Network, SOURCE, Sample, Upper, checksum, frames};
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use hitless_core::wire::frame::{
    EtherType, FlowHashSeed, FlowKey, Fragment, Frame, MacAddress, Ports, VlanTag, frame_bytes, mark_ce,
};
use hitless_core::wire::{Ecn, ServiceKey};
use proptest::prelude::*;

fn upper(protocol: u8, source_port: u16, destination_port: u16) -> Upper {
    Upper { protocol, source_port, destination_port, payload: vec![7; 10] }
}

fn v4(traffic_class: u8, fragment: u16, upper: Upper) -> Sample {
    Sample { tags: vec![], network: Network::V4 { traffic_class, fragment, options: vec![], upper }, padding_bytes: 0 }
}

fn v6(extensions: &[Extension], upper: Upper) -> Sample {
    let network = Network::V6 { traffic_class: 0, extensions: extensions.to_vec(), upper };
    Sample { tags: vec![], network, padding_bytes: 0 }
}

fn parse(sample: &Sample) -> Frame {
    Frame::parse(&sample.bytes()).expect("a sample has an Ethernet header")
}

fn ports(source: u16, destination: u16) -> Option<Ports> {
    Some(Ports { source, destination })
}

#[test]
fn a_tcp_frame_is_read_to_its_ports_and_payload() {
    let frame = parse(&Sample { padding_bytes: 6, ..v4(0xb9, 0x4000, upper(6, 40_000, 443)) });
    assert_eq!((frame.destination, frame.source), (MacAddress(DESTINATION), MacAddress(SOURCE)));
    let ip = frame.ip.expect("IPv4");
    assert_eq!((ip.source.to_string(), ip.destination.to_string()), ("10.0.0.1".into(), "10.0.0.2".into()));
    assert_eq!((ip.dscp, ip.ecn, ip.hop_limit), (0x2e, Ecn::Capable, 64));
    assert_eq!((ip.protocol, ip.fragment, ip.ports), (6, Fragment::Whole, ports(40_000, 443)));
    assert_eq!((frame.payload_bytes(), frame.padding_bytes(), frame.class()), (10, 6, 5));
}

#[test]
fn tags_give_class_and_vlan_wherever_they_are() {
    let tag = |priority, identifier| Some(VlanTag { priority, is_drop_eligible: false, identifier });
    let cases: [(&[(u16, u16)], _, _, u8); 5] = [
        (&[], None, None, 1),
        (&[(0x8100, 0x6064)], tag(3, 100), None, 3),
        (&[(0x8100, 0xe000)], tag(7, 0), None, 7),
        (&[(0x88a8, 0x2005), (0x8100, 0xe006)], tag(1, 5), tag(7, 6), 1),
        (&[(0x9100, 0x4005), (0x8100, 0x0006)], tag(2, 5), tag(0, 6), 2),
    ];
    for (tags, outer, inner, class) in cases {
        let frame = parse(&Sample { tags: tags.to_vec(), ..v4(0x20, 0, upper(17, 5000, 53)) });
        assert_eq!((frame.vlan.outer, frame.vlan.inner, frame.class()), (outer, inner, class), "{tags:x?}");
        assert_eq!(frame.ip.and_then(|ip| ip.ports), ports(5000, 53), "{tags:x?}");
        let vlan = outer.map_or(0, |tag: VlanTag| tag.identifier);
        assert_eq!(frame.service_key(), ServiceKey { port: 53, vlan }, "{tags:x?}");
    }
}

#[test]
fn a_third_tag_is_not_read() {
    let tags = vec![(0x88a8, 1), (0x8100, 2), (0x8100, 3)];
    let frame = parse(&Sample { tags, ..v4(0, 0, upper(17, 1, 2)) });
    assert_eq!((frame.ether_type, frame.ip), (EtherType::VLAN, None));
}

#[test]
fn the_service_is_the_same_from_both_ends() {
    for (one, other, service) in
        [(40_000, 443, 443), (50_000, 4_791, 4_791), (123, 123, 123), (179, 22, 22), (40_000, 50_000, 0)]
    {
        for protocol in [6, 17] {
            for (source, destination) in [(one, other), (other, one)] {
                let frame = parse(&v4(0, 0, upper(protocol, source, destination)));
                assert_eq!(frame.service_key().port, service, "{source} -> {destination}");
            }
        }
    }
}

#[test]
fn all_fragments_of_a_datagram_have_one_key_and_only_the_first_has_ports() {
    let of_v4 = [0x2000, 0x2001, 0x0002].map(|fragment| parse(&v4(0, fragment, upper(17, 9, 10))));
    let of_v6 = [1, 9, 16].map(|offset_and_flags| {
        parse(&v6(
            &[Extension::Options { number: 0, words: 1 }, Extension::Fragment { offset_and_flags }],
            upper(17, 9, 10),
        ))
    });
    for fragments in [of_v4, of_v6] {
        let found = fragments.map(|frame| frame.ip.map(|ip| (ip.fragment, ip.ports)));
        let expected = [(Fragment::First, ports(9, 10)), (Fragment::Later, None), (Fragment::Later, None)];
        assert_eq!(found, expected.map(Some));
        assert!(fragments.iter().all(|frame| frame.flow_key() == fragments[0].flow_key()));
    }
    assert_ne!(of_v4[0].flow_key(), parse(&v4(0, 0, upper(17, 9, 10))).flow_key());
}

/// RFC 8200, section 4.5: only the first fragment's next header counts.
#[test]
fn fragments_that_name_different_next_headers_stay_together() {
    let fragment = |offset_and_flags, protocol| {
        let chain = [Extension::Fragment { offset_and_flags }, Extension::Options { number: 60, words: 0 }];
        let chain = if protocol == 60 { &chain[..] } else { &chain[..1] };
        parse(&v6(chain, upper(17, 9, 10))).flow_key()
    };
    assert_eq!(fragment(1, 60), fragment(9, 17));
}

#[test]
fn an_atomic_fragment_is_a_whole_datagram() {
    let atomic = parse(&v6(&[Extension::Fragment { offset_and_flags: 0 }], upper(6, 9, 10)));
    assert_eq!(atomic.flow_key(), parse(&v6(&[], upper(6, 9, 10))).flow_key());
}

#[test]
fn a_chain_of_extension_headers_is_walked_to_a_bound() {
    let options = Extension::Options { number: 60, words: 2 };
    for (count, found) in [(0, ports(9, 10)), (8, ports(9, 10)), (9, None)] {
        let frame = parse(&v6(&vec![options; count], upper(6, 9, 10)));
        assert_eq!(frame.ip.and_then(|ip| ip.ports), found, "{count} headers");
    }
}

#[test]
fn what_is_not_ip_is_told_by_addresses_and_type() {
    let other = |ether_type, payload| Sample {
        tags: vec![],
        network: Network::Other { ether_type, payload },
        padding_bytes: 0,
    };
    for (ether_type, key_type) in [(0x0806, 0x0806), (0x88cc, 0x88cc), (0x0026, 0), (0x05dc, 0)] {
        let frame = parse(&other(ether_type, vec![0; 46]));
        let (source, destination) = (MacAddress(SOURCE), MacAddress(DESTINATION));
        let key = FlowKey::Ethernet { source, destination, ether_type: EtherType(key_type) };
        assert_eq!(frame.flow_key(), key);
        assert!(!frame.has_malformed_ip());
    }
    let with_length = parse(&other(0x0026, vec![0; 46]));
    assert_eq!((with_length.payload_bytes(), with_length.padding_bytes()), (38, 8));
}

#[test]
fn a_length_on_the_link_counts_padding_and_check_sequence() {
    for (bytes, expected) in [(0, 64), (42, 64), (60, 64), (61, 65), (1_514, 1_518)] {
        assert_eq!(frame_bytes(bytes), expected, "{bytes}");
    }
    let sample = v4(0, 0, upper(17, 1, 2));
    assert_eq!(parse(&sample).describe(FlowHashSeed(0)).frame_bytes, frame_bytes(sample.bytes().len()));
}

#[test]
fn headers_that_contradict_the_frame_are_malformed() {
    let good = v4(0, 0, upper(17, 1, 2)).bytes();
    for (what, at, value) in
        [("version", 14, 0x65), ("header length", 14, 0x44), ("longer than its packet", 14, 0x4f), ("length", 16, 4)]
    {
        let mut bytes = good.clone();
        bytes[at] = value;
        let frame = Frame::parse(&bytes).expect("the Ethernet header is whole");
        assert!(frame.has_malformed_ip(), "{what}");
        assert!(matches!(frame.flow_key(), FlowKey::Ethernet { .. }), "{what}");
        assert!(!mark_ce(&mut bytes), "{what}");
    }
}

/// Compares with etherparse on the same bytes, as far as its concepts and ours match.
fn agrees(bytes: &[u8], frame: &Frame) -> Result<(), TestCaseError> {
    let Ok(theirs) = SlicedPacket::from_ethernet(bytes) else { return Ok(()) };
    let tags: Vec<u16> = theirs.vlan_ids().iter().map(|id| id.value()).collect();
    if tags.len() > 2 || theirs.link_exts.len() > tags.len() {
        return Ok(());
    }
    let ours: Vec<u16> = [frame.vlan.outer, frame.vlan.inner].into_iter().flatten().map(|tag| tag.identifier).collect();
    prop_assert_eq!(ours, tags);
    let (addresses, traffic_class, hop_limit, payload) = match &theirs.net {
        Some(NetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let pair: (IpAddr, IpAddr) = (header.source_addr().into(), header.destination_addr().into());
            (pair, header.dcp().value() << 2 | header.ecn().value(), header.ttl(), ip.payload())
        }
        // etherparse takes a length of 0 as "to the end of the frame".
        Some(NetSlice::Ipv6(ip)) if ip.header().payload_length() > 0 => {
            let header = ip.header();
            let pair: (IpAddr, IpAddr) = (header.source_addr().into(), header.destination_addr().into());
            (pair, header.traffic_class(), header.hop_limit(), ip.payload())
        }
        _ => return Ok(()),
    };
    let ip = frame.ip.ok_or_else(|| TestCaseError::fail("not recognised as IP"))?;
    prop_assert_eq!((ip.source, ip.destination), addresses);
    prop_assert_eq!((ip.dscp, ip.hop_limit), (traffic_class >> 2, hop_limit));
    let ecn = [Ecn::NotCapable, Ecn::Capable, Ecn::Capable, Ecn::CongestionExperienced];
    prop_assert_eq!(ip.ecn, ecn[usize::from(traffic_class & 3)]);
    // etherparse ends a chain at mobility, host identity and shim6 headers.
    if [135, 139, 140].contains(&payload.ip_number.0) {
        return Ok(());
    }
    prop_assert_eq!(ip.fragment != Fragment::Whole, payload.fragmented);
    if payload.fragmented {
        return Ok(());
    }
    transport_agrees(&theirs, ip.ports, frame.payload_bytes())
}

fn transport_agrees(theirs: &SlicedPacket, ours: Option<Ports>, payload_bytes: usize) -> Result<(), TestCaseError> {
    match &theirs.transport {
        Some(TransportSlice::Tcp(tcp)) => {
            prop_assert_eq!(ours, ports(tcp.source_port(), tcp.destination_port()));
            prop_assert_eq!(payload_bytes, tcp.payload().len());
        }
        Some(TransportSlice::Udp(udp)) => {
            prop_assert_eq!(ours, ports(udp.source_port(), udp.destination_port()));
        }
        Some(TransportSlice::Icmpv4(_) | TransportSlice::Icmpv6(_)) => prop_assert_eq!(ours, None),
        _ => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn another_parser_reads_the_same(bytes in frames()) {
        if let Ok(frame) = Frame::parse(&bytes) {
            agrees(&bytes, &frame)?;
        }
    }

    /// A mark changes only the ECN field and the checksum; the checksum stays right.
    #[test]
    fn a_mark_is_read_back_and_keeps_the_checksum(bytes in frames()) {
        let Ok(before) = Frame::parse(&bytes) else { return Ok(()) };
        let mut marked = bytes.clone();
        let is_marked = mark_ce(&mut marked);
        prop_assert_eq!(is_marked, before.ecn() != Ecn::NotCapable);
        if !is_marked {
            prop_assert_eq!(marked, bytes);
            return Ok(());
        }
        let after = Frame::parse(&marked).expect("it was parsed before");
        prop_assert_eq!(after.ecn(), Ecn::CongestionExperienced);
        prop_assert_eq!(after.flow_key(), before.flow_key());
        let differing: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at] != marked[at]).collect();
        let ip = before.payload_at;
        prop_assert!(differing.iter().all(|at| [ip + 1, ip + 10, ip + 11].contains(at)), "{differing:?}");
        if before.ether_type == EtherType::IPV4 {
            let header = ip..ip + usize::from(bytes[ip] & 15) * 4;
            prop_assert_eq!(checksum(&bytes[header.clone()]) == 0, checksum(&marked[header]) == 0);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        match Frame::parse(&bytes) {
            Ok(frame) => {
                prop_assert!(frame.payload_at + frame.payload_bytes() + frame.padding_bytes() <= bytes.len());
                frame.describe(FlowHashSeed(7));
                frame.service_key();
            }
            Err(refusal) => prop_assert_eq!(refusal.bytes, bytes.len()),
        }
        mark_ce(&mut bytes.clone());
    }
}
