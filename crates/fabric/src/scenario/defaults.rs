//! Defaults that depend on another field: a preset, a congestion control.
//!
//! They are filled in as TOML, before the structs are read, so that the structs hold plain values. What the file
//! says always wins.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{SwitchPreset, SwitchSettings};

/// Fills them in.
pub(super) fn fill(scenario: &mut Table) {
    if let Some(switch) = scenario.get_mut("switch").and_then(Value::as_table_mut) {
        let preset = read::<SwitchPreset>(switch.get("preset")).unwrap_or_default();
        fill_missing(switch, &SwitchSettings::of(preset));
    }
    let transports = scenario.get_mut("transport").and_then(Value::as_array_mut);
    for transport in transports.into_iter().flatten().filter_map(Value::as_table_mut) {
        fill_transport(transport);
    }
}

fn fill_transport(transport: &mut Table) {
    // Without ECN, DCTCP is NewReno: RFC 8257 is about nothing else.
    if transport.get("congestion").and_then(Value::as_str) == Some("dctcp") {
        transport.entry("ecn").or_insert(Value::Boolean(true));
    }
}

fn read<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    value.cloned().and_then(|value| value.try_into().ok())
}

fn fill_missing(table: &mut Table, defaults: &impl Serialize) {
    let Ok(defaults) = Table::try_from(defaults) else { return };
    for (key, value) in defaults {
        table.entry(key).or_insert(value);
    }
}
