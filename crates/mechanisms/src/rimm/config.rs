//! RIMM on one switch: its settings as the data path reads them. Sections are those of Lin, Hung and Wen, IEEE Access
//! 2022.

use hitless_wire::{Duration, PortId};

use super::settings::{NeighbourChange, NeighbourForReturns};

/// What is done about the order of detoured packets, and when the detour of a flow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// In the order of their numbers; the detour ends at an idle time of chi between two new packets (section III-C).
    FlowletGap {
        /// chi.
        gap: Duration,
        /// How long the packets of one slot are detoured at most.
        detour_max: Option<Duration>,
    },
    /// In the order of their numbers; the detour ends when S_a = S_f (section V).
    Exact,
    /// As they come back ("detour-based forwarding", table 1).
    Unordered,
}

/// A port whose queue is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedPort {
    /// The port.
    pub port: PortId,
    /// alpha.
    pub threshold_segments: u16,
}

/// A port that faces a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The port.
    pub port: PortId,
    /// From this depth on of its queue towards us it is not given new packets.
    pub full_segments: u16,
    /// The same of our queue towards it.
    pub own_full_segments: u16,
    /// Whether it wants to be told the depth of our queue towards it.
    pub is_told: bool,
}

/// RIMM on one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RimmConfig {
    /// The number of the switch in the headers of packets that it detours.
    pub origin: u8,
    /// Ports of the switch that face a link; those behind them recirculate.
    pub line_ports: u16,
    /// All that recirculate.
    pub recirculation_ports: u16,
    /// The ports that are watched and relieved; none on a switch that only tells others its depths.
    pub watched: Vec<WatchedPort>,
    /// The ports that face switches.
    pub neighbours: Vec<Neighbour>,
    /// Bytes of a segment, in which depths are counted.
    pub segment_bytes: u64,
    /// The order of detoured packets.
    pub release: Release,
    /// The neighbour of packets that are detoured again.
    pub again: NeighbourForReturns,
    /// When new packets get another neighbour.
    pub change: NeighbourChange,
    /// Whether message packets have a queue of their own, which is served first.
    pub messages_first: bool,
    /// How long an alarm may last until the detour ends.
    pub congestion_after: Duration,
    /// Bits of the hash that names a slot.
    pub hash_bits: u8,
    /// How often a packet is detoured at most.
    pub detours_max: u8,
    /// How long packets wait for one before them.
    pub predecessor_timeout: Duration,
    /// Until when a queue of ours towards a neighbour counts as above its threshold of which nothing more was told. Of
    /// one that stays above it is told again each quarter of this time, so that two messages in a row may be lost.
    pub crossing_lifetime: Duration,
    /// Until when a depth that a neighbour has told counts.
    pub telemetry_lifetime: Option<Duration>,
    /// Keep series of alarms and of the ports chosen.
    pub records_choices: bool,
}

impl Default for RimmConfig {
    /// The paper's figures, on a switch without ports.
    fn default() -> Self {
        Self {
            origin: 0,
            line_ports: 0,
            recirculation_ports: 0,
            watched: Vec::new(),
            neighbours: Vec::new(),
            segment_bytes: 80,
            release: Release::Exact,
            again: NeighbourForReturns::SameNeighbour,
            change: NeighbourChange::BetweenDetours,
            messages_first: true,
            congestion_after: Duration::from_us(1_000),
            hash_bits: 12,
            detours_max: u8::MAX,
            predecessor_timeout: Duration::from_us(1_000),
            crossing_lifetime: Duration::from_us(20_000),
            telemetry_lifetime: None,
            records_choices: false,
        }
    }
}
