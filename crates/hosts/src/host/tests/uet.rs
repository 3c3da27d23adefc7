//! Spraying connections between hosts that give each other credit.

use proptest::prelude::*;

use super::*;
use crate::transport::uet::{UetCongestion, UetSettings};

fn uet(congestion: UetCongestion) -> TransportConfig {
    TransportConfig::Uet(UetSettings { congestion, ..UetSettings::default() })
}

#[test]
fn a_receiver_grants_credit_at_its_rate_in_turn() {
    const BYTES: u64 = 2_000_000;
    let mut bench = Bench::new(&ethernet(), 3, uet(UetCongestion::Rccc));
    for source in [0, 1] {
        bench.add(source, 2, Application::one_way(BYTES));
    }
    let world = bench.run().world;
    let finished: Vec<f64> = world.flows.iter().map(|flow| flow.finished.as_seconds() * 1e6).collect();
    // Both together need 4 MB at 0.99 of 100 Gb/s, after two windows of initial credit; the pipe has no bottleneck.
    let [first, second] = finished[..] else { panic!("{finished:?}") };
    assert!((first - second).abs() < 10.0, "in turn: {finished:?}");
    assert!((270.0..330.0).contains(&first.max(second)), "at the receiver's rate: {finished:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_flow_completes_with_and_without_credit(
        losses in losses(),
        loads in loads(),
        congestion in prop_oneof![Just(UetCongestion::Nscc), Just(UetCongestion::Rccc), Just(UetCongestion::Both)],
    ) {
        let mut bench = Bench::new(&ethernet(), 3, uet(congestion));
        bench.world.losses = losses;
        let messages = bench.add_all(&loads);
        let bench = bench.run();
        prop_assert_eq!(bench.world.messages.len() as u64, messages);
        prop_assert!(bench.world.flows.iter().all(|record| record.outcome == FlowOutcome::Completed));
    }
}
