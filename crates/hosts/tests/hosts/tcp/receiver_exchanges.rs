//! Recorded exchanges of the receiver: arrivals and acknowledgements.

use super::script::{MSS, at, header_of};
use hitless_core::wire::{Duration, Ecn, Packet, TcpFlags, TcpHeader, Time, Transport};
use hitless_hosts::transport::Receiver;
use hitless_hosts::transport::tcp::{Congestion, TcpReceiver, TcpSettings};

/// An acknowledgement: (segments in order, ECN-Echo).
type Ack = (u64, bool);

fn data(segment: u64, marked: bool, flags: TcpFlags) -> Packet {
    let header = TcpHeader { sequence: segment * MSS, payload_bytes: MSS as u16, flags, ..TcpHeader::default() };
    let ecn = if marked { Ecn::CongestionExperienced } else { Ecn::Capable };
    Packet { transport: Transport::Tcp(header), ecn, ..Packet::default() }
}

fn acks(receiver: &mut TcpReceiver, now: Time) -> Vec<Ack> {
    let headers = std::iter::from_fn(|| receiver.poll_transmit(now)).map(|outgoing| header_of(&outgoing));
    headers.map(|header| (header.acknowledgement / MSS, header.flags.contains(TcpFlags::ECE))).collect()
}

fn feed(receiver: &mut TcpReceiver, packets: &[(u64, bool)]) -> Vec<Vec<Ack>> {
    let mut answers = Vec::new();
    for &(segment, marked) in packets {
        receiver.receive(at(segment), &data(segment, marked, TcpFlags::ACK));
        answers.push(acks(receiver, at(segment)));
    }
    answers
}

fn delayed(base: TcpSettings, quick_acks: u32) -> TcpReceiver {
    TcpReceiver::new(&TcpSettings { delayed_ack_segments: 2, quick_acks, ..base }, Duration::ZERO)
}

#[test]
fn every_second_packet_is_acknowledged_after_the_quick_ones() {
    let mut receiver = delayed(TcpSettings::default(), 2);
    let answers = feed(&mut receiver, &[(0, false), (1, false), (2, false), (3, false), (4, false)]);
    assert_eq!(answers, [vec![(1, false)], vec![(2, false)], vec![], vec![(4, false)], vec![]]);
    assert_eq!(receiver.next_timeout(), at(40_004));
    receiver.handle_timeout(at(40_003));
    assert_eq!(acks(&mut receiver, at(40_003)), []);
    receiver.handle_timeout(at(40_004));
    assert_eq!(acks(&mut receiver, at(40_004)), [(5, false)]);
    assert_eq!(receiver.next_timeout(), Time::NEVER);
}

/// Linux: tcp_fin enters ping-pong mode, so only more than one full segment is acknowledged at once.
#[test]
fn a_fin_by_itself_is_acknowledged_when_the_application_closes() {
    let closing = || TcpReceiver::new(&TcpSettings::default(), Duration::ZERO).closing_after(Duration::from_us(70));
    let last = |segment| data(segment, false, TcpFlags::ACK.with(TcpFlags::FIN));
    let mut alone = closing();
    assert_eq!(feed(&mut alone, &[(0, false), (1, false)]), [[(1, false)], [(2, false)]]);
    alone.receive(at(2), &last(2));
    assert_eq!((acks(&mut alone, at(2)), alone.next_timeout()), (vec![], at(72)));
    alone.handle_timeout(at(72));
    assert_eq!((acks(&mut alone, at(72)), alone.next_timeout()), (vec![(3, false)], Time::NEVER));

    let mut merged = closing();
    merged.receive_merged(at(0), &last(0), 3);
    assert_eq!(acks(&mut merged, at(0)), [(1, false)], "of several packets");

    let mut late = closing();
    late.receive(at(0), &last(1));
    assert_eq!(acks(&mut late, at(0)), [(0, false)], "above a gap");
    late.receive(at(1), &data(0, false, TcpFlags::ACK));
    assert_eq!((acks(&mut late, at(1)), late.next_timeout()), (vec![(2, false)], Time::NEVER), "and the gap filled");
}

