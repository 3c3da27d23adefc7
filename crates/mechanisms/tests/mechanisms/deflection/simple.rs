//! Simple Deflection: the first neighbour that is not full, from a random start.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Packet, Time};
use hitless_mechanisms::SimpleDeflection;
use hitless_mechanisms::deflection::{ScanStart, SimpleDeflectionSettings};
use hitless_switch::{BufferPolicy, DropReason, PortState, QueueLimit};
use proptest::prelude::*;

use super::world::{
    HARDWARE, HOST, Hardware, NEIGHBOURS, OTHER_HOST, OUT, arrive_by, burst, of_out, packet, switch_with,
};
use crate::one_switch::OneSwitch;

fn bench_on(hardware: Hardware, settings: &SimpleDeflectionSettings, seed: u64) -> OneSwitch {
    let stream = RandomStreams::new(seed).stream("simple deflection");
    switch_with(hardware, SimpleDeflection::new(vec![OUT], settings, Vec::new(), stream))
}

fn bench() -> OneSwitch {
    bench_on(HARDWARE, &SimpleDeflectionSettings::default(), 1)
}

#[test]
fn what_the_full_queue_cannot_take_fills_the_neighbours_and_then_stays_with_its_queue() {
    let bench = burst(bench(), HOST, 20);
    assert_eq!(bench.count_sent_by(&[OUT]), 3);
    assert_eq!(NEIGHBOURS.map(|port| bench.count_sent_by(&[port])), [3, 3, 3]);
    assert_eq!(bench.reasons(), [DropReason::QueueFull; 8], "its own queue drops it");
    assert_eq!((of_out(&bench, "packets_detoured"), of_out(&bench, "packets_with_nowhere_to_go")), (9, 8));
}

#[test]
fn a_packet_may_go_back_to_where_it_came_from_unless_that_is_forbidden() {
    for (to_arrival_port, expected) in [(true, 3), (false, 0)] {
        let settings = SimpleDeflectionSettings { to_arrival_port, ..SimpleDeflectionSettings::default() };
        let bench = burst(bench_on(HARDWARE, &settings, 1), NEIGHBOURS[0], 20);
        assert_eq!(bench.count_sent_by(&[NEIGHBOURS[0]]), expected);
        assert_eq!(of_out(&bench, "packets_sent_back"), expected as u64);
    }
}

#[test]
fn a_port_whose_link_is_known_to_be_down_counts_as_full() {
    let mut bench = bench();
    bench.port_state(NEIGHBOURS[1], PortState::Down);
    (0..20).for_each(|_| bench.arrive(Time::ZERO, HOST, packet()));
    bench.finish();
    assert_eq!(NEIGHBOURS.map(|port| bench.count_sent_by(&[port])), [3, 0, 3]);
}

/// Where the first packet beyond the full queue goes, for many seeds.
fn first_choices(hardware: Hardware, start: ScanStart) -> [u32; 3] {
    let mut counts = [0; 3];
    let settings = SimpleDeflectionSettings { start, ..SimpleDeflectionSettings::default() };
    for seed in 0..3_200 {
        let bench = burst(bench_on(hardware, &settings, seed), HOST, 4);
        let chosen = NEIGHBOURS.iter().position(|&port| bench.count_sent_by(&[port]) == 1).expect("one was deflected");
        counts[chosen] += 1;
    }
    counts
}

/// Chi-square with two degrees of freedom: 99.9 % below 13.8.
fn chi_square(counts: [u32; 3], expected: [f64; 3]) -> f64 {
    counts.into_iter().zip(expected).map(|(count, expected)| (f64::from(count) - expected).powi(2) / expected).sum()
}

#[test]
fn a_uniform_start_makes_free_ports_equally_likely() {
    let counts = first_choices(HARDWARE, ScanStart::Uniform);
    assert!(chi_square(counts, [3_200.0 / 3.0; 3]) < 13.8, "{counts:?}");
}

#[test]
fn five_bits_beyond_the_last_port_all_mean_the_first() {
    let counts = first_choices(HARDWARE, ScanStart::FiveBit);
    assert!(chi_square(counts, [3_000.0, 100.0, 100.0]) < 13.8, "{counts:?}");
}

#[test]
fn a_port_behind_a_full_one_is_taken_in_its_place_too() {
    // The full port faces a switch itself: a scan that begins there continues to the first neighbour.
    let hardware = Hardware { out_faces_switch: true, ..HARDWARE };
    let counts = first_choices(hardware, ScanStart::Uniform);
    assert!(chi_square(counts, [1_600.0, 800.0, 800.0]) < 13.8, "{counts:?}");
}

proptest! {
    #[test]
    fn packets_leave_by_their_port_or_to_a_neighbour_or_are_lost_for_want_of_room(
        arrivals in proptest::collection::vec((0u64..1_500, 0usize..4, 64u32..=1_518, 0u8..4), 1..200),
        bytes in 1_518u64..20_000, shares in any::<bool>(), to_arrival_port in any::<bool>(), seed in any::<u64>(),
        is_ideal in any::<bool>(), five_bit in any::<bool>(),
    ) {
        let buffer = if shares { BufferPolicy::Shared { capacity_bytes: 30_000, alpha: 1.0 } } else { BufferPolicy::Static };
        let hardware = Hardware { limit: QueueLimit::Bytes(bytes), buffer, is_ideal, ..HARDWARE };
        let start = if five_bit { ScanStart::FiveBit } else { ScanStart::Uniform };
        let settings = SimpleDeflectionSettings { to_arrival_port, start, ..SimpleDeflectionSettings::default() };
        let run = || {
            let mut bench = bench_on(hardware, &settings, seed);
            let packet = |&(gap_ns, from, frame_bytes, ttl)| (gap_ns, from, Packet { frame_bytes, ttl, ..packet() });
            arrive_by(&mut bench, arrivals.iter().map(packet));
            bench
        };
        let bench = run();
        prop_assert_eq!(bench.world.left.len() + bench.world.ended.len(), arrivals.len());
        prop_assert_eq!(bench.count_sent_by(&[HOST]) + bench.count_sent_by(&[OTHER_HOST]), 0);
        let expired = arrivals.iter().filter(|arrival| arrival.3 <= 1).count();
        let ended_so = bench.reasons().iter().filter(|&&reason| reason == DropReason::TimeToLive).count();
        prop_assert_eq!(ended_so, expired, "a packet whose time to live is over is never deflected");
        prop_assert_eq!(of_out(&bench, "packets_seen") as usize, arrivals.len() - expired);
        prop_assert_eq!(of_out(&bench, "packets_detoured") as usize, bench.count_sent_by(&NEIGHBOURS));
        prop_assert_eq!(&run().world.left, &bench.world.left, "the same seed, the same way");
    }
}
