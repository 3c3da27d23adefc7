//! AFQ in whole fabrics: shares, conservation, and that its schedulers agree.

use hitless_simulation::Outcome;

use crate::support::{self, counter, numbers, run};

fn example() -> String {
    support::example("afq-neighbours").replace("duration = \"50 ms\"", "duration = \"10 ms\"")
}

/// The example with something changed in its mechanism.
fn with(settings: &str) -> String {
    example().replace("measure_estimation = true", &format!("measure_estimation = true\n{settings}"))
}

fn delivered(outcome: &Outcome) -> Vec<u64> {
    numbers(outcome, "flows", "delivered_bytes").to_vec()
}

/// Jain's index of what flows got (Jain, Chiu and Hawe 1984).
fn jain(bytes: &[u64]) -> f64 {
    let sum: f64 = bytes.iter().map(|&bytes| bytes as f64).sum();
    let squares: f64 = bytes.iter().map(|&bytes| (bytes as f64).powi(2)).sum();
    sum * sum / (bytes.len() as f64 * squares)
}

#[test]
fn a_neighbour_that_does_not_yield_gets_its_share_and_no_more() {
    let outcome = run(&example());
    let bytes = delivered(&outcome);
    assert!(jain(&bytes) > 0.99, "{bytes:?}");
    assert!(counter(&outcome, "packets dropped too far ahead") > 1_000);
    assert_eq!(counter(&outcome, "packets refused by the port's buffer"), 0);
}

#[test]
fn without_afq_the_same_neighbour_takes_nearly_all() {
    let text = example().replace("dctcp", "newreno");
    let cut = text.find("[[mechanism]]").expect("the example has a mechanism");
    let bytes = delivered(&run(&text[..cut]));
    assert!(jain(&bytes) < 0.5, "{bytes:?}");
}

#[test]
fn deficit_round_robin_with_a_quantum_that_lasts_is_the_rotating_strict_priority() {
    let rotating = run(&with("scheduler = { kind = \"rotating-strict-priority\", late = \"named-queue\" }"));
    let deficit = run(&with("scheduler = { kind = \"deficit-round-robin\" }"));
    assert_eq!(rotating.summary.trace_hash, deficit.summary.trace_hash);
    assert_eq!(rotating.tables, deficit.tables);
    let short = run(&with("scheduler = { kind = \"deficit-round-robin\", quantum = \"1518 B\" }"));
    assert_ne!(short.summary.trace_hash, deficit.summary.trace_hash);
}
