//! AFQ on one switch: its settings as the data path reads them. Sections are those of Sharma et al., NSDI 2018.

use hitless_switch::{LatePackets, QueueLimit};
use hitless_wire::{Duration, PortId};

use super::settings::{AfqAdaptive, DropAhead, FlowKey, UpdateRule};

/// The hash functions of a sketch, one for each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashFamily {
    /// Multiply-shift (Dietzfelbinger et al. 1997), with multipliers that follow from the seed.
    MultiplyShift {
        /// Seed of the multipliers.
        seed: u64,
    },
    /// Those of the public bmv2 port, one row each: CRC-32, CRC-16, the Internet checksum, and the key itself. No seed.
    Checksums,
}

/// The sketch of bids of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchConfig {
    /// Rows, each with a hash function of its own; at most [`SketchConfig::ROWS_MAX`].
    pub rows: u8,
    /// Cells of a row.
    pub columns: u32,
    /// The hash functions.
    pub hash: HashFamily,
    /// How bids are raised.
    pub update: UpdateRule,
    /// Whether a bid has 64 bits; else it has 32, and wraps.
    pub is_wide: bool,
}

impl SketchConfig {
    /// The most rows of a sketch: each takes a stage.
    pub const ROWS_MAX: u8 = 8;
}

/// What serves the queues (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// Rotating strict priority.
    RotatingStrictPriority {
        /// Packets whose round is over when they reach their queue.
        late: LatePackets,
        /// How long the scheduler takes to go on to the next queue.
        step: Duration,
    },
    /// Deficit round robin.
    DeficitRoundRobin {
        /// Bytes in each turn; all that a queue can hold, if it is to be a rotating strict priority.
        quantum_bytes: u32,
    },
    /// Two halves of strict priorities, exchanged by the switch's processor.
    TwoGroups {
        /// How long a half goes first at most (10 us).
        period: Duration,
        /// From the decision to its effect: a write over PCIe.
        delay: Duration,
    },
}

/// Where the enqueue module has the current round from (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundSource {
    /// It shares the scheduler's.
    Shared,
    /// It keeps an estimate, which goes on when the queue of its round is seen to be empty.
    Occupancy {
        /// A queue with fewer bytes looks empty; at least one.
        granularity_bytes: u64,
        /// What is seen may be so old.
        refresh: Duration,
    },
}

/// A port that AFQ runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfqPort {
    /// The port.
    pub port: PortId,
    /// What its queues may hold together (section 3.3.1).
    pub limit: QueueLimit,
    /// While it is idle the round goes on by one in this time; none: it stands still.
    pub idle_round_time: Option<Duration>,
}

/// A weight of a class, as the factor by which bytes are charged: 65,536 / weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge(u32);

impl Charge {
    /// What is charged of weight 1: the bytes themselves.
    pub const WHOLE: Charge = Charge(1 << 16);

    /// The charge of a flow that may send `weight` times the bytes of a round in each round (above 1/1000, below 1000).
    ///
    /// # Panics
    /// With a weight outside of that.
    pub fn for_weight(weight: f64) -> Self {
        assert!((0.001..=1_000.0).contains(&weight), "a weight is between 0.001 and 1000, not {weight}");
        Charge((65_536.0 / weight).round() as u32)
    }

    /// The bytes that are charged for a frame; at least one.
    #[inline]
    pub fn of(self, frame_bytes: u32) -> u64 {
        if self == Self::WHOLE {
            return u64::from(frame_bytes);
        }
        ((u64::from(frame_bytes) * u64::from(self.0) + (1 << 15)) >> 16).max(1)
    }
}

/// AFQ on one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfqConfig {
    /// The ports.
    pub ports: Vec<AfqPort>,
    /// nQ, the queues of each: 2 to 64; even for [`Scheduler::TwoGroups`].
    pub queues: u8,
    /// BpR, the bytes that a flow of weight 1 sends in a round.
    pub bytes_per_round: u32,
    /// The sketch of each port.
    pub sketch: SketchConfig,
    /// What serves the queues.
    pub scheduler: Scheduler,
    /// Where the round is known from.
    pub round: RoundSource,
    /// Which packets are dropped.
    pub drop_ahead: DropAhead,
    /// So many rounds ahead a packet is marked (section 5: 8); none: never.
    pub ecn_rounds: Option<u32>,
    /// Whether a packet that the traffic manager has no room for stays charged.
    pub charge_refused: bool,
    /// What is a flow.
    pub flow_key: FlowKey,
    /// By traffic class; a class beyond the list has weight 1.
    pub charges: Vec<Charge>,
    /// Whether the number of queues adapts.
    pub adaptive: Option<AfqAdaptive>,
    /// Compare each bid with that of an exact table of flows.
    pub measures_estimation: bool,
}

impl AfqConfig {
    /// Rounds from the oldest with a queue of its own at which a packet is dropped, with all queues in use.
    pub const fn rounds_max(&self) -> u64 {
        self.queues as u64 + matches!(self.drop_ahead, DropAhead::BeyondQueues) as u64
    }
}
