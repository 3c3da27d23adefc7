//! Defaults that depend on another field: a preset, a congestion control.
//!
//! They are filled in as TOML before the structs are read, so that the structs hold plain values. Values from the file
//! take precedence.

use hitless_core::settings::defaults::{fill_missing, read};
use hitless_hosts::transport::roce::{DcqcnPreset, DcqcnSettings};
use toml::{Table, Value};

use crate::kind::Registry;
use crate::network::switch::{SwitchPreset, SwitchSettings};
use crate::network::topology::TopologySettings;

/// Fills in all such defaults.
pub(super) fn fill(scenario: &mut Table, registry: &Registry) {
    if let Some(switch) = scenario.get_mut("switch").and_then(Value::as_table_mut) {
        let preset = read::<SwitchPreset>(switch.get("preset")).unwrap_or_default();
        fill_missing(switch, &SwitchSettings::of(preset));
    }
    let transports = scenario.get_mut("transport").and_then(Value::as_array_mut);
    for transport in transports.into_iter().flatten().filter_map(Value::as_table_mut) {
        fill_transport(transport, registry);
    }
    fill_mechanisms(scenario, registry);
}

/// Expands a name to the table `{ field = name }`.
fn expand<'a>(value: &'a mut Value, field: &str) -> Option<&'a mut Table> {
    if let Value::String(name) = value {
        *value = Value::Table(Table::from_iter([(field.to_owned(), Value::String(std::mem::take(name)))]));
    }
    value.as_table_mut()
}

/// Fills in the values of a preset.
fn fill_dcqcn(dcqcn: &mut Value) {
    if let Some(table) = expand(dcqcn, "preset") {
        let preset = read::<DcqcnPreset>(table.get("preset")).unwrap_or_default();
        fill_missing(table, &DcqcnSettings::of(preset));
    }
}

fn fill_transport(transport: &mut Table, registry: &Registry) {
    if let Some(dcqcn) = transport.get_mut("dcqcn") {
        fill_dcqcn(dcqcn);
    }
    // A spraying connection names its congestion control, which has no parameters.
    if transport.get("kind").and_then(Value::as_str) == Some("uet") {
        return;
    }
    let congestion = transport.get_mut("congestion").and_then(|congestion| expand(congestion, "kind"));
    let name = congestion.and_then(|table| table.get("kind")?.as_str()).unwrap_or_default().to_owned();
    for field in registry.fields_needed(&name) {
        transport.entry(field).or_insert(Value::Boolean(true));
    }
}

fn fill_mechanisms(scenario: &mut Table, registry: &Registry) {
    let topology = read::<TopologySettings>(scenario.get("topology")).and_then(|settings| settings.build().ok());
    let Some(topology) = topology else { return };
    let mechanisms = scenario.get_mut("mechanism").and_then(Value::as_array_mut);
    registry.fill(mechanisms.into_iter().flatten().filter_map(Value::as_table_mut), &topology);
}
