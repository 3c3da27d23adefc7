//! A forger sends on the protected link. Whatever it sends, nothing panics, nothing grows without bound, blocking mode
//! delivers no packet twice, and order returns when the forger stops.

use hitless_core::wire::{HostId, Packet, Shim, Time, Transport, UdpHeader};
use hitless_mechanisms::linkguardian::headers::{
    AckHeader, ControlHeader, DataHeader, Era, LossNotification, Message, PacketType, SequenceNumber,
};
use hitless_mechanisms::linkguardian::{Action, Buffering, Command, Mode};
use hitless_switch::LinkEnd;
use proptest::prelude::*;

use super::{BUFFERINGS, in_order, losing, microseconds, pair, random_loss};
use crate::two_switches::{LINK, Pair, sorted};

/// The first number of forged datagrams.
const FORGED: u64 = 1 << 40;
/// The sending and the receiving switch.
const SENDER: usize = 0;
const RECEIVER: usize = 1;
const SENDER_OFF: Command = Command { port: LINK, end: LinkEnd::Sender, action: Action::Deactivate };

fn blank() -> Packet {
    let header = UdpHeader { number: FORGED, ..UdpHeader::default() };
    Packet {
        frame_bytes: 64,
        destination: HostId(1),
        ttl: Packet::INITIAL_TTL,
        transport: Transport::Udp(header),
        ..Packet::default()
    }
}

fn with<S: Shim>(mut packet: Packet, shim: S) -> Packet {
    packet.push_shim(shim).expect("few shims");
    packet
}

fn number(value: u16) -> SequenceNumber {
    SequenceNumber::new(value, Era::Even)
}

fn data(value: u16) -> Packet {
    with(blank(), DataHeader { blocking: true, ..DataHeader::new(PacketType::Data, number(value)) })
}

fn acknowledgement(value: u16) -> Packet {
    with(blank(), AckHeader { channel: 0, acknowledged: number(value), piggybacked: false })
}

fn loss(first_lost: u16, count: u8) -> Packet {
    let last_lost = number(first_lost).plus(u16::from(count).wrapping_sub(1));
    let ack = with(blank(), AckHeader { channel: 0, acknowledged: last_lost, piggybacked: false });
    with(ack, LossNotification { first_lost: number(first_lost), count })
}

fn genuine(pair: &Pair) -> Vec<u64> {
    pair.numbers(1).into_iter().filter(|&number| number < FORGED).collect()
}

#[test]
fn an_acknowledgement_of_numbers_never_sent_releases_no_copy() {
    for buffering in BUFFERINGS {
        for forged in [0, 100, 20_000, 32_767, 40_000, u16::MAX - 1] {
            let mut pair = pair(100, Mode::Blocking, 1, buffering, losing(&[5, 6]));
            pair.forge(SENDER, Time(1), acknowledgement(forged));
            pair.inject(0, microseconds(1), 0, 60);
            pair.run();
            assert_eq!(genuine(&pair), in_order(60), "{buffering:?} {forged}");
            assert_eq!(pair.counter("acknowledgements_refused"), 1, "{buffering:?} {forged}");
        }
    }
}

/// The receiver's number was made 41 ahead of the sender's, and every answer used to extend the closing.
#[test]
fn a_receiver_whose_number_is_ahead_closes_the_port_for_no_longer_than_its_answer_takes() {
    for buffering in BUFFERINGS {
        let mut pair = pair(100, Mode::Blocking, 1, buffering, |_| false);
        pair.inject(0, microseconds(1), 0, 60);
        pair.forge(RECEIVER, microseconds(40), data(100));
        pair.command(SENDER, microseconds(60), SENDER_OFF);
        pair.inject(0, microseconds(80), 60, 100);
        pair.run_until(microseconds(2_000));
        assert_eq!(genuine(&pair), in_order(160), "{buffering:?}");
        assert_eq!(pair.counter("protections_ended_unanswered"), 1, "{buffering:?}");
    }
}

/// One hundred answers without news used to keep the port closed as long as they came.
#[test]
fn answers_without_news_do_not_keep_the_port_closed() {
    let mut pair = pair(100, Mode::Blocking, 1, Buffering::Recirculation, |packet| {
        packet.shims.get::<ControlHeader>().is_some_and(|control| control.message == Message::Probe)
    });
    pair.inject(0, microseconds(1), 0, 60);
    pair.command(SENDER, microseconds(60), SENDER_OFF);
    for turn in 0..100 {
        let old = ControlHeader { message: Message::Answer { in_order: false }, channel: 0, sequence: number(59) };
        pair.forge(SENDER, microseconds(70 + 20 * turn), with(blank(), old));
    }
    pair.inject(0, microseconds(80), 60, 100);
    pair.run_until(microseconds(1_000));
    assert_eq!(genuine(&pair), in_order(160));
    assert_eq!(pair.counter("protections_ended_unanswered"), 1);
}

