//! Recorded exchanges, and messages over a pipe that loses packets at random.

mod timers;
mod trims;

use hitless_core::wire::{BitRate, Duration, Ecn, Packet, RoceHeader, RoceOpcode, Time, Transport};
use proptest::prelude::*;

use super::{DcqcnSettings, RoceRecovery, RoceRequester, RoceResponder, RoceSettings};
use crate::transport::{Outgoing, Receiver, Sender};

const MILLISECOND: Time = Time(1_000_000_000);
const LINE_RATE: BitRate = BitRate::from_gbps(40);

fn config() -> RoceSettings {
    RoceSettings { acknowledge_every: 100, ..RoceSettings::default() }
}

fn packet(outgoing: Outgoing) -> Packet {
    let Outgoing { transport, frame_bytes, ecn } = outgoing;
    Packet { transport, frame_bytes, ecn, ..Packet::default() }
}

/// Returns a packet's notation in tests: `W3` is write 3, `W4.` the last write of its message, `A4` and `N3` are
/// positive and negative acknowledgements, `N3+5` is a selective one caused by write 5, and `T3+5` says that write 5 was
/// trimmed.
fn name(packet: &Packet) -> String {
    let Transport::Roce(header) = packet.transport else { panic!("not a RoCE packet") };
    let letter = match header.opcode {
        RoceOpcode::Write => "W",
        RoceOpcode::Acknowledge => "A",
        RoceOpcode::NegativeAcknowledge => "N",
        RoceOpcode::TrimNotice => "T",
        RoceOpcode::CongestionNotification => "C",
    };
    let arrived = if header.arrived > 0 { format!("+{}", header.arrived) } else { String::new() };
    format!("{letter}{}{arrived}{}", header.packet_sequence, if header.last { "." } else { "" })
}

fn names(packets: &[Packet]) -> String {
    packets.iter().map(name).collect::<Vec<_>>().join(" ")
}

struct Exchange {
    now: Time,
    requester: RoceRequester,
    responder: RoceResponder,
}

impl Exchange {
    fn new(config: RoceSettings) -> Self {
        let requester = RoceRequester::new(config, LINE_RATE);
        Self { now: Time::ZERO, requester, responder: RoceResponder::new(config) }
    }

    fn write_packets(&mut self, count: u64) {
        self.requester.write(self.now, count * 1_024);
    }

    /// Returns the packets that the requester sends now.
    fn sent(&mut self) -> Vec<Packet> {
        std::iter::from_fn(|| self.requester.poll_transmit(self.now)).map(packet).collect()
    }

    /// Passes `packets` to the responder, except those named in `lost`; returns its packets.
    fn arrive(&mut self, packets: &[Packet], lost: &[&str]) -> Vec<Packet> {
        let mut answers = Vec::new();
        for packet_ in packets.iter().filter(|packet| !lost.contains(&name(packet).as_str())) {
            self.responder.receive(self.now, packet_);
            answers.extend(std::iter::from_fn(|| self.responder.poll_transmit(self.now)).map(packet));
        }
        answers
    }

    fn answer(&mut self, packets: &[Packet]) {
        for packet in packets {
            self.requester.receive(self.now, packet);
        }
    }

    /// Passes `packets` to the responder, except those named in `lost`, and its packets back; returns their names.
    fn pass(&mut self, packets: &[Packet], lost: &[&str]) -> String {
        let answers = self.arrive(packets, lost);
        self.answer(&answers);
        names(&answers)
    }

    fn time_out(&mut self) {
        self.now = self.requester.next_timeout();
        self.requester.handle_timeout(self.now);
    }
}

/// Creates an exchange with a message of `count` packets; returns the packets sent at once.
fn started(config: RoceSettings, count: u64) -> (Exchange, Vec<Packet>) {
    let mut exchange = Exchange::new(config);
    exchange.write_packets(count);
    let sent = exchange.sent();
    (exchange, sent)
}

