//! Early Drop: drops data packets that leave a long queue, so that senders slow down before it is full.
//!
//! A sketch to change. `EarlyDropSettings` has the fields of the scenario, `impl Kind` is the interface to scenarios,
//! and `impl Mechanism` has the hooks that the switch calls for packets and events.

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Bytes, PortId, Time};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Kind, Registry, Stage, Surroundings};
use hitless_scenario::network::topology::select::select_ports_by_switch;
use hitless_scenario::network::topology::{SwitchId, Topology};
use hitless_switch::{Context, Declared, DropReason, HookSet, Mechanism, Needs, Report, Resources, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Registers the kinds of mechanisms in this crate: a line for each.
pub fn register(kinds: Registry) -> Registry {
    kinds.with::<EarlyDrop>()
}

/// Parameters. These comments are the documentation that `hitless scenario schema` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EarlyDropSettings {
    /// Ports: "leaf0->spine1" is one port, "leaf0" all ports of a switch. The default is all ports of all switches.
    pub ports: Vec<String>,
    /// Queue length above which data packets that leave the queue are dropped.
    // `Text` reads and writes a quantity with its unit: "100 KB".
    #[serde(with = "Text::<Bytes>")]
    pub threshold: Bytes,
}

impl Default for EarlyDropSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), threshold: Bytes(100_000) }
    }
}

/// Early Drop on one switch.
pub struct EarlyDrop {
    settings: EarlyDropSettings,
    /// Data packets dropped, by port.
    dropped: BTreeMap<PortId, u64>,
}

impl EarlyDrop {
    /// Makes the mechanism for the ports that are keys of `dropped`.
    pub fn new(settings: EarlyDropSettings, dropped: BTreeMap<PortId, u64>) -> Self {
        Self { settings, dropped }
    }
}

// A counter's key in files and programs, its label in tables, and its value.
hitless_switch::counters! {
    struct PortCounters(dropped: u64) {
        data_packets_dropped = "data packets dropped": dropped,
    }
}

impl Kind for EarlyDrop {
    /// Value of `kind` in scenarios.
    const NAME: &'static str = "early-drop";
    /// Name in messages.
    const TITLE: &'static str = "Early Drop";
    const SUMMARY: &'static str = "Early Drop drops data packets that leave a long queue.";
    /// Place among the mechanisms of a switch.
    const STAGE: Stage = Stage::Drops;
    /// Setting that messages about conflicts refer to.
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: Declared = &[PortCounters::ALL];

    type Settings = EarlyDropSettings;

    fn switches(settings: &EarlyDropSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, &settings.ports).into_keys().collect()
    }

    /// Returns actions that conflict with other mechanisms at the same place: see docs/how-to/mechanism-in-rust.md.
    fn claims(settings: &EarlyDropSettings, topology: &Topology) -> Vec<Claimed> {
        let ports = select_ports_by_switch(topology, &settings.ports).into_values().flatten();
        vec![Claim::DropsEarly.at_ports(ports)]
    }

    /// Checks the settings and reports each problem with its line and field; `section` is "mechanism[0]".
    fn check(settings: &EarlyDropSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check.ports_named_once(around.topology, &settings.ports, &format!("{section}.ports"));
        check.require(settings.threshold > Bytes(0), &format!("{section}.threshold"), "must be above zero");
    }

    /// Builds one mechanism for each entry and switch.
    fn build(entries: &[&EarlyDropSettings], around: Surroundings<'_>) -> Result<Built, String> {
        Ok(around.build_at(entries, |entry| &entry.ports, Self::new))
    }
}

impl Mechanism for EarlyDrop {
    /// Returns its hooks by port: it is called for these only.
    fn needs(&mut self, _queue_counts: &[usize]) -> Needs {
        Needs { hooks: self.dropped.keys().map(|&port| (port, HookSet::EGRESS)).collect(), ..Needs::default() }
    }

    /// Handles a packet that has left its queue.
    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        let (port, queue) = (context.port(), context.packet().queue);
        if context.packet().transport.has_payload() && context.queue(port, queue).bytes() > self.settings.threshold.0 {
            *self.dropped.entry(port).or_default() += 1;
            return Verdict::Drop(DropReason::Mechanism);
        }
        Verdict::Continue
    }

    /// Returns its resources on a real switch. It only reads the depth of a queue, and keeps no state.
    fn resources(&self) -> Resources {
        Resources::new(Self::NAME).not_counting("a counter of drops at each port")
    }

    /// Returns counters for the results' table "mechanisms". A mechanism without `acted` causes a warning.
    fn report(&self, _now: Time) -> Report {
        let mut report = Report { acted: self.dropped.values().any(|&count| count > 0), ..Report::new(Self::NAME) };
        for (port, &count) in &self.dropped {
            report.count(&format!("port {}", port.0), PortCounters::values(count));
        }
        report
    }
}
