//! What mechanisms ask of a switch together.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use super::deflection::Chooser;
use crate::scenario::error::Problem;
use crate::scenario::{AfqSettings, MechanismSettings, RimmMessages, RimmSettings, SchedulerKind};
use crate::topology::select::select_links;
use crate::topology::{Node, SwitchId, Topology};

/// The most queues of a port.
const QUEUES_MAX: u16 = 64;
/// The most mechanisms of a switch, each of which has a bit in the hooks of a port.
const MECHANISMS_MAX: usize = 8;
/// Queues that SQR asks for at a port, and LinkGuardian and its rivals at both ends of a link.
const SQR_QUEUES: u16 = 2;
const LINKGUARDIAN_QUEUES: u16 = 3;
const LINK_LAYER_RETRY_QUEUES: u16 = 1;
const WHARF_QUEUES: u16 = 1;

/// The one that RIMM asks for at a port that faces a switch.
const RIMM_QUEUES: u16 = 1;
/// The one that Bolt asks for.
const BOLT_QUEUES: u16 = 1;

/// The one that packet trimming asks for.
const TRIMMING_QUEUES: u16 = 1;

/// What each switch runs: AFQ for each entry, all others once.
#[derive(Default)]
struct Runs {
    once: BTreeSet<&'static str>,
    afq: usize,
}

/// A mechanism that cannot share a switch with another.
pub(super) struct Rival<Why> {
    /// The switch that would run both.
    pub switch: String,
    /// The mechanism, as messages call it.
    pub name: &'static str,
    pub why: Why,
}

impl Check<'_> {
    /// The first mechanism of the scenario that runs on one of the switches `own` and has a reason not to.
    pub(super) fn rival_on<Why>(
        &self,
        topology: &Topology,
        own: &BTreeSet<SwitchId>,
        why_not: impl Fn(&MechanismSettings) -> Option<Why>,
    ) -> Option<Rival<Why>> {
        self.scenario.mechanisms.iter().find_map(|mechanism| {
            let why = why_not(mechanism)?;
            let (name, switches) = switches_of(mechanism, topology);
            let both = switches.into_iter().find(|switch| own.contains(switch))?;
            Some(Rival { switch: topology.switch(both).name.clone(), name, why })
        })
    }

    /// What a switch can run at once.
    pub(super) fn composition(&mut self, topology: &Topology) {
        let mut switches: BTreeMap<SwitchId, Runs> = BTreeMap::new();
        for mechanism in &self.scenario.mechanisms {
            if let MechanismSettings::Afq(settings) = mechanism {
                let named = settings.ports_by_switch(topology).into_keys();
                named.for_each(|id| switches.entry(id).or_default().afq += 1);
                continue;
            }
            let (kind, ids) = switches_of(mechanism, topology);
            for id in ids {
                switches.entry(id).or_default().once.insert(kind);
            }
        }
        let most = switches.into_iter().map(|(id, runs)| (runs.afq + runs.once.len(), id));
        let Some((count, id)) = most.max_by_key(|(count, _)| *count) else { return };
        self.require_else(count <= MECHANISMS_MAX, || {
            let name = &topology.switch(id).name;
            let rule = format!("{name} would run {count} mechanisms, and a switch runs {MECHANISMS_MAX} at most");
            Problem::new("mechanism", "", rule)
                .hint("name several ports in one entry of AFQ instead of giving each its own")
        });
    }

    /// What the ports have of queues, without those of AFQ.
    pub(super) fn queues_of_ports(&mut self) {
        let switch = &self.scenario.switch;
        let (of_switch, (others, named)) = (self.queues_of_switch(), self.queues_of_others());
        let sum = of_switch + others;
        self.require_else(sum <= QUEUES_MAX, || {
            let rule = format!("a port has {QUEUES_MAX} queues at most: the switch {of_switch}, {named} are {sum}");
            Problem::new("switch.queues_per_port", switch.queues_per_port.to_string(), rule)
        });
    }

    /// The same with those of AFQ.
    pub(super) fn queues_beside_afq(&mut self, settings: &AfqSettings, section: &str) {
        let (of_switch, (others, named)) = (self.queues_of_switch(), self.queues_of_others());
        let queues = u16::from(settings.queues);
        let sum = queues + of_switch + others;
        self.require_else(sum <= QUEUES_MAX, || {
            let rule = format!(
                "a port has {QUEUES_MAX} queues at most: AFQ {queues}, the switch {of_switch}, {named} are {sum}"
            );
            Problem::new(format!("{section}.queues"), "", rule)
        });
    }

    fn queues_of_switch(&self) -> u16 {
        let switch = &self.scenario.switch;
        if switch.scheduler == SchedulerKind::Fifo { 1 } else { u16::from(switch.queues_per_port) }
    }

    /// Those of other mechanisms than AFQ, if they run anywhere, and how many each has: only one of those that protect
    /// links runs at a port.
    fn queues_of_others(&self) -> (u16, String) {
        let runs = |kind: fn(&MechanismSettings) -> bool| self.scenario.mechanisms.iter().any(kind);
        let of = |runs: bool, queues: u16| if runs { queues } else { 0 };
        let sqr = of(runs(|mechanism| matches!(mechanism, MechanismSettings::Sqr(_))), SQR_QUEUES);
        let linkguardian =
            of(runs(|mechanism| matches!(mechanism, MechanismSettings::LinkGuardian(_))), LINKGUARDIAN_QUEUES);
        let retry =
            of(runs(|mechanism| matches!(mechanism, MechanismSettings::LinkLayerRetry(_))), LINK_LAYER_RETRY_QUEUES);
        let wharf = of(runs(|mechanism| matches!(mechanism, MechanismSettings::Wharf(_))), WHARF_QUEUES);
        let rivals = [("LinkGuardian", linkguardian), ("Link Layer Retry", retry), ("Wharf", wharf)];
        let (name, queues) = rivals.into_iter().rev().max_by_key(|&(_, queues)| queues).unwrap_or_default();
        let asks_for_one = |settings: &RimmSettings| settings.messages == RimmMessages::First;
        let is_rimm = |mechanism: &MechanismSettings| matches!(mechanism, MechanismSettings::Rimm(settings) if asks_for_one(settings));
        let rimm = of(self.scenario.mechanisms.iter().any(is_rimm), RIMM_QUEUES);
        let trimming = of(runs(|mechanism| matches!(mechanism, MechanismSettings::Trimming(_))), TRIMMING_QUEUES);
        let bolt = of(runs(|mechanism| matches!(mechanism, MechanismSettings::Bolt(_))), BOLT_QUEUES);
        let named = [("RIMM", rimm), ("Bolt", bolt), ("packet trimming", trimming)];
        let named = named.into_iter().filter(|&(_, queues)| queues > 0);
        let also: String = named.map(|(name, queues)| format!(", {name} {queues}")).collect();
        (sqr + queues + rimm + bolt + trimming, format!("SQR {sqr}, {name} {queues}{also}"))
    }
}

