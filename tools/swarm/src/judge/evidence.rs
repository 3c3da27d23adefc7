use hitless_scenario::Scenario;
use hitless_scenario::kind::Registry;
use hitless_simulation::Outcome;
use hitless_simulation::results::{Column, OrderCounts};
use toml::{Table, Value};

use crate::parts::Parts;
use crate::world::World;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub judge: &'static str,
    pub sentence: String,
}

impl Fault {
    /// Identifies equal faults: the judge, and the sentence without its numbers.
    pub fn signature(&self) -> String {
        let has_digit = |word: &&str| word.contains(|letter: char| letter.is_ascii_digit());
        let words: Vec<&str> = self.sentence.split(' ').filter(|word| !has_digit(word)).take(10).collect();
        format!("{}: {}", self.judge, words.join(" "))
    }
}

/// A judge's answer: `None` if it does not apply to the world, otherwise the violations, possibly empty.
pub(super) type Finding = Option<Vec<String>>;

/// Makes the answer of a judge that applies and reports at most one violation.
pub(super) fn found(broken: Option<String>) -> Finding {
    Some(broken.into_iter().collect())
}

pub struct Evidence<'a> {
    /// The world as written.
    pub world: &'a World,
    /// The world as parsed.
    pub scenario: &'a Scenario,
    /// The run in steps.
    pub outcome: &'a Outcome,
    /// The same run from its recorded configuration.
    pub replay: &'a Result<Outcome, String>,
    /// The same run divided, with its division; `None` if it cannot be divided.
    pub divided: Option<&'a (&'a Parts, Result<Outcome, String>)>,
    /// The same run, killed and restored from checkpoints; `None` if a part of it does not support them.
    pub resumed: Option<&'a Result<Outcome, String>>,
    /// Ports that were idle with packets ready to be sent.
    pub idle: &'a [String],
    /// The result of equal senders that were also run for this world: the sender with an unequal share.
    pub unequal: Option<Option<&'a str>>,
    pub registry: &'a Registry,
}

impl Evidence<'_> {
    /// Finds a column of numbers of a table; empty if it does not exist.
    pub fn numbers(&self, table: &str, name: &str) -> &[u64] {
        numbers(self.outcome, table, name)
    }

    /// Finds a column of times, in picoseconds.
    pub fn times(&self, table: &str, name: &str) -> &[i64] {
        times(self.outcome, table, name)
    }

    /// Finds a column of names.
    pub fn texts(&self, table: &str, name: &str) -> &[String] {
        texts(self.outcome, table, name)
    }

    /// Sums a counter over all mechanisms.
    pub fn counter(&self, name: &str) -> u64 {
        let rows = self.texts("mechanisms", "counter").iter().zip(self.numbers("mechanisms", "value"));
        rows.filter(|(known, _)| *known == name).map(|(_, value)| value).sum()
    }

    /// The result of the order checker for all flows, if the world requests it.
    pub fn order(&self) -> Option<OrderCounts> {
        self.outcome.summary.order
    }

    /// Number of packets lost for any other reason than these.
    pub fn drops_but_for(&self, reasons: &[&str]) -> u64 {
        let drops = self.outcome.summary.drops.iter();
        drops.filter(|(reason, _)| !reasons.contains(reason)).map(|(_, count)| count).sum()
    }

    /// Returns whether the world has an entry in a list: "failure", "link".
    pub fn has(&self, list: &str) -> bool {
        self.world.entries(list).next().is_some()
    }

    /// Returns whether there are mechanisms, all of these kinds, with these settings only.
    pub fn all_are(&self, kinds: &[&str], settings: &[&str]) -> bool {
        let is_known = |entry: &Table| {
            let kind = entry.get("kind").and_then(Value::as_str).unwrap_or("");
            kinds.contains(&kind) && entry.keys().all(|key| key == "kind" || settings.contains(&key.as_str()))
        };
        self.has("mechanism") && self.world.entries("mechanism").all(is_known)
    }
}

/// Finds a column of a run.
fn column<'a>(outcome: &'a Outcome, table: &str, name: &str) -> Option<&'a Column> {
    let table = outcome.tables.iter().find(|known| known.name == table)?;
    table.columns.iter().find(|(known, _)| *known == name).map(|(_, column)| column)
}

/// Finds a column of times of a run; empty if it does not exist.
pub fn times<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [i64] {
    match column(outcome, table, name) {
        Some(Column::Signed(values)) => values,
        _ => &[],
    }
}

/// Finds a column of numbers of a run; empty if it does not exist.
pub fn numbers<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [u64] {
    match column(outcome, table, name) {
        Some(Column::Unsigned(values)) => values,
        _ => &[],
    }
}

/// Finds a column of names of a run; empty if it does not exist.
pub fn texts<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [String] {
    match column(outcome, table, name) {
        Some(Column::Text(values)) => values,
        _ => &[],
    }
}
