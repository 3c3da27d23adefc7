//! Vertigo on a switch: the victims of a full queue, and their destinations.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::shim::DetourCount;
use hitless_core::wire::{Packet, PortId, PriorityMark, Time};
use hitless_mechanisms::Vertigo;
use hitless_mechanisms::vertigo::{SortedPort, VertigoSettings};
use hitless_switch::{BufferPolicy, DropReason, PortState, QueueLimit};
use proptest::prelude::*;

use crate::deflection::world::{
    HARDWARE, HOST, Hardware, NEIGHBOURS, OTHER_HOST, OUT, arrive_by, assert_likely, first_choices, switch_with,
};
use crate::one_switch::{OneSwitch, detours};

#[derive(Clone, Copy)]
struct Settings {
    hardware: Hardware,
    candidates: u8,
    to_arrival_port: bool,
    record_ranks: bool,
    /// Number of sorted ports; the others have plain queues.
    sorted: usize,
    seed: u64,
}

const SETTINGS: Settings =
    Settings { hardware: HARDWARE, candidates: 2, to_arrival_port: true, record_ranks: false, sorted: 6, seed: 1 };

const TWO: Hardware = Hardware { limit: QueueLimit::Packets(2), ..HARDWARE };

fn bench(settings: Settings) -> OneSwitch {
    let sorted = |number| SortedPort { port: PortId(number), faces_host: !NEIGHBOURS.contains(&PortId(number)) };
    let order = [1, 3, 4, 5, 0, 2];
    let ports_sorted = order[..settings.sorted].iter().map(|&number| sorted(number)).collect();
    let Settings { candidates, to_arrival_port, record_ranks, .. } = settings;
    let parameters = VertigoSettings { ports: Vec::new(), candidates, to_arrival_port, record_ranks };
    let vertigo = Vertigo::new(ports_sorted, &parameters, RandomStreams::new(settings.seed).stream("vertigo"));
    switch_with(settings.hardware, vertigo)
}

fn packet(rank_bytes: u32, frame_bytes: u32) -> Packet {
    let mut packet = Packet { frame_bytes, ttl: 9, ..Packet::default() };
    packet
        .shims
        .push(PriorityMark { rank_bytes, ..PriorityMark::default() })
        .expect("the packet carries no other shim");
    packet
}

/// Sends packets of these ranks at once from `port`, and runs to the end.
fn burst(settings: Settings, port: PortId, ranks: &[u32]) -> OneSwitch {
    let mut bench = bench(settings);
    ranks.iter().for_each(|&rank| bench.arrive(Time::ZERO, port, packet(rank, 1_000)));
    bench.finish();
    bench
}

#[test]
fn the_most_urgent_stay_and_leave_in_the_order_of_their_urgency() {
    let bench = burst(SETTINGS, HOST, &[9, 8, 7, 2, 5, 1, 3]);
    // The first packet is in transmission.
    assert_eq!(bench.left_by(OUT), [0, 5, 3]);
    let mut deflected: Vec<_> = NEIGHBOURS.iter().flat_map(|&port| bench.left_by(port)).collect();
    deflected.sort_unstable();
    assert_eq!(deflected, [1, 2, 4, 6]);
    assert_eq!((bench.left_by(HOST), bench.left_by(OTHER_HOST)), (vec![], vec![]), "no other host gets a packet");
    assert_eq!(bench.ended(), []);
    let names = ["packets_seen", "packets_displaced", "packets_driven_out", "packets_deflected"];
    // 2 evicts 8, 5 evicts 7, 1 evicts 5, and 3 is refused.
    assert_eq!(names.map(|name| bench.counter("port 1", name)), [7, 4, 3, 4]);
}

