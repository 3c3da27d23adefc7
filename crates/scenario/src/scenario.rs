//! The scenario: the complete description of a run.

use std::path::PathBuf;

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::Time;
use hitless_hosts::TransportConfig;
use hitless_hosts::transport::tcp::congestion::CongestionFacts;
use hitless_hosts::transport::tcp::{Congestion, TcpSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clocks::Clocks;
use crate::flows::{FlowGroup, FlowPattern};
use crate::host::HostSettings;
use crate::host::{Protocol, TransportSettings};
use crate::kind::Entry;
use crate::measure::MeasureSettings;
use crate::network::link::LinkFailure;
use crate::network::link::LinkImpairment;
use crate::network::recovery::RecoverySettings;
use crate::network::routing::RoutingSettings;
use crate::network::switch::SwitchSettings;
use crate::network::topology::{Topology, TopologySettings};

/// A scenario: the complete description of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Short name, used for the folder of results.
    pub name: String,
    /// Description for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Condition that ends the run.
    #[serde(default)]
    pub until: Until,
    /// Time at which the run stops; with until = "all-flows-done" the latest time at which it stops.
    #[serde(default, with = "Optional::<Time>", skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Seed of all random streams of the run.
    #[serde(default = "first_seed")]
    #[schemars(range(max = 9223372036854775807_u64))]
    pub seed: u64,
    /// Offsets of the clocks of transmitters.
    #[serde(default)]
    pub clocks: Clocks,
    /// Warm-up time: flows that start before it run, but do not count in results.
    #[serde(default, with = "Text::<Time>")]
    pub warmup: Time,
    /// Choice of paths.
    #[serde(default)]
    pub routing: RoutingSettings,
    /// The fabric: hosts, switches and links.
    pub topology: TopologySettings,
    /// Settings of all switches.
    #[serde(default)]
    pub switch: SwitchSettings,
    /// Settings of all hosts.
    #[serde(default)]
    pub host: HostSettings,
    /// Transports, referred to by flows. A scenario that only runs live needs none.
    #[serde(rename = "transport", default, skip_serializing_if = "Vec::is_empty")]
    pub transports: Vec<TransportSettings>,
    /// Groups of flows. A scenario that only runs live needs none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowGroup>,
    /// Impairments of links.
    #[serde(rename = "link", default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkImpairment>,
    /// Links that fail.
    #[serde(rename = "failure", default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<LinkFailure>,
    /// Path of a file that ends in ".failures", relative to the scenario: further failures of links, one per line
    /// (docs/reference/files.md). The effective configuration contains them as `[[failure]]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_file: Option<String>,
    /// Detection and repair of failures; left out: failures are neither detected nor repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoverySettings>,
    /// Mechanisms of switches.
    #[serde(rename = "mechanism", default, skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<Entry>,
    /// Optional records, in addition to flows.
    #[serde(default)]
    pub measure: MeasureSettings,
    /// The folder of the scenario's file; paths in it are relative to this folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Warnings about the files of the scenario.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

fn first_seed() -> u64 {
    1
}

/// Condition that ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The clock reaches `duration`.
    #[default]
    Duration,
    /// All flows are complete.
    AllFlowsDone,
}

impl Scenario {
    /// Builds the topology, with the rates and delays of `[[link]]` and the exceptions of switches.
    pub fn build_topology(&self) -> Result<Topology, String> {
        self.fabric().map_err(|errors| errors.join("; "))
    }

    /// Like [`Self::build_topology`], with a sentence for each error. Unknown names of links and switches are ignored.
    pub(crate) fn fabric(&self) -> Result<Topology, Vec<String>> {
        let mut topology = self.topology.build()?;
        self.links.iter().for_each(|link| link.shape(&mut topology));
        topology.add_fec_latencies();
        self.switch.shape(&mut topology);
        Ok(topology)
    }

    /// Returns the constants of congestion controls from outside the tree.
    pub fn own_congestion(&self) -> impl Iterator<Item = &'static CongestionFacts> + '_ {
        self.transports.iter().filter_map(|transport| match &transport.protocol {
            Protocol::Tcp(TcpSettings { congestion: Congestion::Own(own), .. }) => Some(own.facts()),
            _ => None,
        })
    }

    /// Finds the index of the transport called `name`.
    pub fn transport_index(&self, name: &str) -> Option<usize> {
        self.transports.iter().position(|transport| transport.name == name)
    }

    /// Returns all transports without a VLAN tag, followed by all of them with a tag.
    pub fn transport_configs(&self, topology: &Topology) -> Vec<TransportConfig> {
        let overhead_bytes = topology.specs().next().map_or(0, |link| link.overhead_bytes);
        let lateness = self.lateness_estimate(topology);
        let config = |settings: &TransportSettings| settings.config(&self.host, overhead_bytes, lateness);
        let untagged: Vec<_> = self.transports.iter().map(config).collect();
        let tagged: Vec<_> = untagged.iter().cloned().map(TransportConfig::tagged).collect();
        [untagged, tagged].concat()
    }

    /// Returns the index of a group's transport among [`Self::transport_configs`].
    pub(crate) fn transport_of(&self, group: &FlowGroup) -> usize {
        let index = self.transport_index(&group.transport).unwrap_or(0);
        if group.vlan == 0 { index } else { self.transports.len() + index }
    }

    /// Returns the number of traffic classes that a port's discipline or a mechanism gives a weight.
    pub(crate) fn classes_weighed(&self) -> usize {
        let of_ports = self.switch.flow_queueing.as_ref().map_or(0, |queueing| queueing.weights().len());
        self.mechanisms.iter().map(Entry::classes_weighed).fold(of_ports, usize::max)
    }

    /// Returns whether any port marks packets, by its settings or for a mechanism.
    pub(crate) fn marks_somewhere(&self) -> bool {
        self.switch.marks_somewhere() || self.mechanisms.iter().any(Entry::marks)
    }

    /// Writes the scenario as TOML with all defaults; [`check`](crate::check()) reads it back to an equal scenario.
    pub fn effective_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| unreachable!("a scenario is always valid TOML: {error}"))
    }
}

/// The purpose of reading a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A simulation: its flows send, and it has an end.
    Simulation,
    /// A live run: real programs send, and a user ends it.
    Live,
    /// A survey of the switch resources of its mechanisms, even if they exceed the budget.
    Survey,
}

impl Scenario {
    /// Returns the reason why a run of this scenario cannot be divided into parts; `None` if it can.
    ///
    /// Parts communicate only through packets, which take time from one to the other. Any immediate interaction
    /// prevents a division.
    pub fn undivided_because(&self) -> Option<&'static str> {
        if self.measure.order {
            return Some("the order of packets is measured, which compares what is sent with what arrives elsewhere");
        }
        if self.measure.autopsy {
            return Some("an autopsy follows each packet from one host to the other");
        }
        if self.mechanisms.iter().any(|entry| entry.facts.shares_state) {
            return Some("a mechanism shares more between switches than packets tell");
        }
        if self.own_congestion().any(|facts| facts.shares_state) {
            return Some("a congestion control can share more between hosts than packets tell");
        }
        self.flows.iter().find_map(|group| match &group.pattern {
            FlowPattern::Sequence(_) => Some("flows of a sequence start when others end elsewhere"),
            FlowPattern::DependencyList(_) => Some("flows of a list start when others end elsewhere"),
            FlowPattern::Poisson(flows) if flows.connections.is_some() => Some("flows share open connections"),
            pattern if pattern.request().is_some() => Some("flows answer requests"),
            _ => None,
        })
    }
}
