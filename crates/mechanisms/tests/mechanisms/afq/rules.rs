//! Rules of the enqueue module, by tables.

use hitless_core::wire::Duration;
use hitless_mechanisms::afq::{AfqAdaptive, AfqLate, AfqPort, AfqSettings, AfqSketch, DropAhead, UpdateRule};
use hitless_switch::{Architecture, BufferPolicy, DropReason, QueueLimit};

use super::world::{
    Arrival, PORT, Run, arrival, ideal, inferred_round, rotating, run, run_at, run_ideal, settings, together,
};

fn burst(flow: u32, bytes: u32, count: usize) -> Vec<Arrival> {
    together(std::iter::repeat_n((flow, bytes), count))
}

fn with_update(update: UpdateRule, settings: AfqSettings) -> AfqSettings {
    AfqSettings { sketch: AfqSketch { update, ..settings.sketch }, ..settings }
}

const UPDATES: [UpdateRule; 3] = [UpdateRule::Increment, UpdateRule::PredicatedIncrement, UpdateRule::Figure3];

#[test]
fn a_packet_of_a_round_without_a_queue_of_its_own_is_dropped() {
    // Packet k ends with byte k x bytes, in round k x bytes / 1,000; the rounds are 0 to 3, or to 4.
    let table = [
        (DropAhead::AtQueues, 1_000, 3, 0),
        (DropAhead::AtQueues, 500, 7, 0),
        (DropAhead::BeyondQueues, 1_000, 4, 1),
        (DropAhead::BeyondQueues, 500, 9, 2),
    ];
    for update in UPDATES {
        for (drop_ahead, bytes, queued, in_the_served_queue) in table {
            let settings = with_update(update, AfqSettings { drop_ahead, ..settings(4, 1_000) });
            let run = run_ideal(settings, &burst(0, bytes, 20));
            assert_eq!(run.departures.len(), queued + 1, "{drop_ahead:?} {bytes} {update:?}");
            assert_eq!(run.count("packets_dropped_too_far_ahead"), 20 - queued as u64);
            assert_eq!(run.count("packets_in_earlier_queue"), in_the_served_queue);
            assert_eq!(run.count("rounds_ahead_max"), if bytes == 1_000 { queued as u64 } else { queued as u64 / 2 });
        }
    }
}

#[test]
fn a_flow_is_marked_alone_from_the_threshold_on() {
    let settings = AfqSettings { ecn_rounds: Some(2), ..settings(8, 1_000) };
    let run = run_ideal(settings, &together([(0, 1_000), (0, 1_000), (0, 1_000), (0, 1_000), (1, 1_000)]));
    let mut marked: Vec<usize> = run.departures.iter().filter(|gone| gone.is_marked).map(|gone| gone.arrival).collect();
    marked.sort_unstable();
    assert_eq!(marked, [2, 3, 4], "2, 3 and 4 rounds ahead; the first of either flow is 1 ahead");
    assert_eq!(run.count("packets_marked"), 3);
}

#[test]
fn bids_of_32_bits_wrap_and_rounds_of_8_bits_too() {
    // 1,000 packets of 45 MB are 45 GB, ten times 2^32, and more than 256 rounds of each flow.
    let flow = |packet: u64| [0, 0, 1, 0, 2][packet as usize % 5];
    let schedule: Vec<_> = (0..1_000).map(|packet| arrival(packet * 44_000_001, flow(packet), 45_000_000)).collect();
    for update in UPDATES {
        let narrow = with_update(update, settings(8, 50_000_000));
        let wide = AfqSettings { sketch: AfqSketch { bid_bits: 64, ..narrow.sketch }, ..narrow.clone() };
        let [narrow, wide] = [narrow, wide].map(|settings| run_ideal(settings, &schedule));
        assert_eq!(narrow.departures, wide.departures, "{update:?}");
        assert!(narrow.count("round") > 256 && narrow.dropped() < 100, "{:?}", narrow.counters);
        assert_eq!(narrow.count("packets_late_for_round"), 0);
    }
}

#[test]
fn a_flow_that_pauses_for_more_than_half_of_all_bids_is_not_taken_for_one_ahead() {
    // Between its two packets the round advances by 2.5 GB: as a signed difference its bid would be ahead.
    let before = [arrival(0, 0, 45_000_000)];
    let other = (1..=56).map(|packet| arrival(packet * 45_000_000, 1, 45_000_000));
    let schedule: Vec<_> = before.into_iter().chain(other).chain([arrival(57 * 45_000_000, 0, 45_000_000)]).collect();
    for update in [UpdateRule::PredicatedIncrement, UpdateRule::Figure3] {
        let run = run_ideal(with_update(update, settings(8, 50_000_000)), &schedule);
        assert_eq!(run.dropped(), 0, "{update:?}");
    }
}

#[test]
fn rows_that_share_cells_delay_packets_and_the_checker_sees_it() {
    let schedule: Vec<_> = (0..200).map(|packet| arrival(packet * 900, packet as u32 % 20, 1_000)).collect();
    for update in UPDATES {
        let exact = with_update(update, settings(32, 1_000));
        let crowded = AfqSettings { sketch: AfqSketch { columns: 3, ..exact.sketch }, ..exact.clone() };
        let [exact, crowded] = [exact, crowded].map(|settings| run_ideal(settings, &schedule));
        assert_eq!(exact.count("packets_in_later_queue"), 0, "{update:?}");
        assert_eq!(exact.count("packets_with_differing_rows"), 0);
        assert!(crowded.count("packets_in_later_queue") > 50, "{:?}", crowded.counters);
        assert!(crowded.count("packets_with_differing_rows") > 0);
        assert_eq!(exact.count("bids_checked"), 200);
    }
}

