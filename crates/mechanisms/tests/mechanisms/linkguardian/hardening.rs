//! Extensions beyond the published programs: each test is named after the fault that it excludes.

use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::{BitRate, Duration, Packet, Time};
use hitless_mechanisms::linkguardian::headers::{AckHeader, DataHeader, LossNotification};
use hitless_mechanisms::linkguardian::{Action, Buffering, Command, LinkGuardian, Mode, ReceiverConfig, SenderConfig};
use hitless_switch::LinkEnd;

use super::losses::{Bursts, Random, delaying, is_dummy, losing as losing_if};
use super::{
    BUFFERINGS, Fates, guardians, in_a_rack, in_order, losing, microseconds, pair_losing, pair_with_fates, receiver,
    sender,
};
use crate::two_switches::{Fate, LINK, Pair, sorted};

fn pair_of(sender: SenderConfig, receiver: ReceiverConfig, lose: impl FnMut(&Packet) -> bool + 'static) -> Pair {
    pair_losing(100, guardians(sender, receiver), lose)
}

fn clean() -> Fates {
    Box::new(|_| Fate::Arrives)
}

#[test]
fn a_second_copy_reaches_the_host_in_non_blocking_mode_unless_it_is_told_apart() {
    for (deduplicates, expected) in [(false, 102), (true, 100)] {
        let config = ReceiverConfig { deduplicates, ..receiver(Buffering::Recirculation) };
        let mut pair = pair_of(sender(Mode::NonBlocking, 3, Buffering::Recirculation), config, losing(&[5]));
        pair.send(100);
        assert_eq!(pair.numbers(1).len(), expected, "{deduplicates}");
        assert_eq!(pair.counter("duplicates_removed"), 102 - expected as u64);
    }
}

#[test]
fn the_loss_of_a_loss_notification_loses_no_packet_when_it_is_repeated() {
    let is_notification = |packet: &Packet| packet.shims.contains::<LossNotification>();
    for (control_copies, lost) in [(1, 1), (2, 0)] {
        let mut notifications = 0;
        let first_notification = move |packet: &Packet| {
            notifications += u32::from(is_notification(packet));
            is_notification(packet) && notifications == 1
        };
        let config = ReceiverConfig { control_copies, ..receiver(Buffering::Recirculation) };
        let ends = guardians(sender(Mode::Blocking, 1, Buffering::Recirculation), config);
        let mut pair = pair_with_fates(100, ends, [losing_if(losing(&[50])), losing_if(first_notification)]);
        pair.send(300);
        assert_eq!(300 - pair.numbers(1).len(), lost, "{control_copies} copies");
        assert_eq!(pair.counter("acknowledgements_refused"), 0);
    }
}

/// Five per cent loss in both directions used to deliver 296 of 300.
#[test]
fn five_per_cent_both_ways_delivers_all_of_300() {
    for buffering in BUFFERINGS {
        let config = ReceiverConfig { control_copies: 6, ..receiver(buffering) };
        let of_sender =
            SenderConfig { tail_probes: true, request_registers: 8, ..sender(Mode::Blocking, 5, buffering) };
        let losses = |seed| {
            let mut bursts = Bursts::new(seed, 50_000, 1);
            losing_if(move |_: &Packet| bursts.lose())
        };
        for seed in 0..20 {
            let ends = guardians(of_sender.clone(), config.clone());
            let mut pair = pair_with_fates(100, ends, [losses(2 * seed), losses(2 * seed + 1)]);
            pair.send(300);
            assert_eq!(pair.numbers(1), in_order(300), "{buffering:?}, seed {seed}");
        }
    }
}

/// The parallel instance of section 5: data, acknowledgements and notifications of both directions on a lossy link.
#[test]
fn both_directions_are_protected_although_both_are_corrupted() {
    let of_sender = SenderConfig { tail_probes: true, ..sender(Mode::Blocking, 3, Buffering::Recirculation) };
    let rate = BitRate::from_gbps(25);
    let acknowledgement_timeout = in_a_rack(rate).acknowledgement_timeout(3);
    let config = ReceiverConfig { control_copies: 3, acknowledgement_timeout, ..receiver(Buffering::Recirculation) };
    let both = |_| {
        let mut end = LinkGuardian::default();
        end.add_sender(of_sender.clone());
        end.add_receiver(config.clone());
        Box::new(end)
    };
    let losses = |seed| {
        let mut random = Random::new(seed);
        losing_if(move |_: &Packet| random.chance(10_000))
    };
    let mut pair = pair_with_fates(25, [both(0), both(1)], [losses(5), losses(6)]);
    pair.inject(0, Time::ZERO, 0, 20_000);
    pair.inject(1, Time::ZERO, 0, 20_000);
    pair.run();
    assert!(pair.world.frames_lost > 300, "{} frames were lost", pair.world.frames_lost);
    let out = (pair.numbers(1).len(), pair.numbers(0).len());
    assert_eq!(out, (20_000, 20_000), "beyond the registers: {}", pair.counter("losses_beyond_registers"));
    assert!(pair.numbers(1) == in_order(20_000) && pair.numbers(0) == in_order(20_000));
}