/// The kind of a mechanism, and the switches that run it.
fn switches_of(mechanism: &MechanismSettings, topology: &Topology) -> (&'static str, Vec<SwitchId>) {
    if let Some(chooser) = Chooser::of(mechanism) {
        return (chooser.name, chooser.switches(topology).collect());
    }
    match mechanism {
        MechanismSettings::Sqr(settings) => ("SQR", settings.switches(topology).into_iter().collect()),
        MechanismSettings::LinkGuardian(settings) => ("LinkGuardian", switches_at(topology, &settings.link)),
        MechanismSettings::LinkLayerRetry(settings) => ("Link Layer Retry", switches_at(topology, &settings.link)),
        MechanismSettings::Wharf(settings) => ("Wharf", switches_at(topology, &settings.link)),
        MechanismSettings::Rimm(settings) => ("RIMM", settings.switches(topology).into_iter().collect()),
        MechanismSettings::Trimming(settings) => {
            ("packet trimming", settings.ports_by_switch(topology).into_keys().collect())
        }
        MechanismSettings::Bolt(settings) => ("Bolt", settings.ports_by_switch(topology).into_keys().collect()),
        MechanismSettings::Afq(settings) => ("AFQ", settings.ports_by_switch(topology).into_keys().collect()),
        MechanismSettings::RankGuard(settings) => {
            ("a rank guard", settings.ports_by_switch(topology).into_keys().collect())
        }
        MechanismSettings::Dibs(_)
        | MechanismSettings::SimpleDeflection(_)
        | MechanismSettings::Aifo(_)
        | MechanismSettings::Pabo(_)
        | MechanismSettings::PreemptiveDeflection(_)
        | MechanismSettings::Vertigo(_) => unreachable!("these choose where packets go"),
    }
}

/// The switches at the ends of a link.
fn switches_at(topology: &Topology, link: &str) -> Vec<SwitchId> {
    let links = select_links(topology, link).unwrap_or_default();
    let ends = links.into_iter().map(|link| topology.ends(link)).flat_map(|(from, to)| [from, to]);
    ends.filter_map(|end| if let Node::Switch(id) = end.node { Some(id) } else { None }).collect()
}
