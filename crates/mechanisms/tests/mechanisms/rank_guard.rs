//! The rank guard: an honest flow keeps its claims, a liar gets the rank of its sent bytes.

use hitless_core::wire::{BitRate, Duration, Packet, PortId, PriorityMark, Time};
use hitless_mechanisms::RankGuard;
use hitless_mechanisms::rank_guard::RankGuardSettings;
use hitless_switch::{Architecture, BufferPolicy, PortConfig, QueueConfig, QueueLimit, Switch};
use proptest::prelude::*;

use crate::one_switch::OneSwitch;

const HOST: PortId = PortId(0);
const SWITCH: PortId = PortId(1);

struct Bench {
    one: OneSwitch,
    now: Time,
}

fn settings() -> RankGuardSettings {
    RankGuardSettings { slots: 1_024, ..RankGuardSettings::default() }
}

impl Bench {
    fn new(settings: RankGuardSettings) -> Self {
        let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(QueueLimit::Unlimited));
        let ports = [false, true].map(|faces_switch| PortConfig { faces_switch, ..port.clone() });
        let architecture = Architecture { checked: true, ..Architecture::ideal() };
        let guard = RankGuard::new(vec![HOST], &settings);
        let switch = Switch::new(architecture, ports.to_vec(), BufferPolicy::Static, vec![Box::new(guard)]);
        Self { one: OneSwitch::new(switch, |_| SWITCH), now: Time::ZERO }
    }

    fn send(&mut self, flow: u32, frame_bytes: u32, mark: Option<PriorityMark>) -> Option<u32> {
        self.now += Duration::from_us(2);
        let mut packet = Packet { frame_bytes, flow_hash: flow, ttl: 9, ..Packet::default() };
        if let Some(mark) = mark {
            packet.push_shim(mark).expect("it carries no other shim");
        }
        self.one.arrive(self.now, HOST, packet);
        assert_eq!(self.one.switches[0].violation(), None);
        assert_eq!(self.one.reasons(), [], "the guard drops nothing");
        let sent = self.one.world.left.pop().expect("it was sent at once");
        sent.packet.shims.get::<PriorityMark>().map(PriorityMark::urgency)
    }

    /// Sends a message in packets of 1,460 bytes, with ranks by `claim` of the remaining bytes; returns the resulting
    /// ranks.
    fn message(&mut self, flow: u32, flowlet: u16, total: u32, claim: impl Fn(u32) -> u32) -> Vec<u32> {
        let offsets = (0..total).step_by(1_460);
        let send = |offset| {
            let payload = 1_460.min(total - offset);
            let mark = PriorityMark { rank_bytes: claim(total - offset), flowlet, ..PriorityMark::default() };
            self.send(flow, payload + 58, Some(mark)).expect("it has a mark")
        };
        offsets.map(send).collect()
    }

    fn counter(&self, name: &str) -> u64 {
        let report = self.one.report();
        report.counters.iter().find(|counter| counter.1.key == name).unwrap_or_else(|| panic!("no {name}")).2
    }
}

#[test]
fn an_honest_flow_keeps_its_claims_message_after_message() {
    let mut bench = Bench::new(settings());
    for (flowlet, total) in [(0, 3_000_000), (1, 1_000), (2, 40_000), (3, 200_000)] {
        let ranks = bench.message(7, flowlet, total, |remaining| remaining);
        let expected: Vec<u32> = (0..total).step_by(1_460).map(|offset| total - offset).collect();
        assert_eq!(ranks, expected);
    }
    assert_eq!(bench.counter("packets_raised"), 0);
}

#[test]
fn a_packet_repeated_of_an_earlier_message_begins_none() {
    let mut bench = Bench::new(settings());
    bench.message(7, 0, 100_000, |remaining| remaining);
    let half = 50 * 1_460;
    let next = |bench: &mut Bench, remaining: u32| {
        let mark = PriorityMark { rank_bytes: remaining, flowlet: 1, ..PriorityMark::default() };
        bench.send(7, 1_518, Some(mark))
    };
    (0..50).for_each(|packet| assert_eq!(next(&mut bench, 100_000 - packet * 1_460), Some(100_000 - packet * 1_460)));
    let late = PriorityMark { rank_bytes: 1_460, flowlet: 0, retransmissions: 1, ..PriorityMark::default() };
    assert_eq!(bench.send(7, 1_518, Some(late)), Some(730), "its own rank, halved");
    assert_eq!(next(&mut bench, 100_000 - half), Some(100_000 - half));
    assert_eq!(bench.counter("packets_raised"), 0);
}

#[test]
fn who_claims_a_hundredth_is_believed_for_a_hundredth_and_then_ranked_by_what_it_has_sent() {
    let mut bench = Bench::new(settings());
    let total = 3_000_000;
    let ranks = bench.message(7, 0, total, |remaining| remaining / 100);
    // 30,000 promised bytes, an eighth of them, and the allowance: 48,750 bytes are 33 packets.
    let sent = |packet: usize| packet as u32 * 1_526;
    let found_out = ranks.iter().enumerate().position(|(packet, &rank)| rank == sent(packet) && packet > 0);
    assert_eq!(found_out, Some(32));
    assert!(ranks.iter().enumerate().skip(32).all(|(packet, &rank)| rank == sent(packet)), "all later ones");
    assert_eq!(bench.counter("flows_found_out"), 1);
}

