//! BBR on a link with known rate and round-trip time: its estimates, its queue, and the effect of losses.

use crate::bottleneck::{Bottleneck, Discipline};
use hitless_core::engine::RandomStreams;
use hitless_core::wire::{BitRate, Duration, Packet, Time};
use hitless_hosts::transport::Sender;
use hitless_hosts::transport::tcp::{BbrSettings, Congestion, TcpReceiver, TcpSender, TcpSettings};
use rand::{RngExt, SeedableRng};

/// Payload of a packet, and its length on the link with headers and gap.
const MSS: u64 = 1_448;
const WIRE_BYTES: u64 = MSS + 70 + 20;
const RATE: BitRate = BitRate::from_gbps(1);
const SLOWER: BitRate = match BitRate::from_bps(250_000_000) {
    Some(rate) => rate,
    None => panic!("a rate of zero"),
};
const ONE_WAY: Duration = Duration::from_us(100);
/// Round-trip time without queue: both directions plus a packet.
const RTT: Duration = Duration::from_ps(2 * 100_000_000 + WIRE_BYTES * 8_000);

fn at(time_ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(time_ms)
}

fn config() -> TcpSettings {
    TcpSettings { rto_min: Duration::from_ms(10), ..TcpSettings::with(Congestion::Bbr(Default::default())) }
}

/// Measures the round-trip time in flights of `duration_ms` each `window_ms`.
fn probing(window_ms: u64, duration_ms: u64) -> TcpSettings {
    let (rtprop_window, probe_rtt_duration) = (Duration::from_ms(window_ms), Duration::from_ms(duration_ms));
    TcpSettings { congestion: Congestion::Bbr(BbrSettings { rtprop_window, probe_rtt_duration }), ..config() }
}

type Link<F> = Bottleneck<TcpSender, TcpReceiver, F>;

/// Creates a link with `flows` idle flows, each with a separate random stream; `admit` decides about packets.
fn idle_link<F: FnMut(usize, &mut Packet) -> bool>(config: &TcpSettings, flows: usize, admit: F) -> Link<F> {
    let flow = |number: usize| {
        let stream = RandomStreams::new(1).stream(&format!("flow {number}"));
        (TcpSender::new(config, Duration::ZERO).with_stream(stream), TcpReceiver::new(config, Duration::ZERO))
    };
    Bottleneck::new((0..flows).map(flow).collect(), Discipline::Fifo, RATE, ONE_WAY, admit)
}

/// Like [`idle_link`], with unlimited data for each flow.
fn link<F: FnMut(usize, &mut Packet) -> bool>(config: &TcpSettings, flows: usize, admit: F) -> Link<F> {
    let mut link = idle_link(config, flows, admit);
    (0..flows).for_each(|flow| link.write(flow, u64::MAX / 2));
    link
}

/// Returns each flow's share of the link from `start_ms` to `end_ms`.
fn shares<F: FnMut(usize, &mut Packet) -> bool>(link: &mut Link<F>, start_ms: u64, end_ms: u64) -> Vec<f64> {
    link.run_until(at(start_ms));
    let before = link.delivered();
    link.run_until(at(end_ms));
    let most = RATE.bytes_in(Duration::from_ms(end_ms - start_ms)).0 as f64 * MSS as f64 / WIRE_BYTES as f64;
    link.delivered().iter().zip(before).map(|(after, before)| (after - before) as f64 / most).collect()
}

/// Returns mean and maximum of the queue in packets, sampled every 20 us from `start_ms` to `end_ms`.
fn queue<F: FnMut(usize, &mut Packet) -> bool>(link: &mut Link<F>, start_ms: u64, end_ms: u64) -> (f64, usize) {
    let (mut sum, mut most, looks) = (0, 0, (end_ms - start_ms) * 50);
    for look in 0..looks {
        link.run_until(at(start_ms) + Duration::from_us(20) * look);
        sum += link.queued();
        most = most.max(link.queued());
    }
    (sum as f64 / looks as f64, most)
}

#[test]
fn bbr_finds_the_rate_and_the_round_trip_time_of_a_link() {
    let mut link = link(&config(), 1, |_, _| true);
    link.run_until(at(20));
    let sender = &link.flows[0].0;
    let model = sender.path_model().expect("BBR models the path");
    let rate = model.bytes_per_second * WIRE_BYTES as f64 / MSS as f64 * 8.0 / RATE.as_bps() as f64;
    assert!((rate - 1.0).abs() < 0.01, "{rate} of the rate");
    assert_eq!(model.rtprop, RTT);
}

#[test]
fn bbr_fills_a_link_and_queues_little() {
    let mut link = link(&config(), 1, |_, _| true);
    let share = shares(&mut link, 20, 200)[0];
    assert!(share > 0.99, "{share}");
    // The product of rate and round-trip time is 17.3 packets, and draining leaves room for three more. One round trip
    // of probing adds a quarter, which is drained in the next; NewReno would have thousands of packets in this queue.
    let (mean, most) = queue(&mut link, 200, 300);
    assert!(mean < 7.0 && most <= 13, "mean {mean}, most {most}");
}

