//! `[switch.flow_queueing]`: ports that queue by flow.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_core::wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queueing by flow, at every port of every switch. All flows of a port share its buffer, `switch.buffer` of kind
/// "static", and a full one takes back packets that it had admitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowQueueingSettings {
    /// Ideal fair queueing: bit-by-bit round robin (Demers, Keshav and Shenker 1989). A full buffer loses the packet
    /// with the largest finish number.
    IdealFq(IdealFqSettings),
    /// Deficit round robin with a queue for each flow (Shreedhar and Varghese 1995). A full buffer loses the last
    /// packet of the longest queue.
    Drr(DrrSettings),
    /// Stochastic fairness queueing (McKenney 1990): flows hashed to a fixed number of queues, and deficit round robin
    /// among these. A full buffer loses the last packet of the longest queue.
    Sfq(SfqSettings),
    /// FQ-CoDel (RFC 8290). Queues with too much delay mark or drop when they are served; a full buffer loses the first
    /// packets of the longest queue.
    FqCodel(FqCodelSettings),
}

/// Ideal fair queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealFqSettings {
    /// By traffic class, how much more of the line a flow gets than one of weight 1; classes left out have weight 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub weights: Vec<u16>,
    /// A packet is marked that ends so many rounds or more ahead of the one under way: marking by flow, as AFQ's packet
    /// pair needs it (AFQ, section 5: 8 rounds). Left out: not so; `switch.ecn` marks by the depth of the flow's queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub mark_rounds: Option<u32>,
    /// Bytes of a flow in one of these rounds (AFQ, section 6.2.2: one segment, here with its headers).
    #[serde(default = "one_frame", with = "Text::<Bytes>")]
    pub bytes_per_round: Bytes,
    /// Leave the finish number of a flow as it is when it loses a packet for lack of buffer, as Demers, Keshav and
    /// Shenker do. Otherwise a flow pays only for what is sent.
    #[serde(default)]
    pub charge_drops: bool,
}

/// Deficit round robin per flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrrSettings {
    /// Bytes that a flow of weight 1 is given in each turn: at least the longest frame, so that each turn sends one.
    #[serde(default = "one_frame", with = "Text::<Bytes>")]
    pub quantum: Bytes,
    /// By traffic class, a multiple of the quantum; classes left out have weight 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub weights: Vec<u16>,
}

/// Stochastic fairness queueing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SfqSettings {
    /// Queues of each port (AFQ, section 6.2.2: 32).
    #[serde(default = "many_queues")]
    #[schemars(range(min = 1, max = 65536))]
    pub queues: u32,
    /// Bytes that a queue is given in each turn.
    #[serde(default = "one_frame", with = "Text::<Bytes>")]
    pub quantum: Bytes,
    /// Time after which flows are hashed anew; what waits then stays in its queue, so that a flow may be reordered.
    /// Left out: never, which is the default of Linux (tc-sfq).
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub perturbation: Option<Duration>,
}

/// FQ-CoDel. The defaults are those of RFC 8290, section 5.2, which are made for the Internet: in a datacenter
/// `interval` is to be a large round-trip time, and `target` 5 to 10 % of it (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelSettings {
    /// Queues of each port.
    #[schemars(range(min = 1, max = 65536))]
    pub flows: u32,
    /// Bytes that a queue is given in each turn.
    #[serde(with = "Text::<Bytes>")]
    pub quantum: Bytes,
    /// Acceptable delay of a queue that does not empty.
    #[serde(with = "Text::<Duration>")]
    pub target: Duration,
    /// How long the delay must have been above the target before anything is done.
    #[serde(with = "Text::<Duration>")]
    pub interval: Duration,
    /// Packets that may wait at a port; the port's own limit (`switch.buffer`) applies too.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub limit: u32,
    /// Most packets that a full buffer loses at once: half of the longest queue, but no more than these.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub drop_batch: u32,
    /// Mark packets that can be marked where others are dropped.
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
    /// Weights by traffic class, as far as they are given.
    pub fn weights(&self) -> &[u16] {
        match self {
            FlowQueueingSettings::IdealFq(settings) => &settings.weights,
            FlowQueueingSettings::Drr(settings) => &settings.weights,
            FlowQueueingSettings::Sfq(_) | FlowQueueingSettings::FqCodel(_) => &[],
        }
    }

    /// Whether it marks by itself, whatever `switch.ecn` says.
    pub fn marks(&self) -> bool {
        match self {
            FlowQueueingSettings::IdealFq(settings) => settings.mark_rounds.is_some(),
            FlowQueueingSettings::FqCodel(settings) => settings.ecn,
            FlowQueueingSettings::Drr(_) | FlowQueueingSettings::Sfq(_) => false,
        }
    }
}
