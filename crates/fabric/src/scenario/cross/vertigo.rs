//! Vertigo: whether there is somewhere to go, and who else has a say in the order and the way of packets.

use std::collections::BTreeSet;

use super::Check;
use crate::scenario::error::Problem;
use crate::scenario::{MechanismSettings, VertigoSettings};
use crate::topology::select::{SwitchPort, select_ports};
use crate::topology::{SwitchId, Topology};

impl Check<'_> {
    /// `taken` are the switches that another entry has named.
    pub(super) fn vertigo(
        &mut self,
        topology: &Topology,
        settings: &VertigoSettings,
        section: &str,
        taken: &mut BTreeSet<SwitchId>,
    ) {
        self.vertigo_ports(topology, settings, section, taken);
        self.vertigo_beside_others(topology, settings, section);
    }

    fn vertigo_ports(
        &mut self,
        topology: &Topology,
        settings: &VertigoSettings,
        section: &str,
        taken: &mut BTreeSet<SwitchId>,
    ) {
        let field = format!("{section}.ports");
        let before = self.problems.len();
        let mut seen: Vec<SwitchPort> = Vec::new();
        for (number, name) in settings.ports.iter().enumerate() {
            let ports = select_ports(topology, name);
            let twice = ports.iter().flatten().any(|port| seen.contains(port));
            let rule = ports.as_ref().err().cloned().or(twice.then(|| "names a port twice".into()));
            self.problems.extend(rule.map(|rule| Problem::new(format!("{field}[{number}]"), "", rule)));
            seen.extend(ports.unwrap_or_default());
        }
        let by_switch = settings.ports_by_switch(topology);
        if let Some(switch) = by_switch.keys().find(|switch| taken.contains(switch)) {
            let name = &topology.switch(*switch).name;
            let rule = format!("{name} has Vertigo by another entry, and its ports share one set of parameters");
            self.problems.push(Problem::new(&field, "", rule));
        }
        taken.extend(by_switch.keys());
        let can_deflect = by_switch.into_values().flatten().any(|port| has_other_neighbour(topology, port));
        self.require(
            can_deflect || self.problems.len() > before,
            &field,
            "has no switch that could send a packet to a neighbour out of another port than the full one",
        );
    }

    /// AFQ has queues of its own, SQR and RIMM keep an order that sorting undoes, and DIBS acts before a queue can.
    fn vertigo_beside_others(&mut self, topology: &Topology, settings: &VertigoSettings, section: &str) {
        let own: BTreeSet<SwitchId> = settings.ports_by_switch(topology).into_keys().collect();
        let both = self.scenario.mechanisms.iter().find_map(|mechanism| {
            let (other, why, switches) = rival(mechanism, topology)?;
            let switch = switches.into_iter().find(|switch| own.contains(switch))?;
            Some((other, why, switch))
        });
        if let Some((other, why, switch)) = both {
            let name = &topology.switch(switch).name;
            let rule = format!("{name} runs {other} too, {why}");
            self.problems.push(Problem::new(format!("{section}.ports"), "", rule));
        }
    }
}

/// A mechanism that cannot share a switch with Vertigo, why, and the switches that run it.
fn rival(mechanism: &MechanismSettings, topology: &Topology) -> Option<(&'static str, &'static str, Vec<SwitchId>)> {
    const ORDER: &str = "which keeps packets in an order that sorted queues undo";
    match mechanism {
        MechanismSettings::Afq(afq) => {
            let why = "and both would choose which packet is served next";
            Some(("AFQ", why, afq.ports_by_switch(topology).into_keys().collect()))
        }
        MechanismSettings::Dibs(dibs) => {
            let why = "and both would choose where a packet goes";
            Some(("DIBS", why, dibs.ports_by_switch(topology).into_keys().collect()))
        }
        MechanismSettings::Sqr(sqr) => Some(("SQR", ORDER, sqr.switches(topology).into_iter().collect())),
        MechanismSettings::Rimm(rimm) => Some(("RIMM", ORDER, rimm.switches(topology).into_iter().collect())),
        _ => None,
    }
}

/// Whether another port of the same switch faces a switch.
fn has_other_neighbour(topology: &Topology, at: SwitchPort) -> bool {
    let ports = topology.switch(at.switch).ports.iter().enumerate();
    ports.into_iter().any(|(number, port)| number != usize::from(at.port.0) && port.faces_switch())
}