#[test]
fn a_victim_is_put_into_a_full_queue_whose_worst_packet_ends() {
    let mut bench = bench(Settings { hardware: TWO, ..SETTINGS });
    // All neighbours but one are down, so that the destination of each victim is known.
    for port in &NEIGHBOURS[1..] {
        bench.port_state(*port, PortState::Down);
    }
    [9, 4, 4, 8, 6, 7, 5].iter().for_each(|&rank| bench.arrive(Time::ZERO, HOST, packet(rank, 1_000)));
    bench.finish();
    assert_eq!(bench.left_by(OUT), [0, 1]);
    // The first victim is in transmission; 8, 6 and 7 gave way to 5.
    assert_eq!(bench.left_by(NEIGHBOURS[0]), [2, 6]);
    let reasons = [(3, DropReason::Evicted), (5, DropReason::QueueFull), (4, DropReason::Evicted)];
    assert_eq!(bench.ended(), reasons);
    assert_eq!(bench.counter("port 3", "packets_given_up"), 3);
    assert_eq!(bench.counter("port 3", "packets_displaced"), 0, "nobody is deflected twice in one switch");
}

#[test]
fn of_two_random_neighbours_the_less_loaded_gets_the_victim() {
    // A neighbour is full, another takes the arriving packets: with two candidates the full one is never chosen.
    for (candidates, least) in [(1, 1), (2, 0)] {
        let mut reached_full = 0;
        for seed in 0..200 {
            let mut bench = bench(Settings { candidates, seed, hardware: TWO, ..SETTINGS });
            bench.port_state(NEIGHBOURS[2], PortState::Down);
            // Two packets to the host stay; the third is a victim and goes to either neighbour; the fourth goes to the
            // other.
            [0, 0, 3, 3].iter().for_each(|&rank| bench.arrive(Time::ZERO, HOST, packet(rank, 1_000)));
            bench.finish();
            reached_full += u32::from(bench.left_by(NEIGHBOURS[0]).len() != 1);
        }
        assert_eq!(reached_full > 50, least == 1, "{candidates} candidates, {reached_full} times the loaded one");
        assert!(candidates == 1 || reached_full == 0);
    }
}

#[test]
fn a_packet_may_go_back_to_where_it_came_from_unless_that_is_forbidden() {
    for to_arrival_port in [true, false] {
        let bench = burst(Settings { to_arrival_port, ..SETTINGS }, NEIGHBOURS[0], &[1; 12]);
        let back = bench.counter("port 1", "packets_sent_back");
        assert_eq!((back > 0, bench.left_by(NEIGHBOURS[0]).is_empty()), (to_arrival_port, !to_arrival_port));
    }
}

#[test]
fn a_victim_without_a_neighbour_ends() {
    let mut bench = bench(SETTINGS);
    for port in NEIGHBOURS {
        bench.port_state(port, PortState::Down);
    }
    [5, 5, 5, 3, 7].iter().for_each(|&rank| bench.arrive(Time::ZERO, HOST, packet(rank, 1_000)));
    bench.finish();
    assert_eq!(bench.ended(), [(2, DropReason::Evicted), (4, DropReason::QueueFull)]);
    assert_eq!(bench.counter("port 1", "packets_with_nowhere_to_go"), 2);
}

#[test]
fn a_neighbour_whose_queue_is_not_sorted_takes_what_it_has_room_for() {
    let bench = burst(Settings { sorted: 1, ..SETTINGS }, HOST, &[1; 20]);
    assert_eq!(bench.left_by(OUT).len(), 3);
    let deflected: Vec<_> = NEIGHBOURS.iter().map(|&port| bench.left_by(port).len()).collect();
    assert!(deflected.iter().all(|&count| count <= 3) && bench.world.ended.len() >= 8, "{deflected:?}");
}

