//! One `[[mechanism]]` of a scenario, as data: a scenario has entries, and what a kind does with an entry needs the
//! scenario. So an entry holds its kind as something that only the kinds' own code opens.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::facts::Facts;
use super::facts::Stage;

/// Settings of some kind.
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
    /// What the kind does, of a type that [`erased`](super::erased) knows.
    pub(super) kind: Arc<dyn Any + Send + Sync>,
    /// The place of the kind in the registry.
    pub(super) number: usize,
    pub(super) settings: Box<dyn ErasedSettings>,
}

impl Entry {
    /// The value of `kind`.
    pub fn name(&self) -> &'static str {
        self.facts.name
    }

    /// What messages call it.
    pub fn title(&self) -> &'static str {
        self.facts.title
    }

    /// The settings, if the entry has settings of the type `S`, which those of one kind are.
    pub fn settings<S: 'static>(&self) -> Option<&S> {
        (&*self.settings as &dyn Any).downcast_ref()
    }

    /// The order of hooks.
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

/// An entry by itself says nothing of which kinds there are: [`check`](crate::check()) reads it with a registry.
impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom("a mechanism is read with the kinds that there are"))
    }
}

/// The place that [`Registry::schema`](super::Registry::schema) fills with the kinds that there are.
impl JsonSchema for Entry {
    fn schema_name() -> Cow<'static, str> {
        "MechanismSettings".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A mechanism and its parameters." })
    }
}