#[test]
fn sent_bytes_count_each_byte_once_and_not_the_room_in_the_last_packet() {
    let mut exchange = Exchange::new(config());
    exchange.requester.write(Time::ZERO, 2_500);
    exchange.requester.write(Time::ZERO, 1_024);
    assert_eq!(exchange.requester.sent_bytes(), 0);
    let packets = exchange.sent();
    assert_eq!((packets.len(), exchange.requester.sent_bytes()), (4, 3_524));
    exchange.pass(&packets, &["W1"]);
    exchange.sent();
    assert_eq!(exchange.requester.sent_bytes(), 3_524, "sent again is not sent further");
    assert_eq!(exchange.requester.congestion_window_bytes(), u64::from(config().window) * 1_024);
}

#[test]
fn a_message_is_cut_into_packets_and_acknowledged_once() {
    let mut exchange = Exchange::new(config());
    exchange.requester.write(Time::ZERO, 2_500);
    let sent = exchange.sent();
    assert_eq!(names(&sent), "W0 W1 W2.");
    assert_eq!(sent.iter().map(|packet| packet.frame_bytes).collect::<Vec<_>>(), [1_102, 1_102, 530]);
    let answers = exchange.arrive(&sent, &[]);
    assert_eq!((names(&answers).as_str(), answers[0].frame_bytes), ("A2", 66));
    exchange.answer(&answers);
    assert_eq!((exchange.requester.acknowledged_bytes(), exchange.responder.delivered_bytes()), (2_500, 2_500));
    assert_eq!(exchange.requester.next_timeout(), Time::NEVER);
}

#[test]
fn a_loss_in_the_middle_draws_one_negative_acknowledgement_and_goes_back_to_the_hole() {
    let (mut exchange, sent) = started(config(), 6);
    let answers = exchange.arrive(&sent, &["W2"]);
    assert_eq!(names(&answers), "N2");
    assert_eq!(exchange.responder.delivered_bytes(), 2 * 1_024, "what comes after the gap is thrown away");
    exchange.answer(&answers);
    assert_eq!(exchange.requester.acknowledged_bytes(), 2 * 1_024);
    let again = exchange.sent();
    assert_eq!(names(&again), "W2 W3 W4 W5.");
    assert_eq!(exchange.pass(&again, &[]), "A5");
    let statistics = exchange.requester.statistics();
    assert_eq!((statistics.packets_sent, statistics.packets_retransmitted), (10, 4));
    assert_eq!((statistics.fast_recoveries, statistics.timeouts), (1, 0));
}

#[test]
fn a_lost_tail_waits_for_the_timeout() {
    let (mut exchange, sent) = started(config(), 1);
    assert_eq!(names(&exchange.arrive(&sent, &["W0."])), "");
    assert_eq!(exchange.requester.next_timeout(), MILLISECOND);
    exchange.requester.handle_timeout(Time(MILLISECOND.0 - 1));
    assert_eq!(names(&exchange.sent()), "");
    exchange.time_out();
    let again = exchange.sent();
    assert_eq!(names(&again), "W0.");
    exchange.pass(&again, &[]);
    assert_eq!(exchange.requester.acknowledged_bytes(), 1_024);
    assert_eq!(exchange.requester.statistics().timeouts, 1);
}

#[test]
fn a_lost_acknowledgement_is_given_again_and_nothing_delivered_twice() {
    let (mut exchange, sent) = started(config(), 2);
    assert_eq!(names(&exchange.arrive(&sent, &[])), "A1");
    exchange.time_out();
    let again = exchange.sent();
    let answers = exchange.arrive(&again, &[]);
    assert_eq!((names(&again).as_str(), names(&answers).as_str()), ("W0 W1.", "A1"));
    exchange.answer(&answers);
    assert_eq!((exchange.requester.acknowledged_bytes(), exchange.responder.delivered_bytes()), (2_048, 2_048));
    assert_eq!(exchange.responder.statistics().duplicate_packets, 2);
}

