//! Scenarios: one TOML file says everything about a run.
//!
//! The structs of this module *are* the documentation of the file: their doc comments become the schema
//! ([`schema`]), and the schema is what a file is checked against, so that no field can be undocumented and no
//! unknown key gets through. The way of a file:
//!
//! ```text
//! text -> document (with positions) -> structure check against the schema -> presets and defaults filled in
//!      -> structs -> cross checks (names, links, loads, times) -> Scenario
//! ```
//!
//! Each step reports all that it finds, with file, line, field, value, rule and hint; a step runs only if the ones
//! before it found nothing. A [`Scenario`] in hand is therefore one that can be run.

pub mod quantity;

mod bounds;
mod budget;
mod check;
mod cross;
mod defaults;
mod document;
mod error;
mod examples;
mod failure;
mod flow_queueing;
mod flows;
pub mod guarded;
mod host;
mod link;
mod listing;
mod loss;
mod measure;
mod mechanism;
mod recovery;
mod schema;
mod shape;
mod structure;
mod suggest;
mod switch;
mod switch_ports;
mod topology;
mod transport;
mod workload;

use std::path::PathBuf;

use hitless_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use quantity::{Optional, Text};

pub use check::{Purpose, check, check_for};
pub use error::{Finding, ScenarioError};
pub use examples::{EXAMPLES, Example, example};
pub use failure::LinkFailure;
pub use flow_queueing::{DrrSettings, FlowQueueingSettings, FqCodelSettings, IdealFqSettings, SfqSettings};
pub use flows::{
    Across, CdfSizes, FixedSizes, FlowGroup, FlowPattern, FlowSizes, IncastFlows, ListedFlows, PairedFlows,
    ParetoSizes, PermutationFlows, PoissonFlows, RequestFlows, RequestSettings, ScheduledFlows, SequentialFlows,
    ThinkSettings,
};
pub use host::{
    CloseSettings, ExponentialJitter, HostSettings, Jitter, KernelSettings, LognormalJitter, MarkingSettings,
    OrderingSettings, RankedBy, ReceiveOffloadSettings, StackSettings,
};
pub use link::{LinkImpairment, LinkState, LossChange, StateChange};
pub use listing::schema_text;
pub use loss::{BernoulliLoss, BitErrorLoss, ErrorCorrection, GilbertElliottLoss, LossModel, TraceEnd, TraceLoss};
pub use measure::{FlowSampling, MeasureSettings, QueueSampling, ThroughputSampling};
pub use mechanism::{
    ActivationChange, AfqAdaptive, AfqDeficit, AfqDropAhead, AfqFlowKey, AfqHash, AfqIdleRound, AfqLate, AfqOccupancy,
    AfqRotating, AfqRound, AfqScheduler, AfqSettings, AfqSketch, AfqTwoGroups, AfqUpdate, AifoSettings, BoltSettings,
    Buffering, ConstantCapacity, ControlPackets, CurrentThreshold, DeflectionCapacity, DeflectionDecision,
    DeflectionOccupancy, DibsSettings, DistributionArithmetic, DistributionMean, DistributionSettings,
    FallbackSettings, ImmediateOccupancy, LinkGuardianMode, LinkGuardianSettings, LinkLayerRetryAction,
    LinkLayerRetrySettings, MechanismSettings, PaboSettings, PreemptiveDeflectionSettings, ProbabilisticDecision,
    QuantileDivisor, QuantileOf, QuantileSettings, RankGuardSettings, RelativePrioritySettings, RimmAgain, RimmChange,
    RimmMessages, RimmRelease, RimmSettings, ScanStart, SimpleDeflectionSettings, SqrBackstop, SqrCaching, SqrRelease,
    SqrSettings, StaticLimit, ThresholdDecision, TrimmingSettings, UpdateGap, VertigoSettings, WharfSettings,
};
pub use quantity::QueueLength;
pub use recovery::{
    BackupChoice, Detection, FixedDetection, LocalRerouteScheme, ProbeDetection, RecoveryScheme, RecoverySettings,
    SamePortScheme, SignalLossDetection,
};
pub use schema::schema;
pub use switch::{
    BudgetSettings, BufferSettings, DepthVisible, EcnSettings, SchedulerKind, SharedBuffer, StaticBuffer, SwitchPreset,
    SwitchSettings,
};
pub use switch_ports::PortSettings;
pub use topology::{Chain, Dumbbell, FatTree, FatTreeWiring, Graph, GraphLink, LeafSpine, LinkSpec, TopologySettings};
pub use transport::{
    BoltReaction, BoltTransportSettings, Congestion, DcqcnSettings, DctcpEstimate, PacketPairSettings, Protocol,
    RoceRecovery, RoceSettings, RtoFormula, SwiftSettings, TcpRecovery, TcpSettings, TransportSettings, UdpSettings,
    WindowGrowth,
};

