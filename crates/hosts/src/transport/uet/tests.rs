//! Exact values: windows, credit, paths, and what the receiver answers.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::trimmed::Trimmed;
use hitless_core::wire::{
    BitRate, Duration, Packet, Time, Transport, UetAcknowledgement, UetData, UetHeader, UetNegative,
};

use super::credit::{Credit, Demand, NextGrant};
use super::nscc::{Nscc, Sample};
use super::paths::{Feedback, Paths};
use super::{PathChoice, UetReceiver, UetSender, UetSettings};
use crate::transport::{Outgoing, Receiver, Sender};

const RATE: BitRate = BitRate::from_gbps(100);

fn packet(outgoing: Outgoing) -> Packet {
    let Outgoing { transport, frame_bytes, ecn } = outgoing;
    Packet { transport, frame_bytes, ecn, ..Packet::default() }
}

fn data(packet: &Packet) -> UetData {
    let Transport::Uet(UetHeader::Data(data)) = packet.transport else { panic!("not data: {packet:?}") };
    data
}

fn paths(choice: PathChoice, count: u16) -> Paths {
    Paths::new(choice, count, 1, Duration::from_us(100), RandomStreams::new(1).stream("paths"))
}

fn sender(settings: UetSettings) -> UetSender {
    UetSender::new(settings, RATE, 1, RandomStreams::new(1).stream("paths"))
}

fn all_sent(sender: &mut UetSender, now: Time) -> Vec<Packet> {
    std::iter::from_fn(|| sender.poll_transmit(now)).map(packet).collect()
}

fn sample(rtt_us: u64, is_marked: bool) -> Sample {
    Sample { newly_received: 16_600, rtt: Some(Duration::from_us(rtt_us)), is_marked, in_flight: 0 }
}

#[test]
fn a_new_connection_sends_one_and_a_half_products_of_rate_and_round_trip_time() {
    let mut sender = sender(UetSettings::default());
    sender.write(Time::ZERO, 10_000_000);
    let sent = all_sent(&mut sender, Time::ZERO);
    // 14.023 us x 12.5 GB/s x 1.5 = 262,930 B, and 63 packets of 4,150 B fit.
    assert_eq!(sent.len(), 63);
    assert_eq!(sender.congestion_window_bytes(), 262_930);
    let last = data(sent.last().unwrap());
    assert!(last.acknowledge_now && !data(&sent[0]).acknowledge_now, "the window is full");
}

#[test]
fn each_of_the_four_cases_moves_the_window_its_way() {
    let settings = UetSettings { initial_window: Some(20), ..UetSettings::default() };
    // Mark, round-trip time, direction. The target is 10.5 us of delay.
    let rows = [(false, 14, 1), (false, 18, 1), (false, 40, 1), (true, 18, 0)];
    for (is_marked, rtt_us, direction) in rows {
        let mut window = Nscc::new(&settings, RATE);
        let before = window.window();
        for step in 1..6 {
            window.acknowledged(Time(step * 1_000_000), &sample(rtt_us, is_marked));
        }
        let moved = i64::try_from(window.window()).unwrap() - i64::try_from(before).unwrap();
        assert_eq!(moved.signum(), direction, "marked {is_marked}, {rtt_us} us: {moved}");
    }
    let mut window = Nscc::new(&settings, RATE);
    for step in 1..400 {
        window.acknowledged(Time(step * 1_000_000), &sample(50, true));
    }
    assert!(window.window() < 20 * 4_150, "long delays with marks shrink the window: {}", window.window());
}

/// The swarm's seed 37,007,475: the periods of the window began at time zero, so a later connection adjusted its window
/// at its first acknowledgement.
#[test]
fn a_connection_that_starts_later_does_the_same_later() {
    let windows = |start: Time| {
        let mut sender = sender(UetSettings { initial_window: Some(20), ..UetSettings::default() });
        sender.write(start, 100_000_000);
        let sent = all_sent(&mut sender, start);
        let acknowledge = |packet: u64| UetAcknowledgement {
            acknowledged: packet,
            cumulative: packet + 1,
            received_bytes: (packet + 1) * 4_150,
            congestion: packet.is_multiple_of(3),
            ..Default::default()
        };
        (0..sent.len() as u64)
            .map(|number| {
                let answer = Transport::Uet(UetHeader::Acknowledgement(acknowledge(number)));
                let at = start + Duration::from_us(14 + 9 * number);
                sender.receive(at, &Packet { transport: answer, ..Packet::default() });
                sender.congestion_window_bytes()
            })
            .collect::<Vec<_>>()
    };
    let first = windows(Time::ZERO);
    assert!(first.first() != first.last(), "the window changes: {first:?}");
    assert_eq!(windows(Time(1 << 30)), first);
}

