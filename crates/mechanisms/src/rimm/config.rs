//! RIMM's configuration on a switch.

use hitless_core::wire::PortId;

use super::settings::RimmSettings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedPort {
    pub port: PortId,
    /// Threshold alpha.
    pub threshold_segments: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbour {
    pub port: PortId,
    /// Depth of its queue towards us at which it gets no new packets.
    pub full_segments: u16,
    /// Depth of our queue towards it at which it gets no new packets.
    pub own_full_segments: u16,
    /// Whether it needs the depth of our queue towards it.
    pub is_told: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RimmConfig {
    /// Number of the switch in the headers of packets that it detours.
    pub origin: u8,
    /// Number of ports with a link; the ports after them recirculate.
    pub line_ports: u16,
    pub recirculation_ports: u16,
    /// Watched and relieved ports; none on a switch that only reports its depths.
    pub watched: Vec<WatchedPort>,
    pub neighbours: Vec<Neighbour>,
    pub settings: RimmSettings,
}
