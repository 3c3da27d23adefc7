//! Every Nth: drops and marks packets with an exact period, so that a test of a transport knows which packets are hit.

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::wire::{PortId, Time};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claimed, Kind, Stage, Surroundings};
use hitless_scenario::network::topology::{SwitchId, Topology, select::select_ports_by_switch};
use hitless_switch::{
    Context, Declared, DropReason, Half, HookSet, Mechanism, Needs, RegisterUse, Report, Resources, Verdict,
};

/// Drops every Nth packet that leaves through a port, and marks every Nth.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EveryNthSettings {
    /// Ports: "leaf0->spine1" is a single port, "leaf0" all ports of a switch. Default: all ports of all switches.
    pub ports: Vec<String>,
    /// Drop period in packets of a port; 0 drops nothing.
    pub drop_every: u64,
    /// Mark period in packets of a port; 0 marks nothing. Only packets that are not dropped and support ECN are marked.
    pub mark_every: u64,
}

hitless_switch::counters! {
    struct Counters { dropped as packets_dropped = "packets dropped", marked as packets_marked = "packets marked" }
}

#[derive(hitless_core::state::State)]
pub struct EveryNth {
    #[configured]
    settings: EveryNthSettings,
    seen: BTreeMap<PortId, u64>,
    counters: Counters,
}

impl Kind for EveryNth {
    const NAME: &'static str = "every-nth";
    const TITLE: &'static str = "Every Nth";
    const SUMMARY: &'static str = "Losses and marks of an exact period at some ports, for tests of transports.";
    const STAGE: Stage = Stage::Drops;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: Declared = &[Counters::ALL];
    type Settings = EveryNthSettings;

    fn switches(settings: &EveryNthSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, &settings.ports).into_keys().collect()
    }

    /// No claims: it changes a packet between its queue and the line, as a faulty line would.
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
        Ok(around.build_at(
            entries,
            |of| &of.ports,
            |settings, seen| Self { settings, seen, counters: Counters::default() },
        ))
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
        self.counters.marked +=
            u64::from(seen.is_multiple_of(self.settings.mark_every) && context.packet().mark_congestion());
        Verdict::Continue
    }

    fn resources(&self) -> Resources {
        let count = RegisterUse::outside::<u64>("every-nth: packets", Half::Egress, 0, self.seen.len() as u64);
        Resources { registers: vec![count], ..Resources::new(Self::NAME) }
    }

    fn report(&self, _: Time) -> Report {
        Report::of_counters(Self::NAME, self.counters.values())
    }
}
