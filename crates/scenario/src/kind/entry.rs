//! One `[[mechanism]]` of a scenario.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use hitless_network::topology::{DirectedLink, SwitchId, Topology};
use hitless_switch::LinkEnd;
use hitless_wire::{Duration, PortId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use toml::Table;

use super::erased::{ErasedKind, ErasedSettings};
use super::{
    Built, Claimed, ControlCommand, Entries, Header, Kind, Protection, ProtectionOrder, RecirculationLimit, Stage,
    Surroundings,
};
use crate::Check;

/// One entry of a scenario: a kind of mechanism, and its parameters.
pub struct Entry {
    kind: &'static dyn ErasedKind,
    /// The place of the kind in the registry.
    number: usize,
    settings: Box<dyn ErasedSettings>,
}

impl Entry {
    pub(super) fn read(kind: &'static dyn ErasedKind, number: usize, entry: Table) -> Result<Self, String> {
        Ok(Self { kind, number, settings: kind.read(entry)? })
    }

    /// The value of `kind`.
    pub fn name(&self) -> &'static str {
        self.kind.facts().name
    }

    /// What messages call it.
    pub fn title(&self) -> &'static str {
        self.kind.facts().title
    }

    /// The settings, if the entry is one of the kind `K`.
    pub fn settings<K: Kind>(&self) -> Option<&K::Settings> {
        self.settings.as_any().downcast_ref::<K::Settings>().filter(|_| self.name() == K::NAME)
    }

    /// As [`Kind::switches`].
    pub fn switches(&self, topology: &Topology) -> BTreeSet<SwitchId> {
        self.kind.switches(&*self.settings, topology)
    }

    /// As [`Kind::claims`].
    pub fn claims(&self, topology: &Topology) -> Vec<Claimed> {
        self.kind.claims(&*self.settings, topology)
    }

    /// As [`Kind::neighbours`].
    pub fn neighbours(&self, topology: &Topology) -> Vec<(SwitchId, SwitchId)> {
        self.kind.neighbours(&*self.settings, topology)
    }

    /// As [`Kind::waits`].
    pub fn waits(&self, topology: &Topology) -> Vec<(DirectedLink, &'static str, Duration)> {
        self.kind.waits(&*self.settings, topology)
    }

    /// As [`Kind::protections`].
    pub fn protections(&self, topology: &Topology) -> Vec<DirectedLink> {
        self.kind.protections(&*self.settings, topology)
    }

    /// As [`Kind::protection_command`].
    pub fn protection_command(&self, port: PortId, end: LinkEnd, order: ProtectionOrder) -> u32 {
        self.kind.protection_command(port, end, order)
    }

    /// As [`Kind::admits`].
    ///
    /// # Errors
    /// What there is too little of.
    pub fn admits(
        &self,
        link: DirectedLink,
        around: Surroundings<'_>,
        is_on: &dyn Fn(Protection) -> bool,
    ) -> Result<(), String> {
        self.kind.admits(link, around, is_on)
    }
}

impl Entry {
    /// The order of hooks.
    pub(crate) fn order(&self) -> (Stage, usize) {
        (self.stage(), self.number)
    }

    pub(crate) fn stage(&self) -> Stage {
        self.kind.facts().stage
    }

    pub(crate) fn entries(&self) -> Entries {
        self.kind.facts().entries
    }

    pub(crate) fn places_field(&self) -> &'static str {
        self.kind.facts().places_field
    }

    pub(crate) fn queues_field(&self) -> Option<&'static str> {
        self.kind.facts().queues_field
    }

    pub(crate) fn asks_for_returns(&self) -> bool {
        self.kind.facts().asks_for_returns
    }

    pub(crate) fn notifies_senders(&self) -> bool {
        self.kind.facts().notifies_senders
    }

    pub(crate) fn resolve(&mut self, around: Surroundings<'_>) {
        self.kind.resolve(&mut *self.settings, around);
    }

    pub(crate) fn headers(&self, around: Surroundings<'_>, check: &Check<'_>) -> Vec<Header> {
        self.kind.headers(&*self.settings, around, check)
    }

    pub(crate) fn queues(&self) -> u16 {
        self.kind.queues(&*self.settings)
    }

    pub(crate) fn marks(&self) -> bool {
        self.kind.marks(&*self.settings)
    }

    pub(crate) fn classes_weighed(&self) -> usize {
        self.kind.classes_weighed(&*self.settings)
    }

    pub(crate) fn check(&self, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        self.kind.check(&*self.settings, around, section, check);
    }

    pub(crate) fn check_together(&self, around: Surroundings<'_>, check: &mut Check<'_>) {
        self.kind.check_together(around, check);
    }

    pub(crate) fn commands(&self, around: Surroundings<'_>) -> Vec<ControlCommand> {
        self.kind.commands(&*self.settings, around)
    }

    pub(crate) fn recirculation_limits(&self, around: Surroundings<'_>) -> Vec<RecirculationLimit> {
        self.kind.recirculation_limits(around)
    }

    /// Builds what `entries`, all of this kind, describe.
    pub(crate) fn build(&self, entries: &[&Self], around: Surroundings<'_>) -> Result<Built, String> {
        let settings: Vec<&dyn ErasedSettings> = entries.iter().map(|entry| &*entry.settings).collect();
        self.kind.build(&settings, around)
    }
}

impl Clone for Entry {
    fn clone(&self) -> Self {
        Self { settings: self.settings.copy(), ..*self }
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
