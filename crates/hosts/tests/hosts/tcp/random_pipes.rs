//! In any network every byte arrives once and in order, and nothing is left in flight.

use crate::faults::{Faults, assert_repeats, faults, run};
use hitless_core::wire::{Bytes, Duration};
use hitless_hosts::transport::tcp::{
    BbrSettings, BoltTransportSettings, Congestion, CubicSettings, DctcpSettings, NewrenoSettings, RtoFormula,
    SwiftSettings, TcpReceiver, TcpRecovery, TcpSender, TcpSettings, WindowGrowth,
};
use hitless_hosts::transport::{Receiver, Sender};
use proptest::prelude::*;

/// Controls with parameters that matter in a short run: BBR drains its flight often enough, and Swift has targets
/// around the round-trip times of the pipes, so that windows fall below a segment.
fn controls() -> impl Strategy<Value = Congestion> {
    let numbers = (1..50u64, 1..500u64, 1..6u32, prop::option::of(2.0..28.0f64));
    (0..6, numbers, any::<bool>(), any::<bool>()).prop_map(|(kind, numbers, per_ack, window_validation)| {
        let (window_ms, target_us, retransmit_reset_threshold, max_cwnd) = numbers;
        let window_growth = if per_ack { WindowGrowth::PerAck } else { WindowGrowth::ByteCounting };
        match kind {
            0 => Congestion::Newreno(NewrenoSettings { window_growth, window_validation }),
            1 => Congestion::Cubic(CubicSettings { window_validation, ..CubicSettings::default() }),
            2 => Congestion::Dctcp(DctcpSettings { window_growth, window_validation, ..DctcpSettings::default() }),
            3 => Congestion::Bbr(BbrSettings {
                rtprop_window: Duration::from_ms(window_ms),
                probe_rtt_duration: Duration::from_ms(window_ms) / 10,
            }),
            4 => Congestion::Swift(SwiftSettings {
                base_target: Duration::from_us(target_us),
                min_cwnd: 0.1,
                max_cwnd,
                retransmit_reset_threshold,
                ..SwiftSettings::default()
            }),
            _ => Congestion::Bolt(BoltTransportSettings { max_cwnd, ..BoltTransportSettings::default() }),
        }
    })
}

fn configs() -> impl Strategy<Value = TcpSettings> {
    let switches =
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let caps = (prop::option::of(3_000..40_000u64), prop::option::of(1..40u32));
    let timers = (prop_oneof![Just(0u64), Just(100), Just(1_000)], any::<bool>());
    let delayed_acks = (1..4u32, 0..20u32);
    (switches, caps, timers, controls(), delayed_acks, any::<bool>()).prop_map(
        |(switches, caps, timers, congestion, (delayed_ack_segments, quick_acks), is_reno)| {
            let (ecn, sack, rack_tlp, eifel_undo, slow_start_after_idle, handshake, pacing) = switches;
            TcpSettings {
                congestion,
                ecn,
                sack,
                rack_tlp,
                recovery: if is_reno { TcpRecovery::Reno } else { TcpRecovery::Newreno },
                eifel_undo,
                dsack_undo: !eifel_undo,
                slow_start_after_idle,
                pacing,
                handshake,
                delayed_ack_segments,
                delayed_ack_timeout: Duration::from_us(500),
                quick_acks,
                receive_window: caps.0.map(Bytes),
                burst_segments: caps.1,
                timer_tick: Duration::from_us(timers.0),
                rto_formula: if timers.1 { RtoFormula::Linux } else { RtoFormula::Rfc6298 },
                rto_min: Duration::from_us(200),
                rto_initial: Duration::from_ms(2),
                rto_max: Duration::from_ms(20),
                syn_timeout: Duration::from_ms(1),
                ..TcpSettings::default()
            }
        },
    )
}

fn ends(config: &TcpSettings) -> (TcpSender, TcpReceiver) {
    (TcpSender::new(config, Duration::ZERO), TcpReceiver::new(config, Duration::ZERO))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_and_nothing_stays_in_flight(
        config in configs(),
        faults in faults(),
        writes in prop::collection::vec(1..200_000u64, 1..4),
        seed in any::<u64>(),
    ) {
        let pipe = run(ends(&config), faults, &writes, seed);
        prop_assert_eq!(pipe.sender.acknowledged_bytes(), writes.iter().sum::<u64>());
        prop_assert_eq!(pipe.sender.in_flight_bytes(), 0);
        prop_assert_eq!(pipe.sender.unsent_bytes(), 0);
        prop_assert_eq!(pipe.receiver.out_of_order_bytes(), 0);
    }

    #[test]
    fn a_run_repeats_exactly(config in configs(), faults in faults(), bytes in 1..300_000u64, seed in any::<u64>()) {
        assert_repeats(|| ends(&config), faults, bytes, seed);
    }

    #[test]
    fn a_clean_pipe_needs_no_retransmission(config in configs(), bytes in 1..500_000u64) {
        let faults = Faults::default();
        let patient = TcpSettings { rto_min: Duration::from_ms(2), ..config };
        let pipe = run(ends(&patient), faults, &[bytes], 1);
        let statistics = pipe.sender.statistics();
        prop_assert_eq!((statistics.timeouts, statistics.fast_recoveries), (0, 0));
        // A probe can be caused by a delayed acknowledgement.
        prop_assert!(statistics.packets_retransmitted <= statistics.tail_loss_probes);
        prop_assert_eq!(pipe.receiver.statistics().reordered_packets, 0);
    }
}
