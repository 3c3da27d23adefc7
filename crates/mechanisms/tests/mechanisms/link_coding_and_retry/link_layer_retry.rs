//! Link Layer Retry delivers in order and exactly once, for any losses.

use hitless_core::wire::{Bytes, Duration, OrderedSet, Packet, Time};
use hitless_mechanisms::link_layer_retry::header::{Control, PreambleSequence};
use hitless_mechanisms::link_layer_retry::{LinkLayerRetry, LinkLayerRetryAction, LinkLayerRetrySettings};
use hitless_switch::{DropReason, PortState};
use proptest::prelude::*;

use super::LINK_DELAY;
use crate::two_switches::{Fate, LINK, Pair, boxed, chances, in_order};

/// SONiC's sample profile for 400G and 40 m.
fn profile() -> LinkLayerRetrySettings {
    LinkLayerRetrySettings {
        link: String::new(),
        max_outstanding_frames: 133,
        max_outstanding_bytes: Bytes(67_760),
        max_replay_count: 3,
        max_replay_timer: Duration::from_ns(5_500),
        pcs_lost_timeout: Duration::from_us(55),
        data_age_timeout: Duration::from_us(24),
        ctlos_spacing: Bytes(2_048),
        init_action: LinkLayerRetryAction::Block,
        flush_action: LinkLayerRetryAction::Block,
        re_init_on_flush: true,
        admission_control: true,
    }
}

fn pair_with(
    rate_gbps: u64,
    profile: LinkLayerRetrySettings,
    fate: impl FnMut(usize, &Packet) -> Fate + 'static,
    loses_set: impl FnMut(usize, OrderedSet) -> bool + 'static,
) -> Pair {
    let mut ends = [LinkLayerRetry::default(), LinkLayerRetry::default()];
    ends[0].add_transmitter(LINK, &profile);
    ends[1].add_receiver(LINK, &profile);
    Pair::new(rate_gbps, LINK_DELAY, boxed(ends), fate, loses_set)
}

/// Sends datagrams after 2 us, when the ends know each other, and runs to the end.
fn run(
    rate_gbps: u64,
    profile: LinkLayerRetrySettings,
    fate: impl FnMut(usize, &Packet) -> Fate + 'static,
    count: u64,
) -> Pair {
    let mut pair = pair_with(rate_gbps, profile, fate, |_, _| false);
    pair.inject(0, Time(Duration::from_us(2).as_ps()), 0, count);
    pair.run();
    pair
}

fn number_of(packet: &Packet) -> Option<u32> {
    packet.shims.get::<PreambleSequence>().map(|PreambleSequence(number)| number.value())
}

/// Gives the first `times` frames with each of these numbers this fate.
fn first_times(numbers: &'static [u32], times: usize, fate: Fate) -> impl FnMut(usize, &Packet) -> Fate {
    let mut seen = vec![0; numbers.len()];
    move |_, packet| {
        let place = number_of(packet).and_then(|number| numbers.iter().position(|&lost| lost == number));
        let Some(place) = place else { return Fate::Arrives };
        seen[place] += 1;
        if seen[place] <= times { fate } else { Fate::Arrives }
    }
}

#[test]
fn a_clean_link_carries_the_same_frames_at_the_same_times() {
    let pair = run(100, profile(), |_, _| Fate::Arrives, 100);
    assert_eq!(pair.numbers(1), in_order(100));
    assert_eq!((pair.on_link().frames, pair.on_link().bytes[0]), ([100, 0], 100 * 1_518), "numbers take no room");
    let (first, last) = (pair.world.delivered[1][0].at, pair.world.delivered[1][99].at);
    assert_eq!(last - first, Duration::from_ps(99 * 123_040));
    for (counter, value) in [("tx_ok", 100), ("rx_expected_seq_good", 100), ("tx_replay", 0), ("rx_nack_ctl_os", 0)] {
        assert_eq!(pair.counter(counter), value, "{counter}");
    }
    // 100 frames are 153,800 bytes of line time: an ACK for each 2,048 of them, and one for the rest.
    assert!((74..=77).contains(&pair.counter("rx_ack_ctl_os")), "{}", pair.counter("rx_ack_ctl_os"));
}

