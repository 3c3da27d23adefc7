//! DCQCN on a link of 40 Gb/s that marks like the paper's switches.

use crate::bottleneck::{Bottleneck, Discipline};
use hitless_core::wire::{BitRate, Duration, Packet, Time};
use hitless_hosts::transport::Sender;
use hitless_hosts::transport::roce::{DcqcnSettings, RoceRequester, RoceResponder, RoceSettings};
use rand::{RngExt, SeedableRng};

const RATE: BitRate = BitRate::from_gbps(40);
const ONE_WAY: Duration = Duration::from_us(5);
/// Length of a packet with headers and gap.
const WIRE_BYTES: u64 = 1_024 + 78 + 20;

fn at(time_us: u64) -> Time {
    Time::ZERO + Duration::from_us(time_us)
}

/// Random early marking between 5 kB and 200 kB up to 1 % (paper, section 5.4), in packets.
fn marking(seed: u64) -> impl FnMut(usize, &mut Packet) -> bool {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    move |queued, packet| {
        let depth = (queued as f64 * WIRE_BYTES as f64 - 5e3) / (200e3 - 5e3);
        let probability = if depth >= 1.0 { 1.0 } else { (depth * 0.01).max(0.0) };
        if random.random_bool(probability) {
            packet.mark_congestion();
        }
        true
    }
}

fn link(
    flows: usize,
    dcqcn: Option<DcqcnSettings>,
) -> Bottleneck<RoceRequester, RoceResponder, impl FnMut(usize, &mut Packet) -> bool> {
    let config = RoceSettings { dcqcn, ..RoceSettings::default() };
    let ends = (0..flows).map(|_| (RoceRequester::new(config, RATE), RoceResponder::new(config))).collect();
    let mut link = Bottleneck::new(ends, Discipline::Fifo, RATE, ONE_WAY, marking(1));
    (0..flows).for_each(|flow| link.write(flow, 1 << 40));
    link
}

#[test]
fn flows_of_dcqcn_share_a_link_and_keep_its_queue_far_below_their_windows() {
    for flows in [2, 4] {
        let mut link = link(flows, Some(DcqcnSettings::default()));
        link.run_until(at(30_000));
        let (before, mut longest) = (link.delivered(), 0);
        for step in 1..=600 {
            link.run_until(at(30_000 + step * 100));
            longest = longest.max(link.queued());
        }
        let bytes: Vec<f64> =
            link.delivered().iter().zip(before).map(|(after, before)| (after - before) as f64).collect();
        let most = RATE.bytes_in(Duration::from_ms(60)).0 as f64 * 1_024.0 / WIRE_BYTES as f64;
        let (sum, squares) = (bytes.iter().sum::<f64>(), bytes.iter().map(|bytes| bytes * bytes).sum::<f64>());
        let jain = sum * sum / (flows as f64 * squares);
        assert!(sum / most > 0.9, "{flows} flows: {} of the link", sum / most);
        assert!(jain > 0.9, "{flows} flows: {bytes:?}");
        // Without DCQCN, 512 packets of each flow would wait.
        assert!(longest < 200, "{flows} flows: {longest} packets");
        assert!(link.flows.iter().all(|(requester, _)| requester.statistics().congestion_echoes > 10));
    }
}

#[test]
fn without_dcqcn_the_windows_stand_in_the_queue() {
    let mut link = link(2, None);
    link.run_until(at(1_000));
    assert!(link.queued() > 900, "{} packets", link.queued());
}