#[test]
fn deflections_are_counted_in_the_packet_until_it_leaves_for_its_host() {
    let mut wanderer = packet(1, 1_000);
    wanderer.shims.push(DetourCount(4)).expect("there is room for another shim");
    let mut bench = bench(SETTINGS);
    bench.arrive(Time::ZERO, NEIGHBOURS[0], wanderer);
    [0; 3].iter().for_each(|&rank| bench.arrive(Time::ZERO, HOST, packet(rank, 1_000)));
    bench.arrive(Time::ZERO, NEIGHBOURS[0], wanderer);
    bench.finish();
    let counts: Vec<_> =
        bench.world.left.iter().filter_map(|sent| Some((sent.port == OUT, detours(&sent.packet)?))).collect();
    assert!(counts.contains(&(false, 5)) && !counts.iter().any(|&(is_out, _)| is_out), "{counts:?}");
    assert_eq!(bench.counter("switch", "packet_detours_max"), 5);
    let report = bench.report();
    let (_, _, detours) = &report.histograms[0];
    assert_eq!((detours.len(), detours.max()), (1, 4), "the first has arrived after four");
}

#[test]
fn ranks_are_recorded_where_that_is_asked_for() {
    for record_ranks in [true, false] {
        let bench = burst(Settings { record_ranks, ..SETTINGS }, HOST, &[0, 1_000, 1_000, 250]);
        let report = bench.report();
        let of_out = report
            .histograms
            .iter()
            .find(|(scope, quantity, _)| scope == "port 1" && quantity.key == "arriving_rank_bytes");
        let values = of_out.map(|(_, _, ranks)| [0, 250, 1_000].map(|rank| ranks.count_at(rank)));
        assert_eq!(values, record_ranks.then_some([1, 1, 2]));
    }
}

#[test]
fn each_neighbour_with_the_same_load_is_as_likely_as_the_others() {
    for candidates in [1, 2] {
        let counts = first_choices(3_000, |seed| burst(Settings { seed, candidates, ..SETTINGS }, HOST, &[1; 4]));
        assert_likely(counts, [1_000.0; 3]);
    }
}

proptest! {
    /// For any arrivals every packet leaves once or is dropped once, none goes to another host, the counters tell its
    /// destination, and the same seed gives the same run.
    #[test]
    fn packets_leave_by_their_port_or_to_a_neighbour_or_end(
        arrivals in proptest::collection::vec((0u64..1_500, 0usize..4, 0u32..9, 64u32..=1_518), 1..200),
        bytes in 1_518u64..20_000, shares in any::<bool>(), to_arrival_port in any::<bool>(), seed in any::<u64>(),
        candidates in 1u8..3, sorted in 1usize..7,
    ) {
        let limit = QueueLimit::Bytes(bytes);
        let buffer = if shares { BufferPolicy::Shared { capacity_bytes: 30_000, alpha: 1.0 } } else { BufferPolicy::Static };
        let hardware = Hardware { limit, buffer, ..HARDWARE };
        let run = || {
            let mut bench = bench(Settings { hardware, to_arrival_port, seed, candidates, sorted, ..SETTINGS });
            let packet = |&(gap_ns, from, rank, frame_bytes)| (gap_ns, from, packet(rank, frame_bytes));
            arrive_by(&mut bench, arrivals.iter().map(packet));
            bench
        };
        let bench = run();
        let mut all: Vec<u32> = bench.sent();
        all.extend(bench.ended().iter().map(|&(number, _)| number));
        all.sort_unstable();
        prop_assert_eq!(all, (0..arrivals.len() as u32).collect::<Vec<_>>());
        prop_assert_eq!(bench.left_by(HOST).len() + bench.left_by(OTHER_HOST).len(), 0);
        let elsewhere: usize = NEIGHBOURS.iter().map(|&port| bench.left_by(port).len()).sum();
        let deflected = bench.counter("port 1", "packets_deflected");
        if sorted >= 4 {
            let given_up: u64 = (3..6).map(|port| bench.counter(&format!("port {port}"), "packets_given_up")).sum();
            prop_assert_eq!(elsewhere as u64 + given_up, deflected);
            prop_assert_eq!(bench.world.ended.len() as u64, given_up + bench.counter("port 1", "packets_with_nowhere_to_go"));
        }
        prop_assert_eq!(&run().world.left, &bench.world.left, "the same seed, the same way");
    }
}
