//! DIBS on a switch: where packets of a full queue go.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::shim::DetourCount;
use hitless_core::wire::{BitRate, CongestionNotice, Packet, Time, Transport};
use hitless_mechanisms::Dibs;
use hitless_mechanisms::deflection::DibsSettings;
use hitless_switch::{BufferPolicy, DropReason, PortState, QueueLimit};
use proptest::prelude::*;

use super::world::{
    HARDWARE, HOST, Hardware, NEIGHBOURS, OTHER_HOST, OUT, arrive_by, assert_likely, burst, detours, first_choices,
    of_out, packet, switch_with,
};
use crate::one_switch::OneSwitch;

pub fn bench_on(hardware: Hardware, settings: &DibsSettings, seed: u64) -> OneSwitch {
    switch_with(hardware, Dibs::new(vec![OUT], settings, RandomStreams::new(seed).stream("dibs")))
}

/// Requires the fate of twenty packets from the host: three stay, nine go to neighbours, and eight are lost.
pub fn assert_fills_the_neighbours(bench: &OneSwitch) {
    let ports = [OUT, NEIGHBOURS[0], NEIGHBOURS[1], NEIGHBOURS[2], HOST, OTHER_HOST];
    assert_eq!(ports.map(|port| bench.count_sent_by(&[port])), [3, 3, 3, 3, 0, 0], "no other host gets a packet");
    assert_eq!(bench.reasons(), [DropReason::QueueFull; 8]);
    assert_eq!((of_out(bench, "packets_detoured"), of_out(bench, "packets_with_nowhere_to_go")), (9, 8));
}

fn bench() -> OneSwitch {
    bench_on(HARDWARE, &DibsSettings::default(), 1)
}

#[test]
fn nothing_is_detoured_while_the_queue_has_room() {
    let bench = burst(bench(), HOST, 3);
    assert_eq!((bench.count_sent_by(&[OUT]), bench.world.left.len()), (3, 3));
    assert!(detours(&bench).iter().all(|(_, detours)| detours.is_none()));
    assert_eq!(bench.counter("port 1", "packets_detoured"), 0);
}

#[test]
fn what_the_full_queue_cannot_take_fills_the_neighbours_and_only_then_is_lost() {
    let bench = burst(bench(), HOST, 20);
    assert_fills_the_neighbours(&bench);
    assert_eq!(bench.counter("switch", "packet_detours_max"), 1);
}

#[test]
fn a_notice_to_a_sender_stays_on_its_way() {
    let mut bench = bench();
    (0..3).for_each(|_| bench.arrive(Time::ZERO, HOST, packet()));
    let notice = CongestionNotice { sequence: 0, rate: BitRate::from_gbps(10), queue_bytes: 9_000 };
    let transport = Transport::CongestionNotice(notice);
    bench.arrive(Time::ZERO, HOST, Packet { transport, ..packet() });
    bench.finish();
    assert_eq!((bench.count_sent_by(&[OUT]), bench.world.left.len()), (3, 3));
    assert_eq!(bench.reasons(), [DropReason::QueueFull]);
}

#[test]
fn a_port_whose_link_is_known_to_be_down_is_not_chosen() {
    let mut bench = bench();
    let set = |bench: &mut OneSwitch, state| {
        bench.port_state(NEIGHBOURS[1], state);
        (0..9).for_each(|_| bench.arrive(Time::ZERO, HOST, packet()));
        bench.run_until(Time::NEVER);
        bench.count_sent_by(&[NEIGHBOURS[1]])
    };
    assert_eq!(set(&mut bench, PortState::Down), 0);
    assert_eq!(set(&mut bench, PortState::Rerouted { backup: NEIGHBOURS[0] }), 0);
    assert!(set(&mut bench, PortState::Up) > 0);
    bench.finish();
}