#[test]
fn a_retransmission_that_is_lost_too_draws_no_second_negative_acknowledgement() {
    let (mut exchange, sent) = started(config(), 4);
    exchange.pass(&sent, &["W1"]);
    let again = exchange.sent();
    assert_eq!(names(&again), "W1 W2 W3.");
    assert_eq!(names(&exchange.arrive(&again, &["W1"])), "");
    exchange.time_out();
    let third = exchange.sent();
    assert_eq!(names(&exchange.arrive(&third, &[])), "A3");
}

#[test]
fn a_second_gap_is_reported_again() {
    let (mut exchange, sent) = started(config(), 5);
    assert_eq!(exchange.pass(&sent, &["W0"]), "N0");
    let again = exchange.sent();
    assert_eq!(names(&exchange.arrive(&again, &["W2"])), "N2");
}

#[test]
fn a_late_negative_acknowledgement_sends_nothing_again() {
    let (mut exchange, sent) = started(config(), 4);
    let reordered = [sent[0], sent[2], sent[1]];
    let early = exchange.arrive(&reordered, &[]);
    assert_eq!(names(&early), "N1");
    let rest = exchange.arrive(&sent[2..], &[]);
    assert_eq!(names(&rest), "A3");
    exchange.answer(&rest);
    exchange.answer(&early);
    assert_eq!(names(&exchange.sent()), "");
    assert_eq!(exchange.requester.statistics().fast_recoveries, 0);
    assert_eq!(exchange.requester.acknowledged_bytes(), 4 * 1_024);
    assert_eq!(exchange.responder.statistics().reordered_packets, 1);
}

#[test]
fn an_acknowledgement_overtakes_copies_that_are_still_to_be_sent() {
    let mut exchange = Exchange::new(RoceSettings { acknowledge_every: 2, ..config() });
    exchange.write_packets(2);
    exchange.write_packets(3);
    let sent = exchange.sent();
    assert_eq!(names(&sent), "W0 W1. W2 W3 W4.");
    let answers = exchange.arrive(&sent, &[]);
    assert_eq!(names(&answers), "A1 A3 A4");
    exchange.time_out();
    let first = exchange.requester.poll_transmit(exchange.now).map(packet).unwrap();
    assert_eq!(name(&first), "W0");
    exchange.answer(&answers[..2]);
    assert_eq!(names(&exchange.sent()), "W4.");
    exchange.answer(&answers[2..]);
    assert_eq!(exchange.requester.acknowledged_bytes(), 5 * 1_024);
}

#[test]
fn the_retry_limit_ends_the_connection() {
    let mut exchange = Exchange::new(RoceSettings { retries: 3, ..config() });
    exchange.write_packets(1);
    for _ in 0..3 {
        assert_eq!(names(&exchange.sent()), "W0.");
        exchange.time_out();
    }
    assert_eq!(names(&exchange.sent()), "W0.");
    assert!(!exchange.requester.has_failed());
    exchange.time_out();
    assert!(exchange.requester.has_failed());
    assert_eq!((names(&exchange.sent()).as_str(), exchange.requester.next_timeout()), ("", Time::NEVER));
}

#[test]
fn the_window_limits_what_is_outstanding() {
    let (mut exchange, sent) = started(RoceSettings { window: 4, acknowledge_every: 4, ..config() }, 6);
    assert_eq!(names(&sent), "W0 W1 W2 W3");
    assert_eq!(exchange.pass(&sent, &[]), "A3");
    assert_eq!(names(&exchange.sent()), "W4 W5.");
}

fn selective() -> RoceSettings {
    RoceSettings { recovery: RoceRecovery::SelectiveRepeat, ..config() }
}

