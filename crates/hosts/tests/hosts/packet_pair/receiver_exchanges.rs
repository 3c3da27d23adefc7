//! The measurements and acknowledgements of a receiver.

use super::script::{Alone, First, MSS, Second, at, config};
use hitless_core::wire::{
    Duration, Ecn, Packet, PacketPairAcknowledgement, PacketPairData, PacketPairHeader, PairPosition, Transport,
};
use hitless_hosts::transport::Receiver;
use hitless_hosts::transport::packet_pair::PacketPairReceiver;

struct Exchange {
    receiver: PacketPairReceiver,
}

impl Exchange {
    fn new() -> Self {
        Self { receiver: PacketPairReceiver::new(&config(), Duration::ZERO) }
    }

    fn receive(&mut self, time_ns: u64, segment: u64, pair: u32, position: PairPosition) -> Vec<(u64, u64)> {
        self.take(time_ns, data(segment, pair, position), Ecn::Capable)
    }

    /// Receives a packet; returns the acknowledgements sent at once, as (segments acknowledged, gap in nanoseconds).
    fn take(&mut self, time_ns: u64, data: PacketPairData, ecn: Ecn) -> Vec<(u64, u64)> {
        let transport = Transport::PacketPair(PacketPairHeader::Data(data));
        self.receiver.receive(at(time_ns), &Packet { transport, ecn, ..Packet::default() });
        self.answers(time_ns).iter().map(|answer| (answer.acknowledgement / MSS, answer.gap.as_ps() / 1_000)).collect()
    }

    fn answers(&mut self, time_ns: u64) -> Vec<PacketPairAcknowledgement> {
        let acknowledgements = std::iter::from_fn(|| self.receiver.poll_transmit(at(time_ns)));
        acknowledgements
            .map(|outgoing| match outgoing.transport {
                Transport::PacketPair(PacketPairHeader::Acknowledgement(acknowledgement)) => acknowledgement,
                other => panic!("not an acknowledgement: {other:?}"),
            })
            .collect()
    }
}

fn data(segment: u64, pair: u32, position: PairPosition) -> PacketPairData {
    let measured_segments = u16::from(position == Second);
    PacketPairData {
        sequence: segment * MSS,
        payload_bytes: MSS as u16,
        pair,
        position,
        measured_segments,
        ..Default::default()
    }
}

#[test]
fn one_acknowledgement_answers_a_pair_and_returns_its_gap() {
    let mut exchange = Exchange::new();
    assert_eq!(exchange.receive(1_000, 0, 1, First), []);
    assert_eq!(exchange.receive(3_500, 1, 1, Second), [(2, 2_500)]);
    assert_eq!(exchange.receive(9_000, 2, 2, First), []);
    assert_eq!(exchange.receive(9_100, 3, 2, Second), [(4, 100)]);
}

#[test]
fn a_packet_alone_is_acknowledged_at_once() {
    let mut exchange = Exchange::new();
    assert_eq!(exchange.receive(1_000, 0, 1, Alone), [(1, 0)]);
}

#[test]
fn only_two_packets_of_the_same_pair_have_a_gap() {
    let mut exchange = Exchange::new();
    // The first packet of pair 1 and the second of pair 2 are lost.
    assert_eq!(exchange.receive(1_000, 1, 1, Second), [(0, 0)]);
    assert_eq!(exchange.receive(5_000, 2, 2, First), [(0, 0)]);
    // Their data is retransmitted in pair 9; pair 3 was lost.
    assert_eq!(exchange.receive(50_000, 0, 9, First), [(3, 0)]);
    assert_eq!(exchange.receive(52_000, 3, 9, Second), [(4, 2_000)]);
    // The second overtakes the first.
    assert_eq!(exchange.receive(60_000, 5, 10, Second), [(4, 0)]);
    assert_eq!(exchange.receive(60_500, 4, 10, First), [(6, 0)]);
    // The first packet of the next pair is lost; the previous pair's must not be used instead.
    assert_eq!(exchange.receive(70_000, 7, 11, Second), [(6, 0)]);
}

#[test]
fn copies_measure_nothing() {
    let mut exchange = Exchange::new();
    exchange.receive(1_000, 0, 1, First);
    exchange.receive(2_000, 0, 1, First);
    assert_eq!(exchange.receive(4_000, 1, 1, Second), [(2, 3_000)]);
    assert_eq!(exchange.receive(9_000, 1, 1, Second), [(2, 0)]);
}

#[test]
fn a_pair_that_is_not_to_be_measured_is_not() {
    let mut exchange = Exchange::new();
    exchange.receive(1_000, 0, 1, First);
    let second = PacketPairData { measured_segments: 0, ..data(1, 1, Second) };
    assert_eq!(exchange.take(2_000, second, Ecn::Capable), [(2, 0)]);
}

#[test]
fn the_gap_is_that_of_the_arrivals_at_the_card() {
    let mut exchange = Exchange::new();
    // The stack delivers both at the same time, long after they arrived.
    let first = PacketPairData { arrived_at: at(1_000), ..data(0, 1, First) };
    let second = PacketPairData { arrived_at: at(2_200), ..data(1, 1, Second) };
    assert_eq!(exchange.take(30_000, first, Ecn::Capable), []);
    assert_eq!(exchange.take(30_000, second, Ecn::Capable), [(2, 1_200)]);
}

#[test]
fn a_first_packet_whose_second_does_not_come_is_acknowledged_after_a_time() {
    let mut exchange = Exchange::new();
    assert_eq!(exchange.receive(1_000, 0, 1, First), []);
    assert_eq!(exchange.receiver.next_timeout(), at(1_000) + Duration::from_ms(1));
    exchange.receiver.handle_timeout(at(1_001_000));
    let answers = exchange.answers(1_001_000);
    assert_eq!((answers.len(), answers[0].acknowledgement, answers[0].gap), (1, MSS, Duration::ZERO));
}

#[test]
fn marks_are_echoed_for_exactly_the_packets_that_bear_them() {
    let mut exchange = Exchange::new();
    // (segment, position, marked, echoes sent)
    let table = [
        (0, First, false, vec![]),
        (1, Second, true, vec![false, true]),
        (2, First, true, vec![]),
        (3, Second, true, vec![true]),
        (4, First, false, vec![false]),
        (5, Second, false, vec![false]),
    ];
    for (segment, position, marked, echoes) in table {
        let ecn = if marked { Ecn::CongestionExperienced } else { Ecn::Capable };
        let transport = Transport::PacketPair(PacketPairHeader::Data(data(segment, 1 + segment as u32 / 2, position)));
        exchange.receiver.receive(at(segment * 1_000), &Packet { transport, ecn, ..Packet::default() });
        let answers = exchange.answers(segment * 1_000);
        let found: Vec<_> = answers.iter().map(|answer| answer.congestion).collect();
        assert_eq!(found, echoes, "segment {segment}");
    }
}
