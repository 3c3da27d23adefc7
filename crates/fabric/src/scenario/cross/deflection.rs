//! Mechanisms that send packets elsewhere than to their port: whether there is somewhere to go, and whether their switch can tell.

use std::collections::BTreeSet;

use hitless_wire::{Duration, PortId};

use super::Check;
use super::composition::Rival;
use super::fabric::Taken;
use crate::scenario::error::Problem;
use crate::scenario::{
    BufferSettings, DeflectionCapacity, DeflectionDecision, DeflectionOccupancy, DepthVisible, DistributionMean,
    MechanismSettings, PreemptiveDeflectionSettings, QueueLength, RankGuardSettings, RelativePrioritySettings,
    SimpleDeflectionSettings,
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
    /// Whether it must see in ingress how full queues are.
    pub sees_queues: bool,
    /// Whether it sorts the queues.
    pub sorts: bool,
    /// Whether packets take what it writes on them from ingress to egress.
    pub writes_on_packets: bool,
}

impl<'a> Chooser<'a> {
    /// What `mechanism` is, if it is one.
    pub fn of(mechanism: &'a MechanismSettings) -> Option<Self> {
        let new = |name, ports: &'a Vec<String>| {
            let (deflects, sees_queues, sorts, writes_on_packets) = (true, true, false, false);
            Some(Self { name, ports, deflects, sees_queues, sorts, writes_on_packets })
        };
        match mechanism {
            MechanismSettings::Dibs(settings) => new("DIBS", &settings.ports),
            MechanismSettings::Pabo(settings) => new("PABO", &settings.ports),
            MechanismSettings::Aifo(settings) => {
                new("AIFO", &settings.ports).map(|aifo| Self { deflects: false, ..aifo })
            }
            MechanismSettings::Vertigo(settings) => {
                new("Vertigo", &settings.ports).map(|vertigo| Self { sees_queues: false, sorts: true, ..vertigo })
            }
            MechanismSettings::SimpleDeflection(settings) => {
                let simple = new("Simple Deflection", &settings.ports);
                simple.map(|simple| Self { sees_queues: sees_queues(settings.occupancy), ..simple })
            }
            MechanismSettings::PreemptiveDeflection(settings) => {
                let sees_queues = sees_queues(settings.occupancy) || has_exact_mean(settings);
                let preemptive = new("Preemptive Deflection", &settings.ports);
                let writes_on_packets = carries_mean(settings);
                preemptive.map(|preemptive| Self { sees_queues, writes_on_packets, ..preemptive })
            }
            _ => None,
        }
    }

    /// The switches that run it.
    pub fn switches(&self, topology: &Topology) -> impl Iterator<Item = SwitchId> + use<> {
        select_ports_by_switch(topology, self.ports).into_keys()
    }

    /// The ports whose packets it sends elsewhere.
    fn relieved(&self, topology: &Topology) -> BTreeSet<SwitchPort> {
        select_ports_by_switch(topology, self.ports).into_values().flatten().collect()
    }

    /// The ports to which it sends them.
    fn targets(&self, topology: &Topology) -> BTreeSet<SwitchPort> {
        let of_switch = |switch| {
            let ports = (0..).zip(&topology.switch(switch).ports).filter(|(_, port)| port.faces_switch());
            ports.map(move |(number, _)| SwitchPort { switch, port: PortId(number) })
        };
        if self.deflects { self.switches(topology).flat_map(of_switch).collect() } else { BTreeSet::new() }
    }
}

