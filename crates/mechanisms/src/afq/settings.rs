//! AFQ's parameters. Sections refer to the paper (Sharma et al., NSDI 2018).

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::settings::quantity::{Optional, QueueLength, Text};
use hitless_core::wire::packet::MTU_FRAME_BYTES;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::Scenario;
use hitless_scenario::network::switch::BufferSettings;
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_scenario::network::topology::{SwitchId, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::queue_limit::limit_of_port;

/// AFQ on ports of switches: fair queueing with a sketch of bids and a queue for each of the next rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqSettings {
    /// Ports: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch. Name a port in a single
    /// entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Fair-queued traffic classes. AFQ's queues then take the place of the queues of these classes in the order of
    /// the port (`switch.scheduler`): with "strict" above lower and below higher classes, with "drr" with the turns of
    /// all of them. Other classes keep their queues, marks and buffer. Each class needs a separate queue
    /// (`switch.queues_per_port`), and with "strict" they must be neighbours. Classes above the last queue follow it.
    #[schemars(extend("x-default" = "all"), length(max = 8), inner(range(max = 7)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<BTreeSet<u8>>,
    /// nQ: queues of a port, one for each of the next rounds (sections 4 and 6: 32; 8 to 32).
    #[schemars(range(min = 2, max = 63))]
    pub queues: u8,
    /// BpR: bytes that a flow of weight 1 sends in each round, frames with their check sequence (section 5: one MSS or
    /// less). Packet pair needs the same `bytes_per_round`.
    #[schemars(extend("x-default" = "d x l / (6 nQ), with a minimum of one full frame; d is the shortest round trip \
        through a port, l its rate, and the buffer must hold nQ rounds. One full frame with packet pair"))]
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub bytes_per_round: Option<Bytes>,
    /// d, the round trip between hosts, if it is longer than the links make it. With it `bytes_per_round` is
    /// d x l / (6 nQ), where l is the highest port rate, with a minimum of one full frame (section 5: the queue that
    /// DCTCP needs to fill a link).
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Duration>,
    /// Sketch of bids, separate for each port.
    pub sketch: AfqSketch,
    /// Scheduler of the queues (section 4).
    pub scheduler: AfqScheduler,
    /// Source of the round on the enqueue side (section 4).
    pub round: AfqRound,
    /// With round = "from-occupancy": how precisely the enqueue side sees which queues are empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupancy: Option<AfqOccupancy>,
    /// Distance from the current round at which a packet is dropped.
    pub drop_ahead: DropAhead,
    /// Mark a packet that is at least this many rounds ahead (section 5: 8). Default: mark none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 63))]
    pub ecn_rounds: Option<u32>,
    /// Whether a packet that the port's buffer refuses stays charged. In hardware it does, because the queue is chosen
    /// before the traffic manager decides about the buffer.
    pub charge_refused: bool,
    /// Progress of the round while a port has nothing to send.
    pub idle_round: AfqIdleRound,
    /// Definition of a flow.
    pub flow_key: FlowKey,
    /// Weight of each traffic class, starting with class 0: a flow of this class may send weight x `bytes_per_round` in
    /// a round. With flow_key = "class" these are weights of tenants. Classes beyond the list have weight 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), inner(range(min = 0.001, max = 1000.0)))]
    pub class_weights: Vec<f64>,
    /// Use fewer queues when the shared buffer gets short (the idea of A2FQ). Default: always all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AfqAdaptive>,
    /// Maximum contents of all AFQ queues of a port together (section 3.3.1).
    #[schemars(extend(
        "x-default" = "the static limit of the port, or with `classes` of their queues; with a shared buffer only its \
            alpha decides, for each queue"
    ))]
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub port_buffer: Option<QueueLength>,
    /// Also keep the exact bid of each flow, and count the errors of the sketch (appendix E). This costs time and
    /// memory, and changes nothing else.
    pub measure_estimation: bool,
}

/// The sketch of bids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqSketch {
    /// Rows, each with a separate hash function (simulation of the paper: 2, prototype: 4).
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
    /// Each row separately, in a single access, S = max(S, R x BpR) + size, unless the result is too far ahead: a
    /// predicated register (section 3.2). A packet that is dropped as too far ahead charges nothing.
    #[default]
    PredicatedIncrement,
    /// Each row separately, in a single access, S = max(S, R x BpR) + size, even for a packet that is then dropped.
    Increment,
    /// All rows are read, and if the packet is queued, rows below its bid are raised to it (figure 3). This takes two
    /// accesses to each row: not with switch.checked.
    #[serde(rename = "figure-3")]
    Figure3,
}

/// Scheduler of a port's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AfqScheduler {
    /// A dedicated scheduler (section 3.3.2): a queue is served until it is empty, and then becomes the last.
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
    /// Queue of a packet that crossed ingress while its round was served.
    pub late: AfqLate,
    /// Time that the scheduler takes to continue with the next queue. 0: empty queues are skipped at once (figure 3).
    #[serde(with = "Text::<Duration>")]
    pub step: Duration,
}

