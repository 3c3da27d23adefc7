//! Extensions that section 5 of the paper proposes.

use hitless_core::wire::{Duration, Packet, Time};
use hitless_mechanisms::linkguardian::headers::DataHeader;
use hitless_mechanisms::linkguardian::{
    Action, Buffering, Command, FallbackSettings, LinkGuardian, Mode, ReceiverConfig, SenderConfig,
};
use hitless_switch::LinkEnd;

use super::losses::{Bursts, Random, is_dummy};
use super::{BUFFERINGS, guardians, pair_losing, receiver, sender};
use crate::two_switches::{Delivery, Ends, LINK, Pair, boxed, sorted};

const LOOSE: u8 = 3;

/// Even numbers belong to the ordered class, odd ones to the loose class.
fn class_of(number: u64) -> u8 {
    if number.is_multiple_of(2) { 0 } else { LOOSE }
}

/// A link with a sequence space per class.
fn two_classes(buffering: Buffering) -> Ends {
    let mut ends = [LinkGuardian::default(), LinkGuardian::default()];
    let loose = 1 << LOOSE;
    for (channel, classes, mode) in [(0, !loose, Mode::Blocking), (1, loose, Mode::NonBlocking)] {
        ends[0].add_sender(SenderConfig { channel, classes, ..sender(mode, 2, buffering) });
        ends[1].add_receiver(ReceiverConfig { channel, deduplicates: true, ..receiver(buffering) });
    }
    boxed(ends)
}

fn of_class(pair: &Pair, class: u8) -> Vec<u64> {
    pair.numbers(1).into_iter().filter(|&number| class_of(number) == class).collect()
}

#[test]
fn a_loss_in_one_class_keeps_the_other_waiting_for_nothing() {
    for buffering in BUFFERINGS {
        let ordered_10 = |packet: &Packet| {
            let header = packet.shims.get::<DataHeader>();
            header.is_some_and(|h| h.channel == 0 && !h.dummy && !h.retransmitted && h.sequence.value() == 10)
        };
        let mut pair = pair_losing(100, two_classes(buffering), ordered_10);
        pair.inject_class(0, Time::ZERO, 0, 200, class_of);
        pair.run();
        let (ordered, loose) = (of_class(&pair, 0), of_class(&pair, LOOSE));
        assert_eq!((ordered.len(), loose.len()), (100, 100), "{buffering:?}");
        assert!(ordered.is_sorted() && loose.is_sorted(), "{buffering:?}");
        let place = |number| pair.numbers(1).iter().position(|&delivered| delivered == number);
        assert!(place(25) < place(20), "{buffering:?}: 25 is behind the lost packet, and did not wait");
        assert!(pair.counter("packets_buffered") > 0);
        assert_eq!(pair.alive(), 4, "a dummy and an acknowledgement of each class");
    }
}

#[test]
fn both_classes_lose_nothing_under_random_losses_and_one_stays_in_order() {
    for seed in 0..10 {
        let mut random = Random::new(seed);
        let lose = move |packet: &Packet| !is_dummy(packet) && random.chance(3_000);
        let mut pair = pair_losing(25, two_classes(Buffering::Recirculation), lose);
        pair.inject_class(0, Time::ZERO, 0, 5_000, class_of);
        // Acknowledgements of both classes are piggybacked on traffic of the other direction.
        pair.inject_class(1, Time::ZERO, 0, 5_000, |_| 0);
        pair.run();
        let (ordered, loose) = (of_class(&pair, 0), of_class(&pair, LOOSE));
        assert!(ordered.is_sorted(), "seed {seed}");
        assert_eq!((ordered.len(), loose.len()), (2_500, 2_500), "seed {seed}");
    }
}

