//! Mechanisms that send packets elsewhere than to their port: whether there is somewhere to go, and whether their switch can tell.

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use crate::scenario::error::Problem;
use crate::scenario::{
    BufferSettings, DeflectionCapacity, DeflectionDecision, DepthVisible, MechanismSettings,
    PreemptiveDeflectionSettings, QueueLength, VertigoSettings,
};
use crate::topology::select::{SwitchPort, select_ports, select_ports_by_switch};
use crate::topology::{SwitchId, Topology};

/// A mechanism that chooses where a packet of some ports goes.
#[derive(Clone, Copy)]
pub(super) struct Chooser<'a> {
    /// As messages call it.
    pub name: &'static str,
    /// Its field `ports`.
    pub ports: &'a [String],
    /// Whether it sends packets to neighbours.
    pub deflects: bool,
    /// Whether it decides in ingress, before the queue does.
    pub foresees: bool,
    /// Whether it sorts the queues.
    pub sorts: bool,
}

impl<'a> Chooser<'a> {
    /// What `mechanism` is, if it is one.
    pub fn of(mechanism: &'a MechanismSettings) -> Option<Self> {
        let deflecting =
            |name, ports: &'a Vec<String>| Some(Self { name, ports, deflects: true, foresees: true, sorts: false });
        match mechanism {
            MechanismSettings::Dibs(settings) => deflecting("DIBS", &settings.ports),
            MechanismSettings::SimpleDeflection(settings) => deflecting("Simple Deflection", &settings.ports),
            MechanismSettings::PreemptiveDeflection(settings) => deflecting("Preemptive Deflection", &settings.ports),
            MechanismSettings::Vertigo(VertigoSettings { ports, .. }) => {
                Some(Self { name: "Vertigo", ports, deflects: true, foresees: false, sorts: true })
            }
            _ => None,
        }
    }

    /// The switches that run it.
    pub fn switches(&self, topology: &Topology) -> impl Iterator<Item = SwitchId> + use<> {
        select_ports_by_switch(topology, self.ports).into_keys()
    }
}

/// By switch, the mechanism of an earlier entry that chooses where packets go.
pub(super) type Chosen = BTreeMap<SwitchId, &'static str>;

