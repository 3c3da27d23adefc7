//! Recorded exchanges: acknowledgements and transmissions, segment by segment.

use super::script::{MSS, Script, config};
use hitless_core::wire::{Bytes, Duration, TcpFlags, TcpHeader};
use hitless_hosts::transport::tcp::{CloseSettings, Congestion, CongestionState, TcpSettings};
use hitless_hosts::transport::{SackRecord, Sender};

#[test]
fn rack_finds_a_loss_on_the_third_selective_acknowledgement() {
    let mut script = Script::burst(&config(), 8);
    script.acknowledge(140, 2, &[]);
    script.acknowledge(141, 2, &[(3, 4)]);
    script.acknowledge(142, 2, &[(3, 5)]);
    script.expect(142, &[]);
    // Three segments arrived above the gap: the reordering window is zero (RFC 8985, section 6.2, step 4).
    script.acknowledge(143, 2, &[(3, 6)]);
    script.expect(143, &[(143, 2)]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Recovery);
    (7..=9).for_each(|end| script.acknowledge(137 + end, 2, &[(3, end)]));
    script.acknowledge(183, 9, &[]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
    assert_eq!(script.sender.in_flight_bytes(), 0);
    let statistics = script.sender.statistics();
    assert_eq!((statistics.fast_recoveries, statistics.packets_retransmitted, statistics.timeouts), (1, 1, 0));
}

#[test]
fn what_selective_acknowledgements_said_is_kept() {
    let mut script = Script::burst(&config(), 8);
    let record = |script: &Script| script.sender.statistics().sacks;
    script.acknowledge(140, 2, &[]);
    assert_eq!(record(&script), SackRecord::default());
    script.write(140, 20 * MSS);
    script.acknowledge(141, 2, &[(3, 5)]);
    // Two segments are tolerated; pending data is recorded at the third.
    assert_eq!(record(&script), SackRecord { peak_bytes: 2 * MSS, gap_offset_bytes: 2 * MSS, pending_bytes: 0 });
    let pending_bytes = script.sender.unsent_bytes();
    assert!(pending_bytes > 0);
    script.acknowledge(142, 2, &[(3, 6)]);
    let expected = SackRecord { peak_bytes: 3 * MSS, gap_offset_bytes: 2 * MSS, pending_bytes };
    assert_eq!(record(&script), expected);
    // Later gaps and smaller values change nothing.
    script.acknowledge(183, 7, &[(8, 9)]);
    assert_eq!(record(&script), expected);
}

#[test]
fn rack_finds_a_loss_when_the_reordering_window_ends() {
    let mut script = Script::burst(&config(), 3);
    script.acknowledge(140, 2, &[]);
    // One segment above the gap: lost after another quarter of the minimum round-trip time (10 us), at 100 + 41 + 10
    // us.
    script.acknowledge(141, 2, &[(3, 4)]);
    script.expect(150, &[]);
    script.expect(151, &[(151, 2)]);
    script.acknowledge(191, 4, &[]);
    script.expect(5_000, &[]);
    assert_eq!(script.sender.statistics().timeouts, 0);
}

#[test]
fn rack_tolerates_reordering_within_its_window() {
    let mut script = Script::burst(&config(), 3);
    script.acknowledge(140, 2, &[]);
    script.acknowledge(141, 2, &[(3, 4)]);
    script.acknowledge(147, 4, &[]);
    script.expect(5_000, &[]);
    assert_eq!(script.sender.statistics().packets_retransmitted, 0);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
}

#[test]
fn rack_finds_the_loss_of_a_retransmission() {
    let mut script = Script::burst(&config(), 8);
    script.acknowledge(140, 1, &[(2, 5)]);
    script.expect(140, &[(140, 1)]);
    // Segment 1 is lost again; later segments arrive.
    script.acknowledge(141, 1, &[(2, 9)]);
    script.write(142, 2 * MSS);
    script.expect(142, &[(142, 9), (142, 10)]);
    script.acknowledge(182, 1, &[(2, 10)]);
    script.expect(182, &[(182, 1)]);
    script.acknowledge(222, 11, &[]);
    script.expect(9_000, &[]);
    assert_eq!(script.sender.in_flight_bytes(), 0);
}

#[test]
fn a_count_of_three_finds_a_loss_without_rack() {
    let mut script = Script::burst(&TcpSettings { rack_tlp: false, ..config() }, 8);
    script.acknowledge(140, 2, &[]);
    script.acknowledge(141, 2, &[(3, 5)]);
    script.expect(141, &[]);
    script.acknowledge(142, 2, &[(3, 6)]);
    script.expect(142, &[(142, 2)]);
    script.acknowledge(183, 9, &[]);
    script.expect(5_000, &[]);
}

/// LinkGuardian, section 4: a loss among the last packets has fewer than three segments above it, and is repaired by
/// timeout.
#[test]
fn two_segments_above_a_loss_do_not_help_without_rack() {
    let mut script = Script::burst(&TcpSettings { rack_tlp: false, ..config() }, 3);
    script.acknowledge(140, 1, &[(2, 4)]);
    script.expect(1_099, &[]);
    script.expect(1_100, &[(1_100, 1)]);
    assert_eq!(script.sender.statistics().timeouts, 1);
}

/// RFC 6582, without SACK: the third duplicate causes a retransmission, and a partial acknowledgement that of the next
/// gap.
#[test]
fn new_reno_repairs_one_gap_per_round_trip_without_sack() {
    let mut script = Script::burst(&TcpSettings { sack: false, ..config() }, 8);
    // Segments 1 and 5 are lost.
    (0..2).for_each(|duplicate| script.acknowledge(140 + duplicate, 1, &[]));
    script.expect(142, &[]);
    script.acknowledge(142, 1, &[]);
    script.expect(142, &[(142, 1)]);
    (3..6).for_each(|duplicate| script.acknowledge(140 + duplicate, 1, &[]));
    script.acknowledge(182, 5, &[]);
    script.expect(182, &[(182, 5)]);
    script.acknowledge(222, 9, &[]);
    script.expect(5_000, &[]);
    assert_eq!(script.sender.statistics().fast_recoveries, 1);
    assert_eq!(script.sender.in_flight_bytes(), 0);
    assert_eq!(script.sender.cwnd_bytes(), script.sender.ssthresh_bytes());
}

/// RFC 6582, section 3.2, step 2, and section 4.1: duplicates for data sent before a timeout start no recovery.
#[test]
fn duplicates_after_a_timeout_retransmit_nothing_without_sack() {
    let mut script = Script::burst(&TcpSettings { sack: false, rack_tlp: false, ..config() }, 8);
    let sent = script.sent_until(2_000);
    assert_eq!(sent.iter().map(|packet| packet.1).collect::<Vec<_>>(), [1]);
    // Three copies of the acknowledgement, as caused by segments that had arrived before.
    script.acknowledge(2_040, 2, &[]);
    let repaired = script.sent_until(2_040);
    (0..4).for_each(|duplicate| script.acknowledge(2_041 + duplicate, 2, &[]));
    let sent = script.sent_until(2_050);
    assert!(sent.iter().all(|packet| !repaired.contains(&(2_040, packet.1))), "{repaired:?}, then {sent:?}");
    assert_eq!(script.sender.statistics().fast_recoveries, 0);
}

/// RFC 5681, section 3.2, and RFC 9937: the window is halved over one round trip.
#[test]
fn recovery_ends_with_half_the_window() {
    let mut script = Script::burst(&config(), 10);
    script.write(101, 20 * MSS);
    let window_bytes = script.sender.cwnd_bytes();
    script.acknowledge(140, 1, &[(2, 5)]);
    assert_eq!(script.sender.ssthresh_bytes(), window_bytes / 2);
    script.acknowledge(150, 1, &[(2, 11)]);
    script.acknowledge(180, 11, &[]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
    assert_eq!(script.sender.cwnd_bytes(), window_bytes / 2);
}

/// RFC 3522 and 4015: the acknowledgement is for the original, so the retransmission was spurious.
#[test]
fn a_spurious_retransmission_is_undone() {
    let mut script = Script::burst(&config(), 8);
    let window_bytes = script.sender.cwnd_bytes();
    script.acknowledge(140, 1, &[(2, 5)]);
    script.expect(140, &[(140, 1)]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Recovery);
    script.acknowledge_echoing(145, 5, &[], 100, TcpFlags::ACK);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
    assert_eq!((script.sender.cwnd_bytes(), script.sender.ssthresh_bytes()), (window_bytes, u64::MAX));
    script.acknowledge_echoing(146, 9, &[], 100, TcpFlags::ACK);
    script.expect(5_000, &[]);
}

#[test]
fn the_window_is_kept_reduced_without_undo() {
    let mut script = Script::burst(&TcpSettings { eifel_undo: false, ..config() }, 8);
    let window_bytes = script.sender.cwnd_bytes();
    script.acknowledge(140, 1, &[(2, 5)]);
    script.acknowledge_echoing(145, 9, &[], 100, TcpFlags::ACK);
    assert_eq!(script.sender.cwnd_bytes(), window_bytes / 2);
}

fn with_dsack() -> TcpSettings {
    TcpSettings { eifel_undo: false, dsack_undo: true, ..config() }
}

/// Sends an acknowledgement of `segments` that reports segment `duplicate` as a duplicate.
fn report(script: &mut Script, time_us: u64, segments: u64, duplicate: u64) {
    let header = TcpHeader {
        acknowledgement: segments * MSS,
        sequence: duplicate * MSS,
        timestamp: MSS as u32,
        window_bytes: u32::MAX,
        flags: TcpFlags::ACK.with(TcpFlags::DSACK),
        ..TcpHeader::default()
    };
    script.receive(time_us, header);
}

/// Linux, tcp_try_undo_dsack: the original and then the retransmission of segment 1 arrive, and the report undoes the
/// reduction after its end.
#[test]
fn a_retransmission_reported_as_a_duplicate_is_undone() {
    let mut script = Script::burst(&with_dsack(), 8);
    let window_bytes = script.sender.cwnd_bytes();
    script.acknowledge(140, 1, &[(2, 5)]);
    script.expect(140, &[(140, 1)]);
    script.acknowledge_echoing(145, 9, &[], 100, TcpFlags::ACK);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
    assert_eq!(script.sender.cwnd_bytes(), window_bytes / 2, "timestamps are not looked at");
    report(&mut script, 180, 9, 1);
    assert_eq!((script.sender.cwnd_bytes(), script.sender.ssthresh_bytes()), (window_bytes, u64::MAX));
    script.expect(5_000, &[]);
}

#[test]
fn one_report_of_two_undoes_nothing() {
    let mut script = Script::burst(&with_dsack(), 10);
    let window_bytes = script.sender.cwnd_bytes();
    script.acknowledge(140, 1, &[(2, 3), (4, 8)]);
    script.expect(140, &[(140, 1), (140, 3)]);
    report(&mut script, 180, 11, 1);
    assert_eq!(script.sender.cwnd_bytes(), window_bytes / 2);
    report(&mut script, 181, 11, 3);
    assert_eq!(script.sender.cwnd_bytes(), window_bytes);
}

#[test]
fn a_report_that_comes_too_late_undoes_nothing() {
    let mut script = Script::burst(&with_dsack(), 8);
    let window_bytes = script.sender.cwnd_bytes();
    script.acknowledge(140, 1, &[(2, 5)]);
    script.acknowledge(145, 9, &[]);
    script.write(150, 2 * MSS);
    script.acknowledge(190, 11, &[]);
    report(&mut script, 191, 11, 1);
    assert!(script.sender.cwnd_bytes() < window_bytes);
}

/// RFC 3168, section 6.1.2: one reduction per window, reported by CWR on the next new segment.
#[test]
fn an_echo_halves_once_per_window_and_is_reported() {
    let mut script = Script::burst(&TcpSettings { ecn: true, ..config() }, 10);
    let echo = TcpFlags::ACK.with(TcpFlags::ECE);
    script.write(101, 30 * MSS);
    let window_bytes = script.sender.cwnd_bytes();
    for segment in 2..=11 {
        script.acknowledge_echoing(138 + segment, segment, &[], 100, echo);
    }
    assert_eq!(script.sender.ssthresh_bytes(), window_bytes / 2);
    let reports = script.headers.iter().filter(|header| header.flags.contains(TcpFlags::CWR)).count();
    assert_eq!(reports, 1);
    assert_eq!(script.sender.statistics().congestion_echoes, 10);
    assert_eq!(script.sender.statistics().packets_retransmitted, 0);
}

#[test]
fn dctcp_reduces_by_half_of_its_estimate() {
    let dctcp = TcpSettings { mss: Bytes(MSS), ..TcpSettings::with(Congestion::Dctcp(Default::default())) };
    let mut script = Script::burst(&dctcp, 10);
    script.write(101, 30 * MSS);
    let window_bytes = script.sender.cwnd_bytes();
    let echo = TcpFlags::ACK.with(TcpFlags::ECE);
    script.acknowledge_echoing(140, 2, &[], 100, echo);
    let alpha = script.sender.dctcp_alpha().unwrap();
    let cut_bytes = (window_bytes as f64 * alpha / 2.0) as u64;
    assert_eq!(script.sender.ssthresh_bytes(), window_bytes - cut_bytes);
    assert_eq!(script.sender.congestion_state(), CongestionState::Cwr);
    assert!(script.headers.iter().all(|header| !header.flags.contains(TcpFlags::CWR)));
}

#[test]
fn the_receive_window_caps_the_flight() {
    let mut script = Script::writing(&TcpSettings { receive_window: Some(Bytes(3 * MSS)), ..config() }, 5);
    script.expect(0, &[(0, 0), (0, 1), (0, 2)]);
    let header = |segments: u64, window_bytes: u32| hitless_core::wire::TcpHeader {
        acknowledgement: segments * MSS,
        window_bytes,
        flags: TcpFlags::ACK,
        ..Default::default()
    };
    script.receive(40, header(1, 2_500));
    script.expect(40, &[]);
    script.receive(41, header(2, 3_000));
    script.expect(41, &[(41, 3), (41, 4)]);
}

#[test]
fn new_data_waits_for_a_whole_burst() {
    let mut script = Script::writing(&TcpSettings { burst_segments: Some(4), initial_window: 12, ..config() }, 100);
    let first: Vec<(u64, u64)> = (0..12).map(|segment| (0, segment)).collect();
    script.expect(0, &first);
    // Slow start makes room for two segments per acknowledged one; they are sent four or more at a time.
    script.acknowledge(40, 1, &[]);
    script.expect(40, &[]);
    script.acknowledge(41, 2, &[]);
    script.expect(41, &[(41, 12), (41, 13), (41, 14), (41, 15)]);
}

/// Linux's tcp_tso_should_defer lets a burst start when a whole one fits into the window or a third of the window is
/// free; tcp_write_xmit then sends up to a whole one into the free window. Of ten segments no segment is left because a
/// third of the window is not an integer.
#[test]
fn a_burst_takes_all_that_is_free_of_the_window() {
    for (burst, window, sent) in
        [(45, 10, 10), (10, 10, 10), (1, 10, 10), (4, 12, 12), (4, 10, 8), (7, 10, 7), (7, 11, 11), (3, 4, 3)]
    {
        let config = TcpSettings { burst_segments: Some(burst), initial_window: window, ..config() };
        let mut script = Script::writing(&config, 100);
        let expected: Vec<(u64, u64)> = (0..sent).map(|segment| (0, segment)).collect();
        script.expect(0, &expected);
    }
}

#[test]
fn a_reused_connection_keeps_its_window_and_restarts_it_only_on_request() {
    for restart in [false, true] {
        let mut script = Script::warm(&TcpSettings { slow_start_after_idle: restart, ..config() });
        script.write(100, 20 * MSS);
        (2..=21).for_each(|segment| script.acknowledge(139 + segment, segment, &[]));
        let before = script.sender.cwnd_bytes();
        assert!(before >= 20 * MSS, "{before}");
        script.write(20_000, MSS);
        let expected = if restart { 10 * MSS } else { before };
        assert_eq!(script.sender.cwnd_bytes(), expected, "restart {restart}");
    }
}

/// An application that closes after its message has queued the FIN when the last segment is sent or retransmitted.
#[test]
fn the_last_segment_carries_fin_if_the_application_closes() {
    let closes = CloseSettings { delay: Duration::from_us(70), ..CloseSettings::default() };
    for (close, has_fin) in [(None, false), (Some(closes), true)] {
        let mut script = Script::writing(&TcpSettings { close, ..config() }, 3);
        script.acknowledge(40, 2, &[]);
        script.sent_until(100_000);
        let fins: Vec<_> = script.headers.iter().map(|header| (header.sequence / MSS, is_fin(header))).collect();
        assert_eq!(&fins[..3], [(0, false), (1, false), (2, has_fin)]);
        assert!(fins.len() > 3 && fins[3..].iter().all(|&again| again == (2, has_fin)), "{fins:?}");
    }
}

fn is_fin(header: &TcpHeader) -> bool {
    header.flags.contains(TcpFlags::FIN)
}
