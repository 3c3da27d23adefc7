//! The interface of a kind of mechanism.

use std::collections::BTreeSet;
use std::fmt::Debug;

use hitless_core::wire::link::LinkHeaders;
use hitless_core::wire::{Duration, PortId};
use hitless_switch::{Declared, LinkEnd, Quantity};
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

/// A kind of mechanism: the interface that scenarios and runs use. `settings` are those of one entry, `[[mechanism]]`,
/// of a scenario. Functions ignore unknown names in them; [`Kind::check`] reports them.
pub trait Kind: 'static {
    /// The value of `kind` in scenarios: "link-layer-retry".
    const NAME: &'static str;
    /// Name in messages: "Link Layer Retry", "a rank guard".
    const TITLE: &'static str;
    /// One sentence of the schema: what it does, where, and who published it.
    const SUMMARY: &'static str;
    /// Position in the order of hooks.
    const STAGE: Stage;
    /// Meaning of several entries for one switch.
    const ENTRIES: Entries = Entries::OnePerSwitch;
    /// Name of the settings field that says where it runs; conflicts with other mechanisms are reported on it.
    const PLACES_FIELD: &'static str;
    /// Name of the settings field with the number of queues, if there is one. These entries are then checked one by
    /// one, each together with all other mechanisms.
    const QUEUES_FIELD: Option<&'static str> = None;
    /// Whether it asks which neighbours would send a packet back; routing builds this table only then.
    const ASKS_FOR_RETURNS: bool = false;

    /// All counters of its reports.
    const COUNTERS: Declared;

    /// All quantities in histograms and series of its reports.
    const QUANTITIES: &'static [Quantity] = &[];

    /// Whether it controls senders through notices; a transport that depends on notices checks for such a mechanism.
    const NOTIFIES_SENDERS: bool = false;

    /// Whether its parts at several switches share state beyond packets; a run with such a kind is not divided among
    /// threads.
    const SHARES_STATE: bool = false;

    /// The parameters of an entry. Their doc comments are the documentation of the file.
    type Settings: Serialize + DeserializeOwned + JsonSchema + Clone + PartialEq + Debug + Send + Sync;

    /// Fills in missing fields of a raw entry with defaults that depend on the fabric.
    fn fill(_entry: &mut Table, _topology: &Topology) {}

    /// Sets fields that were left out to values that depend on other sections.
    fn resolve(_settings: &mut Self::Settings, _around: Surroundings<'_>) {}

    /// Returns the switches that run it.
    fn switches(settings: &Self::Settings, topology: &Topology) -> BTreeSet<SwitchId>;

    /// Returns its claims and their places. There is no default: a mechanism without conflicts must say so.
    fn claims(settings: &Self::Settings, topology: &Topology) -> Vec<Claimed>;

    /// Returns the headers that it writes on packets.
    fn headers(_settings: &Self::Settings, _around: Surroundings<'_>, _check: &Check<'_>) -> Vec<Header> {
        Vec::new()
    }

    /// Returns the number of queues that it requests at a port.
    fn queues(_settings: &Self::Settings) -> u16 {
        0
    }

    /// Returns whether it marks packets of ECN-capable transports.
    fn marks(_settings: &Self::Settings) -> bool {
        false
    }

    /// Returns the number of traffic classes that it gives a weight.
    fn classes_weighed(_settings: &Self::Settings) -> usize {
        0
    }

    /// Returns the memory of its tables in all switches together in bytes, if that is more than a few. A run that
    /// exceeds the memory limit is refused.
    fn memory_bytes(_settings: &Self::Settings, _around: Surroundings<'_>) -> u64 {
        0
    }

    /// Reports errors of this entry; `section` is its name in messages, "mechanism[2]". Conflicts with other mechanisms
    /// are found through claims.
    fn check(settings: &Self::Settings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>);

    /// Reports limits that all entries of the kind exceed together. Called once, unless there are no entries.
    fn check_together(_around: Surroundings<'_>, _check: &mut Check<'_>) {}

    /// Returns the commands of the control plane, with their times.
    fn commands(_settings: &Self::Settings, _around: Surroundings<'_>) -> Vec<ControlCommand> {
        Vec::new()
    }

    /// Returns the limits of recirculation ports' queues, for all entries of the kind.
    fn recirculation_limits(_around: Surroundings<'_>) -> Vec<RecirculationLimit> {
        Vec::new()
    }

    /// Builds the mechanisms of `entries` of a checked scenario: of all entries at once, or with [`Entries::Each`] of
    /// one at a time.
    ///
    /// # Errors
    /// A sentence about an unknown name, which a checked scenario does not contain.
    fn build(entries: &[&Self::Settings], around: Surroundings<'_>) -> Result<Built, String>;

    /// Returns its headers on links to switches in other processes, and the links (in one direction each) on which both
    /// ends know them. Other headers stay in their process.
    fn link_headers(
        _settings: &Self::Settings,
        _topology: &Topology,
    ) -> Option<(&'static LinkHeaders, Vec<DirectedLink>)> {
        None
    }

    /// Returns the timeouts that wait for a round trip across a link, by link, with the name of the field.
    fn waits(_settings: &Self::Settings, _topology: &Topology) -> Vec<(DirectedLink, &'static str, Duration)> {
        Vec::new()
    }

    /// Returns the links for which a control plane can switch protection on and off during the run. The mechanism then
    /// implements [`Mechanism::protection`](hitless_switch::Mechanism::protection).
    fn protections(_settings: &Self::Settings, _topology: &Topology) -> Vec<DirectedLink> {
        Vec::new()
    }

    /// Encodes `order` as the number of a command for the mechanism at `port`, which is the `end` of a link.
    fn protection_command(_port: PortId, _end: LinkEnd, _order: ProtectionOrder) -> u32 {
        0
    }

    /// Checks that the switches at both ends have room to protect `link` in addition to the active protections.
    ///
    /// # Errors
    /// The resource that is short.
    fn admits(
        _link: DirectedLink,
        _around: Surroundings<'_>,
        _is_on: &dyn Fn(Protection) -> bool,
    ) -> Result<(), String> {
        Ok(())
    }
}
