//! A lost loss notification is repeated, and the sender keeps its copies until the answer.

use hitless_core::wire::{Duration, Packet, Time};
use hitless_mechanisms::linkguardian::headers::LossNotification;
use hitless_mechanisms::linkguardian::{Buffering, Mode, ReceiverConfig, SenderConfig};

use super::losses::{Bursts, losing as losing_if};
use super::{BUFFERINGS, guardians, in_order, losing, pair_with_fates, receiver, sender};
use crate::two_switches::{Pair, sorted};

/// Longer than a notification and its repair take at 100G.
const PERIOD: Duration = Duration::from_ns(5_000);
const TIMEOUT: Duration = Duration::from_ns(30_000);

fn again(buffering: Buffering) -> ReceiverConfig {
    ReceiverConfig { notification_period: Some(PERIOD), ..once(buffering) }
}

fn once(buffering: Buffering) -> ReceiverConfig {
    ReceiverConfig { acknowledgement_timeout: TIMEOUT, ..receiver(buffering) }
}

fn first_notifications(lost: u32) -> impl FnMut(&Packet) -> bool {
    let mut seen = 0;
    move |packet| {
        let is_notification = packet.shims.contains::<LossNotification>();
        seen += u32::from(is_notification);
        is_notification && seen <= lost
    }
}

/// Injects 20 packets at a time, which fit into the reordering buffer without a pause, and runs to the end.
fn portions(pair: &mut Pair, count: u64, every_ps: u64) {
    for turn in 0..count {
        pair.inject(0, Time(turn * every_ps), turn * 20, 20);
    }
    pair.run();
}

#[test]
fn a_notification_that_is_lost_twice_in_a_row_loses_no_packet() {
    for mode in [Mode::Blocking, Mode::NonBlocking] {
        for buffering in BUFFERINGS {
            for (config, lost) in [(once(buffering), 1), (again(buffering), 0)] {
                let ends = guardians(sender(mode, 1, buffering), config);
                let fates = [losing_if(losing(&[50])), losing_if(first_notifications(2))];
                let mut pair = pair_with_fates(100, ends, fates);
                portions(&mut pair, 15, 50_000_000);
                let delivered = pair.numbers(1);
                assert_eq!(300 - delivered.len(), lost, "{mode:?}, {buffering:?}");
                assert!(mode == Mode::NonBlocking || delivered.is_sorted());
                assert_eq!(pair.counter("acknowledgements_refused"), 0);
                let expected = if lost == 0 { 2 } else { 0 };
                assert_eq!(pair.counter("notifications_sent_again"), expected);
            }
        }
    }
}

#[test]
fn of_several_gaps_each_is_reported_and_no_packet_is_lost() {
    for buffering in BUFFERINGS {
        let ends = guardians(sender(Mode::NonBlocking, 1, buffering), again(buffering));
        let fates = [losing_if(losing(&[50, 52, 53, 57, 90])), losing_if(first_notifications(1))];
        let mut pair = pair_with_fates(100, ends, fates);
        portions(&mut pair, 15, 50_000_000);
        assert_eq!(sorted(pair.numbers(1)), in_order(300), "{buffering:?}");
        assert_eq!(pair.counter("packets_recovered"), 5);
        assert_eq!(pair.counter("notifications_sent_again"), 1, "what is answered is not sent again");
        assert_eq!(pair.counter("numbers_missing"), 0);
    }
}

#[test]
fn the_other_end_that_hears_nothing_is_not_waited_for_longer_than_without() {
    for buffering in BUFFERINGS {
        for config in [once(buffering), again(buffering)] {
            let ends = guardians(sender(Mode::Blocking, 1, buffering), config);
            let mut pair = pair_with_fates(100, ends, [losing_if(losing(&[50])), losing_if(first_notifications(99))]);
            portions(&mut pair, 15, 50_000_000);
            assert_eq!(pair.numbers(1).len(), 299);
            assert_eq!(pair.counter("ack_no_timeouts"), 1);
            assert_eq!(pair.counter("packets_acknowledged"), 300, "what was given up holds nothing back");
        }
    }
}

/// Each notification is sent once: about one report of a loss in twenty is lost.
#[test]
fn five_per_cent_both_ways_loses_none_of_20_000_although_each_notification_is_sent_once() {
    let losses = |seed| {
        let mut bursts = Bursts::new(seed, 50_000, 1);
        losing_if(move |_: &Packet| bursts.lose())
    };
    for buffering in BUFFERINGS {
        let of_sender =
            SenderConfig { tail_probes: true, request_registers: 8, ..sender(Mode::Blocking, 8, buffering) };
        let run = |config| {
            let mut pair = pair_with_fates(100, guardians(of_sender.clone(), config), [losses(1), losses(2)]);
            portions(&mut pair, 1_000, 200_000_000);
            (20_000 - pair.numbers(1).len(), pair.numbers(1))
        };
        let (lost_without, _) = run(once(buffering));
        assert!((20..100).contains(&lost_without), "{lost_without} reports were lost, so this shows nothing");
        let (lost, delivered) = run(again(buffering));
        assert_eq!(lost, 0, "{buffering:?}");
        assert!(delivered == in_order(20_000), "{buffering:?}: out of order");
    }
}