#[test]
fn a_lost_tail_whose_dummies_are_all_lost_is_found_by_a_probe() {
    let lose = |packet: &Packet| is_dummy(packet) || losing(&[9])(packet);
    for (tail_probes, delivered) in [(false, 9), (true, 10)] {
        let config = SenderConfig { tail_probes, ..sender(Mode::Blocking, 1, Buffering::PausedQueue) };
        let mut pair = pair_of(config, receiver(Buffering::PausedQueue), lose);
        pair.send(10);
        assert_eq!(pair.numbers(1), in_order(delivered), "{tail_probes}");
        assert_eq!(pair.counter("probes") > 0, tail_probes);
    }
}

/// The tail is sent and probed, and the probes are never answered: 64 of them, one each timeout.
#[test]
fn probes_that_nobody_answers_end_and_no_copy_is_left() {
    for buffering in [Buffering::PausedQueue, Buffering::Recirculation] {
        let lose = |_: &Packet| true;
        let config = SenderConfig { tail_probes: true, ..sender(Mode::Blocking, 1, buffering) };
        let mut pair = pair_of(config, receiver(buffering), lose);
        pair.inject(0, Time::ZERO, 0, 10);
        pair.run();
        let counts = ["probes", "tails_unanswered", "packets_acknowledged"].map(|name| pair.counter(name));
        assert_eq!((counts, pair.alive()), ([64, 1, 0], 2), "{buffering:?}");
    }
}

#[test]
fn acknowledgements_that_are_all_lost_leave_no_copy_behind_with_probes() {
    let mut acknowledgements = 0;
    let lose_four = move |packet: &Packet| {
        let is_acknowledgement = packet.shims.contains::<AckHeader>();
        acknowledgements += u32::from(is_acknowledgement);
        is_acknowledgement && acknowledgements <= 4
    };
    let config = SenderConfig { tail_probes: true, ..sender(Mode::Blocking, 1, Buffering::Recirculation) };
    let ends = guardians(config, receiver(Buffering::Recirculation));
    let mut pair = pair_with_fates(100, ends, [clean(), losing_if(lose_four)]);
    pair.send(1);
    assert_eq!(pair.counter("packets_acknowledged"), 1);
    assert_eq!(pair.alive(), 2);
}

/// The last copy of the second of two consecutive losses arrives after the paper's 13.5 us, which are for two copies.
#[test]
fn four_copies_at_10g_are_waited_for() {
    let rate = BitRate::from_gbps(10);
    let mut repairs = 0;
    let all_but_the_last_copies = move |packet: &Packet| {
        let Some(header) = packet.shims.get::<DataHeader>() else { return false };
        repairs += u32::from(header.retransmitted);
        let is_lost_copy = header.retransmitted && repairs != 4 && repairs != 8;
        is_lost_copy || losing(&[20, 21])(packet)
    };
    let (resume_threshold, pause_threshold) = in_a_rack(rate).thresholds();
    let config = ReceiverConfig {
        acknowledgement_timeout: in_a_rack(rate).acknowledgement_timeout(4),
        resume_threshold,
        pause_threshold,
        ..receiver(Buffering::Recirculation)
    };
    let ends = guardians(sender(Mode::Blocking, 4, Buffering::Recirculation), config);
    let mut pair = pair_with_fates(10, ends, [losing_if(all_but_the_last_copies), clean()]);
    // Full frames in the reverse direction make the notification wait as long as possible.
    pair.inject(0, Time::ZERO, 0, 100);
    pair.inject(1, Time::ZERO, 0, 100);
    pair.run();
    assert_eq!(pair.counter("ack_no_timeouts"), 0, "longest stall: {} ns", pair.counter("longest_stall_ns"));
    assert_eq!(pair.numbers(1), in_order(100));
}

