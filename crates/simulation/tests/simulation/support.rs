//! Helpers to run scenarios and to read their tables.

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_simulation::results::{Column, Table};
use hitless_simulation::{Outcome, Simulation};

/// Checks a scenario.
pub fn check(text: &str) -> Result<Scenario, String> {
    hitless_scenario::check(text, "test", hitless_mechanisms::builtin()).map_err(|error| error.to_string())
}

/// A scenario that must pass the check.
pub fn sound(text: &str) -> Scenario {
    check(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The text of an example.
pub fn example(name: &str) -> &'static str {
    hitless_scenario::example(name).expect("the example exists")
}

pub fn simulation(scenario: &Scenario) -> Simulation {
    Simulation::new(scenario.clone()).expect("the scenario can be built")
}

/// Runs a scenario and asserts that it violates no invariant.
pub fn run(text: &str) -> Outcome {
    run_scenario(&sound(text))
}

/// Runs a checked scenario and asserts that it violates no invariant.
pub fn run_scenario(scenario: &Scenario) -> Outcome {
    let outcome = simulation(scenario).run(&Progress::default());
    assert_eq!(outcome.violations, Vec::<String>::new(), "{}", scenario.effective_toml());
    outcome
}

/// `hosts` hosts on each of two switches, with links of 10 Gb/s.
pub fn dumbbell(hosts: usize, host_delay: &str, delay: &str) -> String {
    format!(
        "[topology]\nkind = \"dumbbell\"\nhosts_left = {hosts}\nhosts_right = {hosts}\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"{host_delay}\" }}\n\
         bottleneck = {{ rate = \"10 Gbps\", delay = \"{delay}\" }}\n"
    )
}

/// A leaf-spine fabric with the numbers of leaves, spines and hosts per leaf; the link rates are in Gb/s, for hosts and
/// between switches.
pub fn leaf_spine([leaves, spines, hosts]: [u32; 3], [host_gbps, core_gbps]: [u32; 2]) -> String {
    format!(
        "[topology]\nkind = \"leaf-spine\"\nleaves = {leaves}\nspines = {spines}\nhosts_per_leaf = {hosts}\n\
         host_link = {{ rate = \"{host_gbps} Gbps\", delay = \"1 us\" }}\n\
         core_link = {{ rate = \"{core_gbps} Gbps\", delay = \"1 us\" }}\n"
    )
}

/// Switches without latency and with a static buffer per port.
pub fn ideal(per_port: &str) -> String {
    format!("[switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"{per_port}\" }}\n")
}

pub fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).expect("the table exists")
}

fn column<'a>(outcome: &'a Outcome, name: &str, column: &str) -> &'a Column {
    let found = table(outcome, name).columns.iter().find(|(known, _)| *known == column);
    &found.unwrap_or_else(|| panic!("{name} has no {column}")).1
}

/// A column of numbers.
pub fn numbers<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [u64] {
    match column(outcome, table, name) {
        Column::Unsigned(values) => values,
        other => panic!("{table}.{name}: {other:?}"),
    }
}

/// A column of times in picoseconds; -1 means never.
pub fn times<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [i64] {
    match column(outcome, table, name) {
        Column::Signed(values) => values,
        other => panic!("{table}.{name}: {other:?}"),
    }
}

pub fn texts<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [String] {
    match column(outcome, table, name) {
        Column::Text(values) => values,
        other => panic!("{table}.{name}: {other:?}"),
    }
}

/// The sum of a column.
pub fn sum(outcome: &Outcome, table: &str, name: &str) -> u64 {
    numbers(outcome, table, name).iter().sum()
}

/// The values of a mechanism counter, one for each switch and port that has it.
pub fn counters(outcome: &Outcome, name: &str) -> Vec<u64> {
    let rows = texts(outcome, "mechanisms", "counter").iter().zip(numbers(outcome, "mechanisms", "value"));
    let found: Vec<u64> = rows.filter(|(known, _)| *known == name).map(|(_, &value)| value).collect();
    assert!(!found.is_empty(), "there is no counter {name:?}");
    found
}

/// A mechanism counter, summed over ports and switches.
pub fn counter(outcome: &Outcome, name: &str) -> u64 {
    counters(outcome, name).iter().sum()
}

/// A counter of a link.
pub fn of_link(outcome: &Outcome, link: &str, name: &str) -> u64 {
    let row = texts(outcome, "links", "link").iter().position(|known| known == link);
    numbers(outcome, "links", name)[row.expect("the link exists")]
}

/// Packets dropped for this reason.
pub fn drops(outcome: &Outcome, reason: &str) -> u64 {
    outcome.summary.drops.get(reason).copied().unwrap_or(0)
}
