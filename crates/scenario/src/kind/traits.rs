//! What the world knows of a kind of mechanism.

use std::collections::BTreeSet;
use std::fmt::Debug;

use hitless_core::wire::link::LinkHeaders;
use hitless_core::wire::{Duration, PortId};
use hitless_switch::LinkEnd;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Table;

use super::{
    Built, Claimed, ControlCommand, Entries, Header, Protection, ProtectionOrder, RecirculationLimit, Stage,
    Surroundings,
};
use crate::Check;
use crate::network::topology::{DirectedLink, SwitchId, Topology};

/// A kind of mechanism: all that scenarios and runs ask of it. `settings` are those of one entry, `[[mechanism]]`, of a
/// scenario. A name in them that means nothing is left out here; [`Kind::check`] reports it.
pub trait Kind: 'static {
    /// The value of `kind` in scenarios: "link-layer-retry".
    const NAME: &'static str;
    /// What messages call it: "Link Layer Retry", "a rank guard".
    const TITLE: &'static str;
    /// What it does, where, and who published it: one sentence of the schema.
    const SUMMARY: &'static str;
    /// Its place in the order of hooks.
    const STAGE: Stage;
    /// What several entries of it are to one switch.
    const ENTRIES: Entries = Entries::OnePerSwitch;
    /// The field of its settings that says where it runs: conflicts with others are reported on it.
    const PLACES_FIELD: &'static str;
    /// The field of its settings that says how many queues it asks for, where one does. They are then checked entry by
    /// entry, beside those of all others.
    const QUEUES_FIELD: Option<&'static str> = None;
    /// It asks which neighbours would send a packet back: a table that routing makes only then.
    const ASKS_FOR_RETURNS: bool = false;

    /// It tells senders what to do, by notices: what a transport finds that needs switches that do.
    const NOTIFIES_SENDERS: bool = false;

    /// Its parts at several switches share more than packets tell: a run with it is not divided among threads.
    const SHARES_STATE: bool = false;

    /// Its parameters. Their doc comments are the documentation of the file.
    type Settings: Serialize + DeserializeOwned + JsonSchema + Clone + PartialEq + Debug + Send + Sync;

    /// Fills in what is missing in an entry as it was written, where a default follows from the fabric.
    fn fill(_entry: &mut Table, _topology: &Topology) {}

    /// Gives what was left out the value that follows from other sections.
    fn resolve(_settings: &mut Self::Settings, _around: Surroundings<'_>) {}

    /// The switches that run it.
    fn switches(settings: &Self::Settings, topology: &Topology) -> BTreeSet<SwitchId>;

    /// What it claims, and where. There is no default: a mechanism that goes with all others says so.
    fn claims(settings: &Self::Settings, topology: &Topology) -> Vec<Claimed>;

    /// What it writes on packets.
    fn headers(_settings: &Self::Settings, _around: Surroundings<'_>, _check: &Check<'_>) -> Vec<Header> {
        Vec::new()
    }

    /// Queues that it asks for at a port.
    fn queues(_settings: &Self::Settings) -> u16 {
        0
    }

    /// Whether it marks packets of transports that know ECN.
    fn marks(_settings: &Self::Settings) -> bool {
        false
    }

    /// Traffic classes that it gives a weight.
    fn classes_weighed(_settings: &Self::Settings) -> usize {
        0
    }

    /// Bytes that its tables take in all switches together, where that is more than a few: what a run is refused for
    /// that has not so much memory.
    fn memory_bytes(_settings: &Self::Settings, _around: Surroundings<'_>) -> u64 {
        0
    }

    /// Reports what cannot be meant, of this entry by itself: `section` is its name in messages, "mechanism[2]". What
    /// does not go with other mechanisms is found by the claims.
    fn check(settings: &Self::Settings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>);

    /// Reports what all entries of the kind together ask too much of. Called once, when there is any.
    fn check_together(_around: Surroundings<'_>, _check: &mut Check<'_>) {}

    /// What the control plane tells it, and when.
    fn commands(_settings: &Self::Settings, _around: Surroundings<'_>) -> Vec<ControlCommand> {
        Vec::new()
    }

    /// What the queues of recirculation ports may hold, for all entries of the kind.
    fn recirculation_limits(_around: Surroundings<'_>) -> Vec<RecirculationLimit> {
        Vec::new()
    }

    /// Builds what `entries` of a checked scenario describe: all of them, or with [`Entries::Each`] one at a time.
    ///
    /// # Errors
    /// A sentence: a name that means nothing. In a checked scenario there is none.
    fn build(entries: &[&Self::Settings], around: Surroundings<'_>) -> Result<Built, String>;

    /// What its headers are on links to switches that run in other processes, and the links on which both ends know
    /// them, each in one direction. A header that is not among them stays in its process.
    fn link_headers(
        _settings: &Self::Settings,
        _topology: &Topology,
    ) -> Option<(&'static LinkHeaders, Vec<DirectedLink>)> {
        None
    }

    /// How long it waits for what crosses a link and comes back, by link; the name is that of the field.
    fn waits(_settings: &Self::Settings, _topology: &Topology) -> Vec<(DirectedLink, &'static str, Duration)> {
        Vec::new()
    }

    /// The links whose protection a control plane may switch on and off while the run goes on. The mechanism then
    /// implements [`Mechanism::protection`](hitless_switch::Mechanism::protection).
    fn protections(_settings: &Self::Settings, _topology: &Topology) -> Vec<DirectedLink> {
        Vec::new()
    }

    /// The number by which a switch passes `order` on, which is for the `end` of a link that `port` is.
    fn protection_command(_port: PortId, _end: LinkEnd, _order: ProtectionOrder) -> u32 {
        0
    }

    /// Whether the switches at both ends have room for the protection of `link` beside those that are on.
    ///
    /// # Errors
    /// What there is too little of.
    fn admits(
        _link: DirectedLink,
        _around: Surroundings<'_>,
        _is_on: &dyn Fn(Protection) -> bool,
    ) -> Result<(), String> {
        Ok(())
    }
}
