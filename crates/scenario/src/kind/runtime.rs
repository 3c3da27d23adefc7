//! Kinds that are defined at run time, for example by a class of another language.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use hitless_core::engine::Stream;
use hitless_core::settings::Problem;
use hitless_core::settings::defaults::{fill_missing, read};
use hitless_core::state::kept;
use hitless_core::wire::PortId;
use hitless_switch::{Counter, Mechanism};
use schemars::{Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;
use toml::Table;

use super::claim::{Claim, Claimed, Header, Reach};
use super::command::Built;
use super::entry::ErasedSettings;
use super::erased::ErasedKind;
use super::facts::Facts;
use super::facts::{Entries, Stage};
use super::surroundings::Surroundings;
use crate::Check;
use crate::network::topology::select::{SwitchPort, select_ports_by_switch};
use crate::network::topology::{SwitchId, Topology};

/// The constants of a kind that is defined at run time, like those of [`Kind`](super::Kind). Such a kind
/// accepts no commands, and only one of its entries can name a switch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The value of `kind` in scenarios.
    pub name: String,
    /// Name in messages.
    pub title: String,
    /// One sentence of the schema that says what the mechanism does.
    pub summary: String,
    /// Position in the order of hooks.
    pub stage: Stage,
    /// Name of the settings field, a list of texts, with the ports where it runs.
    pub places: String,
    /// Labels of its counters by key.
    pub counters: BTreeMap<String, String>,
    /// Claims at these ports.
    pub claims: Vec<Claim>,
    /// Number of queues that it requests at a port.
    pub queues: u16,
    /// Whether it marks packets of ECN-capable transports.
    pub marks: bool,
    /// Length of the header that it adds to packets; 0 for none.
    pub header_bytes: usize,
    /// The JSON schema of its settings.
    pub schema: Value,
}

impl Profile {
    /// Returns the declarations of its counters, which live as long as the process.
    pub fn declared(&self) -> &'static [Counter] {
        let declared = |(key, label): (&String, &String)| Counter { key: kept(key), label: kept(label), meaning: "" };
        self.counters.iter().map(declared).collect::<Vec<_>>().leak()
    }
}

/// The place of a mechanism to be built.
#[derive(Debug)]
pub struct Site<'a> {
    pub switch: &'a str,
    /// The ports of this switch that the entry names.
    pub ports: Vec<PortId>,
    pub stream: Stream,
}

/// The functions of a kind that is defined at run time. Settings are those of the file, with the defaults of the schema
/// filled in.
pub trait RuntimeKind: Send + Sync {
    /// Checks settings beyond the rules of the schema.
    ///
    /// # Errors
    /// The violated rule.
    fn check(&self, settings: &Table) -> Result<(), String>;

    /// Builds the mechanism of one switch.
    ///
    /// # Errors
    /// A sentence with the reason.
    fn build(&self, settings: &Table, site: Site<'_>) -> Result<Box<dyn Mechanism>, String>;
}

struct Made {
    facts: &'static Facts,
    profile: Profile,
    kind: Box<dyn RuntimeKind>,
}

/// Makes a kind that lives as long as the process: scenarios refer to it through their entries.
pub(super) fn made(profile: Profile, kind: Box<dyn RuntimeKind>) -> Result<&'static dyn ErasedKind, String> {
    let places = &profile.schema["properties"][&profile.places];
    if places["type"] != "array" || places["items"]["type"] != "string" {
        return Err(format!("the settings of \"{}\" have no list of texts \"{}\"", profile.name, profile.places));
    }
    let facts: &'static Facts = Box::leak(Box::new(Facts {
        name: profile.name.clone().leak(),
        title: profile.title.clone().leak(),
        summary: profile.summary.clone().leak(),
        stage: profile.stage,
        entries: Entries::OnePerSwitch,
        places_field: profile.places.clone().leak(),
        queues_field: None,
        counters: vec![profile.declared()].leak(),
        quantities: &[],
        asks_for_returns: false,
        notifies_senders: false,
        // Unknown, so assume the restrictive case.
        shares_state: true,
    }));
    Ok(Box::leak(Box::new(Made { facts, profile, kind })))
}

fn own(settings: &dyn ErasedSettings) -> &Table {
    (settings as &dyn Any).downcast_ref().expect("an entry has the settings of its own kind")
}

impl Made {
    /// Returns the names of ports as written.
    fn names(&self, settings: &dyn ErasedSettings) -> Vec<String> {
        read(own(settings).get(&self.profile.places)).unwrap_or_default()
    }

    /// Returns the schema's default of each optional field.
    fn defaults(&self) -> serde_json::Map<String, Value> {
        let properties = self.profile.schema["properties"].as_object().into_iter().flatten();
        properties.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone()))).collect()
    }
}

impl ErasedKind for Made {
    fn facts(&self) -> &'static Facts {
        self.facts
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        self.profile.schema.clone().try_into().unwrap_or_default()
    }

    fn read(&self, mut entry: Table) -> Result<Box<dyn ErasedSettings>, String> {
        fill_missing(&mut entry, &self.defaults());
        Ok(Box::new(entry))
    }

    fn switches(&self, settings: &dyn ErasedSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, &self.names(settings)).into_keys().collect()
    }

    fn claims(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<Claimed> {
        let by_switch = select_ports_by_switch(topology, &self.names(settings));
        let ports: Vec<SwitchPort> = by_switch.into_values().flatten().collect();
        self.profile.claims.iter().map(|claim| claim.at_ports(ports.iter().copied())).collect()
    }

    fn queues(&self, _: &dyn ErasedSettings) -> u16 {
        self.profile.queues
    }

    fn headers(&self, _: &dyn ErasedSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        let bytes = self.profile.header_bytes;
        let header = Header { of: self.facts.title, bytes: bytes + 1, reach: Reach::Everywhere };
        if bytes == 0 { Vec::new() } else { vec![header] }
    }

    fn marks(&self, _: &dyn ErasedSettings) -> bool {
        self.profile.marks
    }

    fn check(&self, settings: &dyn ErasedSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        let field = format!("{section}.{}", self.profile.places);
        check.ports_named_once(around.topology, &self.names(settings), &field);
        let refused = self.kind.check(own(settings)).err();
        check.report_all(refused.map(|rule| Problem::new(section, self.facts.name, rule)));
    }

    fn build(&self, entries: &[&dyn ErasedSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let mut built = Built::new();
        for settings in entries {
            for (switch, ports) in select_ports_by_switch(around.topology, &self.names(*settings)) {
                let site = Site {
                    switch: &around.topology.switch(switch).name,
                    ports: ports.iter().map(|port| port.port).collect(),
                    stream: around.stream(switch, self.facts.name),
                };
                built.push((switch, self.kind.build(own(*settings), site)?));
            }
        }
        Ok(built)
    }
}
