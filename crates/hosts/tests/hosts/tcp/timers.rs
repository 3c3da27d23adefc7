//! Recorded exchanges of timers: timeouts, probes, SYNs, ticks.

use super::script::{MSS, Script, at, config, header_of};
use hitless_core::wire::{Duration, TcpFlags, TcpHeader, Time};
use hitless_hosts::transport::Sender;
use hitless_hosts::transport::tcp::{CongestionState, RtoFormula, TcpSender, TcpSettings};

#[test]
fn a_tail_loss_is_probed_after_two_round_trips() {
    let mut script = Script::warm(&config());
    script.write(100, 3 * MSS);
    script.acknowledge(140, 2, &[]);
    script.acknowledge(141, 3, &[]);
    script.expect(141, &[(100, 1), (100, 2), (100, 3)]);
    // The last of three is lost. One packet is in flight, so the delayed acknowledgement counts. The probe timeout
    // would exceed the retransmission timeout, so the probe is sent at the latter (RFC 8985, section 7.2).
    script.expect(1_141, &[(1_141, 3)]);
    assert_eq!((script.sender.statistics().tail_loss_probes, script.sender.statistics().timeouts), (1, 0));
}

#[test]
fn a_lost_tail_of_two_is_repaired_without_a_timeout() {
    let mut script = Script::warm(&config());
    script.write(100, 4 * MSS);
    script.acknowledge(140, 3, &[]);
    script.expect(140, &[(100, 1), (100, 2), (100, 3), (100, 4)]);
    // Segments 3 and 4 are lost. The smoothed round-trip time is 40 us: the probe repeats the last at 140 + 80 us, and
    // its acknowledgement shows the gap, which RACK fills.
    script.expect(220, &[(220, 4)]);
    script.acknowledge(260, 3, &[(4, 5)]);
    script.expect(270, &[(260, 3)]);
    script.acknowledge(301, 5, &[]);
    script.expect(9_000, &[]);
    let statistics = script.sender.statistics();
    assert_eq!((statistics.tail_loss_probes, statistics.timeouts, statistics.packets_retransmitted), (1, 0, 2));
}

#[test]
fn a_probe_sends_new_data_first() {
    let mut script = Script::warm(&TcpSettings { initial_window: 2, ..config() });
    script.write(100, 3 * MSS);
    script.expect(100, &[(100, 1), (100, 2)]);
    script.expect(180, &[(180, 3)]);
    assert_eq!(script.sender.statistics().packets_retransmitted, 0);
}

/// A flow of one packet on a new connection has no round-trip time: the initial timeout repairs its loss.
#[test]
fn the_first_packet_of_a_connection_waits_for_the_initial_timeout() {
    let mut script = Script::writing(&config(), 1);
    script.expect(999_999, &[(0, 0)]);
    script.expect(1_000_000, &[(1_000_000, 0)]);
}

/// On a reused connection the probe of a single packet adds the maximum acknowledgement delay, so it is not earlier
/// than the retransmission timeout.
#[test]
fn a_one_packet_flow_waits_for_its_retransmission_timeout() {
    for (rack_tlp, timeouts) in [(true, 0), (false, 1)] {
        let mut script = Script::warm(&TcpSettings { rack_tlp, rto_formula: RtoFormula::Linux, ..config() });
        script.write(100, MSS);
        script.expect(1_139, &[(100, 1)]);
        script.expect(1_140, &[(1_140, 1)]);
        assert_eq!(script.sender.statistics().timeouts, timeouts);
    }
}

