//! NewReno without SACK (RFC 5681, RFC 6582), the baseline of many papers, over a pipe that loses chosen segments once.

use super::script::{Flow, config};
use hitless_hosts::transport::tcp::TcpSettings;

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
