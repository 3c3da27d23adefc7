//! NewReno without SACK (RFC 5681, RFC 6582), the baseline of many papers, over a pipe that loses chosen segments once.

use super::script::{MSS, config, header_of};
use crate::pipe::{Pipe, Way};
use hitless_hosts::transport::tcp::{TcpReceiver, TcpSender, TcpSettings};
use hitless_hosts::transport::{Outgoing, Receiver, Sender, SenderStatistics};
use hitless_wire::{Duration, Packet};
use std::cell::RefCell;

/// Sends 60 segments through a pipe with a round trip of 100 us; answers the segments in the order sent, and the
/// counts.
fn sent_with_losses(lost: &[u64]) -> (Vec<u64>, SenderStatistics) {
    let config = TcpSettings { sack: false, rack_tlp: false, ..config() };
    let (left, sent) = (RefCell::new(lost.to_vec()), RefCell::new(Vec::new()));
    let fate = |way, packet: &mut Packet| {
        let Packet { transport, frame_bytes, ecn, .. } = *packet;
        let segment = header_of(&Outgoing { transport, frame_bytes, ecn }).sequence / MSS;
        if way == Way::Data {
            sent.borrow_mut().push(segment);
            let found = left.borrow().iter().position(|&lost| lost == segment);
            if let Some(index) = found {
                left.borrow_mut().remove(index);
                return [None, None];
            }
        }
        // Each packet a little later than the one before, so that arrivals are apart.
        [Some(Duration::from_us(50) + Duration::from_ns(10 * sent.borrow().len() as u64)), None]
    };
    let (sender, receiver) = (TcpSender::new(&config, Duration::ZERO), TcpReceiver::new(&config, Duration::ZERO));
    let mut pipe = Pipe::new(sender, receiver, fate);
    pipe.write(60 * MSS);
    while pipe.step() {}
    assert_eq!(pipe.receiver.delivered_bytes(), 60 * MSS);
    assert_eq!(pipe.sender.acknowledged_bytes(), 60 * MSS);
    let statistics = pipe.sender.statistics();
    drop(pipe);
    (sent.into_inner(), statistics)
}

#[test]
fn losses_in_a_window_are_repaired_in_one_recovery_and_without_a_timeout() {
    for lost in [&[12][..], &[12, 13], &[11, 15, 19], &[10, 11, 12, 13]] {
        let (sent, statistics) = sent_with_losses(lost);
        let counts = (statistics.fast_recoveries, statistics.packets_retransmitted, statistics.timeouts);
        assert_eq!(counts, (1, lost.len() as u64, 0), "{lost:?}: {sent:?}");
        // One gap a round trip, in order: only partial acknowledgements tell of them.
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
    let (_, statistics) = sent_with_losses(&[59]);
    assert_eq!((statistics.fast_recoveries, statistics.packets_retransmitted, statistics.timeouts), (0, 1, 1));
}

#[test]
fn a_lost_retransmission_waits_for_the_timeout() {
    let (_, statistics) = sent_with_losses(&[12, 12]);
    assert_eq!((statistics.fast_recoveries, statistics.timeouts), (1, 1));
}
