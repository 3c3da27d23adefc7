//! The registry of mechanism kinds.

use std::sync::OnceLock;

use hitless_core::settings::schema::completed;
use hitless_hosts::transport::tcp::congestion::CongestionKind;
use hitless_switch::{Counter, Quantity};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use toml::Table;

use super::erased::{Erased, ErasedKind};
use super::runtime::{Profile, RuntimeKind, made};
use super::{Entry, Kind};
use crate::Scenario;
use crate::network::topology::Topology;

/// The kinds of mechanisms, and of congestion controls from outside the tree, that a scenario can name.
#[derive(Clone, Default)]
pub struct Registry {
    pub(super) kinds: Vec<&'static dyn ErasedKind>,
    /// Congestion controls from outside the hosts' crate.
    pub(super) congestion: Vec<&'static dyn CongestionKind>,
    pub(super) schema: OnceLock<Value>,
}

impl Registry {
    pub const fn new() -> Self {
        Self { kinds: Vec::new(), congestion: Vec::new(), schema: OnceLock::new() }
    }

    /// Adds the kind `K`.
    ///
    /// # Panics
    /// If a kind with this name exists.
    #[must_use]
    pub fn with<K: Kind>(mut self) -> Self {
        assert!(self.names().all(|name| name != K::NAME), "two kinds of mechanisms are called {}", K::NAME);
        self.kinds.push(Erased::<K>::KIND);
        Self { schema: OnceLock::new(), ..self }
    }

    /// Adds a kind that is defined at run time. Its memory is never freed.
    ///
    /// # Errors
    /// A sentence, if a kind with this name exists or its settings lack the field for places.
    pub fn with_runtime(mut self, profile: Profile, kind: impl RuntimeKind + 'static) -> Result<Self, String> {
        if self.names().any(|name| name == profile.name) {
            return Err(format!("there is a mechanism of the kind \"{}\" already", profile.name));
        }
        self.kinds.push(made(profile, Box::new(kind))?);
        Ok(Self { schema: OnceLock::new(), ..self })
    }

    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.kinds.retain(|kind| kind.facts().name != name);
        Self { schema: OnceLock::new(), ..self }
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.kinds.iter().map(|kind| kind.facts().name)
    }

    /// Returns the kinds in order, each with its name and a sentence about it.
    pub fn summaries(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.kinds.iter().map(|kind| (kind.facts().name, kind.facts().summary))
    }

    /// Returns the counters of each kind, in order; a kind from run time declares them in its reports.
    pub fn counters(&self) -> impl Iterator<Item = (&'static str, impl Iterator<Item = Counter>)> + '_ {
        self.kinds.iter().map(|kind| (kind.facts().name, kind.facts().counters.concat().into_iter()))
    }

    /// Returns the quantities in histograms and series of each kind, in order.
    pub fn quantities(&self) -> impl Iterator<Item = (&'static str, &'static [Quantity])> + '_ {
        self.kinds.iter().map(|kind| (kind.facts().name, kind.facts().quantities))
    }

    /// Returns the schema of scenario files, as JSON Schema 2020-12. Editors that support TOML can complete and check
    /// scenarios with it.
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(|| self.compose_schema())
    }

    fn compose_schema(&self) -> Value {
        let mut generator = SchemaSettings::default().into_generator();
        let of = |kind: &&dyn ErasedKind| {
            let schema = kind.schema(&mut generator);
            tagged(kind.facts().name, kind.facts().summary, schema)
        };
        let variants: Vec<Value> = self.kinds.iter().map(of).collect();
        let congestion = self.congestion_variants(&mut generator);
        let mut schema = generator.into_root_schema_for::<Scenario>().to_value();
        schema["$defs"][&*Entry::schema_name()]["oneOf"] = variants.into();
        add_congestion(&mut schema, congestion);
        completed(schema)
    }

    /// Fills in missing fields of raw entries.
    pub(crate) fn fill<'t>(&self, entries: impl Iterator<Item = &'t mut Table>, topology: &Topology) {
        for entry in entries {
            let kind = self.kind_of(entry).map(|(_, kind)| kind);
            kind.into_iter().for_each(|kind| kind.fill(entry, topology));
        }
    }

    /// Reads raw entries.
    pub(crate) fn read(&self, entries: Option<toml::Value>) -> Result<Vec<Entry>, String> {
        let Some(entries) = entries else { return Ok(Vec::new()) };
        let entries: Vec<Table> = entries.try_into().map_err(|error: toml::de::Error| error.message().to_string())?;
        entries.into_iter().map(|entry| self.read_entry(entry)).collect()
    }

    fn read_entry(&self, mut entry: Table) -> Result<Entry, String> {
        let (number, kind) = self.kind_of(&entry).ok_or("there is no mechanism of this kind")?;
        entry.remove("kind");
        Entry::read(kind, number, entry)
    }

    fn kind_of(&self, entry: &Table) -> Option<(usize, &'static dyn ErasedKind)> {
        let name = entry.get("kind")?.as_str()?;
        let found = self.kinds.iter().enumerate().find(|(_, kind)| kind.facts().name == name);
        found.map(|(number, kind)| (number, *kind))
    }
}

/// Tags the schema of a kind's settings with its name.
pub(super) fn tagged(name: &str, summary: &str, schema: Schema) -> Value {
    let mut schema = schema.to_value();
    schema["description"] = summary.into();
    let properties =
        schema.as_object_mut().map(|object| object.entry("properties").or_insert_with(|| Map::new().into()));
    if let Some(properties) = properties {
        properties["kind"] = json!({ "type": "string", "const": name });
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    schema["required"] = [Value::from("kind")].into_iter().chain(required).collect();
    schema
}

/// Adds congestion controls to the two places of a scenario's schema that list them: tables, and names of controls
/// without required settings.
pub(super) fn add_congestion(schema: &mut Value, controls: Vec<(&'static str, Value)>) {
    let mut add = |place: &str, item: Value| {
        schema.pointer_mut(place).and_then(Value::as_array_mut).expect("the schema lists controls").push(item);
    };
    for (name, variant) in controls {
        if variant["required"].as_array().is_some_and(|required| required.len() == 1) {
            add("/$defs/CongestionName/enum", name.into());
        }
        add("/$defs/Congestion/oneOf", variant);
    }
}