/// A scenario: everything that decides a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name, used for the folder of results.
    pub name: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What ends the run.
    #[serde(default)]
    pub until: Until,
    /// When the run stops; with until = "all-flows-done" the latest moment at which it does.
    #[serde(default, with = "Optional::<Time>", skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Every random stream of the run derives from it.
    #[serde(default = "first_seed")]
    #[schemars(range(max = 9223372036854775807_u64))]
    pub seed: u64,
    /// Flows that start before this moment run, but do not count in results.
    #[serde(default, with = "Text::<Time>")]
    pub warmup: Time,
    /// How packets find their way.
    #[serde(default)]
    pub routing: RoutingSettings,
    /// The fabric: hosts, switches and links.
    pub topology: TopologySettings,
    /// What every switch is like.
    #[serde(default)]
    pub switch: SwitchSettings,
    /// What every host is like.
    #[serde(default)]
    pub host: HostSettings,
    /// Transports, for flows to name. A scenario that only runs live needs none.
    #[serde(rename = "transport", default, skip_serializing_if = "Vec::is_empty")]
    pub transports: Vec<TransportSettings>,
    /// Groups of flows. A scenario that only runs live needs none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowGroup>,
    /// What goes wrong with links.
    #[serde(rename = "link", default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkImpairment>,
    /// Links that break.
    #[serde(rename = "failure", default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<LinkFailure>,
    /// How failures are detected and repaired; left out: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoverySettings>,
    /// Mechanisms that switches run.
    #[serde(rename = "mechanism", default, skip_serializing_if = "Vec::is_empty")]
    pub mechanisms: Vec<MechanismSettings>,
    /// What is recorded beside the flows.
    #[serde(default)]
    pub measure: MeasureSettings,
    /// The folder of the scenario's file, which paths in it are relative to.
    #[serde(skip)]
    pub folder: PathBuf,
}

fn first_seed() -> u64 {
    1
}

/// What ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The clock reaches `duration`.
    #[default]
    Duration,
    /// Every flow is done.
    AllFlowsDone,
}

/// How packets find their way: equal-cost shortest paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoutingSettings {
    /// How a switch chooses among next hops of equal cost.
    pub choice: PathRule,
}

/// How a switch chooses among next hops of equal cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathRule {
    /// By a hash of the flow's 5-tuple, different at each switch.
    #[default]
    FlowHash,
    /// By (source + destination) mod number of next hops: no chance in it, the same for acknowledgements.
    BySum,
    /// For each packet the one of two different next hops, drawn at random, whose queue has fewer bytes (Vertigo, section
    /// 3). Packets of a flow overtake each other by it. Ingress must see depths.
    TwoChoices,
}

impl Scenario {
    /// Traffic classes that something at the ports gives a weight.
    fn classes_weighed(&self) -> usize {
        let of_ports = self.switch.flow_queueing.as_ref().map_or(0, |queueing| queueing.weights().len());
        let of_mechanism = |mechanism: &MechanismSettings| match mechanism {
            MechanismSettings::Afq(settings) => settings.class_weights.len(),
            _ => 0,
        };
        self.mechanisms.iter().map(of_mechanism).fold(of_ports, usize::max)
    }

    /// Whether any port marks, of itself or for a mechanism.
    fn marks_somewhere(&self) -> bool {
        self.switch.marks_somewhere() || self.mechanisms.iter().any(MechanismSettings::marks)
    }

    /// The scenario as TOML with every default spelled out; [`check`] reads it back to an equal scenario.
    pub fn effective_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| unreachable!("a scenario is always valid TOML: {error}"))
    }
}

#[cfg(test)]
mod tests;
