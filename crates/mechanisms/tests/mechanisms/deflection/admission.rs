//! Admission by AIFO, and bounces by PABO.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::shim::DetourCount;
use hitless_core::wire::{Packet, PriorityMark, Time};
use hitless_mechanisms::deflection::{AifoSettings, PaboSettings, bounce_probability};
use hitless_mechanisms::{Aifo, Pabo};
use hitless_switch::{DropReason, PortState, QueueLimit};
use proptest::prelude::*;

use super::world::{
    HARDWARE, HOST, Hardware, NEIGHBOURS, OTHER_HOST, OUT, arrive_by, detours, marked, of_out, packet, ranked,
    switch_with,
};
use crate::one_switch::OneSwitch;

/// Queues of ten packets of 1,000 bytes, in switches without latency.
const TEN: Hardware = Hardware { limit: QueueLimit::Bytes(10_000), is_ideal: true, ..HARDWARE };

fn aifo() -> AifoSettings {
    AifoSettings { window: 4, sample_every: 1, ..AifoSettings::default() }
}

fn admit(settings: AifoSettings, ranks: &[u32]) -> OneSwitch {
    let mut bench = switch_with(TEN, Aifo::new(&[OUT], &settings));
    ranks.iter().for_each(|&rank| bench.arrive(Time::ZERO, HOST, ranked(rank)));
    bench.finish();
    bench
}

#[test]
fn aifo_admits_by_quantile_and_what_is_left_of_the_queue() {
    // The last packet meets six packets and the window 20, 10, 5 and 4: its quantile may be (10 - 6) / (10 * 0.9) =
    // 0.44.
    let in_order = |rank| admit(aifo(), &[40, 30, 20, 10, 5, 4, rank]).count_sent_by(&[OUT]);
    assert_eq!((in_order(4), in_order(5), in_order(6), in_order(99)), (7, 7, 6, 6));
}

#[test]
fn aifo_lets_all_in_while_the_queue_is_within_its_headroom() {
    let ranks = [1, 1, 1, 1, 9];
    assert_eq!(admit(AifoSettings { headroom: 0.4, ..aifo() }, &ranks).count_sent_by(&[OUT]), 5);
    let strict = AifoSettings { headroom: 0.0, admit_in_headroom: false, ..aifo() };
    assert_eq!(admit(strict, &ranks).count_sent_by(&[OUT]), 4, "a quantile of 1 needs an empty queue");
}

#[test]
fn the_window_of_aifo_takes_in_what_is_dropped_too() {
    // Nines replace 20, 10 and 5: only then one of four is smaller, and not two.
    let bench = admit(aifo(), &[40, 30, 20, 10, 5, 4, 9, 9, 9, 9]);
    assert_eq!((bench.count_sent_by(&[OUT]), of_out(&bench, "packets_not_admitted")), (7, 3));
    assert_eq!(bench.reasons(), [DropReason::Mechanism; 3]);
}

/// Published AIFO uses plain ranks; halving them is Vertigo's idea.
#[test]
fn aifo_takes_what_is_sent_again_for_more_urgent_only_where_told() {
    let admitted = |boost_retransmissions| {
        let mut bench = switch_with(TEN, Aifo::new(&[OUT], &AifoSettings { boost_retransmissions, ..aifo() }));
        [40, 30, 20, 10, 5, 4].into_iter().for_each(|rank| bench.arrive(Time::ZERO, HOST, ranked(rank)));
        let again = PriorityMark { rank_bytes: 8, retransmissions: 1, ..PriorityMark::default() };
        bench.arrive(Time::ZERO, HOST, marked(again));
        bench.finish();
        bench.count_sent_by(&[OUT])
    };
    assert_eq!((admitted(false), admitted(true)), (6, 7));
}

#[test]
fn what_finds_no_room_is_dropped_by_the_queue_under_aifo() {
    let bench = admit(aifo(), &[0; 12]);
    assert_eq!((bench.count_sent_by(&[OUT]), of_out(&bench, "packets_of_full_queue")), (10, 2));
    assert_eq!(bench.reasons(), [DropReason::QueueFull; 2]);
}

#[test]
fn the_probability_of_a_bounce_rises_from_the_threshold_to_a_full_queue() {
    let probability = |share, bounces| bounce_probability(share, 0.8, 50.0, bounces);
    assert_eq!(
        (probability(0.5, 0), probability(0.8, 0), probability(1.0, 0), probability(1.0, 9)),
        (0.0, 0.0, 1.0, 1.0)
    );
    // (1 - exp(-5)) / (1 - exp(-10)), and with n = 4: (1 - exp(-1)) / (1 - exp(-2)).
    assert!((probability(0.9, 0) - 0.993_307).abs() < 1e-6);
    assert!((probability(0.9, 4) - 0.731_059).abs() < 1e-6, "who has bounced bounces less");
}

