//! Kinds of which it is not known at compile time which they are.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::marker::PhantomData;

use hitless_network::topology::{DirectedLink, SwitchId, Topology};
use hitless_switch::LinkEnd;
use hitless_wire::{Duration, PortId};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use toml::{Table, Value};

use super::{
    Built, Claimed, ControlCommand, Entries, Header, Kind, Protection, ProtectionOrder, RecirculationLimit, Stage,
    Surroundings,
};
use crate::Check;

/// Settings of some kind.
pub(super) trait ErasedSettings: erased_serde::Serialize + Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn copy(&self) -> Box<dyn ErasedSettings>;
    fn equals(&self, other: &dyn ErasedSettings) -> bool;
}

impl<S: serde::Serialize + Debug + Send + Sync + Clone + PartialEq + 'static> ErasedSettings for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn copy(&self) -> Box<dyn ErasedSettings> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn ErasedSettings) -> bool {
        other.as_any().downcast_ref::<S>().is_some_and(|other| other == self)
    }
}

/// The constants of a [`Kind`].
pub(super) struct Facts {
    pub name: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub stage: Stage,
    pub entries: Entries,
    pub places_field: &'static str,
    pub queues_field: Option<&'static str>,
    pub asks_for_returns: bool,
    pub notifies_senders: bool,
}

/// A [`Kind`] whose settings are erased; they must be its own.
pub(super) trait ErasedKind: Sync {
    fn facts(&self) -> &'static Facts;
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;
    fn read(&self, entry: Table) -> Result<Box<dyn ErasedSettings>, String>;
    fn fill(&self, entry: &mut Table, topology: &Topology);
    fn resolve(&self, settings: &mut dyn ErasedSettings, around: Surroundings<'_>);
    fn switches(&self, settings: &dyn ErasedSettings, topology: &Topology) -> BTreeSet<SwitchId>;
    fn claims(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<Claimed>;
    fn headers(&self, settings: &dyn ErasedSettings, around: Surroundings<'_>, check: &Check<'_>) -> Vec<Header>;
    fn queues(&self, settings: &dyn ErasedSettings) -> u16;
    fn marks(&self, settings: &dyn ErasedSettings) -> bool;
    fn classes_weighed(&self, settings: &dyn ErasedSettings) -> usize;
    fn check(&self, settings: &dyn ErasedSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>);
    fn check_together(&self, around: Surroundings<'_>, check: &mut Check<'_>);
    fn commands(&self, settings: &dyn ErasedSettings, around: Surroundings<'_>) -> Vec<ControlCommand>;
    fn recirculation_limits(&self, around: Surroundings<'_>) -> Vec<RecirculationLimit>;
    fn build(&self, entries: &[&dyn ErasedSettings], around: Surroundings<'_>) -> Result<Built, String>;
    fn neighbours(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<(SwitchId, SwitchId)>;
    fn waits(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<(DirectedLink, &'static str, Duration)>;
    fn protections(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<DirectedLink>;
    fn protection_command(&self, port: PortId, end: LinkEnd, order: ProtectionOrder) -> u32;
    fn admits(
        &self,
        link: DirectedLink,
        around: Surroundings<'_>,
        is_on: &dyn Fn(Protection) -> bool,
    ) -> Result<(), String>;
}

/// The kind `K` as a value.
pub(super) struct Erased<K>(PhantomData<fn() -> K>);

impl<K: Kind> Erased<K> {
    pub const KIND: &'static dyn ErasedKind = &Self(PhantomData);

    const FACTS: &'static Facts = &Facts {
        name: K::NAME,
        title: K::TITLE,
        summary: K::SUMMARY,
        stage: K::STAGE,
        entries: K::ENTRIES,
        places_field: K::PLACES_FIELD,
        queues_field: K::QUEUES_FIELD,
        asks_for_returns: K::ASKS_FOR_RETURNS,
        notifies_senders: K::NOTIFIES_SENDERS,
    };
}

fn own<K: Kind>(settings: &dyn ErasedSettings) -> &K::Settings {
    settings.as_any().downcast_ref().expect("an entry has the settings of its own kind")
}

impl<K: Kind> ErasedKind for Erased<K> {
    fn facts(&self) -> &'static Facts {
        Self::FACTS
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        K::Settings::json_schema(generator)
    }

    fn read(&self, entry: Table) -> Result<Box<dyn ErasedSettings>, String> {
        let settings = Value::Table(entry).try_into::<K::Settings>();
        settings
            .map(|settings| -> Box<dyn ErasedSettings> { Box::new(settings) })
            .map_err(|error| error.message().into())
    }

    fn fill(&self, entry: &mut Table, topology: &Topology) {
        K::fill(entry, topology);
    }

    fn resolve(&self, settings: &mut dyn ErasedSettings, around: Surroundings<'_>) {
        let own = settings.as_any_mut().downcast_mut().expect("an entry has the settings of its own kind");
        K::resolve(own, around);
    }

    fn switches(&self, settings: &dyn ErasedSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        K::switches(own::<K>(settings), topology)
    }

    fn claims(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<Claimed> {
        K::claims(own::<K>(settings), topology)
    }

    fn headers(&self, settings: &dyn ErasedSettings, around: Surroundings<'_>, check: &Check<'_>) -> Vec<Header> {
        K::headers(own::<K>(settings), around, check)
    }

    fn queues(&self, settings: &dyn ErasedSettings) -> u16 {
        K::queues(own::<K>(settings))
    }

    fn marks(&self, settings: &dyn ErasedSettings) -> bool {
        K::marks(own::<K>(settings))
    }

    fn classes_weighed(&self, settings: &dyn ErasedSettings) -> usize {
        K::classes_weighed(own::<K>(settings))
    }

    fn check(&self, settings: &dyn ErasedSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        K::check(own::<K>(settings), around, section, check);
    }

    fn check_together(&self, around: Surroundings<'_>, check: &mut Check<'_>) {
        K::check_together(around, check);
    }

    fn commands(&self, settings: &dyn ErasedSettings, around: Surroundings<'_>) -> Vec<ControlCommand> {
        K::commands(own::<K>(settings), around)
    }

    fn recirculation_limits(&self, around: Surroundings<'_>) -> Vec<RecirculationLimit> {
        K::recirculation_limits(around)
    }

    fn build(&self, entries: &[&dyn ErasedSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let entries: Vec<&K::Settings> = entries.iter().map(|settings| own::<K>(*settings)).collect();
        K::build(&entries, around)
    }

    fn neighbours(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<(SwitchId, SwitchId)> {
        K::neighbours(own::<K>(settings), topology)
    }

    fn waits(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<(DirectedLink, &'static str, Duration)> {
        K::waits(own::<K>(settings), topology)
    }

    fn protections(&self, settings: &dyn ErasedSettings, topology: &Topology) -> Vec<DirectedLink> {
        K::protections(own::<K>(settings), topology)
    }

    fn protection_command(&self, port: PortId, end: LinkEnd, order: ProtectionOrder) -> u32 {
        K::protection_command(port, end, order)
    }

    fn admits(
        &self,
        link: DirectedLink,
        around: Surroundings<'_>,
        is_on: &dyn Fn(Protection) -> bool,
    ) -> Result<(), String> {
        K::admits(link, around, is_on)
    }
}
