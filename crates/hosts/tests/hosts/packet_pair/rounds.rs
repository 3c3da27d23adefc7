//! Rounds longer than a packet: pairs are spaced, and the rate is that of a round (AFQ, section 5).

use super::script::{First, MSS, Script, Second, config};
use hitless_hosts::transport::packet_pair::PacketPairSettings;
use hitless_wire::Bytes;

/// A round of four full frames of 1070 bytes; with the overhead on the link it takes 4300 ns.
const BYTES_PER_ROUND: Bytes = Bytes(4 * 1_070);
const SPACING_NS: u64 = 4_300;

fn rounds() -> PacketPairSettings {
    PacketPairSettings { bytes_per_round: BYTES_PER_ROUND, ..config() }
}

#[test]
fn rounds_of_up_to_a_frame_space_nothing() {
    for bytes_per_round in [0, 500, 1_070].map(Bytes) {
        let mut script = Script::new(&PacketPairSettings { bytes_per_round, ..config() });
        script.write(0, 100 * MSS);
        script.expect(1_000, &[(0, 0, First), (0, 1, Second)]);
    }
    let mut script = Script::new(&PacketPairSettings { bytes_per_round: Bytes(1_071), ..config() });
    script.write(0, 100 * MSS);
    script.expect(2_000, &[(0, 0, First), (1_091, 1, Second)]);
}

#[test]
fn the_first_pair_is_spaced_and_a_round_is_what_its_gap_has() {
    let mut script = Script::new(&rounds());
    script.write(0, 100 * MSS);
    script.expect(30_000, &[(0, 0, First), (SPACING_NS, 1, Second)]);
    assert!(script.headers[1].measured);
    // Four packets in 8.6 us: half of the link.
    script.acknowledge(40_000, 2, 2 * SPACING_NS);
    let rate = script.sender.link_rate_bytes_per_second().expect("a gap is known");
    assert!((rate - 4_000.0 / 8.6e-6).abs() < 1.0, "{rate}");
}

#[test]
fn one_pair_in_a_round_trip_is_spaced_and_the_others_are_not_measured() {
    let mut script = Script::new(&rounds());
    script.write(0, 1_000 * MSS);
    script.acknowledge(40_000, 2, SPACING_NS);
    let sent = script.sent_until(79_999);
    let spaced: Vec<u64> =
        (sent.as_chunks::<2>().0.iter()).filter(|pair| pair[0].0 != pair[1].0).map(|pair| pair[0].0).collect();
    // The first had no round-trip time to go by.
    assert_eq!(spaced, [0, 40_000]);
    let measured = script.headers.iter().filter(|data| data.measured).count();
    assert_eq!(measured, 2);
    // 2150 ns a pair: nothing is lost but the time in which the spaced pair kept others waiting.
    assert!(sent.len() >= 2 + 2 * 17, "{} packets", sent.len());
}
