//! SQR on one switch.

use hitless_wire::PortId;

use super::settings::SqrSettings;

/// The ports of a switch with SQR, and the settings that they share.
#[derive(Clone, Debug, PartialEq)]
pub struct SqrConfig {
    /// The ports whose links are protected.
    pub protected: Vec<PortId>,
    /// Ports that face a link, numbered from 0; each gets a caching queue, for any may become a backup.
    pub line_ports: u16,
    /// The ports whose caching queues make up the ring.
    pub caching_ports: Vec<PortId>,
    /// What holds for all of them; with its delays.
    pub settings: SqrSettings,
}