impl Check<'_> {
    /// `taken` are the switches that another entry has named.
    pub(super) fn chooser(&mut self, topology: &Topology, chooser: Chooser<'_>, section: &str, taken: &mut Taken) {
        self.ports_of_chooser(topology, chooser, section, taken);
        self.switch_of_chooser(chooser, section);
        self.chooser_beside_others(topology, chooser, section);
    }

    fn ports_of_chooser(&mut self, topology: &Topology, chooser: Chooser<'_>, section: &str, taken: &mut Taken) {
        let field = format!("{section}.ports");
        let before = self.problems.len();
        self.ports_named_once(topology, chooser.ports, &field);
        let by_switch = select_ports_by_switch(topology, chooser.ports);
        let own = by_switch.keys().copied().collect();
        self.one_entry_per_switch(topology, chooser.name, &own, (section, "ports"), taken);
        let can_deflect = by_switch.into_values().flatten().any(|port| has_other_neighbour(topology, port));
        self.require(
            can_deflect || !chooser.deflects || self.problems.len() > before,
            &field,
            "has no switch that could send a packet to a neighbour out of another port than the full one",
        );
    }

    fn switch_of_chooser(&mut self, chooser: Chooser<'_>, section: &str) {
        let (switch, name) = (&self.scenario.switch, chooser.name);
        let sees = !chooser.sees_queues || !switch.checked || switch.depth_visible == DepthVisible::IngressAndEgress;
        self.require_else(sees, || {
            let rule = format!("{name} reads the depths of queues in ingress, and switch.depth_visible is \"egress\"");
            Problem::new(section, "", rule)
                .hint("take depth_visible = \"ingress-and-egress\", or leave out switch.checked")
        });
        let rule = format!(
            "{name} acts when a queue is full, and a port that queues by flow makes room by dropping another packet"
        );
        self.require(switch.flow_queueing.is_none() || chooser.sorts, "switch.flow_queueing", &rule);
    }

    /// One port has one mechanism that decides what becomes of its packets. Who sorts queues, or writes on packets that
    /// others keep, shares no switch with them.
    fn chooser_beside_others(&mut self, topology: &Topology, chooser: Chooser<'_>, section: &str) {
        let (relieved, targets) = (chooser.relieved(topology), chooser.targets(topology));
        let clash_at = |ports: BTreeSet<SwitchPort>, with: &str| {
            let both = ports.intersection(&relieved).next().map(|port| (port, "both would choose where a packet goes"));
            let passed = ports.intersection(&targets).next().filter(|_| with == "AFQ");
            let passed = passed.map(|port| (port, "what is sent there from a full queue would pass AFQ by"));
            let (port, why) = both.or(passed)?;
            let name = port.name(topology);
            Some(format!("{name} has {with} too, and {why}: name other ports for one of them"))
        };
        let clash = self.scenario.mechanisms.iter().find_map(|mechanism| match mechanism {
            MechanismSettings::Afq(afq) => {
                clash_at(afq.ports_by_switch(topology).into_values().flatten().collect(), "AFQ")
            }
            MechanismSettings::Rimm(rimm) => clash_at(rimm.ports_of_detours(topology), "RIMM"),
            _ => None,
        });
        let own = chooser.switches(topology).collect();
        let why_not = |mechanism: &MechanismSettings| match mechanism {
            MechanismSettings::Afq(_) | MechanismSettings::Rimm(_) | MechanismSettings::Sqr(_) if chooser.sorts => {
                Some("both would choose when and where a packet goes")
            }
            MechanismSettings::Sqr(_) if chooser.writes_on_packets => {
                Some("a copy that is sent late would bring an old moving average to egress")
            }
            _ => None,
        };
        let rival = self.rival_on(topology, &own, why_not);
        let rival = rival.map(|Rival { switch, name, why }| format!("{switch} runs {name} too, and {why}"));
        self.problems.extend(rival.or(clash).map(|rule| Problem::new(format!("{section}.ports"), "", rule)));
    }

    /// What a queue may hold must be known in bytes.
    pub(super) fn capacity(&mut self, capacity: DeflectionCapacity, section: &str) {
        let field = format!("{section}.capacity");
        let buffers = self.buffers();
        match capacity {
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
    }

    pub(super) fn preemptive_deflection(&mut self, settings: &PreemptiveDeflectionSettings, section: &str) {
        self.capacity(settings.capacity, section);
        self.occupancy(settings.occupancy, section);
        let tells_means = !matches!(settings.occupancy, DeflectionOccupancy::ControlPackets(_));
        self.require_else(tells_means || !has_exact_mean(settings), || {
            let rule = "control packets carry a moving average: no switch knows the mean of the packets in a queue";
            Problem::new(format!("{section}.relative_priority.mean"), "", rule).hint("take mean = \"moving-average\"")
        });
        if let DeflectionDecision::Probabilistic(decision) = settings.decision {
            let buffers = self.buffers();
            let capacities = match settings.capacity {
                DeflectionCapacity::Constant(constant) => vec![constant.size.0],
                _ => buffers.iter().filter_map(limit_bytes).collect(),
            };
            let is_below = capacities.iter().all(|&capacity| decision.minimum_threshold.0 < capacity);
            let field = format!("{section}.decision.minimum_threshold");
            self.require(is_below, &field, "must be below what a queue may hold");
        }
    }

    pub(super) fn simple_deflection(&mut self, settings: &SimpleDeflectionSettings, section: &str) {
        self.occupancy(settings.occupancy, section);
        let is_late = !matches!(settings.occupancy, DeflectionOccupancy::Immediate(_));
        let in_packets = |buffer: &BufferSettings| matches!(buffer, BufferSettings::Static(buffer) if matches!(buffer.per_port, QueueLength::Packets(_)));
        let in_bytes = !self.buffers().iter().any(in_packets);
        let rule = "egress tells by bytes whether a queue is full, and what may wait at a port is given in packets";
        self.require(in_bytes || !is_late, &format!("{section}.occupancy"), rule);
    }

    fn occupancy(&mut self, occupancy: DeflectionOccupancy, section: &str) {
        match occupancy {
            DeflectionOccupancy::Immediate(_) => {}
            DeflectionOccupancy::UpdateGap(late) => {
                self.require(late.gap > Duration::ZERO, &format!("{section}.occupancy.gap"), "must be above zero");
            }
            DeflectionOccupancy::ControlPackets(_) => {
                let has_ports = self.scenario.switch.recirculation_ports > 0;
                let rule = "control packets go round by recirculation ports, and switch.recirculation_ports is 0";
                self.require(has_ports, &format!("{section}.occupancy"), rule);
            }
        }
    }

    pub(super) fn rank_guard(
        &mut self,
        topology: &Topology,
        settings: &RankGuardSettings,
        section: &str,
        taken: &mut Taken,
    ) {
        let field = format!("{section}.ports");
        let before = self.problems.len();
        for (number, name) in settings.ports.iter().enumerate() {
            let rule = select_ports(topology, name).err();
            self.problems.extend(rule.map(|rule| Problem::new(format!("{field}[{number}]"), "", rule)));
        }
        let switches: BTreeSet<SwitchId> = settings.ports_by_switch(topology).into_keys().collect();
        self.require(
            !switches.is_empty() || self.problems.len() > before,
            &field,
            "has no port by which packets of a host come in",
        );
        self.one_entry_per_switch(topology, "a rank guard", &switches, (section, "ports"), taken);
        let fixed = self.scenario.flows.iter().position(|group| group.rank.is_some());
        self.require_else(fixed.is_none(), || {
            let rule =
                "a rank guard takes the first rank of a flow for the bytes that it promises, and this one is fixed";
            Problem::new(format!("flows[{}].rank", fixed.unwrap_or(0)), "", rule)
        });
    }

    /// That of the switches, and those of ports that differ.
    fn buffers(&self) -> Vec<BufferSettings> {
        let switch = &self.scenario.switch;
        let of_ports = switch.ports.iter().filter_map(|port| port.buffer);
        let as_static = |per_port| BufferSettings::Static(crate::scenario::StaticBuffer { per_port });
        std::iter::once(switch.buffer).chain(of_ports.map(as_static)).collect()
    }
}

/// Whether ingress must see how full queues are.
const fn sees_queues(occupancy: DeflectionOccupancy) -> bool {
    match occupancy {
        DeflectionOccupancy::Immediate(_) => true,
        DeflectionOccupancy::UpdateGap(late) => late.sees_full_at_once,
        DeflectionOccupancy::ControlPackets(_) => false,
    }
}

/// Whether packets take the new mean of a queue from ingress to egress.
pub(super) fn carries_mean(settings: &PreemptiveDeflectionSettings) -> bool {
    let by_mean = matches!(settings.relative_priority, RelativePrioritySettings::Distribution(_));
    by_mean && !matches!(settings.occupancy, DeflectionOccupancy::Immediate(_))
}

fn has_exact_mean(settings: &PreemptiveDeflectionSettings) -> bool {
    let RelativePrioritySettings::Distribution(distribution) = settings.relative_priority else { return false };
    distribution.mean == DistributionMean::Exact
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