/// A gap used to get the rest of the countdown for the previous gap, although nothing had waited in between.
#[test]
fn a_gap_is_waited_for_as_long_as_the_first_one() {
    for start_ns in (4_000..9_000).step_by(100) {
        let mut notifications = 0;
        let second_comes_late = move |packet: &Packet| {
            notifications += u32::from(packet.shims.contains::<LossNotification>());
            if notifications >= 2 { Fate::Late(Duration::from_us(3)) } else { Fate::Arrives }
        };
        let config = receiver(Buffering::Recirculation);
        let ends = guardians(sender(Mode::Blocking, 1, Buffering::Recirculation), config);
        let mut pair = pair_with_fates(100, ends, [losing_if(losing(&[5, 10])), Box::new(second_comes_late)]);
        pair.inject(0, Time::ZERO, 0, 10);
        pair.inject(0, Time(start_ns * 1_000), 10, 10);
        pair.run();
        assert_eq!(pair.counter("ack_no_timeouts"), 0, "the second gap is at about {start_ns} ns");
        assert_eq!(pair.numbers(1), in_order(20), "the second gap is at about {start_ns} ns");
    }
}

fn commands(pair: &mut Pair, at: Time, action: Action) {
    for (switch, end) in [(0, LinkEnd::Sender), (1, LinkEnd::Receiver)] {
        pair.command(switch, at, Command { port: LINK, end, action });
    }
}

/// Changing the mode 380 times at a loss rate of 1e-2 used to lose 25 packets.
#[test]
fn changing_the_mode_under_traffic_loses_nothing_that_is_buffered() {
    for buffering in BUFFERINGS {
        let mut random = Random::new(7);
        let lose = move |packet: &Packet| !is_dummy(packet) && random.chance(10_000);
        let mut pair = pair_of(sender(Mode::Blocking, 3, buffering), receiver(buffering), lose);
        pair.inject(0, Time::ZERO, 0, 30_000);
        for turn in 0..380 {
            let mode = if turn % 2 == 0 { Mode::NonBlocking } else { Mode::Blocking };
            commands(&mut pair, microseconds(9 * turn + 5), Action::Protect { copies: 3, mode });
        }
        pair.run();
        let mut delivered = sorted(pair.numbers(1));
        delivered.dedup();
        let lost = 30_000 - delivered.len();
        assert_eq!(lost as u64, pair.counter("losses_beyond_registers"), "{buffering:?}");
        assert!(pair.counter("order_changes") > 200, "{buffering:?}");
        assert_eq!(pair.alive(), 2, "{buffering:?}");
    }
}

#[test]
fn protection_that_ends_while_packets_wait_keeps_their_order() {
    for buffering in BUFFERINGS {
        for end_ns in (3_000..9_000).step_by(100) {
            let mut pair = pair_of(sender(Mode::Blocking, 1, buffering), receiver(buffering), losing(&[20, 30]));
            pair.inject(0, Time::ZERO, 0, 600);
            commands(&mut pair, Time(end_ns * 1_000), Action::Deactivate);
            commands(&mut pair, microseconds(60), Action::Activate);
            pair.run();
            let delivered = &pair.numbers(1);
            assert!(delivered.windows(2).all(|two| two[0] < two[1]), "{buffering:?} {end_ns} ns: {delivered:?}");
            assert_eq!(pair.counter("packets_lost"), 0, "{buffering:?} {end_ns} ns");
            let protected = pair.counter("packets_protected");
            assert!(protected < 600, "{protected}: protection has ended for a while");
        }
    }
}

#[test]
fn a_receiver_that_does_not_answer_ends_protection_all_the_same() {
    let lose_answers =
        |packet: &Packet| packet.shims.contains::<hitless_mechanisms::linkguardian::headers::ControlHeader>();
    let ends = guardians(sender(Mode::Blocking, 1, Buffering::Recirculation), receiver(Buffering::Recirculation));
    let mut pair = pair_with_fates(100, ends, [clean(), losing_if(lose_answers)]);
    pair.inject(0, Time::ZERO, 0, 100);
    commands(&mut pair, microseconds(5), Action::Deactivate);
    pair.run();
    assert_eq!(pair.numbers(1), in_order(100));
    assert_eq!(pair.counter("protections_ended_unanswered"), 1);
}