#[test]
fn selective_repeat_sends_again_only_what_is_missing() {
    let (mut exchange, sent) = started(selective(), 8);
    let answers = exchange.arrive(&sent, &["W2", "W5"]);
    assert_eq!(names(&answers), "N2+3 N2+4 N2+6 N2+7");
    // The first starts a recovery; packet 5 counts as lost when a later one has arrived.
    exchange.answer(&answers[..2]);
    assert_eq!(names(&exchange.sent()), "W2");
    exchange.answer(&answers[2..]);
    let again = exchange.sent();
    assert_eq!(names(&again), "W5");
    // A packet that fills a gap is acknowledged at once, up to the next gap.
    let repeated = [sent[2], again[0]];
    assert_eq!(exchange.pass(&repeated, &[]), "A4 A7");
    let statistics = exchange.requester.statistics();
    assert_eq!((statistics.packets_sent, statistics.packets_retransmitted), (10, 2));
    assert_eq!((statistics.fast_recoveries, statistics.timeouts), (1, 0));
    assert_eq!((exchange.requester.acknowledged_bytes(), exchange.responder.delivered_bytes()), (8_192, 8_192));
    assert_eq!(exchange.requester.next_timeout(), Time::NEVER);
}

#[test]
fn what_selective_repeat_sends_again_goes_before_new_packets_and_only_once() {
    let (mut exchange, sent) = started(RoceSettings { window: 4, acknowledge_every: 4, ..selective() }, 6);
    assert_eq!(names(&sent), "W0 W1 W2 W3");
    assert_eq!(exchange.pass(&sent, &["W1"]), "N1+2 N1+3");
    // It also acknowledges packet 0, so the window has room for packet 4.
    assert_eq!(names(&exchange.sent()), "W1 W4");
}

#[test]
fn a_repetition_that_selective_repeat_loses_too_waits_for_the_timeout_and_then_all_that_is_missing_goes() {
    let (mut exchange, sent) = started(selective(), 6);
    assert_eq!(exchange.pass(&sent, &["W1", "W4", "W5."]), "N1+2 N1+3");
    assert_eq!(names(&exchange.sent()), "W1");
    exchange.time_out();
    let again = exchange.sent();
    assert_eq!(names(&again), "W1 W4 W5.");
    assert_eq!(exchange.pass(&again, &[]), "A3 A5");
    assert_eq!(exchange.requester.acknowledged_bytes(), 6 * 1_024);
    assert_eq!(exchange.requester.statistics().timeouts, 1);
}

#[test]
fn reordering_costs_selective_repeat_one_packet_and_go_back_n_all() {
    for (config, again) in [(selective(), "W1"), (config(), "W1 W2 W3.")] {
        let (mut exchange, sent) = started(config, 4);
        exchange.pass(&[sent[0], sent[2]], &[]);
        assert_eq!(names(&exchange.sent()), again);
    }
}

fn with_dcqcn() -> RoceSettings {
    RoceSettings { dcqcn: Some(DcqcnSettings::default()), ..config() }
}

#[test]
fn marked_packets_draw_notifications_that_cut_the_rate() {
    let (mut exchange, mut sent) = started(with_dcqcn(), 4);
    assert_eq!(sent.len(), 4, "at line rate nothing waits for the pace");
    assert!(sent.iter().all(|packet| packet.ecn == Ecn::Capable));
    sent.iter_mut().for_each(|packet| packet.ecn = Ecn::CongestionExperienced);
    // One notification per 50 us.
    let answers = exchange.arrive(&sent, &[]);
    assert_eq!(names(&answers), "C0 A3");
    assert_eq!(answers[0].frame_bytes, 78);
    exchange.answer(&answers);
    assert_eq!(exchange.requester.statistics().congestion_echoes, 1);
    assert_eq!(exchange.requester.rate(exchange.now), Some(BitRate::from_gbps(20)));
    // The next packets are 1102 + 20 bytes apart at 20 Gb/s: 448.8 ns.
    exchange.now = Time(1_000_000);
    exchange.write_packets(3);
    assert_eq!(exchange.sent().len(), 1);
    assert_eq!(exchange.requester.next_timeout(), Time(1_448_800));
    exchange.now = Time(1_448_799);
    exchange.requester.handle_timeout(exchange.now);
    assert_eq!(exchange.sent().len(), 0);
    exchange.now = Time(1_448_800);
    exchange.requester.handle_timeout(exchange.now);
    assert_eq!(exchange.sent().len(), 1);
}

