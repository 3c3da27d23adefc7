//! Simple Deflection: the first neighbour that is not full, from a random start.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Packet, Time};
use hitless_mechanisms::SimpleDeflection;
use hitless_mechanisms::deflection::{DibsSettings, ScanStart, SimpleDeflectionSettings};
use hitless_switch::{BufferPolicy, DropReason, PortState, QueueLimit};
use proptest::prelude::*;

use super::dibs::assert_fills_the_neighbours;
use super::world::{
    HARDWARE, HOST, Hardware, NEIGHBOURS, OTHER_HOST, OUT, arrive_by, assert_likely, burst, first_choices, of_out,
    packet, switch_with,
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
    assert_fills_the_neighbours(&bench);
}

#[test]
fn a_packet_may_go_back_to_where_it_came_from_unless_that_is_forbidden() {
    for (to_arrival_port, expected) in [(true, 3), (false, 0)] {
        let simple = SimpleDeflectionSettings { to_arrival_port, ..SimpleDeflectionSettings::default() };
        let dibs = DibsSettings { to_arrival_port, ..DibsSettings::default() };
        for bench in [bench_on(HARDWARE, &simple, 1), super::dibs::bench_on(HARDWARE, &dibs, 1)] {
            let bench = burst(bench, NEIGHBOURS[0], 20);
            assert_eq!(bench.count_sent_by(&[NEIGHBOURS[0]]), expected);
            assert_eq!(of_out(&bench, "packets_sent_back"), expected as u64);
        }
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

fn first_choices_of(hardware: Hardware, start: ScanStart) -> [u32; 3] {
    let settings = SimpleDeflectionSettings { start, ..SimpleDeflectionSettings::default() };
    first_choices(3_200, |seed| burst(bench_on(hardware, &settings, seed), HOST, 4))
}

#[test]
fn the_start_of_the_scan_decides_how_likely_a_port_is() {
    assert_likely(first_choices_of(HARDWARE, ScanStart::Uniform), [3_200.0 / 3.0; 3]);
    // Five bits beyond the last port all mean the first.
    assert_likely(first_choices_of(HARDWARE, ScanStart::FiveBit), [3_000.0, 100.0, 100.0]);
    // The full port faces a switch itself: a scan that begins there continues to the first neighbour.
    let hardware = Hardware { out_faces_switch: true, ..HARDWARE };
    assert_likely(first_choices_of(hardware, ScanStart::Uniform), [1_600.0, 800.0, 800.0]);
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
