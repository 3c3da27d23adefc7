//! AFQ's parameters. Sections are those of the paper (Sharma et al., NSDI 2018).

use std::collections::BTreeMap;

use hitless_core::settings::quantity::{Optional, QueueLength, Text};
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_scenario::network::topology::{SwitchId, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::queue_limit::limit_of_port;

/// AFQ on ports of switches: fair queueing by a sketch of bids and a queue for each of the next rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqSettings {
    /// The ports: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. A port is named by one
    /// entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// nQ: queues of a port, one for each of the next rounds (sections 4 and 6: 32; 8 to 32).
    #[schemars(range(min = 2, max = 63))]
    pub queues: u8,
    /// BpR: bytes that a flow of weight 1 sends in each round, frames with their check sequence (section 5: one MSS or
    /// less). The default is a full frame; with `round_trip` it follows from that.
    #[serde(with = "Text::<Bytes>")]
    pub bytes_per_round: Bytes,
    /// d, the round trip between hosts. With it `bytes_per_round` is d x l / (6 nQ), where l is the highest port rate,
    /// with a minimum of one full frame (section 5: the queue that DCTCP needs to fill a link). Packet pair needs the
    /// same `bytes_per_round`.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Duration>,
    /// The sketch of bids, one for each port.
    pub sketch: AfqSketch,
    /// What serves the queues (section 4).
    pub scheduler: AfqScheduler,
    /// Where the enqueue side knows the round from (section 4).
    pub round: AfqRound,
    /// With round = "from-occupancy": how well the enqueue side sees which queues are empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<AfqOccupancy>,
    /// From which distance to the current round on a packet is dropped.
    pub drop_ahead: DropAhead,
    /// Mark a packet that is at least so many rounds ahead (section 5: 8); left out: mark none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 63))]
    pub ecn_rounds: Option<u32>,
    /// Whether a packet that finds no room in the port's buffer stays charged. Hardware decides on the queue before the
    /// traffic manager decides on the buffer, so it does.
    pub charge_refused: bool,
    /// What the round does while a port has nothing to send.
    pub idle_round: AfqIdleRound,
    /// What is a flow.
    pub flow_key: FlowKey,
    /// Weight of each traffic class, from class 0 on: a flow of this class may send so many times `bytes_per_round` in
    /// a round. With flow_key = "class" these are weights of tenants. Classes beyond the list have weight 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), inner(range(min = 0.001, max = 1000.0)))]
    pub class_weights: Vec<f64>,
    /// Use fewer queues when the shared buffer gets short (the idea of A2FQ); left out: always all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AfqAdaptive>,
    /// What all queues of a port may hold together (section 3.3.1).
    #[schemars(extend(
        "x-default" = "the static limit of the port; with a shared buffer only its alpha decides, for each queue"
    ))]
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub port_buffer: Option<QueueLength>,
    /// Keep the exact bid of each flow too, and count how often the sketch was wrong (appendix E). It costs time and
    /// memory, and changes nothing else.
    pub measure_estimation: bool,
}

/// The sketch of bids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqSketch {
    /// Rows, each with a hash function of its own (simulation of the paper: 2, prototype: 4).
    #[schemars(range(min = 1, max = 8))]
    pub rows: u8,
    /// Cells of a row (section 6: 16,384).
    #[schemars(range(min = 1, max = 16_777_216))]
    pub columns: u32,
    /// The hash functions.
    pub hash: AfqHash,
    /// How a packet raises the bids of its flow.
    pub update: UpdateRule,
    /// Bits of a bid: 32, which wrap, or 64.
    pub bid_bits: u8,
}

/// Hash functions of a sketch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfqHash {
    /// Multiply-shift, with multipliers from the seed of the run; different on each switch.
    #[default]
    MultiplyShift,
    /// CRC-32, CRC-16, the Internet checksum and the key itself, one row each (as in the public program for bmv2).
    Checksums,
}

/// How a packet raises the bids of its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "AfqUpdate")]
pub enum UpdateRule {
    /// Each row for itself, in one access, S = max(S, R x BpR) + size, unless it would come out too far ahead: a
    /// predicated register (section 3.2). A packet that is dropped as too far ahead charges nothing.
    #[default]
    PredicatedIncrement,
    /// Each row for itself, in one access, S = max(S, R x BpR) + size: also for a packet that is then dropped.
    Increment,
    /// All rows are read, and when the packet is queued, those below its bid are raised to it (figure 3). Two accesses
    /// to each row: not with switch.checked.
    #[serde(rename = "figure-3")]
    Figure3,
}

/// What serves the queues of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AfqScheduler {
    /// A scheduler made for it (section 3.3.2): a queue is served until it is empty, then it is the last.
    RotatingStrictPriority(AfqRotating),
    /// Deficit round robin with a quantum that no queue can use up (section 4).
    DeficitRoundRobin(AfqDeficit),
    /// Two groups of strict priorities, swapped by the switch's processor when the first is empty, or after a period
    /// (section 4).
    TwoGroups(AfqTwoGroups),
}

/// Rotating strict priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqRotating {
    /// Where a packet goes whose round was served while it was on its way from ingress to its queue.
    pub late: AfqLate,
    /// How long the scheduler takes to go on to the next queue. 0: empty queues are passed in no time (figure 3).
    #[serde(with = "Text::<Duration>")]
    pub step: Duration,
}

