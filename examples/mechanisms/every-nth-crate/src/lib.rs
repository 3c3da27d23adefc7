//! Every Nth as a crate outside of the tree: drops and marks with an exact period, like the built-in "every-nth".

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::wire::{PortId, Time};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claimed, Kind, Registry, Stage, Surroundings};
use hitless_scenario::network::topology::select::select_ports_by_switch;
use hitless_scenario::network::topology::{SwitchId, Topology};
use hitless_switch::{
    Context, Declared, DropReason, Half, HookSet, Mechanism, Needs, RegisterUse, Report, Resources, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Registers the mechanism of this crate.
pub fn register(kinds: Registry) -> Registry {
    kinds.with::<EveryNth>()
}

/// Drops every n-th packet that leaves a port, and marks others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EveryNthSettings {
    /// Ports: "leaf0->spine1" is one port, "leaf0" all ports of a switch. Default: all ports of all switches.
    pub ports: Vec<String>,
    /// Period of dropped packets at each port; 0: no drops.
    pub drop_every: u64,
    /// Period of marked packets at each port (packets that are not dropped and support ECN); 0: no marks.
    pub mark_every: u64,
}

hitless_switch::counters! {
    struct Counters { dropped as packets_dropped = "packets dropped", marked as packets_marked = "packets marked" }
}

/// Every Nth on one switch.
#[derive(hitless_core::state::State)]
pub struct EveryNth {
    #[configured]
    settings: EveryNthSettings,
    /// Packets that have left their queue, by port.
    seen: BTreeMap<PortId, u64>,
    counters: Counters,
}

impl EveryNth {
    /// Subscribes to the ports in `seen`.
    pub fn new(settings: EveryNthSettings, seen: BTreeMap<PortId, u64>) -> Self {
        Self { settings, seen, counters: Counters::default() }
    }
}

impl Kind for EveryNth {
    const NAME: &'static str = "every-nth-crate";
    const TITLE: &'static str = "Every Nth of a crate";
    const SUMMARY: &'static str = "Losses and marks of an exact period at some ports, for tests of transports.";
    const STAGE: Stage = Stage::Drops;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: Declared = &[Counters::ALL];
    type Settings = EveryNthSettings;

    fn switches(settings: &EveryNthSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, &settings.ports).into_keys().collect()
    }

    /// No claims: it acts between queue and line, like a bad line.
    fn claims(_: &EveryNthSettings, _: &Topology) -> Vec<Claimed> {
        Vec::new()
    }

    fn marks(settings: &EveryNthSettings) -> bool {
        settings.mark_every > 0
    }

    fn check(settings: &EveryNthSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check.ports_named_once(around.topology, &settings.ports, &format!("{section}.ports"));
        check.require(settings.drop_every | settings.mark_every > 0, section, "neither drops nor marks");
    }

    fn build(entries: &[&EveryNthSettings], around: Surroundings<'_>) -> Result<Built, String> {
        Ok(around.build_at(entries, |of| &of.ports, Self::new))
    }
}

impl Mechanism for EveryNth {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, _: &[usize]) -> Needs {
        Needs { hooks: self.seen.keys().map(|&port| (port, HookSet::EGRESS)).collect(), ..Needs::default() }
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        let Some(seen) = self.seen.get_mut(&context.port()) else { return Verdict::Continue };
        *seen += 1;
        if seen.is_multiple_of(self.settings.drop_every) {
            self.counters.dropped += 1;
            return Verdict::Drop(DropReason::Mechanism);
        }
        let is_due = seen.is_multiple_of(self.settings.mark_every);
        self.counters.marked += u64::from(is_due && context.packet().mark_congestion());
        Verdict::Continue
    }

    fn resources(&self) -> Resources {
        let count = RegisterUse::outside::<u64>("every-nth-crate: packets", Half::Egress, 0, self.seen.len() as u64);
        Resources { registers: vec![count], ..Resources::new(Self::NAME) }
    }

    fn report(&self, _: Time) -> Report {
        Report::of_counters(Self::NAME, self.counters.values())
    }
}
