//! Segments that arrive without their payload: the receiver's notification, and the sender's response.

use super::script::{Flow, MSS, Script, at, config, header_of};
use hitless_core::wire::{Bytes, Duration, Packet, TcpFlags, TcpHeader, Transport};
use hitless_hosts::transport::tcp::{Congestion, CongestionState, TcpReceiver, TcpSettings};
use hitless_hosts::transport::{Receiver, Sender, SenderStatistics};
use proptest::prelude::*;

fn data(segment: u64) -> Packet {
    let header = TcpHeader { sequence: segment * MSS, payload_bytes: MSS as u16, timestamp: 7, ..TcpHeader::default() };
    Packet { transport: Transport::Tcp(header), frame_bytes: 1_070, ..Packet::default() }
}

fn trimmed(segment: u64) -> Packet {
    let mut packet = data(segment);
    assert!(packet.trim(64));
    packet
}

/// Returns the receiver's acknowledgements of a packet: (acknowledged segments, lost segment, blocks, length).
fn answers(receiver: &mut TcpReceiver, packet: &Packet) -> Vec<(u64, Option<u64>, usize, u32)> {
    receiver.receive(at(1), packet);
    let said = std::iter::from_fn(|| receiver.poll_transmit(at(1)));
    said.map(|outgoing| {
        let header = header_of(&outgoing);
        let lost = header.flags.contains(TcpFlags::LOSS).then_some(header.sequence / MSS);
        assert!(lost.is_none() || header.timestamp == 7, "the timestamp tells which transmission was cut");
        (header.acknowledgement / MSS, lost, header.sack.absolute(0).count(), outgoing.frame_bytes)
    })
    .collect()
}

#[test]
fn a_segment_without_payload_is_named_at_once_and_delivers_nothing() {
    let mut receiver = TcpReceiver::new(&TcpSettings { delayed_ack_segments: 2, ..config() }, Duration::ZERO);
    assert_eq!(answers(&mut receiver, &data(0)), []);
    assert_eq!(answers(&mut receiver, &trimmed(1)), [(1, Some(1), 0, 82)]);
    assert_eq!(answers(&mut receiver, &trimmed(2)), [(1, Some(2), 0, 82)]);
    assert_eq!(answers(&mut receiver, &data(3)), [(1, None, 1, 82)]);
    assert_eq!(answers(&mut receiver, &data(5)), [(1, None, 2, 90)]);
    // With timestamps and the notification there is room for one block.
    assert_eq!(answers(&mut receiver, &trimmed(6)), [(1, Some(6), 1, 94)]);
    assert_eq!(answers(&mut receiver, &trimmed(3)), [(1, None, 2, 90)], "it has come before");
    let statistics = receiver.statistics();
    assert_eq!((receiver.delivered_bytes(), statistics.packets_received, statistics.trimmed_packets), (MSS, 3, 3));
}

/// Receives an acknowledgement of `segments` that names a trimmed segment, sent at `sent_us`.
fn notice(script: &mut Script, time_us: u64, segments: u64, lost: u64, sent_us: u64) {
    let header = TcpHeader {
        acknowledgement: segments * MSS,
        sequence: lost * MSS,
        timestamp: (at(sent_us).as_ps() >> 20) as u32,
        window_bytes: u32::MAX,
        flags: TcpFlags::ACK.with(TcpFlags::LOSS),
        ..TcpHeader::default()
    };
    script.receive(time_us, header);
}

fn without_sack() -> TcpSettings {
    TcpSettings { sack: false, rack_tlp: false, ..config() }
}