/// Queue of a packet whose round is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfqLate {
    /// The queue being served: a scheduler that knows rounds can see that the packet is late.
    #[default]
    ServedQueue,
    /// The queue chosen by ingress, which by now belongs to a much later round: as with the other schedulers.
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
    /// Maximum time of a group's priority. Section 4 uses 10 us and says that it depends on rate and queues. A group
    /// needs flows x queues / 2 x bytes_per_round at the rate of the link; a shorter period leaves packets behind.
    #[schemars(extend("x-default" = "none: the groups are swapped when the rounds of the first are done"))]
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub period: Option<Duration>,
    /// Time from the processor's decision, or from the moment that a group is empty, to the new priorities: two writes
    /// over PCIe. The default, about one crossing of PCIe, is an assumption.
    #[serde(with = "Text::<Duration>")]
    pub delay: Duration,
}

impl Default for AfqTwoGroups {
    fn default() -> Self {
        Self { period: None, delay: Duration::from_us(1) }
    }
}

/// Source of the round on the enqueue side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfqRound {
    /// Memory shared with the scheduler.
    #[default]
    Shared,
    /// Empty queues: a round counts as served when packets were assigned to it and its queue is empty.
    FromOccupancy,
}

/// How precisely the enqueue side sees which queues are empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqOccupancy {
    /// A queue with fewer bytes looks empty: the granularity of the reported occupancy (section 4).
    #[serde(with = "Text::<Bytes>")]
    pub granularity: Bytes,
    /// Maximum age of the reported occupancy.
    #[serde(with = "Text::<Duration>")]
    pub refresh: Duration,
}

impl Default for AfqOccupancy {
    fn default() -> Self {
        Self { granularity: Bytes(1), refresh: Duration::ZERO }
    }
}

/// Distance at which a packet is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "AfqDropAhead")]
pub enum DropAhead {
    /// From nQ rounds: the queues hold rounds R to R + nQ - 1.
    #[default]
    AtQueues,
    /// Above nQ rounds (figure 3): a packet of round R + nQ goes into the queue being served.
    BeyondQueues,
}

/// Progress of the round while a port has nothing to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfqIdleRound {
    /// The round stands still (figure 3 spins).
    #[default]
    StandsStill,
    /// The round advances by 1 in the time of a round of a single flow on the line.
    LineRate,
}

/// Definition of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "AfqFlowKey")]
pub enum FlowKey {
    /// A 5-tuple (section 3).
    #[default]
    FiveTuple,
    /// All packets of a host.
    Source,
    /// All packets of a traffic class.
    Class,
}

/// Adaptation of the number of queues in use; the defaults follow A2FQ's public program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AfqAdaptive {
    /// Minimum number of queues in use.
    #[schemars(range(min = 2, max = 63))]
    pub queues_min: u8,
    /// Use one queue fewer, at most once a round, when the queue of the next round is this close to its limit.
    #[serde(with = "Text::<Bytes>")]
    pub margin: Bytes,
    /// Use one queue more when the queue of the next round is not empty, but below its limit divided by this number.
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
            classes: None,
            queues: 32,
            bytes_per_round: None,
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
    /// Bytes of a flow in each round. In a checked scenario the default has been derived; elsewhere it is a full frame.
    pub fn bytes_per_round(&self) -> Bytes {
        self.bytes_per_round.unwrap_or(Bytes(MTU_FRAME_BYTES.into()))
    }

    /// The existing ports among `ports`, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        select_ports_by_switch(topology, &self.ports)
    }

    /// The common limit of a port's queues; `None` if only the shared buffer limits them.
    pub fn limit_of(&self, scenario: &Scenario, topology: &Topology, at: SwitchPort) -> Option<QueueLength> {
        let of_port = || limit_of_port(scenario, topology, at);
        self.port_buffer
            .or_else(|| Some(self.part_of(of_port()?, scenario.switch.of_switch(topology, at.switch).queue_count())))
    }

    /// The limits of the replaced queues together, if all `queues` of a port have the limit `whole`.
    fn part_of(&self, whole: QueueLength, queues: u8) -> QueueLength {
        let (Some(listed), all) = (&self.classes, u64::from(queues)) else { return whole };
        match whole {
            QueueLength::Packets(packets) => QueueLength::Packets((packets / all).max(1) * listed.len() as u64),
            QueueLength::Bytes(bytes) => QueueLength::Bytes(Bytes(bytes.0 / all * listed.len() as u64)),
        }
    }

    /// The smallest buffer of a port, or the shared buffer if it is smaller.
    pub(super) fn buffer_min(&self, scenario: &Scenario, topology: &Topology) -> Option<Bytes> {
        let ports = self.ports_by_switch(topology).into_values().flatten();
        let limits = ports.filter_map(|port| self.limit_of(scenario, topology, port)).map(|limit| match limit {
            QueueLength::Bytes(bytes) => bytes,
            QueueLength::Packets(packets) => Bytes(packets.saturating_mul(MTU_FRAME_BYTES.into())),
        });
        let own = scenario.switch.variants_at(topology, self.ports_by_switch(topology).into_keys());
        let totals = own.iter().filter_map(|switch| match switch.buffer {
            BufferSettings::Shared(buffer) => Some(buffer.total),
            BufferSettings::Static(_) => None,
        });
        limits.chain(totals).min()
    }

    /// The largest weight of a class.
    pub(super) fn heaviest(&self) -> f64 {
        self.class_weights.iter().copied().fold(1.0, f64::max)
    }

    /// The distance in rounds from the oldest queued round at which a packet is dropped, with all queues in use.
    pub fn rounds_max(&self) -> u64 {
        u64::from(self.queues) + u64::from(self.drop_ahead == DropAhead::BeyondQueues)
    }
}
