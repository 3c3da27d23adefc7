//! `[switch.flow_queueing]`: ports that queue by flow.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_core::wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queueing by flow, at every port of every switch. All flows of a port share its buffer, `switch.buffer` of kind
/// "static"; a full buffer evicts packets that it had admitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowQueueingSettings {
    /// Ideal fair queueing: bit-by-bit round robin (Demers, Keshav and Shenker 1989). A full buffer evicts the packet
    /// with the largest finish number.
    IdealFq(IdealFqSettings),
    /// Deficit round robin with a queue for each flow (Shreedhar and Varghese 1995). A full buffer evicts the last
    /// packet of the longest queue.
    Drr(DrrSettings),
    /// Stochastic fairness queueing (McKenney 1990): flows are hashed to a fixed number of queues, which deficit round
    /// robin serves. A full buffer evicts the last packet of the longest queue.
    Sfq(SfqSettings),
    /// FQ-CoDel (RFC 8290). Queues with too much delay mark or drop packets when they are served; a full buffer evicts
    /// the first packets of the longest queue.
    FqCodel(FqCodelSettings),
}

/// Ideal fair queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealFqSettings {
    /// Weight of a flow by traffic class: its share of the line relative to a flow of weight 1. Classes that are left
    /// out have weight 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub weights: Vec<u16>,
    /// Marking threshold in rounds: a packet is marked if it finishes at least this many rounds after the current one.
    /// AFQ's packet pair needs this marking by flow (AFQ, section 5: 8 rounds). Left out: `switch.ecn` marks by the
    /// depth of the flow's queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub mark_rounds: Option<u32>,
    /// Bytes of a flow in one of these rounds (AFQ, section 6.2.2: one segment, here with its headers).
    #[serde(default = "one_frame", with = "Text::<Bytes>")]
    pub bytes_per_round: Bytes,
    /// Whether a packet lost for lack of buffer still counts in the finish number of its flow, as with Demers, Keshav
    /// and Shenker. Otherwise a flow pays only for packets that are sent.
    #[serde(default)]
    pub charge_drops: bool,
}

/// Deficit round robin per flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrrSettings {
    /// Bytes per turn of a flow with weight 1: at least the longest frame, so that each turn sends one.
    #[serde(default = "one_frame", with = "Text::<Bytes>")]
    pub quantum: Bytes,
    /// Multiple of the quantum by traffic class; classes that are left out have weight 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub weights: Vec<u16>,
}

/// Stochastic fairness queueing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SfqSettings {
    /// Number of queues of each port (AFQ, section 6.2.2: 32).
    #[serde(default = "many_queues")]
    #[schemars(range(min = 1, max = 65536))]
    pub queues: u32,
    /// Bytes per turn of a queue.
    #[serde(default = "one_frame", with = "Text::<Bytes>")]
    pub quantum: Bytes,
    /// Interval after which flows are hashed again; waiting packets stay in their queue, so a flow can be reordered.
    /// Left out: never, which is the default of Linux (tc-sfq).
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub perturbation: Option<Duration>,
}

/// FQ-CoDel. The defaults are those of RFC 8290, section 5.2, which are for the Internet. In a datacenter set
/// `interval` to a large round-trip time and `target` to 5 to 10 % of it (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelSettings {
    /// Number of queues of each port.
    #[schemars(range(min = 1, max = 65536))]
    pub flows: u32,
    /// Bytes per turn of a queue.
    #[serde(with = "Text::<Bytes>")]
    pub quantum: Bytes,
    /// Acceptable delay of a standing queue.
    #[serde(with = "Text::<Duration>")]
    pub target: Duration,
    /// Time for which the delay must exceed the target before the queue reacts.
    #[serde(with = "Text::<Duration>")]
    pub interval: Duration,
    /// Maximum number of packets at a port; the port's own limit (`switch.buffer`) applies too.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub limit: u32,
    /// Maximum number of packets that a full buffer evicts at once; it evicts half of the longest queue, up to this
    /// number.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub drop_batch: u32,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

fn one_frame() -> Bytes {
    Bytes(MTU_FRAME_BYTES.into())
}

fn many_queues() -> u32 {
    32
}

impl Default for FqCodelSettings {
    fn default() -> Self {
        Self {
            flows: 1_024,
            quantum: Bytes(1_514),
            target: Duration::from_ms(5),
            interval: Duration::from_ms(100),
            limit: 10_240,
            drop_batch: 64,
            ecn: true,
        }
    }
}

impl FlowQueueingSettings {
    /// Returns the weights by traffic class; empty for kinds without weights.
    pub fn weights(&self) -> &[u16] {
        match self {
            FlowQueueingSettings::IdealFq(settings) => &settings.weights,
            FlowQueueingSettings::Drr(settings) => &settings.weights,
            FlowQueueingSettings::Sfq(_) | FlowQueueingSettings::FqCodel(_) => &[],
        }
    }

    /// Returns whether it marks packets independently of `switch.ecn`.
    pub fn marks(&self) -> bool {
        match self {
            FlowQueueingSettings::IdealFq(settings) => settings.mark_rounds.is_some(),
            FlowQueueingSettings::FqCodel(settings) => settings.ecn,
            FlowQueueingSettings::Drr(_) | FlowQueueingSettings::Sfq(_) => false,
        }
    }
}
