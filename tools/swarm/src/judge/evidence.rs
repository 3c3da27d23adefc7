//! What a judge looks at.

use hitless_scenario::Scenario;
use hitless_scenario::kind::Registry;
use hitless_simulation::Outcome;
use hitless_simulation::results::{Column, OrderCounts};
use toml::{Table, Value};

use crate::parts::Parts;
use crate::world::World;

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The judge's name.
    pub judge: &'static str,
    /// What was found.
    pub sentence: String,
}

impl Fault {
    /// What makes it the same fault as another: the judge, and the sentence without its numbers.
    pub fn signature(&self) -> String {
        let has_digit = |word: &&str| word.contains(|letter: char| letter.is_ascii_digit());
        let words: Vec<&str> = self.sentence.split(' ').filter(|word| !has_digit(word)).take(10).collect();
        format!("{}: {}", self.judge, words.join(" "))
    }
}

/// What a judge says of a world: nothing where it has no say, else what is broken, which may be nothing.
pub(super) type Finding = Option<Vec<String>>;

/// That of a judge with a say, who finds one thing broken at most.
pub(super) fn found(broken: Option<String>) -> Finding {
    Some(broken.into_iter().collect())
}

/// A world and what came of it.
pub struct Evidence<'a> {
    /// As it is written.
    pub world: &'a World,
    /// As it was read.
    pub scenario: &'a Scenario,
    /// The run in steps.
    pub outcome: &'a Outcome,
    /// The same run from its recording.
    pub replay: &'a Result<Outcome, String>,
    /// The same run divided, and how; none where it cannot be.
    pub divided: Option<&'a (&'a Parts, Result<Outcome, String>)>,
    /// The same run, killed and restored from checkpoints; none where something in it has none.
    pub resumed: Option<&'a Result<Outcome, String>>,
    /// Ports that idled with packets that might go.
    pub idle: &'a [String],
    /// Senders that are alike and were run beside this world: the one that got an unequal share.
    pub unequal: Option<Option<&'a str>>,
    /// The kinds of mechanisms that there are.
    pub registry: &'a Registry,
}

impl Evidence<'_> {
    /// A column of numbers of a table; nothing where there is no such column.
    pub fn numbers(&self, table: &str, name: &str) -> &[u64] {
        numbers(self.outcome, table, name)
    }

    /// A column of times, in picoseconds.
    pub fn times(&self, table: &str, name: &str) -> &[i64] {
        times(self.outcome, table, name)
    }

    /// A column of names.
    pub fn texts(&self, table: &str, name: &str) -> &[String] {
        texts(self.outcome, table, name)
    }

    /// A counter of mechanisms, all of them together.
    pub fn counter(&self, name: &str) -> u64 {
        let rows = self.texts("mechanisms", "counter").iter().zip(self.numbers("mechanisms", "value"));
        rows.filter(|(known, _)| *known == name).map(|(_, value)| value).sum()
    }

    /// What the order checker says of all flows; the world asks for it.
    pub fn order(&self) -> Option<OrderCounts> {
        self.outcome.summary.order
    }

    /// Packets lost for any reason but these.
    pub fn drops_but_for(&self, reasons: &[&str]) -> u64 {
        let drops = self.outcome.summary.drops.iter();
        drops.filter(|(reason, _)| !reasons.contains(reason)).map(|(_, count)| count).sum()
    }

    /// Whether the world has an entry of a list: "failure", "link".
    pub fn has(&self, list: &str) -> bool {
        self.world.entries(list).next().is_some()
    }

    /// Whether all mechanisms are of these kinds, there is one, and they say nothing but these settings.
    pub fn all_are(&self, kinds: &[&str], settings: &[&str]) -> bool {
        let is_known = |entry: &Table| {
            let kind = entry.get("kind").and_then(Value::as_str).unwrap_or("");
            kinds.contains(&kind) && entry.keys().all(|key| key == "kind" || settings.contains(&key.as_str()))
        };
        self.has("mechanism") && self.world.entries("mechanism").all(is_known)
    }
}

/// A column of a run.
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

/// A column of names of a run.
pub fn texts<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [String] {
    match column(outcome, table, name) {
        Some(Column::Text(values)) => values,
        _ => &[],
    }
}