/// Where a packet goes whose round is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfqLate {
    /// Into the queue that is being served: a scheduler that knows rounds can see that it is late.
    #[default]
    ServedQueue,
    /// Into the queue that ingress named, which is that of a much later round by now: as with the other schedulers.
    NamedQueue,
}

/// Deficit round robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqDeficit {
    /// Bytes in each turn.
    #[serde(with = "Text::<Bytes>")]
    pub quantum: Bytes,
}

impl Default for AfqDeficit {
    fn default() -> Self {
        Self { quantum: Bytes(1_000_000_000) }
    }
}

/// Two groups of strict priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqTwoGroups {
    /// Maximum time that a group goes first. Section 4 uses 10 us and says that it depends on rate and queues. A group
    /// needs flows x queues / 2 x bytes_per_round at the rate of the link; a shorter period leaves packets behind.
    #[schemars(extend("x-default" = "none: the groups are swapped when the rounds of the first are done"))]
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub period: Option<Duration>,
    /// From the processor's decision, or from the moment that a group is empty, to the new priorities: two writes over
    /// PCIe. The default, about one crossing of PCIe, is an assumption.
    #[serde(with = "Text::<Duration>")]
    pub delay: Duration,
}

impl Default for AfqTwoGroups {
    fn default() -> Self {
        Self { period: None, delay: Duration::from_us(1) }
    }
}

/// Where the enqueue side knows the round from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfqRound {
    /// From memory that it shares with the scheduler.
    #[default]
    Shared,
    /// From queues that are empty: it counts a round as served when packets were assigned to it and its queue is empty.
    FromOccupancy,
}

/// How well the enqueue side sees which queues are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqOccupancy {
    /// A queue with fewer bytes looks empty: the grain in which occupancy is told (section 4).
    #[serde(with = "Text::<Bytes>")]
    pub granularity: Bytes,
    /// How old what is seen may be.
    #[serde(with = "Text::<Duration>")]
    pub refresh: Duration,
}

impl Default for AfqOccupancy {
    fn default() -> Self {
        Self { granularity: Bytes(1), refresh: Duration::ZERO }
    }
}

/// From which distance on a packet is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "AfqDropAhead")]
pub enum DropAhead {
    /// From nQ rounds on: the queues hold rounds R to R + nQ - 1.
    #[default]
    AtQueues,
    /// Above nQ rounds (figure 3): a packet of round R + nQ goes into the queue that is being served.
    BeyondQueues,
}

/// What the round does while a port has nothing to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfqIdleRound {
    /// It stands still (figure 3 spins).
    #[default]
    StandsStill,
    /// It goes on by one in the time that a round of one flow takes on the line.
    LineRate,
}

/// What is a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "AfqFlowKey")]
pub enum FlowKey {
    /// A 5-tuple (section 3).
    #[default]
    FiveTuple,
    /// All that a host sends.
    Source,
    /// All packets of a traffic class.
    Class,
}

/// How the number of queues in use adapts; the defaults are those of A2FQ's public program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqAdaptive {
    /// The least number of queues in use.
    #[schemars(range(min = 2, max = 63))]
    pub queues_min: u8,
    /// One queue fewer, at most once a round, when the queue of the next round has come so close to what it may hold.
    #[serde(with = "Text::<Bytes>")]
    pub margin: Bytes,
    /// One queue more when the queue of the next round holds something, but less than its limit divided by this.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub low_divisor: u32,
}

impl Default for AfqAdaptive {
    fn default() -> Self {
        Self { queues_min: 2, margin: Bytes(6_144), low_divisor: 16 }
    }
}

impl Default for AfqSketch {
    fn default() -> Self {
        Self {
            rows: 2,
            columns: 16_384,
            hash: AfqHash::MultiplyShift,
            update: UpdateRule::PredicatedIncrement,
            bid_bits: 32,
        }
    }
}

impl Default for AfqSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            queues: 32,
            bytes_per_round: Bytes(MTU_FRAME_BYTES.into()),
            round_trip: None,
            sketch: AfqSketch::default(),
            scheduler: AfqScheduler::RotatingStrictPriority(AfqRotating::default()),
            round: AfqRound::Shared,
            occupancy: None,
            drop_ahead: DropAhead::AtQueues,
            ecn_rounds: None,
            charge_refused: true,
            idle_round: AfqIdleRound::StandsStill,
            flow_key: FlowKey::FiveTuple,
            class_weights: Vec::new(),
            adaptive: None,
            port_buffer: None,
            measure_estimation: false,
        }
    }
}

impl AfqSettings {
    /// The ports whose names mean something, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        select_ports_by_switch(topology, &self.ports)
    }

    /// What the queues of a port may hold together; none: only the shared buffer limits them.
    pub fn limit_of(&self, scenario: &Scenario, topology: &Topology, at: SwitchPort) -> Option<QueueLength> {
        self.port_buffer.or_else(|| limit_of_port(scenario, topology, at))
    }

    /// Rounds from the oldest with a queue of its own at which a packet is dropped, with all queues in use.
    pub fn rounds_max(&self) -> u64 {
        u64::from(self.queues) + u64::from(self.drop_ahead == DropAhead::BeyondQueues)
    }

    /// The weight of a class.
    pub fn weight(&self, class: usize) -> f64 {
        self.class_weights.get(class).copied().unwrap_or(1.0)
    }
}
