//! The same scenario and seed give the same events in the same order, regardless of other options.

use hitless_scenario::Scenario;

use crate::support::{self, run_scenario as run};

/// Trace hashes of examples; tests/python/test_determinism.py compares the release build with the same file.
const GOLDEN: &str = include_str!("golden_hashes.txt");

fn example(name: &str) -> Scenario {
    support::sound(support::example(name))
}

fn golden() -> impl Iterator<Item = (&'static str, &'static str)> {
    GOLDEN.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

#[test]
fn this_build_gives_the_events_of_every_other_build() {
    let found: Vec<_> =
        golden().map(|(name, _)| format!("{name} {}", run(&example(name)).summary.trace_hash)).collect();
    let known: Vec<_> = golden().map(|(name, hash)| format!("{name} {hash}")).collect();
    assert_eq!(found, known);
}

#[test]
fn a_second_run_in_the_same_process_repeats_the_first() {
    for (name, _) in golden() {
        let (first, second) = (run(&example(name)), run(&example(name)));
        assert_eq!(first.summary.trace_hash, second.summary.trace_hash, "{name}");
        assert_eq!(first.tables, second.tables, "{name}");
    }
}

#[test]
fn another_seed_gives_other_events() {
    let other = Scenario { seed: 2, ..example("linkguardian-testbed") };
    assert_ne!(run(&other).summary.trace_hash, run(&example("linkguardian-testbed")).summary.trace_hash);
}

#[test]
fn measuring_more_does_not_change_what_happens() {
    let text = support::example("linkguardian-testbed");
    let measured = format!(
        "{text}\n[measure]\nqueue = [{{ ports = [\"sw2->sw6\", \"sw2.recirculation0\"], period = \"100 us\" }}]\n\
         throughput = [{{ links = [\"sw2->sw6\"], period = \"1 ms\" }}]\n"
    );
    let measured = support::sound(&measured);
    let (plain, watched) = (run(&example("linkguardian-testbed")), run(&measured));
    assert_eq!(plain.summary.trace_hash, watched.summary.trace_hash);
    let samples = watched.tables.iter().find(|table| table.name == "queues").expect("queues were sampled");
    assert!(samples.columns[0].1.len() > 100);
}