#[test]
fn a_reported_loss_of_numbers_never_sent_leaves_no_request_behind() {
    for (first_lost, count) in [(100, 1), (100, 5), (0, 255), (65_535, 200)] {
        let mut pair = pair(100, Mode::NonBlocking, 1, Buffering::Recirculation, |_| false);
        pair.forge(SENDER, Time(1), loss(first_lost, count));
        pair.inject(0, microseconds(1), 0, 300);
        pair.run();
        assert_eq!(genuine(&pair), in_order(300), "{first_lost} {count}");
        assert_eq!(pair.counter("packets_retransmitted"), 0, "{first_lost} {count}");
    }
}

#[test]
fn a_repair_that_nobody_asked_for_takes_no_packets_turn() {
    for buffering in BUFFERINGS {
        let mut pair = pair(100, Mode::Blocking, 1, buffering, |_| false);
        let header = DataHeader { retransmitted: true, blocking: true, ..DataHeader::new(PacketType::Data, number(0)) };
        pair.forge(RECEIVER, Time(1), with(blank(), header));
        pair.inject(0, microseconds(1), 0, 50);
        pair.run();
        assert_eq!(pair.numbers(1), in_order(50), "{buffering:?}");
        assert_eq!(pair.counter("frames_refused"), 1);
    }
}

#[test]
fn one_number_from_far_away_changes_nothing() {
    for buffering in BUFFERINGS {
        for far in [300, 1_000, 32_767, 32_768, 40_000, 65_279] {
            let mut pair = pair(100, Mode::Blocking, 1, buffering, losing(&[40]));
            pair.forge(RECEIVER, microseconds(2), data(far));
            pair.inject(0, Time::ZERO, 0, 10);
            pair.inject(0, microseconds(4), 10, 100);
            pair.run();
            assert_eq!(pair.numbers(1), in_order(110), "{buffering:?} {far}");
            assert_eq!(pair.counter("packets_missing"), 1);
        }
    }
}

#[test]
fn who_takes_the_numbers_elsewhere_costs_one_packet() {
    for buffering in BUFFERINGS {
        let mut pair = pair(100, Mode::Blocking, 1, buffering, losing(&[60]));
        pair.inject(0, Time::ZERO, 0, 50);
        pair.forge(RECEIVER, microseconds(20), data(30_000));
        pair.forge(RECEIVER, microseconds(21), data(30_001));
        pair.inject(0, microseconds(40), 50, 50);
        pair.run();
        let expected: Vec<u64> = (0..100).filter(|&number| number != 50).collect();
        assert_eq!(genuine(&pair), expected, "{buffering:?}");
        assert_eq!(pair.counter("resynchronisations"), 2);
    }
}

/// The genuine packet is taken for the second copy of the forged one; no other packet is affected.
#[test]
fn a_forged_next_number_costs_the_packet_that_has_it() {
    for buffering in BUFFERINGS {
        let mut pair = pair(100, Mode::Blocking, 1, buffering, losing(&[60]));
        pair.inject(0, Time::ZERO, 0, 50);
        pair.forge(RECEIVER, microseconds(20), data(50));
        pair.inject(0, microseconds(40), 50, 50);
        pair.run();
        let expected: Vec<u64> = (0..100).filter(|&number| number != 50).collect();
        assert_eq!(genuine(&pair), expected, "{buffering:?}");
        assert_eq!(pair.counter("duplicates_removed"), 1, "{buffering:?}");
    }
}

/// An acknowledgement before arrival releases copies: such a loss is not repaired, but nothing else is lost.
#[test]
fn a_forged_acknowledgement_of_numbers_under_way_costs_only_what_is_lost() {
    let mut pair = pair(100, Mode::Blocking, 1, Buffering::Recirculation, losing(&[30, 80]));
    pair.inject(0, Time::ZERO, 0, 100);
    for at_ns in (500..8_000).step_by(100) {
        pair.forge(SENDER, Time(at_ns * 1_000), acknowledgement((at_ns / 124) as u16));
    }
    pair.run();
    let lost = 100 - genuine(&pair).len();
    assert!(lost <= 2 && genuine(&pair).is_sorted(), "{lost} lost");
}

/// A forged number slightly ahead makes earlier numbers look lost; they arrive nevertheless, in their turn.
#[test]
fn numbers_taken_for_lost_are_delivered_when_they_come() {
    for buffering in BUFFERINGS {
        let mut pair = pair(100, Mode::Blocking, 1, buffering, |_| false);
        pair.inject(0, Time::ZERO, 0, 200);
        pair.forge(RECEIVER, microseconds(2), data(150));
        pair.run();
        let genuine = genuine(&pair);
        assert!(genuine.windows(2).all(|two| two[0] < two[1]), "{buffering:?}");
        assert!(genuine.len() >= 199, "{buffering:?}: {} delivered", genuine.len());
        assert_eq!(pair.alive(), 2, "{buffering:?}");
    }
}