#[test]
fn a_lost_acknowledgement_of_a_filled_gap_is_given_again_to_the_first_repetition() {
    let (mut exchange, sent) = started(selective(), 6);
    let answers = exchange.arrive(&sent, &["W4"]);
    exchange.answer(&answers);
    let repeated = exchange.sent();
    assert_eq!((names(&answers).as_str(), names(&repeated).as_str()), ("N4+5", "W4"));
    assert_eq!(names(&exchange.arrive(&repeated, &[])), "A5", "and it is lost");
    exchange.time_out();
    let repeated = exchange.sent();
    assert_eq!(names(&repeated), "W4");
    assert_eq!(exchange.pass(&repeated, &[]), "A5");
    assert_eq!(exchange.requester.acknowledged_bytes(), 6 * 1_024);
}

#[test]
fn a_mark_within_the_interval_of_a_notification_is_answered_at_its_end() {
    let mut exchange = Exchange::new(with_dcqcn());
    exchange.write_packets(3);
    let mut sent = Vec::new();
    for _ in 0..3 {
        sent.extend(exchange.sent());
        exchange.now = exchange.requester.next_timeout().min(exchange.now + Duration::from_us(1));
    }
    exchange.now = Time::ZERO;
    sent.iter_mut().for_each(|packet| packet.ecn = Ecn::CongestionExperienced);
    assert_eq!(names(&exchange.arrive(&sent[..1], &[])), "C0");
    assert_eq!(exchange.responder.next_timeout(), Time::NEVER);
    exchange.now = Time::ZERO + Duration::from_us(10);
    assert_eq!(names(&exchange.arrive(&sent[1..2], &[])), "");
    let due = exchange.responder.next_timeout();
    assert_eq!(due, Time::ZERO + DcqcnSettings::default().cnp_interval);
    exchange.responder.handle_timeout(Time(due.0 - 1));
    assert_eq!(exchange.responder.poll_transmit(due), None);
    exchange.responder.handle_timeout(due);
    assert!(exchange.responder.poll_transmit(due).is_some());
    assert_eq!(exchange.responder.next_timeout(), Time::NEVER);
}

#[test]
fn a_pace_of_less_than_an_acknowledgement_per_timeout_is_no_loss() {
    let slow =
        DcqcnSettings { minimum_rate: BitRate::from_bps(10_000_000).expect("not zero"), ..DcqcnSettings::default() };
    let config = RoceSettings { dcqcn: Some(slow), acknowledge_every: 16, ..config() };
    let mut exchange = Exchange::new(config);
    let notification = RoceHeader { opcode: RoceOpcode::CongestionNotification, ..RoceHeader::default() };
    let notification = Packet { transport: Transport::Roce(notification), ..Packet::default() };
    exchange.answer(&[notification; 40]);
    exchange.write_packets(40);
    loop {
        let sent = exchange.sent();
        assert!(sent.len() <= 1);
        exchange.pass(&sent, &[]);
        if exchange.requester.acknowledged_bytes() == 40 * 1_024 {
            break;
        }
        exchange.time_out();
        exchange.answer(&[notification]);
    }
    assert_eq!(exchange.requester.statistics().timeouts, 0);
}

#[test]
fn a_packet_that_waits_at_a_low_rate_goes_sooner_when_the_rate_rises() {
    let mut exchange = Exchange::new(with_dcqcn());
    exchange.now = MILLISECOND;
    let opcode = RoceOpcode::CongestionNotification;
    let header = RoceHeader { opcode, ..RoceHeader::default() };
    let notification = Packet { transport: Transport::Roce(header), ..Packet::default() };
    exchange.answer(&[notification; 20]);
    assert_eq!(exchange.requester.rate(exchange.now), BitRate::from_bps(10_000_000));
    exchange.write_packets(2);
    assert_eq!(exchange.sent().len(), 1);
    // At 10 Mb/s the next packet would leave 898 us later, but the timer increases the rate after 55 us.
    assert_eq!(exchange.requester.next_timeout(), MILLISECOND + Duration::from_us(55));
}

