//! A port of a switch with a queue served by rank: evicted packets can go to another port, and all accounts balance.

use hitless_core::wire::{BitRate, Duration, Packet, PortId, PriorityMark, QueueId, Time};
use hitless_switch::testing::Harness;
use hitless_switch::{
    Architecture, BufferPolicy, Context, DropReason, HookSet, Mechanism, Needs, PortConfig, QueueConfig, QueueLimit,
    QueueOrder, Report, Resources, Switch, Verdict,
};
use proptest::prelude::*;

use super::world::{ELSEWHERE, IN, OUT, harness, packet};

/// Requests service by rank at some ports, and sends refused packets to another port.
struct Deflector {
    by_rank: Vec<PortId>,
}

impl Mechanism for Deflector {
    fn needs(&mut self, _: &[usize]) -> Needs {
        Needs {
            hooks: [OUT, ELSEWHERE].map(|port| (port, HookSet::TM_DROP)).to_vec(),
            orders: self.by_rank.iter().map(|&port| (port, QueueOrder::ByRank)).collect(),
            ..Needs::default()
        }
    }
    fn report(&self, _: Time) -> Report {
        Report::new("deflector")
    }
    fn resources(&self) -> Resources {
        Resources::new("deflector")
    }
    fn on_tm_drop(&mut self, _reason: DropReason, context: &mut Context<'_>) -> Verdict {
        if context.is_last_try() {
            return Verdict::Continue;
        }
        Verdict::Forward { port: ELSEWHERE, queue: QueueId(0) }
    }
}

fn ranked(rank_bytes: u32, frame_bytes: u32) -> Packet {
    let mut packet = packet(frame_bytes);
    packet.push_shim(PriorityMark { rank_bytes, ..PriorityMark::default() }).expect("the packet carries no other shim");
    packet
}

/// Runs arrivals of (gap to the previous one in ns, rank, bytes) for a port, with a second port like it.
fn run(arrivals: &[(u64, u32, u32)], limit: QueueLimit, buffer: BufferPolicy, by_rank: &[PortId]) -> Harness {
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(limit));
    let mechanisms = vec![Box::new(Deflector { by_rank: by_rank.to_vec() }) as Box<dyn Mechanism>];
    let switch = Switch::new(Architecture::tofino_like(), vec![port; 3], buffer, mechanisms);
    let mut harness = harness(switch);
    let mut at = Time::ZERO;
    for &(gap_ns, rank, frame_bytes) in arrivals {
        at += Duration::from_ns(gap_ns);
        harness.arrive(at, IN, ranked(rank, frame_bytes));
    }
    harness.finish();
    harness
}

#[test]
fn what_is_driven_out_goes_elsewhere_and_drives_out_the_worst_there_for_good() {
    let arrivals: Vec<_> = [9, 9, 5, 8, 3, 9, 2].map(|rank| (0, rank, 1_000)).to_vec();
    let harness = run(&arrivals, QueueLimit::Packets(2), BufferPolicy::Static, &[OUT, ELSEWHERE]);
    // Packet 0 is in transmission. 2 evicts 1, 3 is refused, 4 evicts 2, 5 is refused, 6 evicts 4.
    assert_eq!(harness.left_by(OUT), [0, 6]);
    // 1 is in transmission there; 2 evicts 3, 5 evicts no packet, 4 evicts 2.
    assert_eq!(harness.left_by(ELSEWHERE), [1, 4]);
    let lost = [(3, DropReason::Evicted), (5, DropReason::QueueFull), (2, DropReason::Evicted)];
    assert_eq!(harness.ended(), lost);
}

#[test]
fn a_packet_without_a_mark_is_as_urgent_as_can_be() {
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(QueueLimit::Packets(3)));
    let mechanisms = vec![Box::new(Deflector { by_rank: vec![OUT] }) as Box<dyn Mechanism>];
    let switch = Switch::new(Architecture::tofino_like(), vec![port; 3], BufferPolicy::Static, mechanisms);
    let mut harness = harness(switch);
    for packet in [ranked(1, 100), ranked(1, 100), packet(100), ranked(0, 100)] {
        harness.arrive(Time::ZERO, IN, packet);
    }
    harness.finish();
    assert_eq!((harness.left_by(OUT), harness.left_by(ELSEWHERE)), (vec![0, 2, 3], vec![1]));
}

proptest! {
    /// For any arrivals, every packet is sent once or ends once, and the buffer gets its bytes back.
    #[test]
    fn every_packet_leaves_or_ends_once(
        arrivals in prop::collection::vec((0u64..1_500, 0u32..9, 64u32..1_519), 1..200),
        limit in prop_oneof![(1u32..9).prop_map(QueueLimit::Packets), (1_518u64..9_000).prop_map(QueueLimit::Bytes)],
        shares in any::<bool>(), both in any::<bool>(),
    ) {
        let buffer = if shares { BufferPolicy::Shared { capacity_bytes: 12_000, alpha: 1.0 } } else { BufferPolicy::Static };
        let by_rank: &[PortId] = if both { &[OUT, ELSEWHERE] } else { &[OUT] };
        let harness = run(&arrivals, limit, buffer, by_rank);
        let mut all: Vec<u32> = harness.world.left.iter().map(|left| left.packet.frame).collect();
        all.extend(harness.ended().iter().map(|&(number, _)| number));
        all.sort_unstable();
        prop_assert_eq!(all, (0..arrivals.len() as u32).collect::<Vec<_>>());
    }

    #[test]
    fn of_equal_frames_that_come_at_once_the_most_urgent_are_sent_in_the_order_of_their_ranks(
        ranks in prop::collection::vec(0u32..9, 1..60), most in 2u32..9,
    ) {
        let arrivals: Vec<_> = ranks.iter().map(|&rank| (0, rank, 1_000)).collect();
        let harness = run(&arrivals, QueueLimit::Packets(most), BufferPolicy::Static, &[OUT, ELSEWHERE]);
        let mut expected: Vec<_> = ranks.iter().zip(0u32..).skip(1).collect();
        expected.sort();
        let sent: Vec<_> = std::iter::once(0).chain(expected.into_iter().map(|(_, number)| number)).collect();
        prop_assert_eq!(harness.left_by(OUT), &sent[..sent.len().min(most as usize)]);
    }
}