#[test]
fn only_updates_in_one_access_pass_the_checked_mode() {
    for (update, is_legal) in UPDATES.into_iter().zip([true, true, false]) {
        let architecture = Architecture { checked: true, ..Architecture::ideal() };
        let run = run(architecture, with_update(update, settings(8, 1_000)), BufferPolicy::Static, &burst(0, 500, 3));
        assert_eq!(run.violation.is_none(), is_legal, "{update:?}: {:?}", run.violation);
    }
}

fn run_limited(limit: QueueLimit, settings: AfqSettings, schedule: &[Arrival]) -> Run {
    run_at(AfqPort { limit, ..PORT }, ideal(), settings, BufferPolicy::Static, schedule)
}

#[test]
fn the_limit_of_a_port_is_for_all_its_queues_together_and_counts_the_frame_on_the_line() {
    let schedule = together((0..10).map(|flow| (flow, 1_000)));
    for (limit, queued) in [(QueueLimit::Bytes(4_064), 4), (QueueLimit::Bytes(4_063), 3), (QueueLimit::Packets(3), 2)] {
        let run = run_limited(limit, settings(8, 600), &schedule);
        assert_eq!(run.departures.len(), queued + 1, "{limit:?}");
        assert_eq!(run.drops[&DropReason::BufferFull], 10 - queued);
        assert_eq!(run.count("packets_refused_by_traffic_manager"), 10 - queued as u64);
        assert_eq!(run.count("packets_refused_by_buffer"), 10 - queued as u64);
    }
}

#[test]
fn a_packet_refused_for_lack_of_buffer_stays_charged_unless_it_is_refunded() {
    // In round 1 five packets get the rounds 2 to 6, and three find room. The sixth arrives in round 4, behind round 6
    // or 4.
    let mut schedule = together(std::iter::repeat_n((0, 1_000), 5));
    schedule.push(arrival(1_500, 0, 1_000));
    for (charge_refused, last_round) in [(true, 7), (false, 5)] {
        let settings = AfqSettings { charge_refused, ..settings(16, 1_000) };
        let run = run_limited(QueueLimit::Bytes(3_064), settings, &schedule);
        assert_eq!(run.departures.len(), 1 + 3 + 1);
        assert_eq!(run.count("packets_refunded"), if charge_refused { 0 } else { 2 });
        assert_eq!(run.count("rotations"), last_round + 1, "the last packet ends its round");
    }
}

#[test]
fn a_packet_that_comes_after_its_round_goes_where_the_rule_says() {
    // 200 ns of ingress are 2,000 bytes. Both leave ingress for round 0; the first is served at 2,000, which ends it.
    let slow = Architecture { ingress_latency: Duration::from_ns(200), ..Architecture::ideal() };
    let schedule = [arrival(0, 0, 500), arrival(10, 1, 500), arrival(20, 2, 1_100), arrival(30, 3, 2_100)];
    for (late, order) in [(AfqLate::ServedQueue, [0, 1, 2, 3]), (AfqLate::NamedQueue, [0, 2, 3, 1])] {
        let settings = AfqSettings { scheduler: rotating(late), ..settings(4, 1_000) };
        let run = run(slow.clone(), settings, BufferPolicy::Static, &schedule);
        assert_eq!(run.count("packets_late_for_round"), 1, "{late:?}");
        assert_eq!(run.order(), order, "{late:?}");
    }
}

#[test]
fn the_number_of_queues_follows_the_room_in_a_shared_buffer() {
    let adaptive = AfqAdaptive::default();
    let shared = |capacity_bytes| BufferPolicy::Shared { capacity_bytes, alpha: 1.0 };
    let flows = (0..600u64).map(|packet| arrival(packet * 300, packet as u32 % 12, 1_000));
    let schedule: Vec<_> = flows.collect();
    let settings = AfqSettings { adaptive: Some(adaptive), ..settings(32, 1_000) };
    let run_with = |capacity_bytes| run(ideal(), settings.clone(), shared(capacity_bytes), &schedule);
    let (tight, wide) = (run_with(60_000), run_with(10_000_000));
    assert!(tight.count("queues_in_use_min") < 8, "{:?}", tight.counters);
    assert_eq!((wide.count("queues_in_use_min"), wide.count("queue_reductions")), (32, 0));
}

#[test]
fn the_round_is_inferred_exactly_where_queues_are_seen_as_they_are() {
    let schedule: Vec<_> = (0..300).map(|packet| arrival(packet * 700, packet as u32 % 3, 1_000)).collect();
    let run_with = |granularity_bytes, refresh| {
        run_ideal(inferred_round(granularity_bytes, refresh, settings(16, 1_000)), &schedule)
    };
    let exact = run_with(1, Duration::ZERO);
    assert_eq!((exact.count("rounds_estimated"), exact.count("rounds_behind_max")), (300, 0));
    assert_eq!(exact.count("packets_late_for_round"), 0);
    let coarse = run_with(5_000, Duration::ZERO);
    let stale = run_with(1, Duration::from_us(2));
    let ahead = [&exact, &coarse, &stale].map(|run| run.count("estimated_rounds_ahead_max"));
    assert!(ahead[0] < 3 && ahead[1] > 10 && ahead[2] > 10, "{ahead:?}");
    for run in [coarse, stale] {
        let misplaced = ["packets_in_earlier_queue", "packets_late_for_round"];
        assert!(misplaced.map(|name| run.count(name)).iter().sum::<u64>() > 100, "{:?}", run.counters);
    }
}