/// RFC 5681, section 4.2: segments out of order, repeated, or filling a gap are acknowledged at once.
#[test]
fn gaps_are_reported_at_once() {
    let mut receiver = delayed(TcpSettings::default(), 0);
    let answers = feed(&mut receiver, &[(0, false), (2, false), (1, false), (1, false), (3, false)]);
    assert_eq!(answers, [vec![], vec![(1, false)], vec![(3, false)], vec![(3, false)], vec![]]);
    let statistics = receiver.statistics();
    assert_eq!((statistics.packets_received, statistics.duplicate_packets, statistics.reordered_packets), (5, 1, 1));
}

/// RFC 8257, section 3.2: a change of marking acknowledges waiting packets with the old echo, then the packet with the
/// new one.
#[test]
fn dctcp_echoes_each_run_of_marks_exactly() {
    let mut receiver = delayed(TcpSettings::with(Congestion::Dctcp(Default::default())), 0);
    let packets =
        [(0, false), (1, false), (2, false), (3, true), (4, true), (5, true), (6, true), (7, false), (8, false)];
    let answers = feed(&mut receiver, &packets);
    let expected = [
        vec![],
        vec![(2, false)],
        vec![],
        vec![(3, false), (4, true)],
        vec![],
        vec![(6, true)],
        vec![],
        vec![(7, true), (8, false)],
        vec![],
    ];
    assert_eq!(answers, expected);
    assert_eq!(receiver.statistics().marked_packets, 4);
}

#[test]
fn dctcp_without_delay_echoes_packet_by_packet() {
    let mut receiver = TcpReceiver::new(&TcpSettings::with(Congestion::Dctcp(Default::default())), Duration::ZERO);
    let answers = feed(&mut receiver, &[(0, false), (1, true), (2, false), (3, true)]);
    assert_eq!(answers, [vec![(1, false)], vec![(2, true)], vec![(3, false)], vec![(4, true)]]);
}

/// RFC 3168, section 6.1.3: the echo stays until the sender reports its reduction.
#[test]
fn classic_ecn_echoes_until_the_window_is_reduced() {
    let mut receiver = TcpReceiver::new(&TcpSettings { ecn: true, ..TcpSettings::default() }, Duration::ZERO);
    let answers = feed(&mut receiver, &[(0, false), (1, true), (2, false)]);
    assert_eq!(answers, [vec![(1, false)], vec![(2, true)], vec![(3, true)]]);
    receiver.receive(at(3), &data(3, false, TcpFlags::ACK.with(TcpFlags::CWR)));
    assert_eq!(acks(&mut receiver, at(3)), [(4, false)]);
}

#[test]
fn a_syn_is_answered_each_time_it_comes() {
    let mut receiver = TcpReceiver::new(&TcpSettings::default(), Duration::ZERO);
    for time_us in [1, 1_000_001] {
        let header = TcpHeader { flags: TcpFlags::SYN, timestamp: 7, ..TcpHeader::default() };
        receiver.receive(at(time_us), &Packet { transport: Transport::Tcp(header), ..Packet::default() });
        let answer = receiver.poll_transmit(at(time_us)).unwrap();
        let header = header_of(&answer);
        assert!(header.flags.contains(TcpFlags::SYN.with(TcpFlags::ACK)));
        assert_eq!((header.timestamp_echo, answer.frame_bytes), (7, 78));
        assert_eq!(receiver.poll_transmit(at(time_us)), None);
    }
}

#[test]
fn frames_have_their_length_on_the_wire() {
    let mut receiver = TcpReceiver::new(&TcpSettings::default(), Duration::ZERO);
    let mut lengths = Vec::new();
    for segment in [0, 2, 4, 6, 8] {
        receiver.receive(at(segment), &data(segment, false, TcpFlags::ACK));
        lengths.push(receiver.poll_transmit(at(segment)).unwrap().frame_bytes);
    }
    assert_eq!(lengths, [70, 82, 90, 98, 98]);
}

