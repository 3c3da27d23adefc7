//! Results of two runs, compared flow by flow and message by message.

use std::collections::BTreeMap;

use hitless_simulation::Outcome;
use hitless_simulation::results::{Column, Table};

use super::pair::{Equal, Times};
use crate::judge::{numbers, texts};

/// Columns with flow numbers or host names, which depend on other flows and on names.
const NAMES: [&str; 3] = ["flow", "source", "destination"];
/// Columns with bytes and packets.
const COUNTS: [&str; 4] = ["delivered_bytes", "packets_received", "network_packets_lost", "network_packets_reordered"];

/// Key of a row: group, position, and number of the message.
type Key = (String, u64, u64, u64);
/// The columns of a row.
type Row = BTreeMap<&'static str, String>;

/// Finds the first difference between the second run and its prediction from the first.
pub fn difference(before: &Outcome, after: &Outcome, times: Times, equal: Equal) -> Option<String> {
    let of_rows = ["flows", "messages"].into_iter().find_map(|name| of_table(name, before, after, times, equal));
    let unlike = |what: &str, one: String, other: String| (one != other).then(|| format!("{what}: {one} and {other}"));
    let summaries = [&before.summary, &after.summary];
    let of_drops = || {
        let [one, other] = summaries.map(|summary| format!("{:?}", summary.drops));
        (equal >= Equal::Drops).then(|| unlike("the drops differ", one, other))?
    };
    let of_counters = || {
        let [one, other] = [before, after].map(|outcome| format!("{:?}", counters(outcome)));
        (equal >= Equal::Counters).then(|| unlike("the counters of mechanisms differ", one, other))?
    };
    let of_course = || {
        let [one, other] = summaries.map(|summary| summary.trace_hash.clone());
        (equal >= Equal::Course).then(|| unlike("the courses differ", one, other))?
    };
    of_rows.or_else(of_drops).or_else(of_counters).or_else(of_course)
}

/// Sums each counter of mechanisms over switches and ports, without resource usage, which grows with the ports.
fn counters(outcome: &Outcome) -> BTreeMap<(&str, &str), u64> {
    let of = |name| texts(outcome, "mechanisms", name).iter().map(String::as_str);
    let mut sums = BTreeMap::new();
    for (key, value) in of("mechanism").zip(of("counter")).zip(numbers(outcome, "mechanisms", "value")) {
        *sums.entry(key).or_insert(0_u64) += value;
    }
    sums.retain(|(_, counter), value| *value > 0 && !counter.starts_with("resources"));
    sums
}

fn of_table(name: &str, before: &Outcome, after: &Outcome, times: Times, equal: Equal) -> Option<String> {
    let (expected, found) = (rows(before, name, times), rows(after, name, Times::Same));
    // Skip groups that only the second world has.
    let groups: Vec<&String> = expected.keys().map(|(group, ..)| group).collect();
    if let Some((group, position, ..)) =
        found.keys().find(|key| groups.contains(&&key.0) && !expected.contains_key(key))
    {
        return Some(format!("there is one more row of {name}, of flow {position} of {group}"));
    }
    expected.iter().find_map(|(key @ (group, position, ..), row)| {
        let Some(other) = found.get(key) else {
            return Some(format!("there is no row of {name} of flow {position} of {group}"));
        };
        let compared = row.iter().filter(|(column, _)| equal > Equal::Counts || COUNTS.contains(column));
        let (column, value) =
            compared.into_iter().find(|(column, value)| other.get(*column).is_some_and(|found| found != *value))?;
        let found = &other[column];
        Some(format!("{name} have another {column}: {value} is due, and {found} found, of flow {position} of {group}"))
    })
}

fn rows(outcome: &Outcome, name: &str, times: Times) -> BTreeMap<Key, Row> {
    let Some(table) = outcome.tables.iter().find(|table| table.name == name) else { return BTreeMap::new() };
    let groups = texts(outcome, name, "group");
    let number = |column, row: usize| numbers(outcome, name, column).get(row).copied().unwrap_or(0);
    let key = |row: usize| (groups[row].clone(), number("position", row), number("number", row), number("query", row));
    (0..groups.len()).map(|row| (key(row), values(table, row, times))).collect()
}

fn values(table: &Table, row: usize, times: Times) -> Row {
    // A mean is rounded.
    let is_exact = |name: &str| times != Times::Twice || name != "network_jitter_ps";
    let compared = table.columns.iter().filter(|(name, _)| !NAMES.contains(name) && is_exact(name));
    compared.map(|(name, column)| (*name, value(name, column, row, times))).collect()
}

fn value(name: &str, column: &Column, row: usize, times: Times) -> String {
    match column {
        Column::Signed(values) => times.of(values[row]).to_string(),
        Column::Unsigned(values) if times == Times::Twice && name.ends_with("_ps") => (2 * values[row]).to_string(),
        Column::Unsigned(values) => values[row].to_string(),
        Column::Text(values) => values[row].clone(),
    }
}