#[test]
fn a_named_segment_is_sent_again_at_once_and_the_window_is_halved_once() {
    for config in [config(), TcpSettings { rack_tlp: false, ..config() }, without_sack()] {
        let mut script = Script::burst(&config, 8);
        let window_bytes = script.sender.cwnd_bytes();
        notice(&mut script, 130, 1, 3, 100);
        script.expect(130, &[(130, 3)]);
        assert_eq!(script.sender.congestion_state(), CongestionState::Recovery);
        assert_eq!(script.sender.ssthresh_bytes(), window_bytes / 2);
        notice(&mut script, 131, 1, 4, 100);
        assert_eq!(script.sender.ssthresh_bytes(), window_bytes / 2, "one reduction for a window");
        script.acknowledge(171, 9, &[]);
        script.expect(171, &[]);
        let SenderStatistics { fast_recoveries, timeouts, .. } = script.sender.statistics();
        assert_eq!((script.sender.congestion_state(), fast_recoveries, timeouts), (CongestionState::Open, 1, 0));
        assert_eq!(script.sender.in_flight_bytes(), 0);
    }
}

#[test]
fn an_older_transmission_says_nothing_of_the_one_that_is_on_its_way() {
    let mut script = Script::burst(&config(), 8);
    script.acknowledge(140, 1, &[(2, 5)]);
    script.expect(140, &[(140, 1)]);
    notice(&mut script, 141, 1, 1, 100);
    script.expect(141, &[]);
    notice(&mut script, 180, 1, 1, 140);
    script.expect(180, &[(180, 1)]);
}

#[test]
fn a_notice_that_was_overtaken_still_tells_of_its_segment() {
    let mut script = Script::burst(&config(), 8);
    script.acknowledge(140, 3, &[]);
    notice(&mut script, 141, 2, 5, 100);
    script.expect(141, &[(141, 5)]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Recovery);
}

#[test]
fn a_notice_of_what_has_arrived_changes_nothing() {
    let mut script = Script::burst(&config(), 4);
    script.acknowledge(140, 2, &[(3, 4)]);
    for lost in [1, 3, 9] {
        notice(&mut script, 141, 2, lost, 100);
    }
    script.expect(141, &[]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
}

#[test]
fn a_notice_is_no_duplicate_acknowledgement() {
    let mut script = Script::burst(&without_sack(), 8);
    notice(&mut script, 130, 1, 8, 100);
    script.expect(130, &[(130, 8)]);
    (0..3).for_each(|_| notice(&mut script, 131, 1, 8, 100));
    script.expect(131, &[]);
}

/// The purpose of trimming: a whole flight that is trimmed, including its end, costs a round trip but no timeout.
#[test]
fn a_flight_that_is_cut_to_headers_is_repaired_without_a_timeout() {
    let cut: Vec<u64> = (2..10).collect();
    for config in [config(), without_sack()] {
        let Flow { statistics, done_us, .. } = Flow::run(&config, 10, &cut, true);
        assert_eq!((statistics.timeouts, statistics.tail_loss_probes, statistics.packets_retransmitted), (0, 0, 8));
        assert!(done_us < 500, "{done_us}");
        let Flow { statistics: lost, done_us: lost_us, .. } = Flow::run(&config, 10, &cut, false);
        assert!(lost.timeouts + lost.tail_loss_probes > 0 && lost_us > done_us, "{lost_us} us with losses");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is trimmed, everything arrives, and each trimmed segment is retransmitted. No timeout is needed, with
    /// one exception: without SACK the sender cannot know which retransmissions were unnecessary, and trimmed
    /// retransmissions can lead to a timeout.
    #[test]
    fn whatever_is_cut_is_repaired(
        segments in 1u64..80, cut in prop::collection::vec(0u64..80, 0..40), sack in any::<bool>(), dctcp in any::<bool>(),
    ) {
        let base = if dctcp { TcpSettings { mss: Bytes(MSS), ..TcpSettings::with(Congestion::Dctcp(Default::default())) } } else { config() };
        let config = TcpSettings { sack, rack_tlp: sack, ..base };
        let cut: Vec<u64> = cut.into_iter().filter(|&segment| segment < segments).collect();
        let statistics = Flow::run(&config, segments, &cut, true).statistics;
        let once = cut.iter().enumerate().all(|(index, segment)| !cut[..index].contains(segment));
        prop_assert!(statistics.timeouts == 0 || !sack && !once, "{} timeouts", statistics.timeouts);
        prop_assert!(statistics.packets_retransmitted >= cut.len() as u64);
    }
}