/// Sends a single packet and its dummies, repeatedly, over a link that loses bursts. Returns the number of packets that
/// were not delivered in time.
fn tails_lost(dummies: u8, tail_probes: bool, burst_length: u64) -> usize {
    let mut bursts = Bursts::new(9, 50_000, burst_length);
    let config = SenderConfig { dummies, tail_probes, ..sender(Mode::Blocking, 4, Buffering::PausedQueue) };
    let ends = guardians(config, receiver(Buffering::PausedQueue));
    let mut pair = pair_losing(100, ends, move |_: &Packet| bursts.lose());
    const TAILS: u64 = 2_000;
    for tail in 0..TAILS {
        pair.inject(0, Time(tail * 100_000_000), tail, 1);
    }
    pair.run();
    // A packet that the next tail reveals has waited for 100 us, which is too late.
    let in_time = pair.world.delivered[1].iter();
    let is_in_time = |&&Delivery { number, at, .. }: &&Delivery| {
        pair.injected_at(number).is_some_and(|from| at.saturating_since(from) < Duration::from_us(80))
    };
    TAILS as usize - in_time.filter(is_in_time).count()
}

#[test]
fn more_dummies_find_more_tails_in_bursts_and_probes_find_nearly_all() {
    let (few, many, probes) = (tails_lost(3, false, 4), tails_lost(12, false, 4), tails_lost(3, true, 4));
    assert!(few > 15 && many < few / 2, "3 dummies: {few} late, 12: {many}");
    assert!(probes <= many, "probes: {probes} late, 12 dummies: {many}");
}

fn following() -> SenderConfig {
    SenderConfig { follows_requests: true, ..sender(Mode::Blocking, 2, Buffering::Recirculation) }
}

fn fallback() -> FallbackSettings {
    FallbackSettings {
        period: Duration::from_us(20),
        non_blocking_above: 1e-2,
        off_above: 0.3,
        recovery_share: 0.5,
        bad_periods: 2,
        hold: Duration::from_us(200),
        hold_max: Duration::from_us(3_200),
        frames_min: 100,
    }
}

/// Line-rate traffic over a link that loses `storm_per_million` of its frames for a third of the run.
fn storm(storm_per_million: u64) -> (Pair, Vec<(u64, u64)>) {
    let mut random = Random::new(3);
    let mut frames = 0;
    let lose = move |_: &Packet| {
        frames += 1;
        let is_storm = (10_000..20_000).contains(&frames);
        random.chance(if is_storm { storm_per_million } else { 100 })
    };
    let config = ReceiverConfig { fallback: Some(fallback()), control_copies: 2, ..receiver(Buffering::Recirculation) };
    let mut pair = pair_losing(100, guardians(following(), config), lose);
    pair.inject(0, Time::ZERO, 0, 40_000);
    let mut levels = Vec::new();
    for step in 1..60 {
        pair.run_until(Time(step * 100_000_000));
        levels.push((pair.counter("level_wanted"), pair.counter("level_changes_obeyed")));
    }
    (pair, levels)
}

#[test]
fn a_link_falls_back_to_non_blocking_and_returns_without_flapping() {
    let (pair, levels) = storm(50_000);
    let (last_level, obeyed) = *levels.last().expect("some time has passed");
    assert!(levels.iter().any(|&(level, _)| level == 1) && levels.iter().all(|&(level, _)| level < 2), "{levels:?}");
    assert_eq!((last_level, obeyed), (0, 2), "there and back, once each: {levels:?}");
    let delivered = sorted(pair.numbers(1));
    assert!(delivered.windows(2).filter(|two| two[0] == two[1]).count() < 1_000, "second copies only");
}

#[test]
fn a_link_beyond_help_is_switched_off_and_protected_again() {
    let (pair, levels) = storm(500_000);
    assert!(levels.iter().any(|&(level, _)| level == 2), "{levels:?}");
    assert_eq!(levels.last().map(|&(level, _)| level), Some(0), "{levels:?}");
    assert!(pair.counter("packets_protected") < 40_000, "the storm's packets were not protected");
}

/// A receiver that asks for protection does not overrule a control plane that switches it off.
#[test]
fn fallback_asks_for_no_more_than_the_control_plane_has_commanded() {
    let config = ReceiverConfig { fallback: Some(fallback()), ..receiver(Buffering::Recirculation) };
    let mut pair = pair_losing(100, guardians(following(), config), |_| false);
    let action = Action::Deactivate;
    pair.command(0, Time(1), Command { port: LINK, end: LinkEnd::Sender, action });
    pair.inject(0, Time(1_000_000), 0, 5_000);
    pair.run_until(Time(2_000_000_000));
    assert_eq!(pair.counter("packets_protected"), 0);
    assert_eq!(pair.numbers(1).len(), 5_000);
}
