//! Defaults that depend on another field: a preset, a kind.
//!
//! They are filled in as TOML before the structs are read, so that the structs hold plain values. Values from the file
//! take precedence.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// Converts a value to `T`; `None` if it is missing or invalid (the checks report invalid values).
pub fn read<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    value.cloned().and_then(|value| value.try_into().ok())
}

/// Gives each missing field of `table` its value from `defaults`.
pub fn fill_missing(table: &mut Table, defaults: &impl Serialize) {
    let Ok(defaults) = Table::try_from(defaults) else { return };
    for (key, value) in defaults {
        table.entry(key).or_insert(value);
    }
}
