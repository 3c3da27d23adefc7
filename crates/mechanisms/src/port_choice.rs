//! Mechanisms that choose another port for packets of some ports, which their settings name in a field `ports`: claims,
//! packet headers, and checks that there is another port and that the switch shows the queues.

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::settings::Problem;
use hitless_core::wire::PortId;
use hitless_core::wire::shim::DetourCount;
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Header, Reach, built};
use hitless_scenario::network::switch::DepthVisible;
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_scenario::network::topology::{SwitchId, Topology};
use hitless_switch::Mechanism;

#[derive(Clone, Copy)]
pub struct PortChoice<'a> {
    pub name: &'static str,
    pub ports: &'a [String],
    pub deflects: bool,
    pub sees_queues: bool,
    pub sorts: bool,
}

impl PortChoice<'_> {
    pub fn switches(self, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, self.ports).into_keys().collect()
    }

    /// Claims the choice of port for its ports, and the sending of packets to all ports of its switches with a
    /// neighbouring switch.
    pub fn claims(self, topology: &Topology) -> Vec<Claimed> {
        let own = select_ports_by_switch(topology, self.ports).into_values().flatten();
        let chooses = Claim::ChoosesPort.at_ports(own);
        let sends = self.deflects.then(|| Claim::SendsElsewhere.at_ports(self.targets(topology)));
        [chooses].into_iter().chain(sends).collect()
    }

    fn targets(self, topology: &Topology) -> BTreeSet<SwitchPort> {
        let of_switch = |switch| {
            let ports = (0..).zip(&topology.switch(switch).ports).filter(|(_, port)| port.faces_switch());
            ports.map(move |(number, _)| SwitchPort { switch, port: PortId(number) })
        };
        self.switches(topology).into_iter().flat_map(of_switch).collect()
    }

    pub fn headers(self) -> Vec<Header> {
        let counts = || Header::of::<DetourCount>("counts of deflections", Reach::Everywhere);
        self.deflects.then(counts).into_iter().collect()
    }

    /// Reports ports without an alternative, and switches that do not show the queues that the mechanism reads.
    pub fn check(self, topology: &Topology, section: &str, check: &mut Check<'_>) {
        let field = format!("{section}.ports");
        let before = check.found();
        check.ports_named_once(topology, self.ports, &field);
        let mut own = select_ports_by_switch(topology, self.ports).into_values().flatten();
        let can_deflect = own.any(|port| has_other_neighbour(topology, port));
        check.require(
            can_deflect || !self.deflects || check.found() > before,
            &field,
            "has no switch that could send a packet to a neighbour out of another port than the full one",
        );
        self.check_switch(section, check);
    }

    fn check_switch(self, section: &str, check: &mut Check<'_>) {
        let (switch, name) = (&check.scenario.switch, self.name);
        let sees = !self.sees_queues || !switch.checked || switch.depth_visible == DepthVisible::IngressAndEgress;
        check.require_else(sees, || {
            let rule = format!("{name} reads the depths of queues in ingress, and switch.depth_visible is \"egress\"");
            Problem::new(section, "", rule)
                .hint("take depth_visible = \"ingress-and-egress\", or leave out switch.checked")
        });
        let rule = format!(
            "{name} acts when a queue is full, and a port that queues by flow makes room by dropping another packet"
        );
        check.require(switch.flow_queueing.is_none() || self.sorts, "switch.flow_queueing", &rule);
    }
}

fn has_other_neighbour(topology: &Topology, at: SwitchPort) -> bool {
    let ports = topology.switch(at.switch).ports.iter().enumerate();
    ports.into_iter().any(|(number, port)| number != usize::from(at.port.0) && port.faces_switch())
}

pub fn on_each_switch<S, M: Mechanism + 'static>(
    entries: &[&S],
    by_switch: impl Fn(&S) -> BTreeMap<SwitchId, Vec<SwitchPort>>,
    make: impl Fn(&S, SwitchId, Vec<PortId>) -> M,
) -> Built {
    let of_entry = |settings: &S| {
        let numbers = |ports: Vec<SwitchPort>| ports.into_iter().map(|at| at.port).collect();
        let all = by_switch(settings).into_iter();
        all.map(|(switch, ports)| built((switch, make(settings, switch, numbers(ports))))).collect::<Built>()
    };
    entries.iter().flat_map(|settings| of_entry(settings)).collect()
}
