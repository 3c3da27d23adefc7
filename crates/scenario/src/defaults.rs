//! Defaults that depend on another field: a preset, a congestion control, the topology.
//!
//! They are filled in as TOML before the structs are read, so that the structs hold plain values. Values from the file
//! take precedence.

use hitless_core::settings::defaults::{fill_missing, read};
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::{Bytes, Duration};
use hitless_hosts::transport::roce::{DcqcnPreset, DcqcnSettings};
use hitless_hosts::transport::uet::UetSettings;
use toml::{Table, Value};

use crate::kind::Registry;
use crate::network::link::LinkImpairment;
use crate::network::switch::{SwitchException, SwitchPreset, SwitchSettings};
use crate::network::topology::{Crossing, Topology, TopologySettings};

/// Fills in all such defaults.
pub(super) fn fill(scenario: &mut Table, registry: &Registry) {
    if let Some(switch) = scenario.get_mut("switch").and_then(Value::as_table_mut) {
        let preset = read::<SwitchPreset>(switch.get("preset")).unwrap_or_default();
        fill_missing(switch, &SwitchSettings::of(preset));
        let exceptions = switch.get_mut("exceptions").and_then(Value::as_array_mut);
        for exception in exceptions.into_iter().flatten().filter_map(Value::as_table_mut) {
            if let Some(preset) = read::<SwitchPreset>(exception.get("preset")) {
                fill_missing(exception, &SwitchException::of(preset));
            }
        }
    }
    let switch = scenario.get("switch");
    let switch =
        switch.map_or_else(|| Some(SwitchSettings::default()), |switch| read(Some(switch))).unwrap_or_default();
    let topology = fabric(scenario, &switch);
    let in_switches = topology.as_ref().map(|topology| switch.pipelines(topology)).unwrap_or_default();
    let crossing = Crossing { in_switches: &in_switches, in_hosts: in_cards(scenario), ..Crossing::default() };
    let transports = scenario.get_mut("transport").and_then(Value::as_array_mut);
    for transport in transports.into_iter().flatten().filter_map(Value::as_table_mut) {
        match transport.get("kind").and_then(Value::as_str) {
            Some("uet") => fill_uet(transport, topology.as_ref(), crossing),
            _ => fill_transport(transport, registry),
        }
    }
    let Some(topology) = topology else { return };
    let mechanisms = scenario.get_mut("mechanism").and_then(Value::as_array_mut);
    registry.fill(mechanisms.into_iter().flatten().filter_map(Value::as_table_mut), &topology);
}

/// Builds the topology with the entries of `[[link]]` and the exceptions of `switch`. `None` for a wrong topology,
/// which is reported later.
fn fabric(scenario: &Table, switch: &SwitchSettings) -> Option<Topology> {
    let mut topology = read::<TopologySettings>(scenario.get("topology"))?.build().ok()?;
    let links = scenario.get("link").and_then(Value::as_array);
    let entries = links.into_iter().flatten().filter_map(|link| read::<LinkImpairment>(Some(link)));
    entries.for_each(|entry| entry.shape(&mut topology));
    topology.add_fec_latencies();
    switch.shape(&mut topology);
    Some(topology)
}

/// Reads a quantity, such as "1.5 us"; `None` also for a wrong one, which is reported later.
fn quantity<Q: Quantity>(table: Option<&Table>, field: &str) -> Option<Q> {
    Q::read(table?.get(field)?.as_str()?).ok()
}

/// Returns the constant delays of the two slowest network cards.
fn in_cards(scenario: &Table) -> Duration {
    let table = |name: &str| scenario.get(name).and_then(Value::as_table);
    let exceptions = table("host").and_then(|host| host.get("exceptions")?.as_array());
    let exceptions = exceptions.into_iter().flatten().filter_map(Value::as_table);
    let cards: Vec<&Table> =
        table("host").into_iter().chain(exceptions).filter_map(|host| host.get("network_card")?.as_table()).collect();
    let of_card =
        |field: &str| cards.iter().filter_map(|card| quantity(Some(card), field)).max().unwrap_or(Duration::ZERO);
    of_card("send") + of_card("receive")
}

/// Fills in the times of a spraying connection, by the longest path of the fabric.
fn fill_uet(transport: &mut Table, topology: Option<&Topology>, crossing: Crossing<'_>) {
    let defaults = UetSettings::default();
    let length = |field: &str, default: Bytes| quantity(Some(transport), field).unwrap_or(default).0;
    let there_bytes = length("mtu", defaults.mtu).saturating_add(length("header_bytes", defaults.header_bytes));
    let crossing = Crossing { there_bytes, back_bytes: length("ack_bytes", defaults.ack_bytes), ..crossing };
    let is_given = transport.contains_key("base_rtt");
    let longest = if is_given { None } else { topology.and_then(|topology| topology.longest_round_trip(&crossing)) };
    if let Some(base_rtt) = longest {
        transport.insert("base_rtt".to_owned(), Value::String(base_rtt.text()));
    }
    if let Some(base_rtt) = quantity::<Duration>(Some(transport), "base_rtt") {
        let timeout = UetSettings::timeout_for(base_rtt);
        transport.entry("timeout").or_insert_with(|| Value::String(timeout.text()));
    }
}

/// Expands a name to the table `{ field = name }`.
fn expand<'a>(value: &'a mut Value, field: &str) -> Option<&'a mut Table> {
    if let Value::String(name) = value {
        *value = Value::Table(Table::from_iter([(field.to_owned(), Value::String(std::mem::take(name)))]));
    }
    value.as_table_mut()
}

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
    let congestion = transport.get_mut("congestion").and_then(|congestion| expand(congestion, "kind"));
    let name = congestion.and_then(|table| table.get("kind")?.as_str()).unwrap_or_default().to_owned();
    for field in registry.fields_needed(&name) {
        transport.entry(field).or_insert(Value::Boolean(true));
    }
}
