//! Limits of a mechanism's queues.

use hitless_core::settings::quantity::QueueLength;
use hitless_scenario::Scenario;
use hitless_scenario::network::switch::BufferSettings;
use hitless_scenario::network::topology::Topology;
use hitless_scenario::network::topology::select::SwitchPort;
use hitless_switch::QueueLimit;

/// Converts a length to a limit. A checked scenario guarantees that the packets fit into 32 bits.
pub(crate) const fn queue_limit(length: QueueLength) -> QueueLimit {
    match length {
        QueueLength::Packets(packets) => QueueLimit::Packets(packets as u32),
        QueueLength::Bytes(bytes) => QueueLimit::Bytes(bytes.0),
    }
}

/// The static limit of a port; `None` if ports share a buffer.
pub(crate) fn limit_of_port(scenario: &Scenario, topology: &Topology, at: SwitchPort) -> Option<QueueLength> {
    let port = &topology.switch(at.switch).ports[usize::from(at.port.0)];
    match scenario.switch.of_port(topology, at.switch, port).buffer {
        BufferSettings::Static(buffer) => Some(buffer.per_port),
        BufferSettings::Shared(_) => None,
    }
}
