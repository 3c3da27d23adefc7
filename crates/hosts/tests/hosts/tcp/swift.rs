//! Swift from outside: echoed hops, windows below a segment, and flows that share a link.

use super::script::{MSS, Script, acknowledgement, at, config, header_of};
use crate::bottleneck::{Bottleneck, Discipline};
use hitless_core::wire::{BitRate, Duration, Packet, TcpFlags, TcpHeader, Time, Transport};
use hitless_hosts::transport::tcp::{Congestion, SwiftSettings, TcpReceiver, TcpSender, TcpSettings};
use hitless_hosts::transport::{Receiver, Sender};

fn with(swift: SwiftSettings) -> TcpSettings {
    TcpSettings { congestion: Congestion::Swift(swift), ..config() }
}

#[test]
fn the_receiver_echoes_the_time_to_live_that_came() {
    let data = TcpHeader { payload_bytes: MSS as u16, flags: TcpFlags::ACK, ..TcpHeader::default() };
    let packet = Packet { ttl: 61, transport: Transport::Tcp(data), ..Packet::default() };
    for (config, expected) in [(with(SwiftSettings::default()), 61), (config(), 0)] {
        let mut receiver = TcpReceiver::new(&config, Duration::ZERO);
        receiver.receive(at(10), &packet);
        let answer = receiver.poll_transmit(at(10)).expect("an acknowledgement");
        assert_eq!(header_of(&answer).congestion_option, expected);
    }
}

#[test]
fn hops_raise_the_target() {
    // A round-trip time of 40 us with a target of 30 us plus 5 us per hop.
    let swift = SwiftSettings {
        base_target: Duration::from_us(30),
        per_hop: Duration::from_us(5),
        fs_range: Duration::ZERO,
        ..SwiftSettings::default()
    };
    for (time_to_live, arrived_with, grows) in [(64, 64, false), (64, 63, false), (64, 61, true), (250, 247, true)] {
        let mut script = Script::new(&with(swift));
        script.sender = TcpSender::new(&with(swift), Duration::ZERO).with_time_to_live(time_to_live);
        script.write(0, 20 * MSS);
        script.receive(40, acknowledgement(1, arrived_with));
        let window_bytes = script.sender.cwnd_bytes();
        assert_eq!(window_bytes > 10 * MSS, grows, "from {time_to_live} to {arrived_with}: {window_bytes}");
    }
}

#[test]
fn a_window_of_a_quarter_of_a_segment_sends_one_in_four_round_trip_times() {
    // Always above the target, so each acknowledgement halves the window.
    let swift =
        SwiftSettings { base_target: Duration::from_us(1), fs_range: Duration::ZERO, ..SwiftSettings::default() };
    let mut script = Script::writing(&TcpSettings { initial_window: 1, ..with(swift) }, 10);
    script.expect(0, &[(0, 0)]);
    // A window of 0.5 segments: 80 us after the last one; then 0.25: 160 us.
    script.receive(40, acknowledgement(1, 0));
    script.expect(79, &[]);
    script.expect(80, &[(80, 1)]);
    script.receive(120, acknowledgement(2, 0));
    assert_eq!(script.sender.cwnd_bytes(), MSS / 4);
    script.expect(239, &[]);
    script.expect(240, &[(240, 2)]);
}

/// During the gap nothing is in the network, so nothing times out.
#[test]
fn a_loss_that_waits_for_its_gap_is_timed_out_once() {
    let swift = SwiftSettings {
        base_target: Duration::from_us(1),
        fs_range: Duration::ZERO,
        min_cwnd: 0.001,
        ..SwiftSettings::default()
    };
    let rto_min = Duration::from_ms(10);
    let config = TcpSettings { initial_window: 1, rto_min, sack: false, rack_tlp: false, ..with(swift) };
    let mut script = Script::writing(&config, 20);
    let mut sent_at = script.sent_until(0)[0].0;
    for segment in 1..=6 {
        script.receive(sent_at + 1_000, acknowledgement(segment, 0));
        sent_at = script.sent_until(sent_at + 1_000 * (1 << segment)).last().expect("the gap is over").0;
    }
    // The seventh is lost. With 1/64 of a segment packets are 64 ms apart; after the timeout 128 ms.
    let sent = script.sent_until(sent_at + 127_999);
    assert_eq!((sent, script.sender.statistics().timeouts), (vec![], 1));
    assert_eq!(script.sent_until(sent_at + 128_001).len(), 1, "it is sent again");
    assert_eq!(script.sender.statistics().timeouts, 1);
}

#[test]
fn a_window_that_has_grown_again_waits_no_longer() {
    let swift =
        SwiftSettings { base_target: Duration::from_us(30), fs_range: Duration::ZERO, ..SwiftSettings::default() };
    let config = TcpSettings { initial_window: 1, rto_min: Duration::from_ms(50), ..with(swift) };
    let mut script = Script::writing(&config, 10);
    // By half at most, because 3,000 us is far above the target; the gap is 6,000 us.
    script.receive(3_000, acknowledgement(1, 0));
    assert_eq!(script.sender.cwnd_bytes(), MSS / 2);
    script.sent_until(3_000);
    script.expect(6_000, &[(6_000, 1)]);
    // Below the target: half a segment becomes one and a half.
    script.receive(6_020, acknowledgement(2, 0));
    script.expect(6_020, &[(6_020, 2)]);
}