#[test]
fn headers_for_an_end_that_is_not_there_go_no_further() {
    for (switch, packet) in [(SENDER, data(0)), (RECEIVER, acknowledgement(0)), (RECEIVER, loss(0, 3))] {
        let mut pair = pair(100, Mode::Blocking, 1, Buffering::Recirculation, |_| false);
        pair.forge(switch, Time(1), packet);
        pair.inject(0, microseconds(1), 0, 10);
        pair.run();
        assert_eq!((pair.numbers(1), pair.numbers(0).len()), (in_order(10), 0), "{packet:?}");
    }
}

#[test]
fn a_flood_of_gaps_is_remembered_to_a_bound_and_given_up_together() {
    for buffering in BUFFERINGS {
        let mut pair = pair(100, Mode::Blocking, 1, buffering, |_| false);
        for step in 0..400 {
            pair.forge(RECEIVER, Time(1 + step * 1_000), data((step * 250 + 200) as u16));
        }
        pair.inject(0, microseconds(3_000), 0, 600);
        pair.run();
        assert!(pair.counter("numbers_missing") <= 2_048, "{buffering:?}");
        assert!(pair.counter("ack_no_timeouts") <= 260, "{buffering:?}");
        let genuine = genuine(&pair);
        assert!(genuine.len() >= 599 && genuine.ends_with(&[598, 599]), "{buffering:?}: {}", genuine.len());
    }
}

/// A forged frame: receiving switch, time and packet.
fn forgery() -> impl Strategy<Value = (usize, u64, Packet)> {
    let value = prop_oneof![3 => 0u16..700, 1 => any::<u16>(), 1 => 65_000u16..=u16::MAX];
    let packet = (value, any::<[u8; 3]>(), any::<u8>(), 0u8..5).prop_map(|(value, flags, count, what)| {
        let [high, low] = value.to_be_bytes();
        match what {
            0 => with(blank(), DataHeader::parse(&[flags[0], high, low])),
            1 => data(value),
            2 => with(blank(), AckHeader::parse(&[flags[0], high, low])),
            3 => loss(value, count),
            _ => {
                let ack = AckHeader::parse(&[flags[0], flags[1], flags[2]]);
                with(with(blank(), ack), LossNotification { first_lost: number(value), count })
            }
        }
    });
    (0usize..2, 0u64..300_000, packet)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// The second burst of 600 packets comes after the forger has stopped and all waits have ended. At most the 255
    /// numbers that a forged one can make look late are dropped, and everything behind them is delivered in order.
    #[test]
    fn after_the_forger_stops_order_comes_back(
        forgeries in prop::collection::vec(forgery(), 0..120),
        seed in any::<u64>(),
        buffering in prop::sample::select(BUFFERINGS.to_vec()),
        copies in 1u32..3,
    ) {
        let mut pair = pair(100, Mode::Blocking, copies, buffering, random_loss(seed, 10));
        pair.inject(0, Time::ZERO, 0, 300);
        pair.inject(0, microseconds(100), 300, 300);
        for (switch, at_ns, packet) in forgeries {
            pair.forge(switch, Time(at_ns * 1_000), packet);
        }
        let quiet = microseconds(5_000);
        pair.inject(0, quiet, 10_000, 600);
        pair.run();
        let genuine = genuine(&pair);
        prop_assert!(sorted(genuine.clone()).windows(2).all(|two| two[0] != two[1]), "delivered twice");
        let after: Vec<u64> = genuine.iter().copied().filter(|&number| number >= 10_000).collect();
        prop_assert!(after.windows(2).all(|two| two[0] < two[1]), "out of order when the forger had stopped");
        let lost_for_good = 10_600 - 10_000 - after.len() as u64;
        let timeouts = pair.counter("ack_no_timeouts");
        prop_assert!(lost_for_good <= 256 + timeouts, "{lost_for_good} lost, {timeouts} timeouts");
        let lost: Vec<u64> = (10_256..10_600).filter(|number| !after.contains(number)).collect();
        prop_assert!(lost.len() as u64 <= timeouts, "{lost:?} lost, {timeouts} timeouts");
        prop_assert!(pair.counter("numbers_missing") <= 2_048);
        prop_assert_eq!(pair.alive(), 2);
    }

    /// Non-blocking mode does not panic, leak or keep packets either.
    #[test]
    fn non_blocking_mode_survives_a_forger(
        forgeries in prop::collection::vec(forgery(), 0..120),
        seed in any::<u64>(),
    ) {
        let mut pair = pair(100, Mode::NonBlocking, 2, Buffering::Recirculation, random_loss(seed, 10));
        pair.inject(0, Time::ZERO, 0, 300);
        for (switch, at_ns, packet) in forgeries {
            pair.forge(switch, Time(at_ns * 1_000), packet);
        }
        pair.inject(0, microseconds(5_000), 10_000, 100);
        pair.run();
        let delivered = genuine(&pair).iter().filter(|&&number| number >= 10_000).count() as u64;
        prop_assert!(delivered + 1 + pair.world.frames_lost >= 100, "{delivered} of 100 delivered");
        prop_assert!(pair.counter("numbers_missing") <= 2_048);
    }
}