fn pabo(seed: u64) -> Pabo {
    Pabo::new(vec![OUT], &PaboSettings::default(), RandomStreams::new(seed).stream("pabo"))
}

#[test]
fn a_packet_bounces_to_the_switch_that_it_came_from_or_stays() {
    let mut bench = switch_with(TEN, pabo(1));
    (0..10).for_each(|_| bench.arrive(Time::ZERO, HOST, packet()));
    (0..5).for_each(|_| bench.arrive(Time::ZERO, NEIGHBOURS[1], packet()));
    bench.finish();
    assert_eq!(NEIGHBOURS.map(|port| bench.count_sent_by(&[port])), [0, 5, 0]);
    assert_eq!((bench.count_sent_by(&[OUT]), bench.count_sent_by(&[HOST])), (10, 0), "no host gets its packets back");
    assert!(detours(&bench).iter().all(|&(port, count)| (port == OUT) == count.is_none()));
}

#[test]
fn nothing_bounces_over_a_link_that_is_down_or_to_where_it_is_to_go() {
    let hardware = Hardware { out_faces_switch: true, ..TEN };
    let mut bench = switch_with(hardware, pabo(1));
    bench.port_state(NEIGHBOURS[1], PortState::Down);
    (0..10).for_each(|_| bench.arrive(Time::ZERO, HOST, packet()));
    [NEIGHBOURS[1], OUT].into_iter().for_each(|port| bench.arrive(Time::ZERO, port, packet()));
    bench.finish();
    assert_eq!((bench.count_sent_by(&[OUT]), bench.count_sent_by(&NEIGHBOURS)), (10, 0));
    assert_eq!(bench.reasons(), [DropReason::QueueFull; 2]);
}

#[test]
fn between_threshold_and_full_packets_bounce_by_chance_and_less_with_each_bounce() {
    let bounced = |count| {
        let mut bounced = 0;
        for seed in 0..1_000 {
            let mut bench = switch_with(TEN, pabo(seed));
            (0..9).for_each(|_| bench.arrive(Time::ZERO, HOST, packet()));
            let mut again = packet();
            again.push_shim(DetourCount(count)).expect("it carries no other shim");
            bench.arrive(Time::ZERO, NEIGHBOURS[0], again);
            bench.finish();
            bounced += bench.count_sent_by(&[NEIGHBOURS[0]]);
        }
        bounced as f64 / 1_000.0
    };
    // The standard deviations are below 0.015.
    assert!((bounced(0) - 0.993).abs() < 0.02 && (bounced(4) - 0.731).abs() < 0.06, "{} {}", bounced(0), bounced(4));
}

proptest! {
    #[test]
    fn under_aifo_and_pabo_no_packet_is_lost_from_the_books(
        arrivals in prop::collection::vec((0u64..1_500, 0usize..4, 0u32..1_000, 64u32..=1_518, 0u8..4), 1..200),
        is_pabo in any::<bool>(), is_ideal in any::<bool>(),
    ) {
        let hardware = Hardware { is_ideal, ..TEN };
        let mut bench =
            if is_pabo { switch_with(hardware, pabo(1)) } else { switch_with(hardware, Aifo::new(&[OUT], &aifo())) };
        let packet = |&(gap_ns, from, rank, frame_bytes, ttl)| (gap_ns, from, Packet { frame_bytes, ttl, ..ranked(rank) });
        arrive_by(&mut bench, arrivals.iter().map(packet));
        prop_assert_eq!(bench.world.left.len() + bench.world.ended.len(), arrivals.len());
        prop_assert_eq!(bench.count_sent_by(&[HOST]) + bench.count_sent_by(&[OTHER_HOST]), 0);
        let expired = arrivals.iter().filter(|arrival| arrival.4 <= 1).count();
        let ended_so = bench.reasons().iter().filter(|&&reason| reason == DropReason::TimeToLive).count();
        prop_assert_eq!(ended_so, expired);
        prop_assert_eq!(of_out(&bench, "packets_seen") as usize, arrivals.len() - expired);
        prop_assert!(is_pabo || bench.count_sent_by(&NEIGHBOURS) == 0);
    }
}
