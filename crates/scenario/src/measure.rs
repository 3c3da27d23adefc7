//! `[measure]`: what is recorded beside the flows, which always are.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureSettings {
    /// Compare, packet by packet, what hosts put on their links with what arrives at the other end. The table of flows
    /// then says how many packets the network lost, reordered and duplicated, both directions together, the longest
    /// time between two packets of data, and the jitter of data, by how much the way of one took longer or shorter than
    /// that of the one before it, mean (RFC 3550): columns that begin with "network". Takes time and memory.
    pub order: bool,
    /// Samples of queue depth.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueueSampling>,
    /// Throughput over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throughput: Vec<ThroughputSampling>,
    /// How flows get on over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<FlowSampling>,
    /// What groups of flows do over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub goodput: Vec<GoodputSampling>,
}

/// Samples of how full the queues of some ports are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueSampling {
    /// Ports of switches, each by the link that it sends on, "sw2->sw6", or, for recirculation ports, by number:
    /// "sw2.recirculation0".
    #[schemars(length(min = 1))]
    pub ports: Vec<String>,
    /// Time between two samples.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
    /// Count, at each sample, the packets that each flow has at the port, the one in transmission included. The table
    /// queue_flows then says how often a flow had so many.
    #[serde(default)]
    pub per_flow: bool,
}

/// Bytes carried in each interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThroughputSampling {
    /// Links, each in the direction that is counted: "sw2->sw6". Frames are counted where they arrive whole.
    #[schemars(length(min = 1))]
    pub links: Vec<String>,
    /// Length of an interval.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
}

/// Window, sent, acknowledged and delivered bytes and retransmitted packets of each flow of a group that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSampling {
    /// Name of the group of flows.
    pub group: String,
    /// Time between two samples.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
}

/// What all flows of a group did in each interval, together: bytes delivered in order, packets sent and retransmitted,
/// timeouts, and echoes of congestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoodputSampling {
    /// Name of the group of flows.
    pub group: String,
    /// Length of an interval.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
}
