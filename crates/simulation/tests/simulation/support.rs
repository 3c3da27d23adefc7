//! Runs of scenarios, and what their tables say.

use hitless_engine::Progress;
use hitless_simulation::results::{Column, Table};
use hitless_simulation::{Outcome, Simulation};

/// Runs it, whatever it breaks.
pub fn run_unchecked(text: &str) -> Outcome {
    let scenario = hitless_scenario::check(text, "test", hitless_mechanisms::builtin())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simulation.run(&Progress::default())
}

/// Runs it; nothing that must hold may have been broken.
pub fn run(text: &str) -> Outcome {
    let outcome = run_unchecked(text);
    assert_eq!(outcome.violations, Vec::<String>::new(), "{text}");
    outcome
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

/// A column of times in picoseconds; -1: never.
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

/// The values of a counter of mechanisms, one for each switch and port that has it.
pub fn counters(outcome: &Outcome, name: &str) -> Vec<u64> {
    let rows = texts(outcome, "mechanisms", "counter").iter().zip(numbers(outcome, "mechanisms", "value"));
    let found: Vec<u64> = rows.filter(|(known, _)| *known == name).map(|(_, &value)| value).collect();
    assert!(!found.is_empty(), "there is no counter {name:?}");
    found
}

/// A counter of mechanisms, summed over ports and switches.
pub fn counter(outcome: &Outcome, name: &str) -> u64 {
    counters(outcome, name).iter().sum()
}

/// What a link counted.
pub fn of_link(outcome: &Outcome, link: &str, name: &str) -> u64 {
    let row = texts(outcome, "links", "link").iter().position(|known| known == link);
    numbers(outcome, "links", name)[row.expect("the link exists")]
}

/// Packets that ended for this reason.
pub fn drops(outcome: &Outcome, reason: &str) -> u64 {
    outcome.summary.drops.get(reason).copied().unwrap_or(0)
}
