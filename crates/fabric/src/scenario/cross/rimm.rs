//! RIMM: whether its numbers fit together, and whether a detour can come back.

use hitless_wire::{Bytes, Duration};

use super::Check;
use super::fabric::Taken;
use crate::routing::{PathChoice, Routing};
use crate::scenario::error::Problem;
use crate::scenario::quantity::Quantity;
use crate::scenario::{MechanismSettings, RimmRelease, RimmSettings, SchedulerKind};
use crate::topology::Topology;
use crate::topology::select::SwitchPort;

/// A depth has so many bits (section V).
const DEPTH_BITS: u32 = 16;
/// What the origin of a detoured packet can be: its number has 8 bits.
const ORIGINS_MAX: usize = 256;

impl Check<'_> {
    /// `taken` are the switches that another entry has named.
    pub(super) fn rimm(&mut self, topology: &Topology, settings: &RimmSettings, section: &str, taken: &mut Taken) {
        let before = self.problems.len();
        self.rimm_ports(topology, settings, section, taken);
        self.rimm_switch(settings, section);
        self.rimm_release(settings, section);
        self.rimm_times(settings, section);
        if self.problems.len() == before {
            self.rimm_thresholds(topology, settings, section);
            self.rimm_ways_back(topology, settings, section);
            self.rimm_round_trip(topology, settings, section);
            self.rimm_beside_others(topology, settings, section);
        }
    }

    fn rimm_ports(&mut self, topology: &Topology, settings: &RimmSettings, section: &str, taken: &mut Taken) {
        let field = format!("{section}.ports");
        self.ports_named_once(topology, &settings.ports, &field);
        let own = settings.ports_by_switch(topology).into_keys().collect();
        self.one_entry_per_switch(topology, "RIMM", &own, (section, "ports"), taken);
        self.require_else(taken.len() <= ORIGINS_MAX, || {
            let rule = format!(
                "{} switches would detour packets, and a detoured packet names one of {ORIGINS_MAX} in 8 bits",
                taken.len()
            );
            Problem::new(field, "", rule).hint("name the ports that are to be relieved")
        });
    }

    /// One queue for a port: its depth is what all is about.
    fn rimm_switch(&mut self, settings: &RimmSettings, section: &str) {
        let switch = &self.scenario.switch;
        let has_one_queue = switch.queues_per_port == 1 || switch.scheduler == SchedulerKind::Fifo;
        self.require_else(has_one_queue, || {
            let rule = "RIMM watches one queue at each port, and classes would have queues of their own";
            Problem::new("switch.queues_per_port", "", rule).hint("take 1")
        });
        let is_plain = switch.flow_queueing.is_none();
        let rule = "RIMM watches the depth of a queue, and a port that queues by flow has none";
        self.require(is_plain, "switch.flow_queueing", rule);
        let is_length = settings.segment > Bytes::ZERO;
        self.require(is_length, &format!("{section}.segment"), "must be 1 B or more");
        let is_same = self.rimm_entries().all(|other| other.segment == settings.segment);
        let rule = "differs from that of another entry, and switches tell each other depths in segments";
        self.require(is_same, &format!("{section}.segment"), rule);
    }

    fn rimm_entries(&self) -> impl Iterator<Item = &RimmSettings> {
        self.scenario.mechanisms.iter().filter_map(|mechanism| match mechanism {
            MechanismSettings::Rimm(settings) => Some(settings),
            _ => None,
        })
    }

    fn rimm_release(&mut self, settings: &RimmSettings, section: &str) {
        let has_gap = settings.release == RimmRelease::FlowletGap || settings.flowlet_gap.is_none();
        let rule = "has an effect with release = \"flowlet-gap\" only";
        self.require(has_gap, &format!("{section}.flowlet_gap"), rule);
        let ends_by_gap = settings.release == RimmRelease::FlowletGap || settings.flow_detour_max.is_none();
        self.require(ends_by_gap, &format!("{section}.flow_detour_max"), rule);
        let has_order = settings.release != RimmRelease::Unordered || settings.predecessor_timeout.is_none();
        let rule = "has no effect with release = \"unordered\": nothing waits for what went before";
        self.require(has_order, &format!("{section}.predecessor_timeout"), rule);
    }

    fn rimm_times(&mut self, settings: &RimmSettings, section: &str) {
        let times = [
            ("flowlet_gap", settings.flowlet_gap),
            ("congestion_after", Some(settings.congestion_after)),
            ("flow_detour_max", settings.flow_detour_max),
            ("predecessor_timeout", settings.predecessor_timeout),
            ("crossing_lifetime", Some(settings.crossing_lifetime)),
            ("telemetry_lifetime", settings.telemetry_lifetime),
        ];
        for (name, time) in times {
            let is_above = time.is_none_or(|time| time > Duration::ZERO);
            self.require(is_above, &format!("{section}.{name}"), "must be above zero");
        }
    }

    fn rimm_thresholds(&mut self, topology: &Topology, settings: &RimmSettings, section: &str) {
        let field = || format!("{section}.threshold");
        for at in settings.ports_by_switch(topology).into_values().flatten() {
            let (threshold, limit) =
                (settings.threshold_of(self.scenario, topology, at), self.scenario.queue_max(topology, at));
            let name = || at.name(topology);
            let before = self.problems.len();
            self.require_else(threshold >= settings.segment, || {
                let rule = format!("is {} at {}, less than one segment", threshold.text(), name());
                Problem::new(field(), "", rule)
            });
            self.require_else(threshold < limit, || {
                let rule = format!(
                    "is {} at {}, whose queue holds {} at most: it would drop packets before any is detoured",
                    threshold.text(),
                    name(),
                    limit.text()
                );
                Problem::new(field(), "", rule)
            });
            let segments = threshold.0 / settings.segment.0;
            self.require_else(segments < 1 << DEPTH_BITS, || {
                let rule = format!(
                    "is {} at {}: {segments} segments of {}, and a depth has {DEPTH_BITS} bits",
                    threshold.text(),
                    name(),
                    settings.segment.text()
                );
                Problem::new(field(), "", rule).hint("take a larger segment")
            });
            if self.problems.len() > before {
                return;
            }
        }
    }

    /// Something that leaves by a relieved port must have a neighbour that sends it back.
    fn rimm_ways_back(&mut self, topology: &Topology, settings: &RimmSettings, section: &str) {
        let routing = Routing::new(topology, PathChoice::default());
        let ports: Vec<SwitchPort> = settings.ports_by_switch(topology).into_values().flatten().collect();
        let relieved = |at: &SwitchPort| topology.host_ids().any(|host| routing.has_way_back(topology, *at, host));
        self.require_else(ports.iter().any(relieved), || {
            let rule = "no neighbour would send anything back that these ports could detour to it";
            Problem::new(format!("{section}.ports"), "", rule)
                .hint("a switch needs two neighbours that reach the destination through it, or one beside a host")
        });
    }

    /// AFQ spreads the packets of a port over queues of its own. Mechanisms that choose ports look after this themselves.
    fn rimm_beside_others(&mut self, topology: &Topology, settings: &RimmSettings, section: &str) {
        let detours = settings.ports_of_detours(topology);
        let with_afq = |mechanism: &MechanismSettings| match mechanism {
            MechanismSettings::Afq(afq) => {
                afq.ports_by_switch(topology).into_values().flatten().find(|port| detours.contains(port))
            }
            _ => None,
        };
        let Some(port) = self.scenario.mechanisms.iter().find_map(with_afq) else { return };
        let rule = format!(
            "{} has AFQ, which takes all packets into queues of its own: RIMM goes by the depth of one queue, and what it \
             detours would pass AFQ by",
            port.name(topology)
        );
        let hint = "RIMM needs the ports that it relieves, and those between their switches and the neighbours: name others \
                    for AFQ";
        self.problems.push(Problem::new(format!("{section}.ports"), "", rule).hint(hint));
    }
    fn rimm_round_trip(&mut self, topology: &Topology, settings: &RimmSettings, section: &str) {
        let Some(timeout) = settings.predecessor_timeout else { return };
        let bound = settings.round_trip_bound(self.scenario, topology);
        self.require_else(timeout >= bound, || {
            let rule = format!(
                "is too short: a packet may be away for {}, through a neighbour whose queue is at the threshold",
                bound.text()
            );
            Problem::new(format!("{section}.predecessor_timeout"), timeout.text(), rule)
        });
    }
}
