//! A world: a scenario as written, so that a failing one can be saved as a file.

use hitless_core::settings::SettingsError;
use hitless_scenario::Scenario;
use hitless_scenario::kind::Registry;
use hitless_scenario::network::link::LinkImpairment;
use toml::{Table, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct World {
    pub table: Table,
}

impl World {
    pub const fn new(table: Table) -> Self {
        Self { table }
    }

    pub fn text(&self) -> String {
        toml::to_string(&self.table).unwrap_or_else(|error| unreachable!("a table is always TOML: {error}"))
    }

    /// Checks the scenario.
    pub fn check(&self, registry: &Registry) -> Result<Scenario, SettingsError> {
        hitless_scenario::check(&self.text(), "world.toml", registry)
    }

    /// The entries of a list of tables: "mechanism", "link".
    pub fn entries(&self, name: &str) -> impl Iterator<Item = &Table> {
        self.table.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
    }

    /// The kinds of its mechanisms, one for each entry.
    pub fn kinds(&self) -> Vec<&str> {
        self.entries("mechanism").filter_map(|entry| entry.get("kind")?.as_str()).collect()
    }

    /// Finds a value by its path, "switch.buffer.kind".
    pub fn value(&self, path: &str) -> Option<&Value> {
        let mut names = path.split('.');
        let first = self.table.get(names.next()?)?;
        names.try_fold(first, |value, name| value.get(name))
    }

    /// Finds a text by its path.
    pub fn text_of(&self, path: &str) -> Option<&str> {
        self.value(path).and_then(Value::as_str)
    }

    /// Removes the setting that a message of the check is about, if it belongs to a mechanism or is optional; a
    /// required setting is removed together with its entry. Returns false if it cannot be removed.
    pub fn leave_out(&mut self, field: &str) -> bool {
        let Some((list, rest)) = field.split_once('[') else { return leave_out_setting(&mut self.table, field) };
        let Some((number, setting)) = rest.split_once(']') else { return false };
        let Ok(number) = number.parse::<usize>() else { return false };
        let Some(Value::Array(entries)) = self.table.get_mut(list) else { return false };
        if number >= entries.len() || !matches!(list, "mechanism" | "link" | "flows") {
            return false;
        }
        let setting = setting.trim_start_matches('.').split(['.', '[']).next().unwrap_or("");
        let is_optional = !matches!(setting, "" | "kind" | "link" | "links" | "name" | "ports" | "transport");
        let removed =
            is_optional && entries[number].as_table_mut().is_some_and(|entry| entry.remove(setting).is_some());
        if !removed {
            drop(entries.remove(number));
        }
        true
    }
}

fn leave_out_setting(table: &mut Table, field: &str) -> bool {
    match field.split_once('.') {
        Some((section @ ("switch" | "host" | "routing"), setting)) => {
            let setting = setting.split(['.', '[']).next().unwrap_or("");
            setting != "preset"
                && table.get_mut(section).and_then(Value::as_table_mut).is_some_and(|of| of.remove(setting).is_some())
        }
        _ => false,
    }
}

/// Whether an entry of `[[link]]` has a rate, a delay or a latency of error correction.
pub fn shapes_links(scenario: &Scenario) -> bool {
    let shapes = |link: &LinkImpairment| {
        link.rate.is_some() || link.delay.is_some() || link.fec.is_some() || link.changes_shape()
    };
    scenario.links.iter().any(shapes)
}
