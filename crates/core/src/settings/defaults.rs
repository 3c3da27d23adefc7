//! Defaults that depend on another field: a preset, a kind.
//!
//! They are filled in as TOML, before the structs are read, so that the structs hold plain values. What the file
//! says always wins.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// A value as what it means; `None` when it is missing or means nothing of this type, which the checks report.
pub fn read<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    value.cloned().and_then(|value| value.try_into().ok())
}

/// Gives each field of `table` that is missing the value that it has in `defaults`.
pub fn fill_missing(table: &mut Table, defaults: &impl Serialize) {
    let Ok(defaults) = Table::try_from(defaults) else { return };
    for (key, value) in defaults {
        table.entry(key).or_insert(value);
    }
}
