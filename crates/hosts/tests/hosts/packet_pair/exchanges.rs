//! The packets of a sender and their times, for a script of acknowledgements.

use super::script::{Alone, First, MSS, Script, Second, acknowledgement, config};
use hitless_core::wire::{Duration, PacketPairAcknowledgement};
use hitless_hosts::transport::Sender;
use hitless_hosts::transport::packet_pair::PacketPairSettings;

/// Returns times and segments of pairs sent back to back; fails for other packets.
#[track_caller]
fn pairs(sent: &[(u64, u64, hitless_core::wire::PairPosition)]) -> Vec<(u64, u64)> {
    let (pairs, rest) = sent.as_chunks::<2>();
    assert_eq!(rest, []);
    let pair = |&[first, second]: &[_; 2]| -> (u64, u64) {
        let (time, segment, _) = first;
        assert_eq!((first, second), ((time, segment, First), (time, segment + 1, Second)));
        (time, segment)
    };
    pairs.iter().map(pair).collect()
}

#[test]
fn a_flow_begins_with_one_pair_and_waits_for_its_gap() {
    let mut script = Script::writing(&config(), 100);
    script.expect(39_999, &[(0, 0, First), (0, 1, Second)]);
    assert_eq!(script.sender.link_rate_bytes_per_second(), None);
    // 1000 bytes in 2 us; the next pair is sent at once, and then one every 4 us.
    script.acknowledge(40_000, 2, 2_000);
    assert_eq!(script.sender.link_rate_bytes_per_second(), Some(5e8));
    let sent = script.sent_until(50_000);
    assert_eq!(pairs(&sent), [(40_000, 2), (44_000, 4), (48_000, 6)]);
    assert!(script.headers.iter().filter(|data| data.position == Second).all(|data| data.measured_segments == 1));
    let numbers: Vec<_> = script.headers.iter().map(|data| data.pair).collect();
    assert_eq!(numbers, [1, 1, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn the_gap_is_a_moving_average_with_a_gain_of_a_quarter() {
    let mut script = Script::warm(&config(), 2_000);
    // (gap returned, average) in nanoseconds
    let table = [(2_000, 2_000.0), (6_000, 3_000.0), (3_000, 3_000.0), (1_000, 2_500.0), (0, 2_500.0)];
    for (index, (gap, average)) in table.into_iter().enumerate() {
        let time = 80_000 + index as u64 * 4_000;
        script.acknowledge(time, 4 + 2 * index as u64, gap);
        let rate = script.sender.link_rate_bytes_per_second().expect("a gap is known");
        assert!((rate * average / 1e12 - 1.0).abs() < 1e-9, "after a gap of {gap} ns: {rate}");
    }
}

#[test]
fn no_pair_begins_above_the_window() {
    // (gap in ns, packets in flight when nothing is acknowledged): 1.5 * 40 us / gap, plus the pair that starts at or
    // below it.
    let table = [(1_000, 62), (2_000, 32), (3_000, 22), (20_000, 4), (60_000, 2), (1_000_000, 2)];
    for (gap, packets) in table {
        let mut script = Script::warm(&config(), gap);
        let sent = script.sent_until(119_000);
        // A large gap leaves no time for a second pair before a tail loss probe.
        let flight = script.sender.in_flight_bytes() / MSS;
        assert_eq!((flight, sent.len() as u64), (packets, packets + 2), "gap {gap}");
    }
}

#[test]
fn marks_slow_a_flow_down_by_half_of_alpha() {
    // (windows of marked acknowledgements, alpha after them with a gain of 1/16, interval of pairs for a gap of 2 us)
    let table =
        [(0, 0.0, 4_000), (1, 0.0625, 4_129), (2, 0.121_094, 4_257), (3, 0.176_025, 4_386), (10, 0.475_540, 5_247)];
    for (windows, alpha, interval_ns) in table {
        let mut script = Script::warm(&config(), 2_000);
        let last = (0..windows).map(|window| mark_a_window(&mut script, window)).last().unwrap_or(40_000);
        assert!((script.sender.alpha() - alpha).abs() < 1e-6, "{windows} windows: {}", script.sender.alpha());
        // The first pair after that was already due.
        let begun: Vec<u64> = pairs(&script.sent_until(last + 30_000)).iter().map(|pair| pair.0).collect();
        let begun = &begun[begun.len() - 5..];
        let expected: Vec<u64> = (0..5).map(|pair| begun[0] + pair * interval_ns).collect();
        let is_near = begun.iter().zip(&expected).all(|(time, expected)| time.abs_diff(*expected) <= 5);
        assert!(is_near, "after {windows} windows pairs began at {begun:?}, not {expected:?}");
    }
}

/// Acknowledges everything in flight, marked; returns the time.
fn mark_a_window(script: &mut Script, window: u64) -> u64 {
    let time = 80_000 + window * 100_000;
    script.sent_until(time - 1);
    let sent = script.sender.sent_bytes() / MSS;
    script.receive(time, PacketPairAcknowledgement { congestion: true, ..acknowledgement(time, sent, 2_000) });
    time
}

#[test]
fn a_gap_of_zero_is_none() {
    let mut script = Script::writing(&config(), 100);
    script.acknowledge(40_000, 2, 0);
    assert_eq!(script.sender.link_rate_bytes_per_second(), None);
    // One pair per acknowledgement, until a gap is measured.
    let sent = script.sent_until(79_999);
    assert_eq!(pairs(&sent), [(0, 0), (40_000, 2)]);
    script.acknowledge(80_000, 4, 5_000);
    let sent = script.sent_until(95_000);
    assert_eq!(pairs(&sent), [(80_000, 4), (90_000, 6)]);
}

#[test]
fn the_last_packet_goes_alone() {
    let mut script = Script::new(&config());
    script.write(0, 3 * MSS + 1);
    script.acknowledge(40_000, 2, 2_000);
    script.expect(41_000, &[(0, 0, First), (0, 1, Second), (40_000, 2, First), (40_000, 3, Second)]);
    // A short second packet measures nothing.
    assert_eq!((script.headers[1].measured_segments, script.headers[3].measured_segments), (1, 0));
    script.acknowledge(80_000, 3, 0);
    let mut script = Script::writing(&config(), 1);
    script.expect(1_000, &[(0, 0, Alone)]);
}

#[test]
fn lost_packets_are_sent_again_in_pairs_and_do_not_slow_the_flow_down() {
    let mut script = Script::warm(&config(), 2_000);
    script.sent_until(79_999);
    let window = script.sender.congestion_window_bytes();
    // The pair of segments 2 and 3 is lost; those of the three pairs after it arrive.
    script.acknowledge_selectively(84_000, 2, &[(4, 6)]);
    script.acknowledge_selectively(88_000, 2, &[(4, 8)]);
    script.acknowledge_selectively(92_000, 2, &[(4, 10)]);
    let sent = script.sent_until(97_000);
    let pairs = pairs(&sent);
    assert!(pairs.iter().any(|&(_, segment)| segment == 2), "{pairs:?}");
    assert!(pairs.windows(2).all(|two| two[1].0 - two[0].0 == 4_000), "{pairs:?}");
    let statistics = script.sender.statistics();
    assert_eq!((statistics.packets_retransmitted, statistics.timeouts, statistics.fast_recoveries), (2, 0, 1));
    assert_eq!(script.sender.congestion_window_bytes(), window);
}

#[test]
fn after_a_timeout_one_pair_goes_and_the_share_is_measured_anew() {
    let mut script = Script::warm(&PacketPairSettings { rack_tlp: false, ..config() }, 2_000);
    script.sent_until(1_000_000);
    assert_eq!(script.sender.statistics().timeouts, 0);
    // The timer started with the acknowledgement at 40 us.
    script.expect(2_900_000, &[(1_040_000, 2, First), (1_040_000, 3, Second)]);
    assert_eq!(script.sender.link_rate_bytes_per_second(), None);
    // The timer has doubled.
    script.expect(3_100_000, &[(3_040_000, 2, First), (3_040_000, 3, Second)]);
    script.acknowledge(3_140_000, 4, 10_000);
    let sent = script.sent_until(3_165_000);
    assert_eq!(pairs(&sent), [(3_140_000, 4), (3_160_000, 6)]);
}

#[test]
fn a_tail_loss_probe_goes_alone_and_at_once() {
    let mut script = Script::writing(&config(), 6);
    script.acknowledge(40_000, 2, 10_000);
    // Pairs at 40 us and 60 us; a probe repeats the last packet two round trips after the last pair.
    let sent = script.sent_until(139_999);
    assert_eq!(pairs(&sent), [(0, 0), (40_000, 2), (60_000, 4)]);
    script.expect(141_000, &[(140_000, 5, Alone)]);
}

#[test]
fn after_a_pause_a_flow_begins_with_one_pair_again() {
    for restart_after_idle in [true, false] {
        let config = PacketPairSettings { restart_after_idle, ..config() };
        // (pause in ns after everything was acknowledged, whether the share is forgotten)
        for (pause, forgotten) in [(1_000, false), (40_000, false), (40_001, true), (60_000, true)] {
            let mut script = Script::writing(&config, 2);
            script.acknowledge(40_000, 2, 2_000);
            script.sent_until(40_000 + pause);
            script.write(40_000 + pause, 20 * MSS);
            let sent = script.sent_until(40_000 + pause + 9_000);
            let expected = if forgotten && restart_after_idle { 2 } else { 6 };
            assert_eq!(sent.len(), expected, "pause {pause}, restart {restart_after_idle}");
        }
    }
}

#[test]
fn a_flow_without_data_earns_no_credit() {
    let mut script = Script::writing(&PacketPairSettings { restart_after_idle: false, ..config() }, 2);
    script.acknowledge(40_000, 2, 2_000);
    script.sent_until(500_000);
    script.write(500_000, 8 * MSS);
    let sent = script.sent_until(513_000);
    assert_eq!(pairs(&sent), [(500_000, 2), (504_000, 4), (508_000, 6), (512_000, 8)]);
}

#[test]
fn without_ecn_packets_are_not_marked_and_echoes_mean_nothing() {
    let mut script = Script::warm(&PacketPairSettings { ecn: false, ..config() }, 2_000);
    mark_a_window(&mut script, 0);
    assert_eq!(script.sender.alpha(), 0.0);
}

#[test]
fn a_sender_that_waits_for_acknowledgements_sets_no_pacing_timer() {
    let mut script = Script::warm(&PacketPairSettings { rack_tlp: false, ..config() }, 1_000);
    script.sent_until(200_000);
    assert_eq!(script.sender.next_timeout(), super::script::at(40_000) + Duration::from_ms(1));
}
