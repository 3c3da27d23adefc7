//! Convergence of the gaps on a link: to its rate for a single flow, and to a fair share for several.

use super::script::{FULL_NS, MSS, at, config};
use crate::bottleneck::{Bottleneck, Discipline};
use hitless_core::wire::{BitRate, Duration, Packet};
use hitless_hosts::transport::packet_pair::{PacketPairReceiver, PacketPairSender};

const RATE: BitRate = BitRate::from_gbps(8);
const ONE_WAY: Duration = Duration::from_us(10);

type Link = Bottleneck<PacketPairSender, PacketPairReceiver, fn(usize, &mut Packet) -> bool>;

fn bottleneck(flows: usize, discipline: Discipline) -> Link {
    let flow = || {
        let sender = PacketPairSender::new(&config(), Duration::ZERO);
        (sender, PacketPairReceiver::new(&config(), Duration::ZERO))
    };
    Bottleneck::new((0..flows).map(|_| flow()).collect(), discipline, RATE, ONE_WAY, |_, _| true)
}

/// Marks packets queued behind more than `packets` of the same flow.
fn mark_above(link: &mut Link, packets: usize) {
    for packet in link.queues.iter_mut().flat_map(|queue| queue.iter_mut().skip(packets)) {
        packet.mark_congestion();
    }
}

/// Returns the full packets that each flow delivered from `start_ns` to `end_ns`.
fn delivered_between(link: &mut Link, start_ns: u64, end_ns: u64) -> Vec<u64> {
    link.run_until(at(start_ns));
    let before = link.delivered();
    link.run_until(at(end_ns));
    link.delivered().iter().zip(before).map(|(after, before)| (after - before) / MSS).collect()
}

#[test]
fn one_flow_fills_a_link_from_its_first_acknowledgement_on_and_leaves_its_queue_short() {
    for discipline in [Discipline::Fifo, Discipline::RoundRobin] {
        let mut link = bottleneck(1, discipline);
        link.write(0, 100_000 * MSS);
        link.run_until(at(100_000));
        let rate = link.flows[0].0.link_rate_bytes_per_second().expect("a gap was measured");
        assert!((rate * FULL_NS as f64 / 1e12 - 1.0).abs() < 1e-9, "{discipline:?}: {rate}");
        let packets = delivered_between(&mut link, 100_000, 100_000 + 1_000 * FULL_NS)[0];
        assert!((998..=1_000).contains(&packets), "{discipline:?}: {packets} of 1000");
        assert!(link.longest_queue <= 2, "{discipline:?}: {} packets", link.longest_queue);
    }
}

#[test]
fn flows_served_in_turn_share_evenly_within_a_round_trip() {
    for flows in [2, 3, 5] {
        let mut link = bottleneck(flows, Discipline::RoundRobin);
        (0..flows).for_each(|flow| link.write(flow, 100_000 * MSS));
        // The first two round trips have the initial queue.
        let packets = delivered_between(&mut link, 100_000, 100_000 + 600 * FULL_NS);
        let share = 600 / flows as u64;
        for &count in &packets {
            assert!(count.abs_diff(share) <= 6, "{flows} flows: {packets:?} of {share}");
        }
        for (sender, _) in &link.flows {
            let rate = sender.link_rate_bytes_per_second().expect("a gap was measured") * FULL_NS as f64 / 1e12;
            assert!((rate * flows as f64 - 1.0).abs() < 0.1, "{flows} flows: a rate of {rate}");
        }
    }
}

#[test]
fn a_flow_makes_room_for_one_that_comes_and_takes_its_share_when_it_goes() {
    let mut link = bottleneck(2, Discipline::RoundRobin);
    link.write(0, 100_000 * MSS);
    link.run_until(at(500_000));
    link.write(1, 500 * MSS);
    let shared = delivered_between(&mut link, 600_000, 600_000 + 400 * FULL_NS);
    assert!(shared.iter().all(|&count| count.abs_diff(200) <= 8), "{shared:?}");
    link.run_until(at(2_500_000));
    assert_eq!(link.delivered()[1], 500 * MSS);
    let alone = delivered_between(&mut link, 2_500_000, 2_500_000 + 400 * FULL_NS);
    assert!(alone[0].abs_diff(400) <= 4, "{alone:?}");
}

#[test]
fn marks_drain_a_queue_that_stands() {
    // Flows that start together each fill the queue by about a window; without marks the queue never drains.
    let run = |marks: bool| {
        let mut link = bottleneck(8, Discipline::RoundRobin);
        (0..8).for_each(|flow| link.write(flow, 100_000 * MSS));
        let mut sum = 0;
        for step in 1..2_000 {
            link.run_until(at(step * FULL_NS));
            if marks {
                mark_above(&mut link, 1);
            }
            sum += link.queued() * usize::from(step > 1_000);
        }
        sum
    };
    let (without, with) = (run(false), run(true));
    assert!(with < without, "{with} against {without}");
}
