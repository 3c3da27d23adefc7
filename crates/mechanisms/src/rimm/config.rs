//! RIMM on one switch.

use hitless_core::wire::PortId;

use super::settings::RimmSettings;

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

/// The ports of a switch with RIMM, and the settings that they share.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// What holds for all of them.
    pub settings: RimmSettings,
}
