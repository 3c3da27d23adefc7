//! `[measure]`: optional records. Flows are always recorded.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capture::PacketCapture;

/// Optional records of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasureSettings {
    /// Per-packet comparison of the packets that hosts put on their links with those that arrive at the other end. The
    /// table of flows then contains columns that begin with "network": the number of packets that the network lost,
    /// reordered and duplicated (both directions together), the maximum time between two data packets, and the mean
    /// jitter of data (RFC 3550: the difference between the transit times of consecutive packets). It takes time and
    /// memory.
    pub order: bool,
    /// Divides the completion time of every message into parts, along its critical path: queues, links, pacing,
    /// retransmission timeouts and others, exact to the picosecond. The table is "autopsy", and `hitless why` explains
    /// it. The run uses one thread and has the same results.
    pub autopsy: bool,
    /// Samples of queue depth.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueueSampling>,
    /// Throughput over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throughput: Vec<ThroughputSampling>,
    /// State of flows over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<FlowSampling>,
    /// Totals of groups of flows over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub goodput: Vec<GoodputSampling>,
    /// Captures of packets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capture: Vec<PacketCapture>,
}

/// Samples of the queue depths of some ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueSampling {
    /// Ports of switches, each named by the link that it sends on, "sw2->sw6", or, for recirculation ports, by number:
    /// "sw2.recirculation0".
    #[schemars(length(min = 1))]
    pub ports: Vec<String>,
    /// Time between two samples.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
    /// Whether to count, at each sample, the packets of each flow at the port, including the one in transmission. The
    /// table queue_flows then contains the frequency of each count.
    #[serde(default)]
    pub per_flow: bool,
}

/// Bytes carried in each interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThroughputSampling {
    /// Links, each in the counted direction: "sw2->sw6". Frames are counted when they arrive intact.
    #[schemars(length(min = 1))]
    pub links: Vec<String>,
    /// Length of an interval.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
}

/// Window, sent, acknowledged and delivered bytes and retransmitted packets of each active flow of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSampling {
    /// Name of the group of flows.
    pub group: String,
    /// Time between two samples.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
}

/// Totals of all flows of a group in each interval: bytes delivered in order, packets sent and retransmitted, timeouts,
/// and echoes of congestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoodputSampling {
    /// Name of the group of flows.
    pub group: String,
    /// Length of an interval.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
}