#[test]
fn a_trimmed_packet_is_taken_off_the_window_and_sent_again_first() {
    let mut sender = sender(UetSettings::default());
    sender.write(Time::ZERO, 10_000_000);
    let sent = all_sent(&mut sender, Time::ZERO);
    let negative = UetNegative { sequence: 5, entropy: data(&sent[5]).entropy, is_retransmission: false };
    let answer = Transport::Uet(UetHeader::NegativeAcknowledgement(negative));
    sender.receive(Time(20_000_000), &Packet { transport: answer, ..Packet::default() });
    assert_eq!(sender.congestion_window_bytes(), 262_930 - 4_150);
    assert!(all_sent(&mut sender, Time(20_000_000)).is_empty(), "the window is still full");
    let arrived = UetAcknowledgement { acknowledged: 3, cumulative: 4, received_bytes: 4_150, ..Default::default() };
    let answer = Transport::Uet(UetHeader::Acknowledgement(arrived));
    sender.receive(Time(20_000_000), &Packet { transport: answer, ..Packet::default() });
    let again = all_sent(&mut sender, Time(20_000_000));
    assert_eq!(again.iter().map(|packet| data(packet).sequence).collect::<Vec<_>>(), [5]);
    assert!(data(&again[0]).is_retransmission);
}

/// The round trip began at the repetition: a base of 0.1 us, and so a window of a packet.
#[test]
fn a_trimmed_original_tells_nothing_about_its_repetition() {
    let mut sender = sender(UetSettings::default());
    sender.write(Time::ZERO, 4_086);
    let sent = all_sent(&mut sender, Time::ZERO);
    let at = sender.next_timeout();
    sender.handle_timeout(at);
    let again = all_sent(&mut sender, at);
    let window_bytes = sender.congestion_window_bytes();
    let later = Time(at.as_ps() + 100_000);
    let mut trimmed = |packet: &Packet| {
        let UetData { sequence, entropy, is_retransmission, .. } = data(packet);
        let negative = UetNegative { sequence, entropy, is_retransmission };
        let answer = Transport::Uet(UetHeader::NegativeAcknowledgement(negative));
        sender.receive(later, &Packet { transport: answer, ..Packet::default() });
        (sender.congestion_window_bytes(), all_sent(&mut sender, later).len())
    };
    assert_eq!(trimmed(&sent[0]), (window_bytes, 0));
    assert_eq!(trimmed(&again[0]).1, 1, "a trimmed repetition is repeated");
}

/// The authors' `computePullTarget`: the smaller of backlog and window, less the credit left, divided by the flows that
/// wait for the card (the sender itself included), and rounded towards 0.
#[test]
fn flows_that_share_a_card_divide_their_requests() {
    for (flows, wanted) in [(1, 104_150), (2, 52_075), (3, 34_716), (21, 4_959)] {
        let mut credit = Credit::new(100_000);
        credit.receiver_answered();
        credit.granted(50_000);
        // 50,000 B were granted, and 54,150 B are spent.
        (0..13).for_each(|_| credit.spend(4_150));
        credit.spend(200);
        credit.share_card(flows);
        assert_eq!(credit.target(2_000_000, None, 4_150), 50_000 + wanted, "{flows} flows");
        // A backlog of 8,300 B is all requested by a flow on its own.
        let short = (8_300 + 4_150) / flows as u64;
        assert_eq!(credit.target(8_300, None, 4_150), 50_000 + short, "{flows} flows");
    }
    let mut sender = sender(UetSettings { congestion: super::settings::UetCongestion::Rccc, ..UetSettings::default() });
    sender.write(Time::ZERO, 10_000_000);
    let mut target = |flows: usize| {
        sender.share_card(|| flows);
        let packet = sender.poll_transmit(Time::ZERO).map(packet).expect("credit for a window");
        data(&packet).credit_target
    };
    // The initial window is 262,930 B: after the first packet a packet is wanted, after the second two.
    assert_eq!([target(1), target(2)], [4_150, 4_150]);
    assert_eq!(target(4), 3 * 4_150 / 4);
}

#[test]
fn a_sender_without_credit_does_not_count_the_flows_at_its_card() {
    let mut sender = sender(UetSettings::default());
    sender.share_card(|| panic!("the count is not needed"));
}

