//! One `[[mechanism]]` of a scenario as data. A scenario contains entries, and the code of a kind needs the scenario;
//! to break this cycle, an entry holds its kind as a value that only `erased` can open.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use hitless_switch::{Counter, Quantity};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::facts::Facts;
use super::facts::Stage;

/// Settings of any kind.
pub(super) trait ErasedSettings: Any + erased_serde::Serialize + fmt::Debug + Send + Sync {
    fn copy(&self) -> Box<dyn ErasedSettings>;
    fn equals(&self, other: &dyn ErasedSettings) -> bool;
}

impl<S: Serialize + fmt::Debug + Send + Sync + Clone + PartialEq + 'static> ErasedSettings for S {
    fn copy(&self) -> Box<dyn ErasedSettings> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn ErasedSettings) -> bool {
        (other as &dyn Any).downcast_ref::<S>().is_some_and(|other| other == self)
    }
}

/// One entry of a scenario: a kind of mechanism, and its parameters.
pub struct Entry {
    pub(crate) facts: &'static Facts,
    /// The kind, of a type that [`erased`](super::erased) knows.
    pub(super) kind: Arc<dyn Any + Send + Sync>,
    /// Index of the kind in the registry.
    pub(super) number: usize,
    pub(super) settings: Box<dyn ErasedSettings>,
}

impl Entry {
    /// Returns the value of `kind`.
    pub fn name(&self) -> &'static str {
        self.facts.name
    }

    /// Returns whether its kind declares this counter.
    pub fn declares(&self, counter: &Counter) -> bool {
        self.facts.counters.iter().any(|counters| counters.contains(counter))
    }

    /// Returns whether its kind declares this quantity of a histogram or a series.
    pub fn declares_quantity(&self, quantity: &Quantity) -> bool {
        self.facts.quantities.contains(quantity)
    }

    /// Returns the name in messages.
    pub fn title(&self) -> &'static str {
        self.facts.title
    }

    /// Returns the settings, if they are of the type `S`; each kind has a distinct type.
    pub fn settings<S: 'static>(&self) -> Option<&S> {
        (&*self.settings as &dyn Any).downcast_ref()
    }

    /// Returns the position in the order of hooks.
    pub(crate) fn order(&self) -> (Stage, usize) {
        (self.facts.stage, self.number)
    }
}

impl Clone for Entry {
    fn clone(&self) -> Self {
        Self { settings: self.settings.copy(), kind: self.kind.clone(), ..*self }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.settings.equals(&*other.settings)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.name()).field(&self.settings).finish()
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tagged<'a> {
            kind: &'static str,
            #[serde(flatten)]
            settings: &'a dyn erased_serde::Serialize,
        }
        Tagged { kind: self.name(), settings: &*self.settings }.serialize(serializer)
    }
}

/// Serde cannot read an entry, because it does not know the registry: [`check`](crate::check()) reads entries instead.
impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom("a mechanism is read with the kinds that there are"))
    }
}

/// A placeholder; [`Registry::schema`](super::Registry::schema) fills in the registered kinds.
impl JsonSchema for Entry {
    fn schema_name() -> Cow<'static, str> {
        "MechanismSettings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A mechanism and its parameters." })
    }
}
