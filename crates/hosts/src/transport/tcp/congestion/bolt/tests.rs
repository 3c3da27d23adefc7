//! Bolt's senders compared with algorithm 3, step by step.

use super::*;
use crate::transport::tcp::{Congestion, TcpSettings};
use hitless_core::wire::{BitRate, Bytes};
use proptest::prelude::*;

const MSS: u64 = 1_000;
/// A byte takes a nanosecond.
const RATE: BitRate = BitRate::from_gbps(8);

fn tcp() -> TcpSettings {
    TcpSettings { mss: Bytes(MSS), ..TcpSettings::with(Congestion::Bolt(Default::default())) }
}

fn at(time_ns: u64) -> Time {
    Time::ZERO + Duration::from_ns(time_ns)
}

/// Creates an acknowledgement of `acknowledged` out of `next` segments; switches kept INC on `increases` packets.
fn event(time_ns: u64, acknowledged: u64, next: u64, increases: u8) -> AckSample {
    AckSample {
        now: at(time_ns),
        delivered_bytes: MSS,
        rtt: Duration::from_us(10),
        cwnd_limited: true,
        increases,
        snd_una: acknowledged * MSS,
        snd_nxt: next * MSS,
        ..AckSample::default()
    }
}

fn notice(queued: u32) -> CongestionNotice {
    CongestionNotice { sequence: 0, rate: RATE, queue_bytes: queued * MSS as u32 }
}

/// Creates a sender on a link that carries ten segments in 10 us, with a window of `window` segments.
fn running(window: f64, reaction: BoltReaction) -> (Bolt, Window) {
    let mut bolt = Bolt::new(BoltTransportSettings { reaction, ..BoltTransportSettings::default() }, &tcp().window());
    let mut counted = tcp().window();
    bolt.on_ack_sample(&mut counted, &AckSample { cwnd_limited: false, ..event(0, 1, 11, 0) });
    bolt.window.segments = window;
    bolt.window.bound(&mut counted);
    (bolt, counted)
}

#[test]
fn a_window_grows_by_one_in_a_round_trip_time_and_by_one_for_each_packet_that_kept_its_wish() {
    let (mut bolt, mut window) = (Bolt::new(BoltTransportSettings::default(), &tcp().window()), tcp().window());
    // (acknowledged, next, increases, window after it), from ten.
    let table = [
        (1, 11, 0, 11.0),
        (2, 13, 0, 11.0),
        (11, 22, 0, 11.0),
        (12, 23, 0, 12.0),
        (13, 24, 1, 13.0),
        (14, 26, 3, 16.0),
    ];
    for (acknowledged, next, increases, expected) in table {
        bolt.on_ack_sample(&mut window, &event(acknowledged * 100, acknowledged, next, increases));
        assert_eq!(bolt.window.segments, expected, "{acknowledged} acknowledged");
        assert_eq!(window.cwnd_bytes, expected as u64 * MSS);
    }
    bolt.on_ack_sample(&mut window, &AckSample { cwnd_limited: false, ..event(9_000, 26, 27, 2) });
    assert_eq!(bolt.window.segments, 16.0, "it did not limit the sender");
}

#[test]
fn a_flow_takes_off_its_part_of_the_queue_in_the_time_to_the_switch_and_back() {
    // Half of the link and a queue of 8: 4 segments in 2 us, one per 500 ns.
    let table = [(0, true), (499, false), (501, true), (900, false), (1_100, true)];
    let (mut bolt, mut window) = running(5.0, BoltReaction::Share);
    let mut expected = 5.0;
    for (time_ns, takes) in table {
        // The share follows the window; the test holds it.
        bolt.window.segments = 5.0;
        bolt.on_congestion_notice(&mut window, at(20_000 + time_ns), &notice(8), Duration::from_us(2));
        expected = if takes { 4.0 } else { 5.0 };
        assert_eq!(bolt.window.segments, expected, "after {time_ns} ns");
    }
    assert_eq!(window.cwnd_bytes, expected as u64 * MSS);
    // Divided by the share, the part is 16 segments: one per 125 ns.
    let (mut bolt, mut window) = running(5.0, BoltReaction::InverseShare);
    for (time_ns, takes) in [(0, true), (124, false), (126, true)] {
        bolt.window.segments = 5.0;
        bolt.on_congestion_notice(&mut window, at(20_000 + time_ns), &notice(8), Duration::from_us(2));
        assert_eq!(bolt.window.segments < 5.0, takes, "after {time_ns} ns");
    }
}