#[test]
fn a_corrupted_frame_is_replayed_with_all_behind_it() {
    for rate_gbps in [25, 100, 400] {
        let pair = run(rate_gbps, profile(), first_times(&[5, 200], 1, Fate::Corrupted), 300);
        assert_eq!(pair.numbers(1), in_order(300), "{rate_gbps}G");
        let frames = |counter| pair.counter(counter);
        assert_eq!((frames("tx_replay"), frames("rx_replay"), frames("rx_bad")), (2, 2, 2), "{rate_gbps}G");
        assert_eq!((frames("rx_nack_ctl_os"), frames("replays_by_timer")), (2, 0));
        assert_eq!(frames("frames_replayed"), pair.on_link().frames[0] - 300);
        assert_eq!(frames("rx_missing_seq") + frames("rx_bad"), frames("frames_replayed"), "go-back-N");
        assert_eq!(pair.world.ended[DropReason::OutOfSequence as usize], frames("rx_missing_seq"));
    }
}

/// From the end of the bad frame: a NACK of 8 bytes, the link twice, a frame in progress, egress, and the frame itself.
#[test]
fn a_retry_takes_the_round_trip_of_the_link() {
    let pair = run(100, profile(), first_times(&[50], 1, Fate::Corrupted), 100);
    let delay_ns = pair.counter("longest_stall_ns");
    let (least, most) = (330 * 2 + 200 + 123, 330 * 2 + 200 + 123 * 2 + 164 + 2);
    assert!((least..=most).contains(&delay_ns), "{delay_ns} ns, not {least} to {most}");
}

#[test]
fn a_frame_that_vanishes_is_noticed_by_the_next_and_a_last_one_by_the_timer() {
    let pair = run(100, profile(), first_times(&[5, 59], 1, Fate::Vanishes), 60);
    assert_eq!(pair.numbers(1), in_order(60));
    assert_eq!((pair.counter("rx_nack_ctl_os"), pair.counter("replays_by_timer")), (1, 1));
}

#[test]
fn a_lost_nack_and_a_frame_lost_twice_wait_for_the_timer() {
    let loses_first_nack = {
        let mut is_lost = false;
        move |_, set| matches!(Control::read(set), Some(Control::Nack(_))) && !std::mem::replace(&mut is_lost, true)
    };
    let mut pair = pair_with(100, profile(), first_times(&[5], 1, Fate::Corrupted), loses_first_nack);
    pair.inject(0, Time(Duration::from_us(2).as_ps()), 0, 60);
    pair.run();
    assert_eq!((pair.numbers(1), pair.counter("replays_by_timer")), (in_order(60), 1));

    let pair = run(100, profile(), first_times(&[5], 2, Fate::Corrupted), 60);
    assert_eq!((pair.numbers(1), pair.counter("replays_by_timer")), (in_order(60), 1));
    assert!(pair.counter("longest_stall_ns") > 5_500);
}

#[test]
fn after_as_many_replays_as_allowed_the_transmitter_gives_up_and_begins_anew() {
    let pair = run(100, profile(), first_times(&[5], 4, Fate::Corrupted), 400);
    let delivered = pair.numbers(1);
    assert_eq!((pair.counter("flushes"), pair.counter("tx_init_ctl_os")), (1, 2));
    assert!(pair.counter("tx_replay") <= 3);
    let flushed = pair.counter("frames_flushed");
    assert_eq!(delivered.len() as u64, 400 - flushed);
    assert!(flushed >= 1 && !delivered.contains(&5), "{flushed}");
    assert_eq!(pair.counter("packets_lost"), flushed);
    assert!(delivered.windows(2).all(|two| two[0] < two[1]));

    let stays =
        LinkLayerRetrySettings { re_init_on_flush: false, flush_action: LinkLayerRetryAction::BestEffort, ..profile() };
    let pair = run(100, stays, first_times(&[5], 4, Fate::Corrupted), 400);
    assert_eq!(pair.counter("tx_init_ctl_os"), 1);
    assert_eq!(pair.counter("frames_unnumbered") + pair.counter("frames_numbered"), 400);
    // Frames with numbers never follow, and the flushed ones are counted nevertheless (swarm seed 13,002,882).
    let delivered = pair.numbers(1).len() as u64;
    assert!(delivered < 400, "{delivered}");
    assert_eq!(pair.counter("packets_lost"), 400 - delivered);
}

