//! Completion times divided into parts: exact in sum, by hand for single packets, and without an effect on the run.

use std::collections::BTreeMap;

use hitless_scenario::Scenario;
use hitless_simulation::Outcome;
use hitless_simulation::results::Column;

use crate::support::{self, numbers, run_scenario, sound, table, texts, times};

/// The parts of each message, without those of 0 ps, by flow and number.
type Parts = BTreeMap<(u64, u64), BTreeMap<&'static str, u64>>;

/// Runs a scenario with and without an autopsy, and checks the parts of every message.
fn examine(scenario: Scenario) -> Outcome {
    let plain = run_scenario(&scenario);
    let name = scenario.name.clone();
    let mut observed = scenario;
    observed.measure.autopsy = true;
    let outcome = run_scenario(&observed);
    assert_eq!(plain.summary.trace_hash, outcome.summary.trace_hash, "{name}");
    let without: Vec<_> = outcome.tables.iter().filter(|table| table.name != "autopsy").collect();
    assert_eq!(plain.tables.iter().collect::<Vec<_>>(), without, "{name}");
    let sums: BTreeMap<_, u64> = parts(&outcome).into_iter().map(|(key, parts)| (key, parts.values().sum())).collect();
    let ends = times(&outcome, "messages", "delivered_ps");
    let starts = times(&outcome, "messages", "started_ps");
    let keys = numbers(&outcome, "messages", "flow").iter().zip(numbers(&outcome, "messages", "number"));
    let taken = keys.zip(starts.iter().zip(ends)).filter(|(_, (_, end))| **end >= 0);
    let taken: BTreeMap<_, _> =
        taken.map(|((&flow, &number), (start, end))| ((flow, number), (end - start) as u64)).collect();
    assert_eq!(sums, taken, "{name}");
    outcome
}

fn parts(outcome: &Outcome) -> Parts {
    let keys = numbers(outcome, "autopsy", "flow").iter().zip(numbers(outcome, "autopsy", "number"));
    let of_row = |row: usize| {
        let columns = table(outcome, "autopsy").columns.iter().skip_while(|(name, _)| *name != "application_ps");
        let columns = columns.take_while(|(name, _)| *name != "round_trips");
        let value = |column: &Column| if let Column::Unsigned(values) = column { values[row] } else { 0 };
        columns.map(|(name, column)| (*name, value(column))).filter(|(_, value)| *value > 0).collect()
    };
    keys.enumerate().map(|(row, (&flow, &number))| ((flow, number), of_row(row))).collect()
}

/// Two hosts on one switch without latency, 10 Gb/s, and one flow from h0 to h1.
fn pair(transport: &str, bytes: u64, more: &str) -> String {
    format!(
        "name = \"pair\"\nduration = \"1 s\"\nuntil = \"all-flows-done\"\nclocks = \"ideal\"\n\
         [topology]\nkind = \"graph\"\nhosts = [\"h0\", \"h1\"]\nswitches = [\"s\"]\n\
         links = [{{ ends = [\"h0\", \"s\"], rate = \"10 Gbps\", delay = \"25 us\" }}, \
         {{ ends = [\"h1\", \"s\"], rate = \"10 Gbps\", delay = \"25 us\" }}]\n[switch]\npreset = \"ideal\"\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
         destinations = [\"h1\"]\nsize = \"{bytes} B\"\ncount = 1\n{more}"
    )
}

const TCP: &str = "kind = \"tcp\"\ncongestion = \"newreno\"\nrto_initial = \"5 ms\"\nrto_min = \"5 ms\"";

#[test]
fn examples_find_their_sums() {
    for (name, text) in [
        "dumbbell", "incast", "incast-deflection", "leaf-spine-lossy", "linkguardian-testbed", "sqr-testbed",
        "link-failure", "afq-neighbours", "all-together", "sprayed-permutation", "cut-link", "lossy-link", "microburst",
    ].map(|name| (name, support::example(name))) {
        let now = std::time::Instant::now();
        let outcome = examine(sound(text));
        eprintln!("{name}: {} rows, {:?}", numbers(&outcome, "autopsy", "flow").len(), now.elapsed());
        let mut total: BTreeMap<&str, u64> = BTreeMap::new();
        for parts in parts(&outcome).values() { for (k, v) in parts { *total.entry(k).or_default() += v; } }
        eprintln!("{total:?}");
    }
}

#[test]
fn one_packet_by_hand() {
    let outcome = examine(sound(&pair(TCP, 1_000, "")));
    let frame_bits = 8 * (support::of_link(&outcome, "h0->s", "arrived_bytes") + 20);
    let expected = BTreeMap::from([("propagation_ps", 50_000_000), ("serialisation_ps", 2 * 100 * frame_bits)]);
    assert_eq!(parts(&outcome), BTreeMap::from([((0, 0), expected)]));
    eprintln!("{:?}", table(&outcome, "autopsy"));
    assert_eq!(texts(&outcome, "autopsy", "longest_queue"), [""]);
}
