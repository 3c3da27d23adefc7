//! Defaults that depend on another field: a preset, a congestion control.
//!
//! They are filled in as TOML, before the structs are read, so that the structs hold plain values. What the file
//! says always wins.

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{LinkLayerRetrySettings, SwitchPreset, SwitchSettings, TopologySettings, WharfSettings};
use crate::topology::LinkSettings;
use crate::topology::select::select_links;

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
    fill_mechanisms(scenario);
}

fn fill_transport(transport: &mut Table) {
    let needs = match transport.get("congestion").and_then(Value::as_str) {
        // Without ECN, DCTCP is NewReno: RFC 8257 is about nothing else.
        Some("dctcp") => "ecn",
        // BBR's window is twice what the path holds: the pace is what limits it.
        Some("bbr") => "pacing",
        _ => return,
    };
    transport.entry(needs).or_insert(Value::Boolean(true));
}

fn fill_mechanisms(scenario: &mut Table) {
    let topology = read::<TopologySettings>(scenario.get("topology")).and_then(|settings| settings.build().ok());
    let Some(topology) = topology else { return };
    let link_of = |name: &str| -> Option<LinkSettings> {
        let links = select_links(&topology, name).ok()?;
        Some(topology.link(links.first()?.link).settings)
    };
    let mechanisms = scenario.get_mut("mechanism").and_then(Value::as_array_mut);
    for mechanism in mechanisms.into_iter().flatten().filter_map(Value::as_table_mut) {
        let Some(link) = mechanism.get("link").and_then(Value::as_str).and_then(link_of) else { continue };
        match mechanism.get("kind").and_then(Value::as_str) {
            Some("link-layer-retry") => {
                fill_missing(mechanism, &LinkLayerRetrySettings::for_link(link.rate, link.delay));
            }
            Some("wharf") => {
                let data_frames = read(mechanism.get("data_frames")).unwrap_or(WharfSettings::DATA_FRAMES);
                fill_missing(mechanism, &WharfSettings::for_rate(link.rate, data_frames));
            }
            _ => {}
        }
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