#[test]
fn what_a_profile_does_with_frames_before_it_numbers_them() {
    let expected = [
        (LinkLayerRetryAction::BestEffort, 50, 0),
        (LinkLayerRetryAction::Block, 50, 0),
        (LinkLayerRetryAction::Discard, 0, 50),
    ];
    for (action, delivered, discarded) in expected {
        let loses_early_init = {
            let mut count = 0;
            move |switch: usize, _| {
                count += u32::from(switch == 0);
                switch == 0 && count <= 3
            }
        };
        let mut pair = pair_with(
            100,
            LinkLayerRetrySettings { init_action: action, ..profile() },
            |_, _| Fate::Arrives,
            loses_early_init,
        );
        // All 50 are sent within the 16.5 us before the fourth LLR_INIT is heard.
        pair.send(50);
        assert_eq!(pair.numbers(1), in_order(delivered), "{action:?}");
        assert_eq!(pair.counter("tx_discard"), discarded, "{action:?}");
        assert_eq!(pair.world.ended[DropReason::Mechanism as usize], discarded, "{action:?}");
        assert_eq!(pair.counter("tx_init_ctl_os"), 4, "{action:?}");
        let numbered = if action == LinkLayerRetryAction::Block { 50 } else { 0 };
        assert_eq!(pair.counter("frames_numbered"), numbered, "{action:?}");
    }
}

#[test]
fn a_full_replay_buffer_throttles_and_loses_nothing() {
    let small = LinkLayerRetrySettings { max_outstanding_bytes: Bytes(6_000), ..profile() };
    let mut pair = pair_with(100, small, |_, _| Fate::Arrives, |_, _| false);
    pair.inject(0, Time(Duration::from_us(2).as_ps()), 0, 500);
    let now = pair.run();
    assert_eq!(pair.numbers(1), in_order(500));
    assert_eq!(pair.counter("replay_buffer_peak_bytes"), 4 * 1_518);
    assert!(now > Time(Duration::from_us(2 + 100).as_ps()), "at full rate 500 frames take 62 us: {now}");

    let few = LinkLayerRetrySettings { max_outstanding_frames: 1, ..profile() };
    let pair = run(100, few, first_times(&[7], 1, Fate::Corrupted), 50);
    assert_eq!((pair.numbers(1), pair.counter("replay_buffer_peak_frames")), (in_order(50), 1));
}

#[test]
fn what_is_too_old_is_given_up() {
    let patient = LinkLayerRetrySettings { max_replay_count: 255, ..profile() };
    let pair = run(100, patient, first_times(&[5], 1_000, Fate::Corrupted), 400);
    assert_eq!(pair.counter("flushes"), 1);
    assert!((3..=4).contains(&pair.counter("tx_replay")), "as many as 24 us allow");
    assert!(!pair.numbers(1).contains(&5));
}

#[test]
fn a_link_that_stays_down_is_given_up_until_it_is_up_again() {
    let from_us = |us| Time(Duration::from_us(us).as_ps());
    let patient = LinkLayerRetrySettings { data_age_timeout: Duration::ZERO, max_replay_count: 255, ..profile() };
    for (up_at, flushes) in [(50, 0), (200, 1)] {
        let is_down = std::rc::Rc::new(std::cell::Cell::new(false));
        let seen = is_down.clone();
        let mut pair = pair_with(
            100,
            patient.clone(),
            move |_, _| if seen.get() { Fate::Vanishes } else { Fate::Arrives },
            |_, _| false,
        );
        pair.inject(0, from_us(2), 0, 50);
        pair.tell_state(0, from_us(5), PortState::Down);
        pair.tell_state(0, from_us(up_at), PortState::Up);
        pair.run_until(from_us(5));
        is_down.set(true);
        pair.run_until(from_us(up_at));
        is_down.set(false);
        pair.inject(0, from_us(up_at + 50), 50, 50);
        pair.run();
        assert_eq!(pair.counter("flushes"), flushes, "up at {up_at} us");
        let delivered = pair.numbers(1);
        assert_eq!(delivered.len() as u64 + pair.counter("frames_flushed"), 100, "up at {up_at} us");
        assert!(delivered.ends_with(&(50..100).collect::<Vec<_>>()));
    }
}

