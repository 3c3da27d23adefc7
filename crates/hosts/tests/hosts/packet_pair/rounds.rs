//! Rounds longer than a packet: the packets of a pair fill a round, so switches serve the two in different rounds at
//! any bottleneck rate (AFQ, section 5).

use super::script::{Between, First, Script, Second, config};
use hitless_core::wire::Bytes;
use hitless_hosts::transport::packet_pair::PacketPairSettings;

/// A round of four full frames of 1070 bytes.
const BYTES_PER_ROUND: Bytes = Bytes(4 * 1_070);

fn rounds() -> PacketPairSettings {
    PacketPairSettings { bytes_per_round: BYTES_PER_ROUND, ..config() }
}

#[test]
fn rounds_of_up_to_a_frame_put_nothing_between_the_two() {
    for bytes_per_round in [0, 500, 1_070].map(Bytes) {
        let mut script = Script::writing(&PacketPairSettings { bytes_per_round, ..config() }, 100);
        script.expect(1_000, &[(0, 0, First), (0, 1, Second)]);
    }
    let mut script = Script::writing(&PacketPairSettings { bytes_per_round: Bytes(1_071), ..config() }, 100);
    script.expect(2_000, &[(0, 0, First), (0, 1, Between), (0, 2, Second)]);
}

/// A bug: the two packets were a round apart at the rate of the sender's link, and the rate was BpR / gap. After a
/// slower link both were in the same round, and the rate was too high by a factor of BpR / frame.
#[test]
fn the_first_pair_fills_a_round_and_its_gap_is_that_of_each_packet() {
    let mut script = Script::writing(&rounds(), 100);
    script.expect(30_000, &[(0, 0, First), (0, 1, Between), (0, 2, Between), (0, 3, Between), (0, 4, Second)]);
    assert_eq!(script.headers[4].measured_segments, 4);
    // A packet per 2.15 us is half of the link.
    script.acknowledge(40_000, 5, 2_150);
    let rate = script.sender.link_rate_bytes_per_second().expect("a gap is known");
    assert!((rate - 1_000.0 / 2.15e-6).abs() < 1.0, "{rate}");
}

#[test]
fn an_answer_to_a_part_of_the_first_pair_lets_no_other_go() {
    let mut script = Script::writing(&rounds(), 100);
    script.acknowledge(40_000, 2, 0);
    assert_eq!(script.sent_until(41_000).len(), 5);
    script.acknowledge(42_000, 5, 2_150);
    assert!(script.sent_until(43_000).len() > 1);
}

#[test]
fn a_pair_whose_data_ends_before_its_second_packet_measures_nothing() {
    let mut script = Script::writing(&rounds(), 3);
    script.expect(30_000, &[(0, 0, First), (0, 1, Between), (0, 2, Second)]);
    assert_eq!(script.headers[2].measured_segments, 0);
}

#[test]
fn four_pairs_in_a_round_trip_fill_a_round_and_the_others_are_not_measured() {
    let mut script = Script::writing(&rounds(), 1_000);
    script.acknowledge(40_000, 5, 1_075);
    script.sent_until(79_999);
    let (long, short): (Vec<u16>, Vec<u16>) = script
        .headers
        .iter()
        .filter(|data| data.position == Second)
        .map(|data| data.measured_segments)
        .partition(|&segments| segments > 0);
    // The first pair was sent before a round-trip time was known.
    assert_eq!(long, [4; 5]);
    assert!(short.len() > 4, "{short:?}");
}

#[test]
fn pairs_of_a_long_round_trip_are_longer_and_so_many_are_measured_as_the_gain_averages() {
    let mut script = Script::writing(&PacketPairSettings { longest_pair: 7, ..config() }, 1_000);
    // 18.6 pairs fit into a round trip of 40 us; a pair is a quarter of that.
    script.acknowledge(40_000, 2, 1_075);
    script.sent_until(79_999);
    let measured: Vec<u16> =
        script.headers.iter().map(|data| data.measured_segments).filter(|&segments| segments > 0).collect();
    assert_eq!(measured, [1, 4, 4, 4, 4]);
    // Two pairs per round trip behave as in figure 13.
    let mut script = Script::writing(&PacketPairSettings { longest_pair: 7, ..config() }, 1_000);
    script.acknowledge(40_000, 2, 10_000);
    script.sent_until(79_999);
    assert!(script.headers.iter().all(|data| data.position != Between));
}

/// If the estimate halves, twice as much is in flight as needed: pairs are skipped until the excess has drained.
#[test]
fn cycles_are_skipped_when_the_estimate_falls() {
    let sent = |longest_pair| {
        let mut script = Script::writing(&PacketPairSettings { longest_pair, gap_gain: 1.0, ..config() }, 1_000);
        script.acknowledge(40_000, 2, 2_000);
        script.sent_until(79_000);
        // Everything sent is still in flight, except the first packets.
        script.acknowledge(80_000, 4, 4_000);
        script.sent_until(120_000).len()
    };
    assert!(sent(7) < sent(1), "{} and {}", sent(7), sent(1));
}