impl Check<'_> {
    /// `taken` are the switches that another entry has named.
    pub(super) fn chooser(&mut self, topology: &Topology, chooser: Chooser<'_>, section: &str, taken: &mut Chosen) {
        self.ports_of_chooser(topology, chooser, section, taken);
        self.switch_of_chooser(chooser, section);
        self.chooser_beside_others(topology, chooser, section);
    }

    fn ports_of_chooser(&mut self, topology: &Topology, chooser: Chooser<'_>, section: &str, taken: &mut Chosen) {
        let field = format!("{section}.ports");
        let before = self.problems.len();
        let mut seen: Vec<SwitchPort> = Vec::new();
        for (number, name) in chooser.ports.iter().enumerate() {
            let ports = select_ports(topology, name);
            let twice = ports.iter().flatten().any(|port| seen.contains(port));
            let rule = ports.as_ref().err().cloned().or(twice.then(|| "names a port twice".into()));
            self.problems.extend(rule.map(|rule| Problem::new(format!("{field}[{number}]"), "", rule)));
            seen.extend(ports.unwrap_or_default());
        }
        let by_switch = select_ports_by_switch(topology, chooser.ports);
        if let Some((switch, other)) = by_switch.keys().find_map(|switch| Some((switch, taken.get(switch)?))) {
            let name = &topology.switch(*switch).name;
            let why = if *other == chooser.name {
                "its ports share one set of parameters"
            } else {
                "both would choose where a packet goes"
            };
            self.problems.push(Problem::new(&field, "", format!("{name} has {other} by another entry, and {why}")));
        }
        taken.extend(by_switch.keys().map(|&switch| (switch, chooser.name)));
        let can_deflect = by_switch.into_values().flatten().any(|port| has_other_neighbour(topology, port));
        self.require(
            can_deflect || !chooser.deflects || self.problems.len() > before,
            &field,
            "has no switch that could send a packet to a neighbour out of another port than the full one",
        );
    }

    fn switch_of_chooser(&mut self, chooser: Chooser<'_>, section: &str) {
        let (switch, name) = (&self.scenario.switch, chooser.name);
        let sees = !chooser.foresees || !switch.checked || switch.depth_visible == DepthVisible::IngressAndEgress;
        self.require_else(sees, || {
            let rule = format!("{name} reads the depths of queues in ingress, and switch.depth_visible is \"egress\"");
            Problem::new(section, "", rule)
                .hint("take depth_visible = \"ingress-and-egress\", or leave out switch.checked")
        });
        let rule = format!(
            "{name} acts when a queue is full, and a port that queues by flow makes room by dropping another packet"
        );
        self.require(switch.flow_queueing.is_none() || !chooser.foresees, "switch.flow_queueing", &rule);
    }

    /// AFQ chooses a queue that others do not know of, RIMM another port, and what SQR keeps in order sorting undoes.
    fn chooser_beside_others(&mut self, topology: &Topology, chooser: Chooser<'_>, section: &str) {
        let own: BTreeSet<SwitchId> = chooser.switches(topology).collect();
        let of_others = self.scenario.mechanisms.iter().flat_map(|mechanism| match mechanism {
            MechanismSettings::Afq(afq) => {
                afq.ports_by_switch(topology).into_keys().map(|switch| ("AFQ", switch)).collect::<Vec<_>>()
            }
            MechanismSettings::Rimm(rimm) => {
                rimm.switches(topology).into_iter().map(|switch| ("RIMM", switch)).collect()
            }
            MechanismSettings::Sqr(sqr) if chooser.sorts => {
                sqr.switches(topology).into_iter().map(|switch| ("SQR", switch)).collect()
            }
            _ => Vec::new(),
        });
        let both = of_others.into_iter().find(|(_, switch)| own.contains(switch));
        if let Some((other, switch)) = both {
            let name = &topology.switch(switch).name;
            let what = if chooser.sorts { "when and where a packet goes" } else { "where a packet goes" };
            let rule = format!("{name} runs {other} too, and both would choose {what}");
            self.problems.push(Problem::new(format!("{section}.ports"), "", rule));
        }
    }

    /// Equation 1 needs a capacity in bytes.
    pub(super) fn preemptive_deflection(&mut self, settings: &PreemptiveDeflectionSettings, section: &str) {
        let field = format!("{section}.capacity");
        let buffers = self.buffers();
        match settings.capacity {
            DeflectionCapacity::StaticLimit(_) => {
                let is_known = buffers.iter().all(|buffer| limit_bytes(buffer).is_some());
                self.require_else(is_known, || {
                    let rule = "a queue has no limit of its own in bytes, which \"static-limit\" is";
                    Problem::new(&field, "", rule).hint(
                        "give switch.buffer.per_port in bytes, or queue_max of a shared buffer; or capacity = \
                         { kind = \"constant\", size = \"300 KB\" } or { kind = \"current-threshold\" }",
                    )
                });
            }
            DeflectionCapacity::Constant(constant) => {
                let field = format!("{field}.size");
                self.require(constant.size.0 > 0, &field, "must be above zero");
            }
            DeflectionCapacity::CurrentThreshold(_) => {
                let is_shared = buffers.iter().all(|buffer| matches!(buffer, BufferSettings::Shared(_)));
                let rule = "\"current-threshold\" is what a shared buffer grants, and switch.buffer is \"static\"";
                self.require(is_shared, &field, rule);
            }
        }
        if let DeflectionDecision::Probabilistic(decision) = settings.decision {
            let capacities = match settings.capacity {
                DeflectionCapacity::Constant(constant) => vec![constant.size.0],
                _ => buffers.iter().filter_map(limit_bytes).collect(),
            };
            let is_below = capacities.iter().all(|&capacity| decision.minimum_threshold.0 < capacity);
            let field = format!("{section}.decision.minimum_threshold");
            self.require(is_below, &field, "must be below what a queue may hold");
        }
    }

    /// That of the switches, and those of ports that differ.
    fn buffers(&self) -> Vec<BufferSettings> {
        let switch = &self.scenario.switch;
        let of_ports = switch.ports.iter().filter_map(|port| port.buffer);
        let as_static = |per_port| BufferSettings::Static(crate::scenario::StaticBuffer { per_port });
        std::iter::once(switch.buffer).chain(of_ports.map(as_static)).collect()
    }
}

/// What a queue may hold at most, if that is known in bytes.
fn limit_bytes(buffer: &BufferSettings) -> Option<u64> {
    match buffer {
        BufferSettings::Static(buffer) => match buffer.per_port {
            QueueLength::Bytes(bytes) => Some(bytes.0),
            QueueLength::Packets(_) => None,
        },
        BufferSettings::Shared(buffer) => buffer.queue_max.map(|bytes| bytes.0),
    }
}

/// Whether another port of the same switch faces a switch.
fn has_other_neighbour(topology: &Topology, at: SwitchPort) -> bool {
    let ports = topology.switch(at.switch).ports.iter().enumerate();
    ports.into_iter().any(|(number, port)| number != usize::from(at.port.0) && port.faces_switch())
}