#[test]
fn numbers_wrap_without_a_trace() {
    const COUNT: u64 = (1 << 20) + 2_000;
    let mut pair = pair_with(400, profile(), first_times(&[0xf_ffff, 0, 1, 1_500], 2, Fate::Corrupted), |_, _| false);
    pair.inject_sized(0, Time(Duration::from_us(2).as_ps()), 0, (0..COUNT).map(|_| 64));
    pair.run();
    assert!(pair.numbers(1) == in_order(COUNT));
    assert_eq!((pair.counter("flushes"), pair.counter("rx_ack_nack_seq_error")), (0, 0));
}

#[test]
fn both_directions_of_a_link_retry_side_by_side() {
    let mut ends = [LinkLayerRetry::default(), LinkLayerRetry::default()];
    for end in &mut ends {
        end.add_transmitter(LINK, &profile());
        end.add_receiver(LINK, &profile());
    }
    let mut chance = chances(7);
    let fate = move |_, _: &Packet| if chance(20) { Fate::Corrupted } else { Fate::Arrives };
    let mut chance = chances(8);
    let mut pair = Pair::new(100, LINK_DELAY, boxed(ends), fate, move |_, _| chance(20));
    for from in 0..2 {
        pair.inject(from, Time(Duration::from_us(20).as_ps()), 0, 3_000);
    }
    pair.run();
    assert_eq!(pair.counter("flushes"), 0);
    assert_eq!((pair.numbers(0), pair.numbers(1)), (in_order(3_000), in_order(3_000)));
}

/// The maximum delay of the expected frame: each allowed replay waits for the timer and then for all held frames, and
/// the first frame of the last replay arrives.
fn stall_max(rate_gbps: u64, profile: &LinkLayerRetrySettings) -> Duration {
    // `max_outstanding_bytes` counts frames without preamble and gap: up to 84 B on the wire for 64 B.
    let held_ns = (profile.max_outstanding_bytes.0 + 2 * 1_538) * 84 / 64 * 8 / rate_gbps;
    (profile.max_replay_timer + Duration::from_ns(held_ns + 2 * 330 + 400)) * u64::from(profile.max_replay_count + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// For any losses of frames and control ordered sets, in both directions: delivery is in order, nothing is
    /// delivered twice, only flushed frames are missing, no stall exceeds the profile's limit, and the switches come to
    /// rest empty.
    #[test]
    fn in_order_exactly_once(
        seed in any::<u64>(),
        frame_loss in 0u64..200,
        set_loss in 0u64..300,
        vanishing in 0u64..1_000,
        rate in prop::sample::select(vec![10u64, 25, 100, 400]),
        max_replay_count in 1u32..9,
        outstanding_bytes in 2_000u64..80_000,
        sizes in prop::collection::vec(64u32..1_519, 20..400),
        gaps_ns in prop::collection::vec(0u64..30_000, 1..4),
    ) {
        let profile = LinkLayerRetrySettings {
            max_replay_count,
            max_outstanding_bytes: Bytes(outstanding_bytes),
            data_age_timeout: Duration::ZERO,
            ..profile()
        };
        let mut chance = chances(seed);
        let fate = move |_, _: &Packet| match chance(frame_loss) {
            false => Fate::Arrives,
            true if chance(vanishing) => Fate::Vanishes,
            true => Fate::Corrupted,
        };
        let mut chance = chances(!seed);
        let mut pair = pair_with(rate, profile.clone(), fate, move |_, _| chance(set_loss));
        let (mut first, mut start) = (0, Time::ZERO);
        for gap_ns in gaps_ns {
            start = pair.inject_sized(0, start, first, sizes.iter().copied()) + Duration::from_ns(gap_ns);
            first += sizes.len() as u64;
        }
        pair.run();
        let delivered = pair.numbers(1);
        prop_assert!(delivered.windows(2).all(|two| two[0] < two[1]), "out of order or twice");
        let missing = first - delivered.len() as u64;
        prop_assert!(missing <= pair.counter("frames_flushed"), "{missing} missing that were not flushed");
        prop_assert!(missing == 0 || pair.counter("flushes") > 0);
        if pair.counter("flushes") == 0 {
            let (stall_ns, most) = (pair.counter("longest_stall_ns"), stall_max(rate, &profile));
            prop_assert!(Duration::from_ns(stall_ns) <= most, "{stall_ns} ns, more than {most}");
        }
        prop_assert_eq!(pair.alive(), 0);
    }
}