#[test]
fn bbr_does_not_mind_losses_that_would_stop_cubic() {
    for (loss, least) in [(0.001, 0.97), (0.01, 0.95), (0.05, 0.85)] {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        let mut lossy = link(&config(), 1, |_, _| !random.random_bool(loss));
        let share = shares(&mut lossy, 50, 1_000)[0];
        assert!(share > least, "loss {loss}: {share}");
        let cubic = TcpSettings { rto_min: Duration::from_ms(10), ..TcpSettings::default() };
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        let mut other = link(&cubic, 1, |_, _| !random.random_bool(loss));
        let cubic_share = shares(&mut other, 50, 1_000)[0];
        assert!(
            cubic_share < if loss > 0.01 { share / 2.0 } else { share },
            "loss {loss}: CUBIC {cubic_share}, BBR {share}"
        );
    }
}

#[test]
fn flows_of_bbr_share_a_link_with_and_without_losses() {
    for loss in [0.0, 0.005] {
        for flows in [2, 4] {
            let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(5);
            let config = probing(200, 4);
            let mut link = link(&config, flows, |queued, _| queued < 200 && !random.random_bool(loss));
            let parts = shares(&mut link, 1_000, 3_000);
            let (sum, squares) = (parts.iter().sum::<f64>(), parts.iter().map(|part| part * part).sum::<f64>());
            let jain = sum * sum / (flows as f64 * squares);
            assert!(sum > 0.93 && jain > 0.9, "loss {loss}, {flows} flows: {parts:?}, Jain {jain}");
        }
    }
}

#[test]
fn a_window_falls_to_four_segments_when_the_round_trip_time_is_measured_and_comes_back() {
    let config = probing(50, 5);
    // A single flow empties the queue in each cycle, and a sample equal to the minimum renews it. Two flows keep a
    // queue.
    let mut link = link(&config, 2, |_, _| true);
    let (mut low, mut before) = (Vec::new(), 0.0);
    for step in 0..2_000 {
        link.run_until(at(20) + Duration::from_us(100) * step);
        let is_low = link.flows[0].0.cwnd_bytes() == 4 * MSS;
        low.push(is_low);
        // With four segments in flight the rate cannot be measured, however long: 5 ms are 25 round trips.
        let model = link.flows[0].0.path_model().expect("BBR models the path");
        if is_low {
            assert!(
                model.bytes_per_second >= 0.99 * before,
                "{} after {before} in step {step}",
                model.bytes_per_second
            );
        } else {
            before = model.bytes_per_second;
        }
    }
    let probes = low.windows(2).filter(|pair| !pair[0] && pair[1]).count();
    let share = low.iter().filter(|&&is_low| is_low).count() as f64 / low.len() as f64;
    assert_eq!(probes, 4, "one in 55 ms, from 50 to 220");
    assert!((0.07..0.13).contains(&share), "5 ms of each 55: {share}");
}

#[test]
fn a_flow_that_starts_late_has_no_stale_round_trip_time() {
    let config = probing(50, 200);
    let mut link = idle_link(&config, 1, |_, _| true);
    link.run_until(at(60));
    link.write(0, u64::MAX / 2);
    for step in 0..200 {
        link.run_until(at(60) + Duration::from_us(100) * step);
        assert!(link.flows[0].0.cwnd_bytes() > 4 * MSS, "{step}");
    }
}

#[test]
fn the_rate_follows_a_link_that_becomes_slower() {
    let mut link = link(&config(), 1, |queued, _| queued < 400);
    link.run_until(at(50));
    link.rate = SLOWER;
    link.run_until(at(150));
    let model = link.flows[0].0.path_model().expect("BBR models the path");
    let rate = model.bytes_per_second * WIRE_BYTES as f64 / MSS as f64 * 8.0 / RATE.as_bps() as f64;
    assert!((rate - 0.25).abs() < 0.01, "{rate} of the first rate");
    let (mean, _) = queue(&mut link, 200, 300);
    assert!(mean < 25.0, "{mean} packets");
}

#[test]
fn flows_begin_at_different_places_of_the_cycle() {
    // Each flow is alone on a link, and only the streams differ: after some phases the windows differ.
    let delivered = |name: &str| {
        let stream = RandomStreams::new(1).stream(name);
        let sender = TcpSender::new(&config(), Duration::ZERO).with_stream(stream);
        let flows = vec![(sender, TcpReceiver::new(&config(), Duration::ZERO))];
        let mut link = Bottleneck::new(flows, Discipline::Fifo, RATE, ONE_WAY, |_, _| true);
        link.write(0, u64::MAX / 2);
        let mut sent = Vec::new();
        for step in 0..100 {
            link.run_until(at(3) + Duration::from_us(50) * step);
            sent.push(link.flows[0].0.sent_bytes());
        }
        sent
    };
    let mut sent: Vec<Vec<u64>> = (0..8).map(|number| delivered(&format!("flow {number}"))).collect();
    assert_eq!(sent[0], delivered("flow 0"));
    sent.sort_unstable();
    sent.dedup();
    assert!(sent.len() > 2, "{sent:?}");
}
