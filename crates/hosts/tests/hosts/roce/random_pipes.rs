//! In any network every byte arrives once and in order.

use crate::faults::{Faults, faults, run};
use hitless_core::wire::{BitRate, Duration};
use hitless_hosts::transport::roce::{DcqcnSettings, RoceRecovery, RoceRequester, RoceResponder, RoceSettings};
use hitless_hosts::transport::{Receiver, Sender};
use proptest::prelude::*;

fn configs() -> impl Strategy<Value = RoceSettings> {
    let recovery = prop_oneof![Just(RoceRecovery::GoBackN), Just(RoceRecovery::SelectiveRepeat)];
    (recovery, any::<bool>(), 1..200u32, 1..40u32).prop_map(|(recovery, is_controlled, window, every)| RoceSettings {
        recovery,
        // A rate that marks keep at 10 Mb/s would only make the test slow.
        dcqcn: is_controlled.then(|| DcqcnSettings { minimum_rate: BitRate::from_gbps(1), ..DcqcnSettings::default() }),
        window,
        acknowledge_every: every.min(window),
        timeout: Duration::from_us(300),
        retries: 10_000,
        ..RoceSettings::default()
    })
}

fn ends(config: RoceSettings) -> (RoceRequester, RoceResponder) {
    (RoceRequester::new(config, BitRate::from_gbps(40)), RoceResponder::new(config))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once(
        config in configs(),
        faults in faults(),
        writes in prop::collection::vec(1..100_000u64, 1..4),
        seed in any::<u64>(),
    ) {
        let pipe = run(ends(config), faults, &writes, seed);
        prop_assert_eq!(pipe.sender.acknowledged_bytes(), writes.iter().sum::<u64>());
        prop_assert!(!pipe.sender.has_failed());
    }

    #[test]
    fn a_clean_pipe_needs_no_retransmission(config in configs(), bytes in 1..300_000u64) {
        let pipe = run(ends(config), Faults::default(), &[bytes], 1);
        let statistics = pipe.sender.statistics();
        prop_assert_eq!((statistics.timeouts, statistics.packets_retransmitted), (0, 0));
    }

    #[test]
    fn without_reordering_selective_repeat_sends_nothing_that_had_arrived_before_a_timeout(
        loss in 0.0..0.2f64,
        writes in prop::collection::vec(1..200_000u64, 1..3),
        seed in any::<u64>(),
    ) {
        let config = RoceSettings {
            recovery: RoceRecovery::SelectiveRepeat,
            retries: 10_000,
            ..RoceSettings::default()
        };
        let pipe = run(ends(config), Faults { loss, ..Faults::default() }, &writes, seed);
        let duplicates = pipe.receiver.statistics().duplicate_packets;
        prop_assert!(pipe.sender.statistics().timeouts > 0 || duplicates == 0, "{} duplicates", duplicates);
    }
}