#[test]
fn timeouts_back_off_and_the_window_restarts_from_one_segment() {
    let mut script = Script::warm(&TcpSettings { rack_tlp: false, ..config() });
    script.write(100, 4 * MSS);
    script.expect(100, &[(100, 1), (100, 2), (100, 3), (100, 4)]);
    script.expect(8_099, &[(1_100, 1), (3_100, 1), (7_100, 1)]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Loss);
    assert_eq!(script.sender.cwnd_bytes(), MSS);
    assert_eq!(script.sender.retransmission_timeout(), Duration::from_ms(8));
    // Slow start over the lost segments; the timestamps give a sample, which ends the backoff.
    script.acknowledge_echoing(8_100, 2, &[], 7_100, TcpFlags::ACK);
    script.expect(8_100, &[(8_100, 2), (8_100, 3)]);
    assert!(script.sender.retransmission_timeout() < Duration::from_ms(8));
    script.acknowledge(8_140, 5, &[]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
    assert_eq!(script.sender.in_flight_bytes(), 0);
    assert_eq!(script.sender.statistics().timeouts, 3);
}

#[test]
fn a_lost_syn_waits_for_its_timeout_which_doubles_up_to_the_longest() {
    assert_eq!(syns_sent(config().rto_max), [at(0), at(1_000_000), at(3_000_000)]);
    assert_eq!(syns_sent(Duration::from_ms(1_500)), [at(0), at(1_000_000), at(2_500_000)]);
}

/// Returns the times of unanswered SYNs.
fn syns_sent(rto_max: Duration) -> Vec<Time> {
    let config = TcpSettings { handshake: true, rto_max, ..config() };
    let mut sender = TcpSender::new(&config, Duration::ZERO);
    sender.write(at(0), 2 * MSS);
    let mut syns = Vec::new();
    for _ in 0..3 {
        let now = if syns.is_empty() { at(0) } else { sender.next_timeout() };
        sender.handle_timeout(now);
        let header = header_of(&sender.poll_transmit(now).expect("a SYN is due"));
        assert!(header.flags.contains(TcpFlags::SYN) && header.payload_bytes == 0);
        assert_eq!(sender.poll_transmit(now), None);
        syns.push(now);
    }
    syns
}

#[test]
fn data_follows_the_handshake_and_the_syn_gives_a_round_trip_time() {
    let config = TcpSettings { handshake: true, ..config() };
    let mut script = Script::writing(&config, 2);
    assert!(script.headers[0].flags.contains(TcpFlags::SYN));
    let flags = TcpFlags::SYN.with(TcpFlags::ACK);
    script.receive(40, TcpHeader { flags, window_bytes: u32::MAX, ..TcpHeader::default() });
    script.expect(40, &[(0, 0), (40, 0), (40, 1)]);
    assert!(script.sender.smoothed_rtt().unwrap().0.abs_diff(40_000_000) < 1 << 20);
    // A repeated SYN-ACK changes nothing.
    script.receive(50, TcpHeader { flags, window_bytes: u32::MAX, ..TcpHeader::default() });
    script.acknowledge(80, 2, &[]);
    script.expect(9_000, &[]);
}

/// With ticks of 1 ms a timeout of 1.04 ms is two ticks, and fires between two and three ticks after it was armed. So a
/// lost packet can cost 3 ms and more with a minimum timeout of 1 ms.
#[test]
fn timeouts_fire_on_the_ticks_of_the_host() {
    // (phase, sent at, fires at) in microseconds.
    for (phase, sent, fires) in [(0, 100, 3_000), (0, 999, 3_000), (0, 1_000, 4_000), (250, 1_000, 3_250)] {
        let config = TcpSettings {
            timer_tick: Duration::from_ms(1),
            rto_formula: RtoFormula::Linux,
            rack_tlp: false,
            ..config()
        };
        let mut script = Script::with_phase(&config, Duration::from_us(phase));
        script.write(0, MSS);
        script.acknowledge(40, 1, &[]);
        script.write(sent, MSS);
        script.expect(fires, &[(0, 0), (sent, 1), (fires, 1)]);
    }
}

#[test]
fn an_early_call_changes_nothing() {
    let mut script = Script::warm(&config());
    script.write(100, MSS);
    let deadline = script.sender.next_timeout();
    script.sender.handle_timeout(at(500));
    assert_eq!(script.sender.poll_transmit(at(500)), None);
    assert_eq!(script.sender.next_timeout(), deadline);
}

#[test]
fn a_reused_connection_that_knows_its_round_trip_time_times_out_by_it() {
    for (known_rtt, timeout_us) in [(None, 1_000_000), (Some(Duration::from_us(800)), 2_400)] {
        let mut script = Script::writing(&TcpSettings { known_rtt, ..config() }, 1);
        script.expect(0, &[(0, 0)]);
        // SRTT 800 us and RTTVAR 400 us (RFC 6298, section 2.2).
        script.expect(timeout_us - 1, &[]);
        script.expect(timeout_us, &[(timeout_us, 0)]);
    }
}

/// A sender with ten segments in flight and more data is held back by its host after 100 us. Its timers still fire: the
/// probe once, and then the retransmission timer, as if no probe were pending. No timer fires twice at the same time.
#[test]
fn the_timers_of_a_sender_that_is_held_back_go_on() {
    let mut script = Script::warm(&config());
    script.write(100, 20 * MSS);
    let mut times = Vec::new();
    let mut now = at(100);
    for _ in 0..4 {
        let deadline = script.sender.timeout_when_held_back(now);
        assert!(deadline > now, "a timer of a sender that is held back runs out at once, at {now}");
        now = deadline;
        script.sender.handle_timeout(now);
        times.push((now.as_ps() / 1_000_000, script.sender.statistics().timeouts));
    }
    // The probe after two round trips, timeouts of 1, 2 and 4 ms.
    assert_eq!(times, [(180, 0), (1_100, 1), (3_100, 2), (7_100, 3)]);
    // The waiting packet is sent when there is room: the first segment, retransmitted.
    let header = header_of(&script.sender.poll_transmit(now).expect("the first segment is lost"));
    assert_eq!(header.sequence, MSS);
}
