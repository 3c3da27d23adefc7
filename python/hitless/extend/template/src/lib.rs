//! Early Drop: gives up data packets that leave a long queue, so that senders slow down before it is full.
//!
//! A sketch to begin with. `EarlyDropSettings` is what a scenario may set, `impl Kind` what scenarios ask of the
//! mechanism, and `impl Mechanism` what the switch calls for packets and events.

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Bytes, PortId, Time};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Kind, Registry, Stage, Surroundings};
use hitless_scenario::network::topology::select::select_ports_by_switch;
use hitless_scenario::network::topology::{SwitchId, Topology};
use hitless_switch::{Context, DropReason, HookSet, Mechanism, Needs, Report, Resources, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Adds what this crate has to the kinds of mechanisms that there are: a line for each.
pub fn register(kinds: Registry) -> Registry {
    kinds.with::<EarlyDrop>()
}

/// The parameters. These comments are the documentation that `hitless scenario schema` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EarlyDropSettings {
    /// Where: "leaf0->spine1" is one port, "leaf0" all of a switch. Without any: all ports of all switches.
    pub ports: Vec<String>,
    /// A data packet is dropped when its queue, as it leaves, holds more than this.
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
    /// By port: data packets dropped.
    dropped: BTreeMap<PortId, u64>,
}

impl EarlyDrop {
    /// At the ports that are the keys of `dropped`.
    pub fn new(settings: EarlyDropSettings, dropped: BTreeMap<PortId, u64>) -> Self {
        Self { settings, dropped }
    }
}

impl Kind for EarlyDrop {
    /// The value of `kind` in scenarios.
    const NAME: &'static str = "early-drop";
    /// What messages call it.
    const TITLE: &'static str = "Early Drop";
    const SUMMARY: &'static str = "Early Drop gives up data packets that leave a long queue.";
    /// Its place among the mechanisms of a switch.
    const STAGE: Stage = Stage::Drops;
    /// The setting that messages about conflicts point at.
    const PLACES_FIELD: &'static str = "ports";

    type Settings = EarlyDropSettings;

    fn switches(settings: &EarlyDropSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, &settings.ports).into_keys().collect()
    }

    /// What no other mechanism may do at the same place, or does not go with: see docs/how-to/mechanism-in-rust.md.
    fn claims(settings: &EarlyDropSettings, topology: &Topology) -> Vec<Claimed> {
        let ports = select_ports_by_switch(topology, &settings.ports).into_values().flatten();
        vec![Claim::DropsEarly.at_ports(ports)]
    }

    /// Each problem is reported with its line and field; `section` is "mechanism[0]".
    fn check(settings: &EarlyDropSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check.ports_named_once(around.topology, &settings.ports, &format!("{section}.ports"));
        check.require(settings.threshold > Bytes(0), &format!("{section}.threshold"), "must be above zero");
    }

    /// One mechanism for each entry and switch.
    fn build(entries: &[&EarlyDropSettings], around: Surroundings<'_>) -> Result<Built, String> {
        Ok(around.build_at(entries, |entry| &entry.ports, Self::new))
    }
}

impl Mechanism for EarlyDrop {
    /// The hooks that it wants, by port: it is called for nothing else.
    fn needs(&mut self, _queue_counts: &[usize]) -> Needs {
        Needs { hooks: self.dropped.keys().map(|&port| (port, HookSet::EGRESS)).collect(), ..Needs::default() }
    }

    /// A packet has left its queue.
    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        let (port, queue) = (context.port(), context.packet().queue);
        if context.packet().transport.has_payload() && context.queue(port, queue).bytes() > self.settings.threshold.0 {
            *self.dropped.entry(port).or_default() += 1;
            return Verdict::Drop(DropReason::Mechanism);
        }
        Verdict::Continue
    }

    /// What it would take of a real switch. It decides by the depth of a queue alone: no state is kept.
    fn resources(&self) -> Resources {
        Resources::new(Self::NAME).not_counting("a counter of drops at each port")
    }

    /// Counters of the results' table "mechanisms". `acted`: a mechanism that never did anything is pointed out.
    fn report(&self, _now: Time) -> Report {
        let mut report = Report { acted: self.dropped.values().any(|&count| count > 0), ..Report::new(Self::NAME) };
        for (port, &count) in &self.dropped {
            report.count(&format!("port {}", port.0), "data packets dropped", count);
        }
        report
    }
}