#[test]
fn a_window_of_a_segment_is_halved_by_each_notice_down_to_the_least() {
    let (mut bolt, mut window) = running(1.5, BoltReaction::Share);
    let expected = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.01, 0.01];
    for (index, expected) in expected.into_iter().enumerate() {
        bolt.on_congestion_notice(&mut window, at(100_000 * (index as u64 + 1)), &notice(3), Duration::from_us(2));
        assert_eq!(bolt.window.segments, expected);
    }
    assert_eq!(bolt.window.packet_gap(), Some(Duration::from_ms(1)));
    assert_eq!((window.cwnd_bytes, bolt.window.bytes(&window)), (1_000, 10));
}

#[test]
fn packets_are_first_until_an_acknowledgement_and_last_when_the_rest_fits_the_window() {
    let (mut bolt, mut window) = (Bolt::new(BoltTransportSettings::default(), &tcp().window()), tcp().window());
    let flags = |bolt: &Bolt, window: &Window, remaining| BoltFlags(bolt.data_option(window, remaining));
    let (bolt_and, first) = (|flags| BoltFlags::BOLT.with(flags), BoltFlags::FIRST);
    assert_eq!(flags(&bolt, &window, Some(10_001)), bolt_and(BoltFlags::INC.with(first)));
    assert_eq!(flags(&bolt, &window, Some(10_000)), bolt_and(BoltFlags::LAST.with(first)));
    bolt.on_ack_sample(&mut window, &AckSample { cwnd_limited: false, ..event(100, 1, 10, 0) });
    assert_eq!(flags(&bolt, &window, Some(10_001)), bolt_and(BoltFlags::INC));
    assert_eq!(flags(&bolt, &window, Some(1)), bolt_and(BoltFlags::LAST));
    assert_eq!(flags(&bolt, &window, None), BoltFlags::BOLT);
}

#[test]
fn losses_and_timeouts_take_half_once_in_a_round_trip_time() {
    let (mut bolt, mut window) = running(8.0, BoltReaction::Share);
    bolt.ssthresh(&window, CongestionSign::Loss);
    bolt.on_recovery(&mut window, CongestionSign::Loss, at(50_000));
    bolt.on_recovery(&mut window, CongestionSign::Rto, at(59_999));
    assert_eq!((bolt.window.segments, window.cwnd_bytes), (4.0, 4_000));
    bolt.on_recovery(&mut window, CongestionSign::Rto, at(60_000));
    assert_eq!(bolt.window.segments, 2.0);
    bolt.on_undo(&mut window);
    assert_eq!((bolt.window.segments, window.cwnd_bytes), (8.0, 8_000));
}

proptest! {
    /// A second implementation of HandleSrc, in nanoseconds and segments.
    #[test]
    fn notices_take_off_what_algorithm_3_says(
        steps in prop::collection::vec((1..5_000u64, 1..100u32, 100..20_000u64), 1..100),
        start in 2..60u32,
    ) {
        let (mut bolt, mut window) = running(f64::from(start), BoltReaction::Share);
        let (mut expected, mut last, mut now_ns) = (f64::from(start), None::<u64>, 20_000);
        for (elapsed_ns, queued, ago_ns) in steps {
            now_ns += elapsed_ns;
            let share = (expected / 10.0).min(1.0);
            let interval_ns = ago_ns as f64 / (f64::from(queued) * share);
            prop_assume!(last.is_none_or(|last: u64| ((now_ns - last) as f64 - interval_ns).abs() > 1e-6));
            if expected <= 1.0 {
                expected = (expected / 2.0).max(0.01);
            } else if last.is_none_or(|last| (now_ns - last) as f64 > interval_ns) {
                last = Some(now_ns);
                expected = (expected - 1.0).max(0.01);
            }
            bolt.on_congestion_notice(&mut window, at(now_ns), &notice(queued), Duration::from_ns(ago_ns));
            prop_assert!((bolt.window.segments - expected).abs() < 1e-9, "{} against {expected}", bolt.window.segments);
        }
    }
}
