//! Spraying connections in any network: every byte arrives once, in order for the application. Credit needs a host, so
//! it is tested in whole simulations.

use crate::faults::{Faults, faults, run};
use hitless_core::engine::RandomStreams;
use hitless_core::wire::{BitRate, Bytes, Duration};
use hitless_hosts::transport::uet::{PathChoice, UetReceiver, UetSender, UetSettings};
use hitless_hosts::transport::{Receiver, Sender};
use proptest::prelude::*;

fn settings() -> impl Strategy<Value = UetSettings> {
    let choice = prop_oneof![
        Just(PathChoice::Oblivious),
        Just(PathChoice::Bitmap),
        Just(PathChoice::Reps),
        Just(PathChoice::Mixed),
        Just(PathChoice::Mrc),
    ];
    let window = prop_oneof![Just(None), (1..50u32).prop_map(Some)];
    (choice, 0..8u32, 1..40_000u64, any::<bool>(), window).prop_map(
        |(path_choice, path_bits, acknowledge_bytes, sack_recovery, initial_window)| UetSettings {
            path_choice,
            paths: 1 << path_bits,
            acknowledge_bytes: Bytes(acknowledge_bytes),
            sack_recovery,
            initial_window,
            // The pipe delays a packet and its acknowledgement by up to 60 us each.
            timeout: Duration::from_us(300),
            ..UetSettings::default()
        },
    )
}

fn ends(settings: UetSettings, seed: u64) -> (UetSender, UetReceiver) {
    let rate = BitRate::from_gbps(100);
    (UetSender::new(settings, rate, 1, RandomStreams::new(seed).stream("paths")), UetReceiver::new(settings, rate))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once(
        settings in settings(),
        faults in faults(),
        writes in prop::collection::vec(1..400_000u64, 1..4),
        seed in any::<u64>(),
    ) {
        let pipe = run(ends(settings, seed), faults, &writes, seed);
        let total = writes.iter().sum::<u64>();
        prop_assert_eq!(pipe.sender.acknowledged_bytes(), total);
        prop_assert_eq!(pipe.receiver.delivered_bytes(), total);
    }

    #[test]
    fn reordering_is_not_taken_for_loss(
        settings in settings().prop_map(|settings| UetSettings { sack_recovery: false, ..settings }),
        reordering in 0.0..0.5f64,
        bytes in 1..1_000_000u64,
        seed in any::<u64>(),
    ) {
        let pipe = run(ends(settings, seed), Faults { reordering, ..Faults::default() }, &[bytes], seed);
        let statistics = pipe.sender.statistics();
        prop_assert_eq!((statistics.timeouts, statistics.packets_retransmitted), (0, 0));
    }
}