#[test]
fn marks_mean_nothing_without_dcqcn() {
    let (mut exchange, mut sent) = started(config(), 2);
    assert!(sent.iter().all(|packet| packet.ecn == Ecn::NotCapable));
    sent.iter_mut().for_each(|packet| packet.ecn = Ecn::CongestionExperienced);
    assert_eq!(names(&exchange.arrive(&sent, &[])), "A1");
}

#[test]
fn a_pace_that_waits_does_not_ask_to_be_woken_in_the_past() {
    let (mut exchange, mut sent) = started(with_dcqcn(), 1);
    sent.iter_mut().for_each(|packet| packet.ecn = Ecn::CongestionExperienced);
    exchange.pass(&sent, &[]);
    exchange.write_packets(2);
    assert_eq!(exchange.sent().len(), 0, "the first packet was sent at this very time");
    let wake_at = exchange.requester.next_timeout();
    // The card holds the host back, so no packet is polled.
    exchange.requester.handle_timeout(wake_at);
    assert!(exchange.requester.next_timeout() > wake_at);
}

/// The fates of packets in a pipe, one per packet; later packets pass unchanged.
fn fates() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0u8..10, 0..400)
}

/// Passes packets through a pipe that loses them (fate 0 and 1), duplicates them (2), delays them after the next (3) or
/// trims them (4).
fn through_pipe(packets: Vec<Packet>, fates: &mut impl Iterator<Item = u8>) -> Vec<Packet> {
    let (mut out, mut delayed) = (Vec::new(), None);
    for mut packet in packets {
        match fates.next().unwrap_or(9) {
            0 | 1 => continue,
            4 => {
                packet.trim(64);
                out.push(packet);
            }
            2 => out.extend([packet, packet]),
            3 if delayed.is_none() => {
                delayed = Some(packet);
                continue;
            }
            _ => out.push(packet),
        }
        out.extend(delayed.take());
    }
    out.extend(delayed);
    out
}

proptest! {
    #[test]
    fn every_message_arrives_once_and_in_order_over_a_lossy_pipe(
        messages in proptest::collection::vec(1u64..20_000, 1..8),
        window in 1u32..40,
        is_selective in any::<bool>(),
        fates in fates(),
    ) {
        let config = RoceSettings {
            recovery: if is_selective { RoceRecovery::SelectiveRepeat } else { RoceRecovery::GoBackN },
            window,
            acknowledge_every: window.min(5),
            retries: 1_000,
            ..RoceSettings::default()
        };
        let mut exchange = Exchange::new(config);
        let mut fates = fates.into_iter();
        messages.iter().for_each(|&bytes| exchange.requester.write(Time::ZERO, bytes));
        let total: u64 = messages.iter().sum();
        for _ in 0..10_000 {
            let sent = exchange.sent();
            if sent.is_empty() && exchange.requester.acknowledged_bytes() < total {
                exchange.time_out();
                continue;
            }
            let arriving = through_pipe(sent, &mut fates);
            let answers = exchange.arrive(&arriving, &[]);
            let answers = through_pipe(answers, &mut fates);
            exchange.answer(&answers);
            prop_assert!(exchange.requester.acknowledged_bytes() <= exchange.responder.delivered_bytes());
            prop_assert!(exchange.responder.delivered_bytes() <= total);
        }
        prop_assert_eq!(exchange.responder.delivered_bytes(), total);
        prop_assert_eq!(exchange.requester.acknowledged_bytes(), total);
        prop_assert_eq!(exchange.requester.next_timeout(), Time::NEVER);
    }
}
