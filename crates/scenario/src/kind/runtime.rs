//! Kinds that are made while the program runs, as from a class of another language.

use std::any::Any;
use std::collections::BTreeSet;

use hitless_core::engine::Stream;
use hitless_core::settings::Problem;
use hitless_core::settings::defaults::{fill_missing, read};
use hitless_core::wire::PortId;
use hitless_switch::Mechanism;
use schemars::{Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;
use toml::Table;

use super::claim::{Claim, Claimed};
use super::command::Built;
use super::entry::ErasedSettings;
use super::erased::ErasedKind;
use super::facts::Facts;
use super::facts::{Entries, Stage};
use super::surroundings::Surroundings;
use crate::Check;
use crate::network::topology::select::{SwitchPort, select_ports_by_switch};
use crate::network::topology::{SwitchId, Topology};

/// What the constants of a [`Kind`](super::Kind) are to a kind that is made while the program runs. It puts no headers
/// on packets and takes no commands, and a switch is named by one entry of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The value of `kind` in scenarios.
    pub name: String,
    /// What messages call it.
    pub title: String,
    /// What it does: one sentence of the schema.
    pub summary: String,
    /// Its place in the order of hooks.
    pub stage: Stage,
    /// The field of its settings, a list of texts, that names the ports where it runs.
    pub places: String,
    /// What it claims at these ports.
    pub claims: Vec<Claim>,
    /// Queues that it asks for at a port.
    pub queues: u16,
    /// Whether it marks packets of transports that know ECN.
    pub marks: bool,
    /// The JSON schema of its settings.
    pub schema: Value,
}

/// Where a mechanism is to run.
#[derive(Debug)]
pub struct Site<'a> {
    /// The name of the switch.
    pub switch: &'a str,
    /// The ports that the entry names there.
    pub ports: Vec<PortId>,
    /// The random stream of the mechanism.
    pub stream: Stream,
}

/// What a kind does that is made while the program runs. Settings are as the file has them, with the defaults of the
/// schema.
pub trait RuntimeKind: Send + Sync {
    /// What of settings cannot be meant, beyond what the schema says.
    ///
    /// # Errors
    /// The rule that does not hold.
    fn check(&self, settings: &Table) -> Result<(), String>;

    /// Builds what runs on one switch.
    ///
    /// # Errors
    /// A sentence that says why it cannot.
    fn build(&self, settings: &Table, site: Site<'_>) -> Result<Box<dyn Mechanism>, String>;
}

/// A kind and its profile.
struct Made {
    facts: &'static Facts,
    profile: Profile,
    kind: Box<dyn RuntimeKind>,
}

/// A kind, for good: entries of scenarios refer to it wherever they go.
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
        asks_for_returns: false,
        notifies_senders: false,
        // Nobody knows.
        shares_state: true,
    }));
    Ok(Box::leak(Box::new(Made { facts, profile, kind })))
}

fn own(settings: &dyn ErasedSettings) -> &Table {
    (settings as &dyn Any).downcast_ref().expect("an entry has the settings of its own kind")
}

impl Made {
    /// The names of ports as they are written.
    fn names(&self, settings: &dyn ErasedSettings) -> Vec<String> {
        read(own(settings).get(&self.profile.places)).unwrap_or_default()
    }

    /// The value that the schema gives each field that may be left out.
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
