//! The kinds of mechanisms that there are.

use std::sync::OnceLock;

use hitless_core::settings::schema::completed;
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
use toml::Table;

use super::erased::{Erased, ErasedKind};
use super::runtime::{Profile, RuntimeKind, made};
use super::{Entry, Kind};
use crate::Scenario;
use crate::network::topology::Topology;

/// The kinds of mechanisms that a scenario may name.
#[derive(Clone, Default)]
pub struct Registry {
    kinds: Vec<&'static dyn ErasedKind>,
    schema: OnceLock<Value>,
}

impl Registry {
    /// One without any.
    pub const fn new() -> Self {
        Self { kinds: Vec::new(), schema: OnceLock::new() }
    }

    /// This one and `K`.
    ///
    /// # Panics
    /// When there is one of this name.
    #[must_use]
    pub fn with<K: Kind>(mut self) -> Self {
        assert!(self.names().all(|name| name != K::NAME), "two kinds of mechanisms are called {}", K::NAME);
        self.kinds.push(Erased::<K>::KIND);
        Self { kinds: self.kinds, schema: OnceLock::new() }
    }

    /// This one and a kind that is made now. It is there until the process ends.
    ///
    /// # Errors
    /// A sentence: there is one of this name, or its settings have no such places.
    pub fn with_runtime(mut self, profile: Profile, kind: impl RuntimeKind + 'static) -> Result<Self, String> {
        if self.names().any(|name| name == profile.name) {
            return Err(format!("there is a mechanism of the kind \"{}\" already", profile.name));
        }
        self.kinds.push(made(profile, Box::new(kind))?);
        Ok(Self { kinds: self.kinds, schema: OnceLock::new() })
    }

    /// This one without the kind of a name.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.kinds.retain(|kind| kind.facts().name != name);
        Self { kinds: self.kinds, schema: OnceLock::new() }
    }

    /// The names of the kinds, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.kinds.iter().map(|kind| kind.facts().name)
    }

    /// The kinds in their order: the name of each, and a sentence about it.
    pub fn summaries(&self) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
        self.kinds.iter().map(|kind| (kind.facts().name, kind.facts().summary))
    }

    /// The schema of scenario files, as JSON Schema 2020-12. Editors that know TOML can complete and check scenarios
    /// with it.
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(|| self.compose_schema())
    }

    fn compose_schema(&self) -> Value {
        let mut generator = SchemaSettings::default().into_generator();
        let variants: Vec<Value> = self.kinds.iter().map(|kind| variant(*kind, &mut generator)).collect();
        let mut schema = generator.into_root_schema_for::<Scenario>().to_value();
        schema["$defs"][&*Entry::schema_name()]["oneOf"] = variants.into();
        completed(schema)
    }

    /// Fills in what is missing in entries as they were written.
    pub(crate) fn fill<'t>(&self, entries: impl Iterator<Item = &'t mut Table>, topology: &Topology) {
        for entry in entries {
            let kind = self.kind_of(entry).map(|(_, kind)| kind);
            kind.into_iter().for_each(|kind| kind.fill(entry, topology));
        }
    }

    /// Reads entries as they were written.
    ///
    /// # Errors
    /// The first that is none.
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

/// The settings of a kind, tagged with its name.
fn variant(kind: &dyn ErasedKind, generator: &mut SchemaGenerator) -> Value {
    let facts = kind.facts();
    let mut schema = kind.schema(generator).to_value();
    schema["description"] = facts.summary.into();
    let properties =
        schema.as_object_mut().map(|object| object.entry("properties").or_insert_with(|| Map::new().into()));
    if let Some(properties) = properties {
        properties["kind"] = json!({ "type": "string", "const": facts.name });
    }
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    schema["required"] = [Value::from("kind")].into_iter().chain(required).collect();
    schema
}
