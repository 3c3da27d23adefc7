//! The rules for merging packets, and the times of polls.

use hitless_core::wire::{Ecn, PriorityMark, UdpHeader};
use proptest::prelude::*;

use super::*;

/// Creates a full segment of 1,448 payload bytes with this number.
fn segment(number: u64) -> Packet {
    let header = TcpHeader {
        sequence: number * 1_448,
        payload_bytes: 1_448,
        flags: TcpFlags::ACK,
        timestamp: 5_000,
        ..TcpHeader::default()
    };
    Packet { frame_bytes: 1_518, ecn: Ecn::Capable, transport: Transport::Tcp(header), ..Packet::default() }
}

fn with(number: u64, change: impl FnOnce(&mut TcpHeader)) -> Packet {
    let mut packet = segment(number);
    if let Transport::Tcp(header) = &mut packet.transport {
        change(header);
    }
    packet
}

fn in_store(packets: &[Packet]) -> (PacketStore, Vec<PacketHandle>) {
    let mut store = PacketStore::default();
    let handles = packets.iter().map(|&packet| store.insert(packet)).collect();
    (store, handles)
}

/// Returns the number of packets in each segment of a poll.
fn runs(packets: &[Packet]) -> Vec<usize> {
    let (store, handles) = in_store(packets);
    let (mut rest, mut runs) = (handles.as_slice(), Vec::new());
    while !rest.is_empty() {
        let count = mergeable(rest, &store);
        runs.push(count);
        rest = &rest[count..];
    }
    runs
}

#[test]
fn what_merges_is_what_linux_merges() {
    let acknowledgement = |number| with(number, |header| header.payload_bytes = 0);
    let flagged = |number, flags| with(number, |header| header.flags = TcpFlags::ACK.with(flags));
    let short = |number| with(number, |header| header.payload_bytes = 1_000);
    let marked = |number| Packet { ecn: Ecn::CongestionExperienced, ..segment(number) };
    let tagged = |number| {
        let mut packet = segment(number);
        packet.push_shim(PriorityMark::default()).unwrap();
        packet
    };
    let udp = Packet { transport: Transport::Udp(UdpHeader::default()), ..Packet::default() };
    let table: [(&str, Vec<Packet>, &[usize]); 21] = [
        ("one packet", vec![segment(0)], &[1]),
        ("in order", vec![segment(0), segment(1), segment(2)], &[3]),
        ("a gap", vec![segment(0), segment(2), segment(3)], &[1, 2]),
        ("what fills it comes after", vec![segment(0), segment(2), segment(1), segment(3)], &[1, 1, 1, 1]),
        ("twice the same", vec![segment(0), segment(0)], &[1, 1]),
        ("a shorter one is the last", vec![segment(0), short(1), segment(2)], &[2, 1]),
        ("a longer one is another's first", vec![short(0), with(0, |header| header.sequence = 1_000)], &[1, 1]),
        ("PSH is the last", vec![segment(0), flagged(1, TcpFlags::PSH), segment(2)], &[2, 1]),
        ("PSH alone", vec![flagged(0, TcpFlags::PSH), segment(1)], &[1, 1]),
        ("FIN is the last", vec![segment(0), flagged(1, TcpFlags::FIN), segment(2)], &[2, 1]),
        ("CWR is the first", vec![segment(0), flagged(1, TcpFlags::CWR), segment(2)], &[1, 2]),
        ("another flag", vec![segment(0), flagged(1, TcpFlags::ECE), segment(2)], &[1, 1, 1]),
        ("CE begins and ends", vec![segment(0), marked(1), marked(2), segment(3)], &[1, 2, 1]),
        ("acknowledgements", vec![acknowledgement(0), acknowledgement(0)], &[1, 1]),
        ("one of them between data", vec![segment(0), acknowledgement(1), segment(1)], &[1, 1, 1]),
        ("acknowledging more", vec![segment(0), with(1, |header| header.acknowledgement = 9)], &[1, 1]),
        ("another window", vec![segment(0), with(1, |header| header.window_bytes = 9)], &[1, 1]),
        ("the same millisecond", vec![segment(0), with(1, |header| header.timestamp = 5_100)], &[2]),
        ("the next millisecond", vec![segment(0), with(1, |header| header.timestamp = 6_200)], &[1, 1]),
        ("a header that the kernel does not know", vec![segment(0), tagged(1), tagged(2)], &[1, 1, 1]),
        ("datagrams", vec![udp, udp], &[1, 1]),
    ];
    for (what, packets, expected) in table {
        assert_eq!(runs(&packets), expected, "{what}");
    }
}

#[test]
fn other_headers_keep_packets_apart_too() {
    type Change = fn(&mut Packet);
    let table: [(&str, Change); 3] = [
        ("time to live", |packet| packet.ttl = 1),
        ("class", |packet| packet.class = 1),
        ("payload cut off", |packet| assert!(packet.trim(64))),
    ];
    for (what, change) in table {
        let mut other = segment(1);
        change(&mut other);
        assert_eq!(runs(&[segment(0), other]), [1, 1], "{what}");
    }
    assert_eq!(runs(&[segment(0), with(1, |header| header.congestion_option = 1)]), [1, 1], "option of Bolt");
    let syn = with(0, |header| header.flags = TcpFlags::SYN);
    assert_eq!(runs(&[syn, segment(1)]), [1, 1], "SYN");
}