/// Packets inside the restarted switch are lost; the other end must lose none because of the restart.
#[test]
fn an_end_that_is_started_anew_within_255_numbers_loses_no_packet_of_its_next_life() {
    for switch in [0, 1] {
        let of_sender = |first_number| SenderConfig {
            handshake: true,
            first_number,
            ..sender(Mode::Blocking, 1, Buffering::Recirculation)
        };
        let of_receiver = || ReceiverConfig { handshake: true, ..receiver(Buffering::Recirculation) };
        let ends = guardians(of_sender(0), of_receiver());
        let mut pair = pair_with_fates(100, ends, [losing_if(losing(&[5])), clean()]);
        pair.inject(0, microseconds(10), 0, 120);
        pair.restart(switch, microseconds(60), guardians(of_sender(100), of_receiver()));
        pair.inject(0, microseconds(100), 120, 150);
        pair.inject(0, microseconds(200), 270, 1_000);
        pair.run();
        assert_eq!(pair.numbers(1), in_order(1_270), "switch {switch} was started anew");
    }
}

/// Packets that wait during a restart are forwarded as they come round, which is not blocking mode.
#[test]
fn packets_let_go_by_a_new_start_break_no_promise_of_order() {
    for buffering in BUFFERINGS {
        let of_sender =
            move |first_number| SenderConfig { handshake: true, first_number, ..sender(Mode::Blocking, 1, buffering) };
        let config = || ReceiverConfig { handshake: true, ..receiver(buffering) };
        let gap_for_good =
            |packet: &Packet| packet.shims.get::<DataHeader>().is_some_and(|header| header.sequence.value() == 5);
        let mut pair = pair_of(of_sender(0), config(), gap_for_good);
        pair.inject(0, microseconds(10), 0, 36);
        pair.restart(0, microseconds(15), guardians(of_sender(100), config()));
        pair.inject(0, microseconds(30), 60, 100);
        pair.run();
        assert!(pair.counter("packets_buffered") > 0 && pair.counter("ack_no_timeouts") == 0, "{buffering:?}");
        assert!(pair.numbers(1).ends_with(&(60..160).collect::<Vec<_>>()), "{buffering:?}");
        assert_eq!(pair.violated_invariants(), Vec::<String>::new(), "{buffering:?}");
    }
}

#[test]
fn without_a_handshake_a_new_start_costs_up_to_255_packets() {
    let of_sender = || sender(Mode::Blocking, 1, Buffering::Recirculation);
    let ends = guardians(of_sender(), receiver(Buffering::Recirculation));
    let mut pair = pair_with_fates(100, ends, [clean(), clean()]);
    pair.inject(0, microseconds(10), 0, 120);
    pair.restart(0, microseconds(60), guardians(of_sender(), receiver(Buffering::Recirculation)));
    pair.inject(0, microseconds(100), 120, 500);
    pair.run();
    assert_eq!(pair.numbers(1).len(), 500, "the first 120 of the new life were taken for old ones");
}

#[test]
fn a_handshake_survives_the_loss_of_its_messages() {
    for seed in 0..50 {
        let of_sender =
            SenderConfig { handshake: true, first_number: 65_530, ..sender(Mode::Blocking, 2, BUFFERINGS[1]) };
        let config = ReceiverConfig { handshake: true, control_copies: 2, ..receiver(BUFFERINGS[1]) };
        let losses = |seed| {
            let mut random = Random::new(seed);
            losing_if(move |packet: &Packet| {
                packet.shims.contains::<hitless_mechanisms::linkguardian::headers::ControlHeader>()
                    && random.chance(500_000)
            })
        };
        let ends = guardians(of_sender, config);
        let mut pair = pair_with_fates(100, ends, [losses(seed), losses(seed + 1_000)]);
        pair.inject(0, microseconds(1_000), 0, 100);
        pair.run();
        assert_eq!(pair.numbers(1), in_order(100));
        assert_eq!(pair.counter("packets_protected"), 100, "seed {seed}");
    }
}

fn losing_one(sequence: u16) -> impl FnMut(&Packet) -> bool {
    move |packet| {
        let header = packet.shims.get::<DataHeader>();
        header.is_some_and(|header| !header.dummy && !header.retransmitted && header.sequence.value() == sequence)
    }
}

#[test]
fn a_resume_frame_that_is_lost_is_said_again() {
    let longest_wait = |control_copies| {
        let mut resumes = 0;
        let lose_resumes = move |packet: &Packet| {
            let is_resume = packet.shims.get::<PauseFrame>().is_some_and(|frame| frame.is_resume());
            resumes += u32::from(is_resume);
            is_resume && resumes <= control_copies
        };
        let config = ReceiverConfig { control_copies, ..receiver(Buffering::Recirculation) };
        let ends = guardians(sender(Mode::Blocking, 1, Buffering::Recirculation), config);
        let mut pair = pair_with_fates(100, ends, [losing_if(losing(&[50])), losing_if(lose_resumes)]);
        pair.send(1_500);
        assert_eq!(pair.numbers(1), in_order(1_500));
        let gaps = pair.world.delivered[1].windows(2).map(|two| two[1].at.saturating_since(two[0].at));
        gaps.max().expect("packets were delivered")
    };
    assert!(longest_wait(1) > Duration::from_us(100), "the pause lasts as long as its frame says");
    assert!(longest_wait(2) < Duration::from_us(20), "{}", longest_wait(2));
}

