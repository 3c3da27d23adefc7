//! Differences between two runs of a world, which must not exist.

use hitless_simulation::Outcome;
use hitless_simulation::results::{Column, Table};

/// Returns the first difference between `first` and `other`: the course, a table, an entry of the summary, or the
/// accounts.
///
/// With `is_less` the other run has fewer measurements: columns and the result about the order of packets that only
/// `first` has are ignored.
pub fn difference(first: &Outcome, other: &Outcome, is_less: bool) -> Option<String> {
    let (one, another) = (&first.summary.trace_hash, &other.summary.trace_hash);
    if one != another {
        return Some(format!("by its course: {one} and {another}"));
    }
    let found = tables(first, other, is_less).or_else(|| summaries(first, other, is_less));
    found.or_else(|| (first.violations != other.violations).then(|| "in its accounts".to_owned()))
}

/// Returns the first column of `other` that differs from `first`.
fn tables(first: &Outcome, other: &Outcome, is_less: bool) -> Option<String> {
    let names = |outcome: &Outcome| outcome.tables.iter().map(|table| table.name).collect::<Vec<_>>();
    if names(first) != names(other) {
        return Some("by a table".to_owned());
    }
    for (known, table) in first.tables.iter().zip(&other.tables) {
        let differing = table.columns.iter().find(|(name, values)| column(known, name) != Some(values));
        if let Some((name, _)) = differing {
            return Some(format!("in the table {}, column {name}", table.name));
        }
        if !is_less && known.columns.len() != table.columns.len() {
            return Some(format!("in the columns of the table {}", table.name));
        }
    }
    None
}

fn column<'a>(table: &'a Table, name: &str) -> Option<&'a Column> {
    table.columns.iter().find(|(known, _)| *known == name).map(|(_, values)| values)
}

/// Returns the first entry of the summary that differs.
fn summaries(first: &Outcome, other: &Outcome, is_less: bool) -> Option<String> {
    let entries = |outcome: &Outcome| {
        let mut summary = outcome.summary.clone();
        if is_less {
            summary.order = None;
        }
        serde_json::to_value(summary).unwrap_or_else(|error| unreachable!("a summary is always JSON: {error}"))
    };
    let (one, other) = (entries(first), entries(other));
    let differing = one.as_object()?.iter().find(|(name, value)| other.get(name) != Some(value));
    let is_more = one.as_object().map(|all| all.len()) != other.as_object().map(|all| all.len());
    let told = differing.map(|(name, value)| format!("in {name}: {value} and {}", other[name]));
    told.or_else(|| is_more.then(|| "by an entry of its summary".to_owned()))
}