fn acknowledge(sender: &mut UetSender, at: Time, acknowledged: u64, cumulative: u64) {
    let acknowledgement = UetAcknowledgement {
        acknowledged,
        cumulative,
        received_bytes: (acknowledged + 1) * 4_150,
        ..Default::default()
    };
    let transport = Transport::Uet(UetHeader::Acknowledgement(acknowledgement));
    sender.receive(at, &Packet { transport, ..Packet::default() });
}

#[test]
fn an_acknowledgement_ends_the_quiet_time_although_the_oldest_packet_is_missing() {
    let mut sender = sender(UetSettings::default());
    sender.write(Time::ZERO, 4 * 4_086);
    assert_eq!(all_sent(&mut sender, Time(1_000)).len(), 4);
    assert_eq!(sender.explain_wait().quiet_since, Time(1_000));
    acknowledge(&mut sender, Time(15_000_000), 2, 0);
    assert_eq!(sender.explain_wait().quiet_since, Time(15_000_000));
}

#[test]
fn a_tail_probe_counts_when_it_is_sent() {
    let mut sender = sender(UetSettings { sack_recovery: true, ..UetSettings::default() });
    for (number, is_late) in [(0, true), (1, false)] {
        let written_at = Time(number * 1_000_000_000);
        sender.write(written_at, 4_086);
        assert_eq!(all_sent(&mut sender, written_at).len(), 1);
        let asks_at = sender.next_timeout();
        sender.handle_timeout(asks_at);
        if is_late {
            // The card is busy, and the acknowledgement comes before the probe can leave.
            acknowledge(&mut sender, asks_at, number, number + 1);
        }
        let sent = all_sent(&mut sender, asks_at);
        let probes = sent.iter().filter(|packet| matches!(packet.transport, Transport::Uet(UetHeader::TailProbe(_))));
        assert_eq!(probes.count(), usize::from(!is_late), "{sent:?}");
        assert_eq!(sender.statistics().tail_loss_probes, u64::from(!is_late));
    }
}

#[test]
fn a_receiver_reports_trimmed_packets_and_places_others_in_any_order() {
    let mut receiver = UetReceiver::new(UetSettings::default(), RATE);
    let arrive = |receiver: &mut UetReceiver, sequence: u64, is_trimmed: bool| {
        let header = UetData { sequence, payload_bytes: 4_086, entropy: 7, ..UetData::default() };
        let mut packet = Packet { transport: Transport::Uet(UetHeader::Data(header)), ..Packet::default() };
        packet.frame_bytes = 4_150;
        if is_trimmed {
            packet.push_shim(Trimmed { frame_bytes: 4_150 }).unwrap();
        }
        receiver.receive(Time::ZERO, &packet);
        receiver.poll_transmit(Time::ZERO).map(|outgoing| outgoing.transport)
    };
    let Some(Transport::Uet(UetHeader::Acknowledgement(first))) = arrive(&mut receiver, 1, false) else { panic!() };
    assert_eq!((first.cumulative, first.bitmap_base, first.bitmap), (0, 1, 1), "the first packet is acknowledged");
    let negative =
        UetHeader::NegativeAcknowledgement(UetNegative { sequence: 0, entropy: 7, is_retransmission: false });
    assert_eq!(arrive(&mut receiver, 0, true), Some(Transport::Uet(negative)));
    assert_eq!(arrive(&mut receiver, 2, false), None, "16,384 B have not come yet");
    assert_eq!(arrive(&mut receiver, 0, false), None);
    assert_eq!(receiver.delivered_bytes(), 3 * 4_086);
    assert_eq!(arrive(&mut receiver, 3, false), None);
    let Some(Transport::Uet(UetHeader::Acknowledgement(fifth))) = arrive(&mut receiver, 4, false) else { panic!() };
    assert_eq!((fifth.cumulative, fifth.received_bytes), (5, 5 * 4_150));
}

#[test]
fn credit_starts_with_a_window_and_then_follows_grants() {
    let settings = UetSettings::default();
    let mut credit = Credit::new(262_930);
    credit.spend(4_150);
    assert_eq!(credit.target(2_000_000, None, 4_150), 4_150, "the window, less the credit left");
    credit.receiver_answered();
    assert!(!credit.may_send());
    credit.granted(16_384);
    assert!(credit.may_send());

    let mut demand = Demand::default();
    demand.note_target(20_000);
    assert!(demand.enters_queue() && !demand.enters_queue(), "once");
    let rows = [(false, 16_384, NextGrant::Active), (false, 20_000, NextGrant::Idle), (true, 36_384, NextGrant::Idle)];
    for (in_advance, granted, next) in rows {
        let (total, grant) = demand.grant(in_advance, &settings, 30_000);
        assert_eq!((total, grant.next), (granted, next));
    }
    assert_eq!(demand.grant(true, &settings, 30_000).1.next, NextGrant::Nothing, "a window of credit in advance");
}

