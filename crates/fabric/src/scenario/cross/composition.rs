//! What mechanisms ask of a switch together.

use std::collections::BTreeMap;

use super::Check;
use crate::scenario::error::Problem;
use crate::scenario::{AfqSettings, MechanismSettings, RimmMessages, SchedulerKind};
use crate::topology::select::select_links;
use crate::topology::{Node, SwitchId, Topology};

/// The most queues of a port.
const QUEUES_MAX: u16 = 64;
/// The most mechanisms of a switch, each of which has a bit in the hooks of a port.
const MECHANISMS_MAX: usize = 8;
/// Queues that SQR asks for at a port, and LinkGuardian at both ends of a link.
const SQR_QUEUES: u16 = 2;
const LINKGUARDIAN_QUEUES: u16 = 3;
/// The one that RIMM asks for at a port that faces a switch.
const RIMM_QUEUES: u16 = 1;

/// What each switch runs: SQR, LinkGuardian, RIMM and DIBS once, AFQ for each entry.
#[derive(Default)]
struct Runs {
    sqr: bool,
    linkguardian: bool,
    rimm: bool,
    dibs: bool,
    afq: usize,
}

impl Check<'_> {
    /// What a switch can run at once.
    pub(super) fn composition(&mut self, topology: &Topology) {
        let mut switches: BTreeMap<SwitchId, Runs> = BTreeMap::new();
        for mechanism in &self.scenario.mechanisms {
            match mechanism {
                MechanismSettings::Sqr(settings) => {
                    settings.switches(topology).into_iter().for_each(|id| switches.entry(id).or_default().sqr = true);
                }
                MechanismSettings::LinkGuardian(settings) => {
                    let links = select_links(topology, &settings.link).unwrap_or_default();
                    let ends = links.into_iter().map(|link| topology.ends(link)).flat_map(|(from, to)| [from, to]);
                    for end in ends {
                        let Node::Switch(id) = end.node else { continue };
                        switches.entry(id).or_default().linkguardian = true;
                    }
                }
                MechanismSettings::Rimm(settings) => {
                    settings.switches(topology).into_iter().for_each(|id| switches.entry(id).or_default().rimm = true);
                }
                MechanismSettings::Dibs(settings) => {
                    let named = settings.ports_by_switch(topology).into_keys();
                    named.for_each(|id| switches.entry(id).or_default().dibs = true);
                }
                MechanismSettings::Afq(settings) => {
                    settings
                        .ports_by_switch(topology)
                        .into_keys()
                        .for_each(|id| switches.entry(id).or_default().afq += 1);
                }
            }
        }
        let most = switches.into_iter().map(|(id, runs)| {
            let once = [runs.sqr, runs.linkguardian, runs.rimm, runs.dibs].map(usize::from);
            (runs.afq + once.iter().sum::<usize>(), id)
        });
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
        let (of_switch, others) = (self.queues_of_switch(), self.queues_of_others());
        let (sqr, linkguardian, rimm) = others;
        let sum = of_switch + sqr + linkguardian + rimm;
        self.require_else(sum <= QUEUES_MAX, || {
            let rule = format!(
                "a port has {QUEUES_MAX} queues at most: the switch {of_switch}, SQR {sqr}, LinkGuardian {linkguardian}, \
                 RIMM {rimm} are {sum}"
            );
            Problem::new("switch.queues_per_port", switch.queues_per_port.to_string(), rule)
        });
    }

    /// The same with those of AFQ.
    pub(super) fn queues_beside_afq(&mut self, settings: &AfqSettings, section: &str) {
        let (of_switch, (sqr, linkguardian, _)) = (self.queues_of_switch(), self.queues_of_others());
        let queues = u16::from(settings.queues);
        let sum = queues + of_switch + sqr + linkguardian;
        self.require_else(sum <= QUEUES_MAX, || {
            let rule = format!(
                "a port has {QUEUES_MAX} queues at most: AFQ {queues}, the switch {of_switch}, SQR {sqr}, LinkGuardian \
                 {linkguardian} are {sum}"
            );
            Problem::new(format!("{section}.queues"), "", rule)
        });
    }

    fn queues_of_switch(&self) -> u16 {
        let switch = &self.scenario.switch;
        if switch.scheduler == SchedulerKind::Fifo { 1 } else { u16::from(switch.queues_per_port) }
    }

    /// Those of SQR, of LinkGuardian and of RIMM, if they run anywhere.
    fn queues_of_others(&self) -> (u16, u16, u16) {
        let runs = |kind: fn(&MechanismSettings) -> bool| self.scenario.mechanisms.iter().any(kind);
        let sqr = runs(|mechanism| matches!(mechanism, MechanismSettings::Sqr(_)));
        let linkguardian = runs(|mechanism| matches!(mechanism, MechanismSettings::LinkGuardian(_)));
        let rimm = self.scenario.mechanisms.iter().any(|mechanism| {
            matches!(mechanism, MechanismSettings::Rimm(settings) if settings.messages == RimmMessages::First)
        });
        (SQR_QUEUES * u16::from(sqr), LINKGUARDIAN_QUEUES * u16::from(linkguardian), RIMM_QUEUES * u16::from(rimm))
    }
}
