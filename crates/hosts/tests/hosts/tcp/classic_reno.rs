//! Reno without the rules of RFC 6582: recorded exchanges, step by step as in RFC 5681, section 3.2, and RFC 2001.

use super::script::{Flow, MSS, Script, at, config};
use hitless_core::wire::{Bytes, TcpFlags, TcpHeader};
use hitless_hosts::transport::Sender;
use hitless_hosts::transport::tcp::{
    Congestion, CongestionState, DctcpSettings, NewrenoSettings, TcpRecovery, TcpSettings, WindowGrowth,
};

fn newreno(window_validation: bool) -> Congestion {
    Congestion::Newreno(NewrenoSettings { window_growth: WindowGrowth::PerAck, window_validation })
}

fn reno() -> TcpSettings {
    TcpSettings {
        sack: false,
        rack_tlp: false,
        eifel_undo: false,
        recovery: TcpRecovery::Reno,
        congestion: newreno(true),
        initial_window: 11,
        ..config()
    }
}

/// Creates a warm sender with a full window of 11 segments: 1 to 11 were sent at 100 us, and more data waits.
fn full(config: &TcpSettings) -> Script {
    let mut script = Script::warm(config);
    script.write(100, 40 * MSS);
    script.expect(100, &(1..=11).map(|segment| (100, segment)).collect::<Vec<_>>());
    script
}

/// Repeats the acknowledgement of `segments`, once per microsecond, starting at `time_us`.
fn duplicates(script: &mut Script, time_us: u64, segments: u64, count: u64) {
    (0..count).for_each(|index| script.acknowledge(time_us + index, segments, &[]));
}

/// Creates an acknowledgement of no data with a receive window of `window_bytes`, for packets sent at 100 us.
fn advertising(window_bytes: u32) -> TcpHeader {
    let timestamp_echo = (at(100).as_ps() >> 20) as u32;
    TcpHeader { window_bytes, timestamp_echo, flags: TcpFlags::ACK, ..TcpHeader::default() }
}

/// Returns (window, threshold) in bytes.
fn windows(script: &Script) -> (u64, u64) {
    (script.sender.cwnd_bytes(), script.sender.ssthresh_bytes())
}