/// RFC 2883: a segment that arrived twice is reported once, in an acknowledgement longer by a block.
#[test]
fn what_came_twice_is_reported_if_asked_for() {
    let reports = |dsack_undo, segments: &[u64]| {
        let mut receiver = TcpReceiver::new(&TcpSettings { dsack_undo, ..TcpSettings::default() }, Duration::ZERO);
        let mut reports = Vec::new();
        for &segment in segments {
            receiver.receive(at(segment), &data(segment, false, TcpFlags::ACK));
            let answer = receiver.poll_transmit(at(segment)).unwrap();
            let header = header_of(&answer);
            if header.flags.contains(TcpFlags::DSACK) {
                reports.push((
                    header.sequence / MSS,
                    header.timestamp,
                    header.acknowledgement / MSS,
                    answer.frame_bytes,
                ));
            }
        }
        reports
    };
    assert_eq!(reports(true, &[0, 1, 0, 2]), [(0, 1_000, 2, 82)]);
    assert_eq!(reports(true, &[0, 2, 2, 1, 2]), [(2, 1_000, 1, 90), (2, 1_000, 3, 82)]);
    assert_eq!(reports(false, &[0, 1, 0, 2, 2]), []);
}

/// Receives `frames` segments starting with `first`, merged by receive offload; returns the acknowledgements.
fn merged(receiver: &mut TcpReceiver, first: u64, frames: u64, marked: bool) -> Vec<Ack> {
    let mut packet = data(first, marked, TcpFlags::ACK);
    if let Transport::Tcp(header) = &mut packet.transport {
        header.payload_bytes = (frames * MSS) as u16;
    }
    receiver.receive_merged(at(first), &packet, frames as u32);
    acks(receiver, at(first))
}

#[test]
fn a_merged_segment_is_acknowledged_at_once_and_once() {
    for mut receiver in [delayed(TcpSettings::default(), 0), TcpReceiver::new(&TcpSettings::default(), Duration::ZERO)]
    {
        assert_eq!(merged(&mut receiver, 0, 10, false), [(10, false)]);
        assert_eq!(merged(&mut receiver, 10, 7, false), [(17, false)]);
        assert_eq!(receiver.statistics().packets_received, 17);
        assert_eq!(receiver.delivered_bytes(), 17 * MSS);
    }
}

#[test]
fn a_single_segment_waits_for_a_merged_one() {
    let mut receiver = delayed(TcpSettings::default(), 0);
    assert_eq!(merged(&mut receiver, 0, 1, false), []);
    assert_eq!(merged(&mut receiver, 1, 3, false), [(4, false)]);
    assert_eq!(merged(&mut receiver, 4, 1, false), []);
    assert_eq!(receiver.next_timeout(), at(40_004));
}

/// A gap within one poll: segments below it, above it, and inside it.
#[test]
fn merged_segments_around_a_gap_are_acknowledged_each() {
    let mut receiver = TcpReceiver::new(&TcpSettings::default(), Duration::ZERO);
    assert_eq!(merged(&mut receiver, 0, 3, false), [(3, false)]);
    assert_eq!(merged(&mut receiver, 4, 6, false), [(3, false)]);
    assert_eq!(receiver.out_of_order_bytes(), 6 * MSS);
    assert_eq!(merged(&mut receiver, 3, 1, false), [(10, false)]);
    assert_eq!(merged(&mut receiver, 3, 2, false), [(10, false)]);
    let statistics = receiver.statistics();
    assert_eq!((statistics.packets_received, statistics.duplicate_packets, statistics.reordered_packets), (12, 2, 1));
}

/// RFC 8257, section 3.2, also for merged packets: receive offload never merges across a change of marking.
#[test]
fn dctcp_echoes_marks_of_merged_segments() {
    let mut receiver = delayed(TcpSettings::with(Congestion::Dctcp(Default::default())), 0);
    assert_eq!(merged(&mut receiver, 0, 4, false), [(4, false)]);
    assert_eq!(merged(&mut receiver, 4, 3, true), [(7, true)]);
    assert_eq!(merged(&mut receiver, 7, 1, true), []);
    assert_eq!(merged(&mut receiver, 8, 2, false), [(8, true), (10, false)]);
    assert_eq!(receiver.statistics().marked_packets, 4);
}

#[test]
fn only_what_comes_behind_a_later_segment_counts_as_reordered() {
    let mut receiver = TcpReceiver::new(&TcpSettings::default(), Duration::ZERO);
    feed(&mut receiver, &[0, 3, 4, 1, 2, 5].map(|segment| (segment, false)));
    assert_eq!(receiver.statistics().reordered_packets, 2, "segments 1 and 2 come behind 4");
    assert_eq!(receiver.delivered_bytes(), 6 * MSS);
}