#[test]
fn oblivious_paths_use_every_value_once_in_a_round() {
    let mut paths = paths(PathChoice::Oblivious, 16);
    for _ in 0..3 {
        let mut round: Vec<u16> = (0..16).map(|_| paths.next() & 15).collect();
        round.sort_unstable();
        assert_eq!(round, (0..16).collect::<Vec<_>>());
    }
}

#[test]
fn a_lost_packet_keeps_its_path_out_of_fifteen_rounds() {
    let mut paths = paths(PathChoice::Bitmap, 4);
    let bad = paths.next();
    paths.learn(Time::ZERO, bad, Feedback::Lost);
    let uses = (0..45).filter(|_| paths.next() == bad).count();
    assert_eq!(uses, 0);
    assert!((0..8).any(|_| paths.next() == bad), "it comes back");
}

#[test]
fn mrc_retires_a_path_until_a_probe_returns() {
    let mut paths = paths(PathChoice::Mrc, 4);
    let bad = paths.next();
    paths.learn(Time::ZERO, bad, Feedback::Trimmed);
    assert!((0..8).any(|_| paths.next() == bad), "trimming is congestion");
    paths.learn(Time::ZERO, bad, Feedback::Lost);
    assert!((0..100).all(|_| paths.next() != bad));
    assert_eq!(paths.take_probe(Time(1)), None);
    assert_eq!(paths.take_probe(Time(100_000_000)), Some(bad));
    paths.learn(Time(110_000_000), bad, Feedback::Restored);
    assert!((0..8).any(|_| paths.next() == bad));
}

#[test]
fn reps_uses_good_values_again_and_only_these_after_a_timeout() {
    let mut paths = paths(PathChoice::Reps, 64);
    paths.learn(Time::ZERO, 5, Feedback::Good);
    paths.learn(Time::ZERO, 6, Feedback::Marked);
    assert_eq!(paths.next(), 5);
    paths.learn(Time::ZERO, 9, Feedback::Lost);
    assert_eq!([paths.next(), paths.next()], [5, 5]);
}

#[test]
fn values_that_are_used_again_take_the_ports_in_turn_except_one_that_loses() {
    for choice in [PathChoice::Reps, PathChoice::Mixed] {
        let mut paths = Paths::new(choice, 64, 4, Duration::from_us(100), RandomStreams::new(1).stream("paths"));
        let taken = |paths: &mut Paths| (0..40).map(|_| paths.next() % 4).collect::<Vec<_>>();
        // Only values of port 1 come back.
        (0..8).for_each(|value| paths.learn(Time(0), 4 * value + 1, Feedback::Good));
        let ports = taken(&mut paths);
        assert!(ports.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 4), "{ports:?}");
    }
}

/// All connections began at port 1, so single packets always took port 1.
#[test]
fn connections_begin_at_any_port() {
    for choice in [PathChoice::Reps, PathChoice::Mixed] {
        let streams = RandomStreams::new(1);
        let mut counts = [0_u32; 4];
        for number in 0..2_000 {
            let stream = streams.stream(&format!("connection {number}"));
            let mut paths = Paths::new(choice, 64, 4, Duration::from_us(100), stream);
            counts[usize::from(paths.next() % 4)] += 1;
        }
        // The standard deviation is 19.
        assert!(counts.iter().all(|count| (420..580).contains(count)), "{choice:?}: {counts:?}");
    }
}

/// The port after a dead one got its turns, a third more than its share.
#[test]
fn the_turns_of_a_port_that_loses_go_to_all_others() {
    for dead in 0..4 {
        let stream = RandomStreams::new(1).stream("paths");
        let mut paths = Paths::new(PathChoice::Mixed, 64, 4, Duration::from_us(100), stream);
        let mut counts = [0_u32; 4];
        for _ in 0..12_000 {
            let entropy = paths.next();
            counts[usize::from(entropy % 4)] += 1;
            paths.learn(Time(0), entropy, if entropy % 4 == dead { Feedback::Lost } else { Feedback::Good });
        }
        let alive = (0..4).filter(|&port| port != dead).map(|port| counts[usize::from(port)]);
        assert!(alive.clone().max().zip(alive.min()).is_some_and(|(most, least)| most < least + 200), "{counts:?}");
        assert!(counts[usize::from(dead)] < 100, "{counts:?}");
    }
}
