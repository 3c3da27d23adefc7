//! DIBS: whether there is somewhere to go, and whether its switch can tell.

use std::collections::BTreeSet;

use super::Check;
use crate::scenario::error::Problem;
use crate::scenario::{DepthVisible, DibsSettings, MechanismSettings};
use crate::topology::select::{SwitchPort, select_ports};
use crate::topology::{SwitchId, Topology};

impl Check<'_> {
    /// `taken` are the switches that another entry has named.
    pub(super) fn dibs(
        &mut self,
        topology: &Topology,
        settings: &DibsSettings,
        section: &str,
        taken: &mut BTreeSet<SwitchId>,
    ) {
        self.dibs_ports(topology, settings, section, taken);
        self.dibs_switch(section);
        self.dibs_beside_others(topology, settings, section);
    }

    fn dibs_ports(
        &mut self,
        topology: &Topology,
        settings: &DibsSettings,
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
            let rule = format!("{name} has DIBS by another entry, and its ports share one set of parameters");
            self.problems.push(Problem::new(&field, "", rule));
        }
        taken.extend(by_switch.keys());
        let can_detour = by_switch.into_values().flatten().any(|port| has_other_neighbour(topology, port));
        self.require(
            can_detour || self.problems.len() > before,
            &field,
            "has no switch that could send a packet to a neighbour out of another port than the full one",
        );
    }

    fn dibs_switch(&mut self, section: &str) {
        let switch = &self.scenario.switch;
        let sees = !switch.checked || switch.depth_visible == DepthVisible::IngressAndEgress;
        self.require_else(sees, || {
            let rule = "DIBS reads the depths of queues in ingress, and switch.depth_visible is \"egress\"";
            Problem::new(section, "", rule)
                .hint("take depth_visible = \"ingress-and-egress\", or leave out switch.checked")
        });
        let rule =
            "DIBS acts when a queue is full, and a port that queues by flow makes room by dropping another packet";
        self.require(switch.flow_queueing.is_none(), "switch.flow_queueing", rule);
    }

    /// AFQ chooses a queue that DIBS does not know of, and RIMM another port.
    fn dibs_beside_others(&mut self, topology: &Topology, settings: &DibsSettings, section: &str) {
        let own: BTreeSet<SwitchId> = settings.ports_by_switch(topology).into_keys().collect();
        let of_others = self.scenario.mechanisms.iter().flat_map(|mechanism| match mechanism {
            MechanismSettings::Afq(afq) => {
                afq.ports_by_switch(topology).into_keys().map(|switch| ("AFQ", switch)).collect::<Vec<_>>()
            }
            MechanismSettings::Rimm(rimm) => {
                rimm.switches(topology).into_iter().map(|switch| ("RIMM", switch)).collect()
            }
            _ => Vec::new(),
        });
        let both = of_others.into_iter().find(|(_, switch)| own.contains(switch));
        if let Some((other, switch)) = both {
            let name = &topology.switch(switch).name;
            let rule = format!("{name} runs {other} too, and both would choose where a packet goes");
            self.problems.push(Problem::new(format!("{section}.ports"), "", rule));
        }
    }
}

/// Whether another port of the same switch faces a switch.
fn has_other_neighbour(topology: &Topology, at: SwitchPort) -> bool {
    let ports = topology.switch(at.switch).ports.iter().enumerate();
    ports.into_iter().any(|(number, port)| number != usize::from(at.port.0) && port.faces_switch())
}