#[test]
fn a_merged_packet_stays_below_64_kilobytes() {
    let packets: Vec<_> = (0..100).map(segment).collect();
    // 52 bytes of headers and 45 segments are 65,212 bytes; another one would make 66,660.
    assert_eq!(runs(&packets), [45, 45, 10]);
}

#[test]
fn a_merged_packet_has_the_first_header_and_all_payload() {
    let last = with(2, |header| {
        header.flags = header.flags.with(TcpFlags::PSH);
        header.payload_bytes = 100;
        header.timestamp = 5_001;
    });
    let (mut store, handles) = in_store(&[segment(0), segment(1), last]);
    let merged = merge(&handles, &mut store);
    assert_eq!(merged, Segment { packet: handles[0], frames: 3 });
    assert_eq!(store.alive(), 1);
    let Transport::Tcp(header) = store[merged.packet].transport else { panic!("it is TCP") };
    assert_eq!((header.sequence, header.payload_bytes, header.timestamp), (0, 2_996, 5_000));
    assert_eq!(header.flags, TcpFlags::ACK.with(TcpFlags::PSH));
    assert_eq!(store[merged.packet].frame_bytes, 1_518 + 1_548);
}

const STACK: Duration = Duration::from_us(5);

fn ring(delay_us: u64, interrupt_packets: Option<u32>) -> ReceiveRing {
    ReceiveRing::new(GroConfig { interrupt_delay: Duration::from_us(delay_us), interrupt_packets })
}

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Returns the results of [`ReceiveRing::arrive`] for packets at these times, in us.
fn polls(mut ring: ReceiveRing, arrivals_us: &[u64]) -> Vec<Option<u64>> {
    let mut arrive = |us| ring.arrive(at(us), PacketHandle(0), || STACK);
    arrivals_us.iter().map(|&us| arrive(us).map(|at| at.as_ps() / 1_000_000)).collect()
}

#[test]
fn an_interrupt_comes_after_a_time_or_a_number_of_packets() {
    type Row<'a> = (&'a str, ReceiveRing, &'a [u64], &'a [Option<u64>]);
    let table: [Row; 6] = [
        ("no moderation", ring(0, None), &[1, 2, 3], &[Some(6), None, None]),
        ("after a time", ring(8, None), &[1, 2, 3], &[Some(14), None, None]),
        ("after three packets", ring(8, Some(3)), &[1, 2, 3, 4], &[Some(14), None, Some(8), None]),
        ("after one", ring(8, Some(1)), &[1, 2], &[Some(6), None]),
        ("three, but too late", ring(8, Some(3)), &[1, 2, 9], &[Some(14), None, None]),
        ("three, when the interrupt is over", ring(2, Some(3)), &[1, 2, 5], &[Some(8), None, None]),
    ];
    for (what, ring, arrivals_us, expected) in table {
        assert_eq!(polls(ring, arrivals_us), expected, "{what}");
    }
}

#[test]
fn a_poll_takes_everything_once() {
    let mut ring = ring(8, Some(2));
    let arrive = |ring: &mut ReceiveRing, us, packet| ring.arrive(at(us), PacketHandle(packet), || STACK);
    assert_eq!(arrive(&mut ring, 0, 0), Some(at(13)));
    assert_eq!(arrive(&mut ring, 1, 1), Some(at(6)));
    assert_eq!(ring.poll(at(6)), [PacketHandle(0), PacketHandle(1)]);
    assert_eq!(arrive(&mut ring, 7, 2), Some(at(20)));
    assert_eq!(ring.poll(at(13)), [], "that was the first packet's");
    assert_eq!(ring.poll(at(20)), [PacketHandle(2)]);
    assert_eq!(ring.poll(at(20)), []);
}

proptest! {
    #[test]
    fn no_byte_and_no_frame_is_lost_or_moved(
        steps in proptest::collection::vec((0u8..10, 1u16..1_449, 0u8..8), 1..200),
    ) {
        let mut next = 0;
        let packets: Vec<_> = steps
            .iter()
            .map(|&(gap, payload_bytes, flags)| {
                let sequence = next + if gap == 0 { 1_448 } else { 0 };
                next = sequence + u64::from(payload_bytes);
                // Flags are rare, so that most packets merge.
                let flags = if flags == 7 { TcpFlags::PSH } else { TcpFlags::ACK };
                with(0, |header| *header = TcpHeader { sequence, payload_bytes, flags, ..*header })
            })
            .collect();
        let ranges = |packets: &[Packet]| -> Vec<u64> {
            packets.iter().flat_map(|packet| {
                let Transport::Tcp(header) = packet.transport else { panic!("it is TCP") };
                header.sequence..header.sequence + u64::from(header.payload_bytes)
            }).collect()
        };
        let before = ranges(&packets);
        let (mut store, handles) = in_store(&packets);
        let (mut rest, mut merged, mut frames) = (handles.as_slice(), Vec::new(), 0);
        while !rest.is_empty() {
            let (run, others) = rest.split_at(mergeable(rest, &store));
            let segment = merge(run, &mut store);
            merged.push(store[segment.packet]);
            frames += segment.frames;
            rest = others;
        }
        prop_assert_eq!(ranges(&merged), before);
        prop_assert_eq!((frames as usize, store.alive()), (packets.len(), merged.len()));
    }
}