/// The port with waiting packets also carries the copies of the other direction: on this long link there are so many
/// that the depth never falls below the threshold.
#[test]
fn a_pause_ends_when_nothing_waits_although_others_fill_the_recirculation_port() {
    let config = ReceiverConfig {
        control_copies: 2,
        acknowledgement_timeout: Duration::from_us(30),
        ..receiver(Buffering::Recirculation)
    };
    let both = |_| {
        let mut end = LinkGuardian::default();
        end.add_sender(sender(Mode::Blocking, 1, Buffering::Recirculation));
        end.add_receiver(config.clone());
        Box::new(end) as Box<dyn hitless_switch::Mechanism>
    };
    let fate = |from: usize, packet: &Packet| match from {
        0 if losing(&[50])(packet) => Fate::Corrupted,
        _ => Fate::Arrives,
    };
    let mut pair = Pair::new(100, Duration::from_us(2), [0, 1].map(both), fate, |_, _| false);
    pair.inject(0, Time::ZERO, 0, 300);
    pair.inject(1, Time::ZERO, 0, 3_000);
    pair.run_until(microseconds(200));
    assert!(pair.counter("pauses") > 0, "nothing was paused");
    assert_eq!(pair.numbers(1), in_order(300));
}

/// A resume used to wait for the repetition of the previous pause, up to 1.6 us.
#[test]
fn a_change_of_the_pause_does_not_wait_for_a_repetition() {
    let last_delivered_at = |control_copies, lost| {
        let config = ReceiverConfig { control_copies, ..receiver(Buffering::Recirculation) };
        let of_sender = sender(Mode::Blocking, 1, Buffering::Recirculation);
        let mut pair = pair_of(of_sender, config, losing_one(lost));
        pair.send(1_500);
        assert_eq!(pair.numbers(1), in_order(1_500));
        assert!(pair.counter("pauses") > 0, "nothing was paused");
        pair.world.delivered[1].last().expect("packets were delivered").at
    };
    for lost in 50..66 {
        let (once, repeated) = (last_delivered_at(1, lost), last_delivered_at(2, lost));
        let more = repeated.saturating_since(once);
        assert!(more <= Duration::from_ns(200), "{lost} is lost: {more} later with repetitions");
    }
}

#[test]
fn acknowledgements_that_come_late_and_out_of_order_change_nothing() {
    for seed in 0..20 {
        let config = sender(Mode::Blocking, 1, Buffering::Recirculation);
        let ends = guardians(config, receiver(Buffering::Recirculation));
        let late = delaying(seed, 300_000, Duration::from_us(5));
        let mut only_acknowledgements = late;
        let back = move |packet: &Packet| match packet.shims.contains::<LossNotification>() {
            true => Fate::Arrives,
            false => only_acknowledgements(packet),
        };
        // No acknowledgement overtakes a notification: losses happen when none is late.
        let mut pair = pair_with_fates(100, ends, [clean(), Box::new(back)]);
        pair.send(2_000);
        assert_eq!(pair.numbers(1), in_order(2_000), "seed {seed}");
        assert_eq!(pair.counter("acknowledgements_refused"), 0);
        assert_eq!(pair.alive(), 2);
    }
}

#[test]
fn the_original_ether_type_costs_two_bytes_and_leaves_with_the_header() {
    let of_sender = SenderConfig { header_bytes_more: 2, ..sender(Mode::Blocking, 2, Buffering::Recirculation) };
    let config = ReceiverConfig { header_bytes_more: 2, ..receiver(Buffering::Recirculation) };
    let mut pair = pair_of(of_sender, config, move |packet| {
        if packet.shims.contains::<DataHeader>() && !is_dummy(packet) {
            assert_eq!(packet.frame_bytes, 1_518 + 3 + 2);
        }
        losing(&[5])(packet)
    });
    pair.send(50);
    assert_eq!(pair.numbers(1), in_order(50));
    assert!(pair.world.delivered[1].iter().all(|delivery| delivery.frame_bytes == 1_518));
}