#[test]
fn the_third_duplicate_starts_a_recovery_that_any_new_acknowledgement_ends() {
    let mut script = full(&reno());
    // Segment 1 is lost. No limited transmit: the first two duplicates send nothing.
    duplicates(&mut script, 140, 1, 2);
    script.expect(141, &[]);
    assert_eq!(windows(&script), (11 * MSS, u64::MAX));
    duplicates(&mut script, 142, 1, 1);
    script.expect(142, &[(142, 1)]);
    assert_eq!(windows(&script), (5_500 + 3 * MSS, 5_500));
    // Each further duplicate adds a segment; 11 are in flight, so 8.5 + 4 has room for the next.
    duplicates(&mut script, 143, 1, 5);
    script.expect(147, &[(146, 12), (147, 13)]);
    assert_eq!(windows(&script), (13_500, 5_500));
    // Segment 5 is lost as well. The partial acknowledgement ends the recovery: nothing is retransmitted.
    script.acknowledge(182, 5, &[]);
    script.expect(183, &[]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
    assert_eq!(windows(&script), (5_500, 5_500));
    // Three duplicates for it start the next recovery, which lowers the threshold again.
    duplicates(&mut script, 185, 5, 3);
    script.expect(187, &[(187, 5)]);
    assert_eq!(windows(&script), (2_750 + 3 * MSS, 2_750));
    assert_eq!(script.sender.statistics().fast_recoveries, 2);
}

#[test]
fn the_receive_window_bounds_what_the_threshold_is_half_of() {
    let mut script = full(&TcpSettings { receive_window: Some(Bytes(6_000)), ..reno() });
    assert_eq!(windows(&script).0, 11 * MSS);
    for time_us in 140..143 {
        script.receive(time_us, TcpHeader { acknowledgement: MSS, ..advertising(6_000) });
    }
    assert_eq!(windows(&script), (6 * MSS, 3 * MSS));
}

/// The receive window has six segments. Slow start doubles it, with or without validation.
#[test]
fn only_validation_keeps_the_window_near_what_the_receiver_lets_be_in_flight() {
    for (window_validation, window) in [(true, 12), (false, 14)] {
        let config =
            TcpSettings { receive_window: Some(Bytes(6_000)), congestion: newreno(window_validation), ..reno() };
        let mut script = Script::new(&config);
        script.write(100, 40 * MSS);
        script.expect(100, &(0..6).map(|segment| (100, segment)).collect::<Vec<_>>());
        for segments in 1..4 {
            let header = TcpHeader { acknowledgement: segments * MSS, ..advertising(6_000) };
            script.receive(139 + segments, header);
        }
        assert_eq!(windows(&script).0, window * MSS, "{window_validation}");
    }
}

#[test]
fn every_timeout_halves_and_goes_back() {
    let mut script = full(&reno());
    // RTO: 1 ms after the first segment was sent at 100 us.
    script.expect(1_100, &[(1_100, 1)]);
    assert_eq!(windows(&script), (MSS, 5_500));
    // Twice as long, with the threshold of a window of one segment.
    script.expect(3_100, &[(3_100, 1)]);
    assert_eq!(windows(&script), (MSS, 2 * MSS));
    // Only 1 was lost, but the sender cannot know: everything is retransmitted, two segments per acknowledgement in
    // slow start.
    script.acknowledge(3_140, 2, &[]);
    script.expect(3_140, &[(3_140, 2), (3_140, 3)]);
    assert_eq!(windows(&script), (2 * MSS, 2 * MSS));
}

#[test]
fn a_timeout_in_a_recovery_halves_the_inflated_window() {
    let mut script = full(&reno());
    duplicates(&mut script, 140, 1, 3);
    assert_eq!(windows(&script), (8_500, 5_500));
    // The fast retransmit did not restart the timer of 100 us.
    assert_eq!(script.sent_until(1_100), [(142, 1), (1_100, 1)]);
    assert_eq!(windows(&script), (MSS, 4_250));
}

#[test]
fn duplicates_for_what_a_timeout_sent_again_start_a_recovery() {
    let mut script = full(&reno());
    script.sent_until(1_100);
    script.acknowledge(1_140, 3, &[]);
    script.expect(1_140, &[(1_140, 3), (1_140, 4)]);
    // RFC 6582, section 3.2, step 2, would ignore them: segment 11 has not been acknowledged.
    duplicates(&mut script, 1_180, 3, 3);
    // Window 2 + 3 = 5 segments: 3 is retransmitted again, then the others that the timeout gave up, 5, 6 and 7.
    script.expect(1_182, &[(1_182, 3), (1_182, 5), (1_182, 6), (1_182, 7)]);
    assert_eq!(windows(&script), (5 * MSS, 2 * MSS));
    // This recovery ends, but the retransmissions after the timeout continue.
    script.acknowledge(1_220, 4, &[]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Loss);
    assert_eq!(windows(&script), (2 * MSS, 2 * MSS));
    script.acknowledge(1_230, 12, &[]);
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
}

#[test]
fn duplicates_do_not_grow_the_window_by_the_acknowledgement() {
    for recovery in [TcpRecovery::Reno, TcpRecovery::Newreno] {
        let mut script = full(&TcpSettings { recovery, ..reno() });
        duplicates(&mut script, 140, 1, 2);
        assert_eq!(windows(&script).0, 11 * MSS, "{recovery:?}");
        script.acknowledge(142, 5, &[]);
        assert_eq!(windows(&script).0, 12 * MSS, "{recovery:?}");
    }
}

#[test]
fn dctcp_grows_by_the_acknowledgement_and_answers_loss_as_reno() {
    let dctcp = DctcpSettings { window_growth: WindowGrowth::PerAck, ..DctcpSettings::default() };
    let mut script = full(&TcpSettings { congestion: Congestion::Dctcp(dctcp), ecn: true, ..reno() });
    script.acknowledge(140, 5, &[]);
    assert_eq!(windows(&script), (12 * MSS, u64::MAX));
    duplicates(&mut script, 141, 5, 3);
    assert_eq!(windows(&script), (9 * MSS, 6 * MSS));
    script.acknowledge(183, 8, &[]);
    assert_eq!(windows(&script), (6 * MSS, 6 * MSS));
    script.acknowledge(184, 9, &[]);
    assert_eq!(windows(&script), (6_166, 6 * MSS));
}

#[test]
fn an_acknowledgement_that_was_overtaken_interrupts_the_duplicates() {
    for (recovery, expected) in [(TcpRecovery::Reno, 0), (TcpRecovery::Newreno, 1)] {
        let mut script = full(&TcpSettings { recovery, ..reno() });
        script.acknowledge(140, 2, &[]);
        duplicates(&mut script, 141, 2, 2);
        script.acknowledge(143, 1, &[]);
        duplicates(&mut script, 144, 2, 1);
        assert_eq!(script.sender.statistics().fast_recoveries, expected, "{recovery:?}");
    }
}

#[test]
fn what_a_retransmission_fills_is_timed_by_its_echo() {
    for recovery in [TcpRecovery::Reno, TcpRecovery::Newreno] {
        let mut script = full(&TcpSettings { recovery, ..reno() });
        script.sent_until(1_100);
        // Segment 1 is retransmitted at 1,100 us and fills the gap below the others, which had arrived a millisecond
        // before.
        script.acknowledge(1_140, 12, &[]);
        let smoothed = script.sender.smoothed_rtt().unwrap();
        assert!((39..=41).contains(&smoothed.as_ps().div_ceil(1_000_000)), "{recovery:?}: {smoothed:?}");
    }
}

#[test]
fn an_undone_recovery_deflates_the_window() {
    let mut script = full(&TcpSettings { eifel_undo: true, ..reno() });
    duplicates(&mut script, 140, 1, 8);
    assert_eq!(windows(&script), (13_500, 5_500));
    // It echoes the original: segment 1 was late, not lost.
    script.acknowledge_echoing(150, 9, &[], 100, TcpFlags::ACK);
    assert_eq!(windows(&script), (11 * MSS, u64::MAX));
    assert_eq!(script.sender.congestion_state(), CongestionState::Open);
}

/// Sends 60 segments and loses these, once each.
fn with_losses(lost: &[u64]) -> Flow {
    Flow::run(&TcpSettings { sack: false, rack_tlp: false, ..config() }, 60, lost, false)
}

#[test]
fn losses_in_a_window_are_repaired_in_one_recovery_and_without_a_timeout() {
    for lost in [&[12][..], &[12, 13], &[11, 15, 19], &[10, 11, 12, 13]] {
        let Flow { sent, statistics, .. } = with_losses(lost);
        let counts = (statistics.fast_recoveries, statistics.packets_retransmitted, statistics.timeouts);
        assert_eq!(counts, (1, lost.len() as u64, 0), "{lost:?}: {sent:?}");
        // One gap per round trip, in order: only partial acknowledgements reveal them.
        let mut highest = 0;
        let repairs = sent.iter().filter(|&&segment| {
            let again = segment < highest;
            highest = highest.max(segment);
            again
        });
        assert_eq!(repairs.copied().collect::<Vec<_>>(), lost);
    }
}

#[test]
fn a_segment_at_the_end_that_nothing_follows_waits_for_the_timeout() {
    let statistics = with_losses(&[59]).statistics;
    assert_eq!((statistics.fast_recoveries, statistics.packets_retransmitted, statistics.timeouts), (0, 1, 1));
}

#[test]
fn a_lost_retransmission_waits_for_the_timeout() {
    let statistics = with_losses(&[12, 12]).statistics;
    assert_eq!((statistics.fast_recoveries, statistics.timeouts), (1, 1));
}