#[test]
fn a_large_promise_is_kept_to_by_those_who_claim_little_later() {
    let mut bench = Bench::new(settings());
    let total = 1_000_000;
    let ranks = bench.message(7, 0, total, |remaining| if remaining == total { total } else { 1 });
    let floor = |packet: usize| (total - packet as u32 * 1_526).max(1);
    assert!(ranks.iter().enumerate().take(600).all(|(packet, &rank)| rank == floor(packet)), "{:?}", &ranks[..5]);
}

#[test]
fn packets_without_a_mark_are_marked_when_they_are_many_and_long() {
    let mut bench = Bench::new(settings());
    let ranks: Vec<_> = (0..20).map(|_| bench.send(7, 1_500, None)).collect();
    assert!(ranks[..10].iter().all(Option::is_none), "the allowance");
    assert_eq!(ranks[11], Some(16_500));
    let acks: Vec<_> = (0..1_000).map(|_| bench.send(8, 64, None)).collect();
    assert!(acks.iter().all(Option::is_none), "short frames are let through");
}

#[test]
fn repeated_packets_are_believed_to_be_urgent_for_a_while() {
    let mut bench = Bench::new(settings());
    let again = PriorityMark { rank_bytes: 100_000, retransmissions: 4, ..PriorityMark::default() };
    let ranks: Vec<_> = (0..20).map(|_| bench.send(7, 1_500, Some(again)).expect("it has a mark")).collect();
    assert!(ranks[..9].iter().all(|&rank| rank == 100_000 / 16), "{ranks:?}");
    assert!(ranks[9..].iter().all(|&rank| rank == 100_000), "{ranks:?}");
    assert_eq!(bench.counter("boosts_refused"), 11);
}

#[test]
fn a_liar_that_has_been_found_out_stays_so_until_it_is_silent() {
    let mut bench = Bench::new(settings());
    let last = |bench: &mut Bench, flowlet| *bench.message(7, flowlet, 100_000, |_| 1).last().expect("it has packets");
    let first = last(&mut bench, 0);
    let second = last(&mut bench, 1);
    assert!(first > 90_000 && second > 190_000, "{first} {second}");
    bench.now += Duration::from_us(10_001);
    assert_eq!(bench.message(7, 2, 5_000, |remaining| remaining)[0], 5_000, "after a silence it begins anew");
}

#[test]
fn who_finds_its_slot_taken_passes_unguarded_and_is_counted() {
    let mut bench = Bench::new(settings());
    bench.message(7, 0, 10_000, |remaining| remaining);
    let ranks = bench.message(7 + 1_024, 0, 100_000, |_| 1);
    assert!(ranks.iter().all(|&rank| rank == 1));
    assert_eq!(bench.counter("packets_unguarded"), ranks.len() as u64);
}

proptest! {
    /// For any losses and retransmissions within the tolerance, an honest flow is never raised.
    #[test]
    fn an_honest_flow_that_repeats_packets_is_not_raised(
        totals in prop::collection::vec(1u32..400_000, 1..6), repeats in prop::collection::vec(0usize..20, 0..8),
    ) {
        let mut bench = Bench::new(settings());
        for (flowlet, &total) in totals.iter().enumerate() {
            for (number, offset) in (0..total).step_by(1_460).enumerate() {
                let payload = 1_460.min(total - offset);
                let mark = PriorityMark { rank_bytes: total - offset, flowlet: flowlet as u16, ..PriorityMark::default() };
                bench.send(7, payload + 58, Some(mark));
                if repeats.contains(&number) {
                    bench.send(7, payload + 58, Some(PriorityMark { retransmissions: 1, ..mark }));
                }
            }
        }
        // Up to eight repeated packets in a message; the allowance is ten for the whole flow.
        prop_assert_eq!(bench.counter("flows_found_out"), 0);
        let raised = bench.counter("packets_raised");
        prop_assert_eq!(raised, 0);
    }

    /// For any claims, once a flow has sent its promise, the tolerance and the allowance, its rank is at least its sent
    /// bytes.
    #[test]
    fn no_claim_gains_more_than_its_promise_and_least_attained_service(
        claims in prop::collection::vec((0u32..100_000, 0u8..4), 60..200),
    ) {
        let mut bench = Bench::new(settings());
        let (mut sent, promised) = (0u64, f64::from(claims[0].0));
        for &(rank_bytes, retransmissions) in &claims {
            let mark = PriorityMark { rank_bytes, retransmissions, ..PriorityMark::default() };
            let rank = bench.send(7, 1_500, Some(mark)).expect("it has a mark");
            if sent as f64 > promised * 1.125 + 15_000.0 {
                prop_assert!(u64::from(rank) >= sent, "{} after {}", rank, sent);
            }
            sent += 1_508;
        }
    }
}
