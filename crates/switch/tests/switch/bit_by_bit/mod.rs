//! The oracle of bit-by-bit round robin, compared with results by hand and with a count of single bits.

pub mod oracle;

use hitless_core::wire::{BitRate, Time};
use oracle::{Arrival, departures, finish_numbers};
use proptest::prelude::*;

/// One bit takes one picosecond.
fn rate() -> BitRate {
    BitRate::from_gbps(1_000)
}

fn arrival((at, flow, bytes, weight): (u64, u32, u32, u32)) -> Arrival {
    Arrival { at: Time(at), flow, bytes, weight }
}

#[test]
fn finish_numbers_that_can_be_found_by_hand() {
    type Case = (&'static str, &'static [(u64, u32, u32, u32)], &'static [u64]);
    let table: &[Case] = &[
        ("packets of one flow follow each other", &[(0, 0, 10, 1), (0, 0, 5, 1)], &[80, 120]),
        ("flows that begin together share", &[(0, 0, 10, 1), (0, 1, 5, 1)], &[80, 40]),
        ("40 bits alone are 40 rounds", &[(0, 0, 10, 1), (40, 1, 5, 1)], &[80, 80]),
        ("40 bits of two flows are 20 rounds", &[(0, 0, 10, 1), (0, 1, 10, 1), (40, 2, 5, 1)], &[80, 80, 60]),
        ("an idle line makes no rounds", &[(0, 0, 10, 1), (1_000, 0, 10, 1)], &[80, 160]),
        ("who was idle gets nothing for it", &[(0, 0, 100, 1), (400, 1, 1, 1)], &[800, 408]),
        ("a weight divides", &[(0, 0, 10, 4), (0, 1, 10, 1)], &[20, 80]),
        ("packets share a round", &[(0, 0, 1, 3), (0, 0, 1, 3), (0, 0, 1, 3)], &[3, 6, 8]),
        (
            "a round begun takes who comes",
            &[(0, 0, 10, 1), (0, 1, 10, 1), (41, 2, 5, 1), (42, 3, 1, 1)],
            &[80, 80, 60, 28],
        ),
    ];
    for (name, schedule, expected) in table {
        let schedule: Vec<_> = schedule.iter().copied().map(arrival).collect();
        assert_eq!(finish_numbers(&schedule, rate()), *expected, "{name}");
    }
}

#[test]
fn a_small_packet_overtakes_what_is_queued_but_not_what_is_sent() {
    let schedule = [(0, 0, 10, 1), (0, 0, 10, 1), (1, 1, 5, 1)].map(arrival);
    let order: Vec<_> = departures(&schedule, rate()).iter().map(|left| (left.arrival, left.ends_at.0)).collect();
    assert_eq!(order, [(0, 80), (2, 120), (1, 200)]);
}

#[test]
fn of_equal_finish_numbers_the_first_to_arrive_goes_first() {
    let schedule = [(0, 2, 10, 1), (0, 0, 10, 1), (0, 1, 10, 1)].map(arrival);
    let order: Vec<_> = departures(&schedule, rate()).iter().map(|left| left.arrival).collect();
    assert_eq!(order, [0, 1, 2]);
}

/// A flow that sends single bits; all weights are 1.
#[derive(Clone, Default)]
struct Bits {
    /// Packets, with the number of bits left in each.
    packets: std::collections::VecDeque<(usize, u64)>,
}

/// Returns finish numbers from bits sent in turn: in each round one bit of each flow, each taking `ps_per_bit`.
fn bits_in_turn(schedule: &[Arrival], ps_per_bit: u64) -> Vec<u64> {
    let mut flows = vec![Bits::default(); 8];
    let mut finish = vec![0; schedule.len()];
    let (mut next, mut round, mut now) = (0, 0, 0);
    while next < schedule.len() || flows.iter().any(|flow| !flow.packets.is_empty()) {
        if flows.iter().all(|flow| flow.packets.is_empty()) {
            now = now.max(schedule[next].at.0);
        }
        // Flows that start during the round send in it, so it ends later, and more flows can start.
        let mut ends_at;
        loop {
            let active = flows.iter().filter(|flow| !flow.packets.is_empty()).count() as u64;
            ends_at = now + active * ps_per_bit;
            match schedule.get(next) {
                Some(arrival) if arrival.at.0 < ends_at || active == 0 => {
                    let packet = (next, u64::from(arrival.bytes) * 8);
                    flows[arrival.flow as usize].packets.push_back(packet);
                    next += 1;
                }
                _ => break,
            }
        }
        (now, round) = (ends_at, round + 1);
        for flow in flows.iter_mut().filter(|flow| !flow.packets.is_empty()) {
            flow.packets[0].1 -= 1;
            if let (packet, 0) = flow.packets[0] {
                finish[packet] = round;
                flow.packets.pop_front();
            }
        }
    }
    finish
}

fn schedules() -> impl Strategy<Value = Vec<Arrival>> {
    let packet = (0u64..400, 0u32..8, 1u32..40);
    prop::collection::vec(packet, 1..40).prop_map(|packets| {
        let mut now = 0;
        let arrive = |(gap, flow, bytes)| {
            now += gap;
            arrival((now, flow, bytes, 1))
        };
        packets.into_iter().map(arrive).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn finish_numbers_are_those_of_bits_sent_in_turn(schedule in schedules()) {
        prop_assert_eq!(finish_numbers(&schedule, rate()), bits_in_turn(&schedule, 1));
    }

    #[test]
    fn every_packet_leaves_once_and_the_line_never_rests_while_one_waits(schedule in schedules()) {
        let left = departures(&schedule, rate());
        let mut seen = vec![false; schedule.len()];
        let mut free_at = Time::ZERO;
        for departure in &left {
            prop_assert!(!std::mem::replace(&mut seen[departure.arrival], true));
            prop_assert!(departure.begins_at >= free_at.max(schedule[departure.arrival].at));
            let waited = schedule.iter().enumerate().any(|(other, arrival)| {
                arrival.at < departure.begins_at
                    && left.iter().any(|left| left.arrival == other && left.begins_at >= departure.begins_at)
            });
            prop_assert!(departure.begins_at == free_at || !waited);
            free_at = departure.ends_at;
        }
        prop_assert!(seen.iter().all(|&left| left));
    }
}
