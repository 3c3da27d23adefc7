//! Packet trimming on the switches of the ports that its entries name.

use hitless_mechanisms::trimming::{Share, TrimmingConfig};
use hitless_switch::QueueLimit;

use super::Planner;
use crate::scenario::{QueueLength, TrimmingSettings};

impl Planner<'_> {
    pub(super) fn add_trimming(&mut self, settings: &TrimmingSettings) {
        let queue = match settings.queue {
            QueueLength::Packets(packets) => QueueLimit::Packets(packets as u32),
            QueueLength::Bytes(bytes) => QueueLimit::Bytes(bytes.0),
        };
        let share = match settings.headers_per_packet {
            0 => Share::HeadersFirst,
            headers => Share::HeadersPerPacket(headers),
        };
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            self.draft(switch).trimming = Some(TrimmingConfig {
                ports: ports.iter().map(|port| port.port).collect(),
                trimmed_frame_bytes: settings.trimmed_frame.0 as u32,
                queue,
                share,
                control_too: settings.control_too,
            });
        }
    }
}