#[test]
fn detours_are_counted_in_the_packet_until_it_goes_to_its_host() {
    let mut detoured = packet();
    detoured.push_shim(DetourCount(4)).expect("the packet carries no other shim");
    assert_eq!(detoured.frame_bytes, 1_000, "the count takes no room on the line");
    let mut bench = bench();
    bench.arrive(Time::ZERO, NEIGHBOURS[0], detoured);
    (0..3).for_each(|_| bench.arrive(Time::ZERO, HOST, packet()));
    bench.arrive(Time::ZERO, NEIGHBOURS[0], detoured);
    bench.finish();
    let counts: Vec<_> = detours(&bench).iter().filter_map(|&(port, count)| Some((port == OUT, count?))).collect();
    assert!(counts.contains(&(false, 5)) && !counts.iter().any(|&(is_out, _)| is_out), "{counts:?}");
    assert_eq!(bench.counter("switch", "packet_detours_max"), 5);
    let report = bench.switches[0].reports(Time::ZERO).next().expect("DIBS reports");
    let (_, _, detours) = &report.histograms[0];
    assert_eq!((detours.len(), detours.max()), (1, 4), "the first has arrived after four");
}

#[test]
fn naive_deflection_does_not_ask_whether_there_is_room() {
    let settings = DibsSettings { to_full_ports: true, ..DibsSettings::default() };
    let bench = burst(bench_on(HARDWARE, &settings, 1), HOST, 3 + 60);
    assert_eq!((bench.count_sent_by(&[OUT]), bench.count_sent_by(&NEIGHBOURS)), (3, 9));
    assert_eq!(bench.reasons(), [DropReason::QueueFull; 51], "the queues that were drawn drop them");
    assert_eq!((of_out(&bench, "packets_detoured"), of_out(&bench, "packets_with_nowhere_to_go")), (60, 0));
}

#[test]
fn a_switch_that_passes_a_packet_on_leaves_the_count_on_it() {
    let mut detoured = packet();
    detoured.push_shim(DetourCount(4)).expect("the packet carries no other shim");
    let mut bench = bench_on(Hardware { out_faces_switch: true, ..HARDWARE }, &DibsSettings::default(), 1);
    bench.arrive(Time::ZERO, NEIGHBOURS[0], detoured);
    bench.finish();
    assert_eq!(detours(&bench), [(OUT, Some(4))]);
}

#[test]
fn each_neighbour_with_room_is_as_likely_as_the_others() {
    let counts = first_choices(3_000, |seed| burst(bench_on(HARDWARE, &DibsSettings::default(), seed), HOST, 4));
    assert_likely(counts, [1_000.0; 3]);
}

proptest! {
    /// For any arrivals no packet vanishes, none goes to another host, and none is lost while a neighbour has room. The
    /// neighbour's count of packets shows this if nothing leaves in time.
    #[test]
    fn packets_leave_by_their_port_or_to_a_neighbour_or_are_lost_for_want_of_room(
        arrivals in proptest::collection::vec((0u64..1_500, 0usize..4, 64u32..=1_518), 1..200),
        bytes in 1_518u64..20_000, shares in any::<bool>(), to_arrival_port in any::<bool>(), seed in any::<u64>(),
    ) {
        let limit = QueueLimit::Bytes(bytes);
        let buffer = if shares { BufferPolicy::Shared { capacity_bytes: 30_000, alpha: 1.0 } } else { BufferPolicy::Static };
        let settings = DibsSettings { to_arrival_port, ..DibsSettings::default() };
        let run = || {
            let mut bench = bench_on(Hardware { limit, buffer, ..HARDWARE }, &settings, seed);
            let packet = |&(gap_ns, from, frame_bytes)| (gap_ns, from, Packet { frame_bytes, ..packet() });
            arrive_by(&mut bench, arrivals.iter().map(packet));
            bench
        };
        let bench = run();
        prop_assert_eq!(bench.world.left.len() + bench.world.ended.len(), arrivals.len());
        prop_assert_eq!(bench.count_sent_by(&[HOST]) + bench.count_sent_by(&[OTHER_HOST]), 0);
        let detoured: usize = NEIGHBOURS.iter().map(|&port| bench.count_sent_by(&[port])).sum();
        prop_assert_eq!(bench.counter("port 1", "packets_detoured"), detoured as u64, "a detoured packet was lost here");
        prop_assert!(bench.counter("port 1", "packets_with_nowhere_to_go") >= bench.world.ended.len() as u64);
        prop_assert_eq!(&run().world.left, &bench.world.left, "the same seed, the same way");
    }
}
