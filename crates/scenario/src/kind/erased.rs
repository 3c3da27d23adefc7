//! Type-erased mechanism kinds: calls a kind's functions for an entry without knowing the kind at compile time.

use std::any::Any;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::Arc;

use hitless_core::wire::link::LinkHeaders;
use hitless_core::wire::{Duration, PortId};
use hitless_switch::LinkEnd;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use toml::{Table, Value};

use super::claim::Claimed;
use super::claim::Header;
use super::command::{Built, ControlCommand, RecirculationLimit};
use super::command::{Protection, ProtectionOrder};
use super::entry::{Entry, ErasedSettings};
use super::facts::Facts;
use super::surroundings::Surroundings;
use super::traits::Kind;
use crate::Check;
use crate::network::topology::{DirectedLink, SwitchId, Topology};

/// Generates three things from one list of a [`Kind`]'s functions: a trait for type-erased kinds, its implementation
/// for any kind, and the methods of entries. The expression after `=` is the default.
macro_rules! kinds {
    (
        of an entry {
            $($of_entry:vis fn $asked:ident($($given:ident: $type:ty),*) -> $answer:ty $(= $default:expr)?;)*
        }
        of the kind { $($of_kind:vis fn $name:ident($($argument:ident: $kind_type:ty),*) -> $result:ty = $none:expr;)* }
    ) => {
        /// A type-erased [`Kind`]; the passed settings must be of the kind's type.
        pub(super) trait ErasedKind: Send + Sync {
            fn facts(&self) -> &'static Facts;
            fn schema(&self, generator: &mut SchemaGenerator) -> Schema;
            fn read(&self, entry: Table) -> Result<Box<dyn ErasedSettings>, String>;
            fn build(&self, entries: &[&dyn ErasedSettings], around: Surroundings<'_>) -> Result<Built, String>;
            fn fill(&self, _entry: &mut Table, _topology: &Topology) {}
            fn resolve(&self, _settings: &mut dyn ErasedSettings, _around: Surroundings<'_>) {}
            $(kinds!(@declare $asked($($given: $type),*) -> $answer $(= $default)?);)*
            $(
                #[expect(unused_variables, reason = "a kind that says nothing looks at nothing")]
                fn $name(&self, $($argument: $kind_type),*) -> $result {
                    $none
                }
            )*
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
                settings.map(|own| Box::new(own) as _).map_err(|error| error.message().to_owned())
            }

            fn build(&self, entries: &[&dyn ErasedSettings], around: Surroundings<'_>) -> Result<Built, String> {
                let entries: Vec<&K::Settings> = entries.iter().map(|settings| own::<K>(*settings)).collect();
                K::build(&entries, around)
            }

            fn fill(&self, entry: &mut Table, topology: &Topology) {
                K::fill(entry, topology);
            }

            fn resolve(&self, settings: &mut dyn ErasedSettings, around: Surroundings<'_>) {
                K::resolve((settings as &mut dyn Any).downcast_mut().expect(OWN), around);
            }

            $(fn $asked(&self, settings: &dyn ErasedSettings, $($given: $type),*) -> $answer {
                K::$asked(own::<K>(settings), $($given),*)
            })*

            $(fn $name(&self, $($argument: $kind_type),*) -> $result {
                K::$name($($argument),*)
            })*
        }

        impl Entry {
            $(
                #[doc = concat!("As [`Kind::", stringify!($asked), "`].")]
                $of_entry fn $asked(&self, $($given: $type),*) -> $answer {
                    self.kind().$asked(&*self.settings, $($given),*)
                }
            )*
            $(
                #[doc = concat!("As [`Kind::", stringify!($name), "`].")]
                $of_kind fn $name(&self, $($argument: $kind_type),*) -> $result {
                    self.kind().$name($($argument),*)
                }
            )*
        }
    };
    (@declare $asked:ident($($given:ident: $type:ty),*) -> $answer:ty) => {
        fn $asked(&self, settings: &dyn ErasedSettings, $($given: $type),*) -> $answer;
    };
    (@declare $asked:ident($($given:ident: $type:ty),*) -> $answer:ty = $default:expr) => {
        #[expect(unused_variables, reason = "a kind that says nothing looks at nothing")]
        fn $asked(&self, settings: &dyn ErasedSettings, $($given: $type),*) -> $answer {
            $default
        }
    };
}

kinds! {
    of an entry {
        pub fn switches(topology: &Topology) -> BTreeSet<SwitchId>;
        pub fn claims(topology: &Topology) -> Vec<Claimed>;
        pub fn link_headers(topology: &Topology) -> Option<(&'static LinkHeaders, Vec<DirectedLink>)> = None;
        pub fn waits(topology: &Topology) -> Vec<(DirectedLink, &'static str, Duration)> = Vec::new();
        pub fn protections(topology: &Topology) -> Vec<DirectedLink> = Vec::new();
        pub(crate) fn headers(around: Surroundings<'_>, check: &Check<'_>) -> Vec<Header> = Vec::new();
        pub(crate) fn queues() -> u16;
        pub(crate) fn marks() -> bool;
        pub(crate) fn classes_weighed() -> usize = 0;
        pub(crate) fn memory_bytes(around: Surroundings<'_>) -> u64 = 0;
        pub(crate) fn check(around: Surroundings<'_>, section: &str, check: &mut Check<'_>) -> ();
        pub(crate) fn commands(around: Surroundings<'_>) -> Vec<ControlCommand> = Vec::new();
    }
    of the kind {
        pub fn protection_command(port: PortId, end: LinkEnd, order: ProtectionOrder) -> u32 = 0;
        pub fn admits(
            link: DirectedLink, around: Surroundings<'_>, is_on: &dyn Fn(Protection) -> bool
        ) -> Result<(), String> = Ok(());
        pub(crate) fn check_together(around: Surroundings<'_>, check: &mut Check<'_>) -> () = ();
        pub(crate) fn recirculation_limits(around: Surroundings<'_>) -> Vec<RecirculationLimit> = Vec::new();
    }
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
        counters: K::COUNTERS,
        quantities: K::QUANTITIES,
        asks_for_returns: K::ASKS_FOR_RETURNS,
        notifies_senders: K::NOTIFIES_SENDERS,
        shares_state: K::SHARES_STATE,
    };
}

const OWN: &str = "an entry has the settings of its own kind";

fn own<K: Kind>(settings: &dyn ErasedSettings) -> &K::Settings {
    (settings as &dyn Any).downcast_ref().expect(OWN)
}

/// The type of an entry's kind.
type Held = &'static dyn ErasedKind;

impl Entry {
    /// Reads the settings of an entry.
    pub(super) fn read(kind: Held, number: usize, entry: Table) -> Result<Self, String> {
        Ok(Self { facts: kind.facts(), kind: Arc::new(kind), number, settings: kind.read(entry)? })
    }

    fn kind(&self) -> Held {
        *self.kind.downcast_ref::<Held>().expect("an entry is made by `read`")
    }

    /// Builds the mechanisms of `entries`, which are all of this kind.
    pub(crate) fn build(&self, entries: &[&Self], around: Surroundings<'_>) -> Result<Built, String> {
        let settings: Vec<&dyn ErasedSettings> = entries.iter().map(|entry| &*entry.settings).collect();
        self.kind().build(&settings, around)
    }

    pub(crate) fn resolve(&mut self, around: Surroundings<'_>) {
        self.kind().resolve(&mut *self.settings, around);
    }
}