#[test]
fn a_recovery_halves_the_window_once_and_repairs_the_loss() {
    let mut script =
        Script::new(&with(SwiftSettings { base_target: Duration::from_ms(1), ..SwiftSettings::default() }));
    script.write(0, 30 * MSS);
    script.sent_until(39);
    (2..=4).for_each(|end| script.acknowledge(38 + end, 0, &[(1, end)]));
    let sent = script.sent_until(42);
    assert!(sent.contains(&(42, 0)), "{sent:?}");
    assert_eq!(script.sender.statistics().fast_recoveries, 1);
    // Half of ten plus the growth by two acknowledgements; the end of the recovery does not restore the window.
    let window_bytes = script.sender.cwnd_bytes();
    assert!((5 * MSS..6 * MSS).contains(&window_bytes), "{window_bytes}");
    script.acknowledge(82, 12, &[]);
    assert!(script.sender.cwnd_bytes() < 8 * MSS, "{}", script.sender.cwnd_bytes());
}

const FRAME_BYTES: u64 = 1_448 + 70 + 20;
const RATE: BitRate = BitRate::from_gbps(10);
const ONE_WAY: Duration = Duration::from_us(5);

/// Runs `flows` flows on a link of 10 Gb/s with a delay of 11.2 us without queue; returns (share of the link, mean
/// delay, minimum and maximum per flow).
fn shared(flows: usize, swift: SwiftSettings) -> (f64, Duration, f64, f64) {
    let config = TcpSettings { rto_min: Duration::from_ms(10), ..TcpSettings::with(Congestion::Swift(swift)) };
    let ends = || (TcpSender::new(&config, Duration::ZERO), TcpReceiver::new(&config, Duration::ZERO));
    let mut link = Bottleneck::new((0..flows).map(|_| ends()).collect(), Discipline::Fifo, RATE, ONE_WAY, |_, _| true);
    (0..flows).for_each(|flow| link.write(flow, u64::MAX / 2));
    let (start, end) = (Duration::from_ms(30), Duration::from_ms(90));
    link.run_until(Time::ZERO + start);
    let before = link.delivered();
    let (mut queued, looks) = (0, 3_000);
    for look in 0..looks {
        link.run_until(Time::ZERO + start + Duration::from_us(20) * look);
        queued += link.queued();
    }
    link.run_until(Time::ZERO + end);
    let most = RATE.bytes_in(end - start).0 as f64 * 1_448.0 / FRAME_BYTES as f64;
    let parts: Vec<f64> =
        link.delivered().iter().zip(before).map(|(after, before)| (after - before) as f64 / most).collect();
    let waiting = RATE.time_for(FRAME_BYTES * queued as u64) / looks;
    let delay = ONE_WAY * 2 + RATE.time_for(FRAME_BYTES) + waiting;
    let fold = |pick: fn(f64, f64) -> f64| parts.iter().copied().reduce(pick).expect("there are flows");
    (parts.iter().sum(), delay, fold(f64::min), fold(f64::max))
}

#[test]
fn the_delay_settles_near_the_target_whatever_the_number_of_flows() {
    let swift =
        SwiftSettings { base_target: Duration::from_us(50), fs_range: Duration::ZERO, ..SwiftSettings::default() };
    for flows in [1, 2, 8, 20] {
        let (sum, delay, least, most) = shared(flows, swift);
        assert!(sum > 0.98, "{flows} flows: {sum} of the link");
        let delay_us = delay.as_ps() as f64 / 1e6;
        assert!((40.0..60.0).contains(&delay_us), "{flows} flows: {delay_us} us");
        assert!(most < 2.0 * least, "{flows} flows: from {least} to {most}");
    }
}

#[test]
fn more_flows_than_segments_in_flight_are_spaced_and_share_by_flow_scaling() {
    // The path holds 41 segments at a delay of 50 us; 200 flows have a fifth of a segment each, or half of one at 100
    // us.
    let flat =
        SwiftSettings { base_target: Duration::from_us(50), fs_range: Duration::ZERO, ..SwiftSettings::default() };
    let (sum, delay, least, most) = shared(200, flat);
    assert!(sum > 0.99, "{sum} of the link");
    // One segment per flow would be 246 us.
    assert!(delay < Duration::from_us(80), "{delay}");
    let (scaled_sum, scaled_delay, scaled_least, scaled_most) = shared(200, SwiftSettings::default());
    assert!(scaled_sum > 0.99 && scaled_delay < Duration::from_us(125), "{scaled_sum} of the link, {scaled_delay}");
    let (unfairness, scaled) = (most / least, scaled_most / scaled_least);
    assert!(scaled < 3.0 && unfairness > 10.0 * scaled, "{unfairness} without flow scaling, {scaled} with it");
}

#[test]
fn small_windows_have_larger_targets() {
    let scaled = SwiftSettings { base_target: Duration::from_us(25), ..SwiftSettings::default() };
    let (_, few, ..) = shared(2, scaled);
    let (_, many, ..) = shared(40, scaled);
    assert!(many > few + Duration::from_us(10), "{few} with 2 flows, {many} with 40");
}
