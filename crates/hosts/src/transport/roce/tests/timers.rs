//! Restarts of timers and of recoveries.

use super::*;

#[test]
fn a_recovery_of_selective_repeat_ends_when_all_is_acknowledged_that_had_been_sent_at_its_start() {
    let mut exchange = Exchange::new(selective());
    for recovery in 1..=2 {
        exchange.write_packets(3);
        let sent = exchange.sent();
        let answers = exchange.arrive(&sent[1..], &[]);
        // The card's timer restarts with each recovery.
        exchange.now += Duration::from_us(10);
        exchange.answer(&answers);
        assert_eq!(exchange.requester.next_timeout(), exchange.now + config().timeout, "recovery {recovery}");
        assert_eq!(exchange.requester.statistics().fast_recoveries, recovery);
        let again = exchange.sent();
        assert_eq!(again, sent[..1]);
        exchange.pass(&again, &[]);
    }
    assert_eq!(exchange.requester.acknowledged_bytes(), 6 * 1_024);
}

#[test]
fn a_negative_acknowledgement_that_comes_late_hides_no_gap_from_selective_repeat() {
    let (mut exchange, sent) = started(selective(), 8);
    let mut answers = exchange.arrive(&sent, &["W2", "W5"]);
    answers.reverse();
    assert_eq!(names(&answers), "N2+7 N2+6 N2+4 N2+3");
    exchange.answer(&answers);
    assert_eq!(names(&exchange.sent()), "W2 W5");
}

#[test]
fn a_negative_acknowledgement_restarts_the_timer_and_its_duplicate_goes_back_no_second_time() {
    let (mut exchange, sent) = started(config(), 4);
    let answers = exchange.arrive(&sent, &["W0"]);
    assert_eq!(names(&answers), "N0");
    exchange.now += Duration::from_us(10);
    exchange.answer(&answers);
    let deadline = exchange.now + config().timeout;
    assert_eq!(exchange.requester.next_timeout(), deadline);
    exchange.now += Duration::from_us(10);
    exchange.answer(&answers);
    assert_eq!((exchange.requester.next_timeout(), exchange.requester.statistics().fast_recoveries), (deadline, 1));
}

#[test]
fn an_acknowledgement_of_nothing_new_restarts_no_timer() {
    let (mut exchange, sent) = started(RoceSettings { acknowledge_every: 2, ..config() }, 4);
    let answers = exchange.arrive(&sent[..2], &[]);
    assert_eq!(names(&answers), "A1");
    exchange.answer(&answers);
    let deadline = exchange.requester.next_timeout();
    exchange.now += Duration::from_us(10);
    exchange.answer(&answers);
    assert_eq!(exchange.requester.next_timeout(), deadline);
}

/// The card may be too busy to send the retransmission at once.
#[test]
fn the_timer_runs_on_after_a_timeout_and_progress_forgives_it() {
    let mut exchange = Exchange::new(RoceSettings { retries: 1, ..config() });
    for _ in 0..3 {
        exchange.write_packets(1);
        exchange.sent();
        exchange.time_out();
        assert_eq!(exchange.requester.next_timeout(), exchange.now + config().timeout);
        let again = exchange.sent();
        exchange.pass(&again, &[]);
    }
    assert!(!exchange.requester.has_failed());
    assert_eq!((exchange.requester.statistics().timeouts, exchange.requester.acknowledged_bytes()), (3, 3 * 1_024));
}

#[test]
fn a_packet_that_goes_by_the_pace_leaves_no_wake_up_behind() {
    let mut exchange = Exchange::new(with_dcqcn());
    exchange.now = MILLISECOND;
    let header = RoceHeader { opcode: RoceOpcode::CongestionNotification, ..RoceHeader::default() };
    exchange.answer(&[Packet { transport: Transport::Roce(header), ..Packet::default() }]);
    exchange.write_packets(2);
    assert_eq!(exchange.sent().len(), 1);
    // Polled because of an acknowledgement, for example, instead of the timer.
    exchange.now = exchange.requester.next_timeout();
    assert_eq!(exchange.sent().len(), 1);
    assert_eq!(exchange.requester.next_timeout(), exchange.now + config().timeout);
}

#[test]
fn a_packet_beyond_a_gap_that_comes_again_is_a_duplicate() {
    let (mut exchange, sent) = started(selective(), 3);
    exchange.arrive(&[sent[2]], &[]);
    assert_eq!(exchange.responder.statistics().duplicate_packets, 0);
    exchange.arrive(&[sent[2]], &[]);
    assert_eq!(exchange.responder.statistics().duplicate_packets, 1);
    exchange.arrive(&sent[..2], &[]);
    let statistics = exchange.responder.statistics();
    assert_eq!((statistics.duplicate_packets, exchange.responder.delivered_bytes()), (1, 3 * 1_024));
}
