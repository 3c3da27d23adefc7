//! Vertigo on the switches of the ports that its entries name.

use hitless_mechanisms::Vertigo;
use hitless_mechanisms::vertigo::{SortedPort, VertigoConfig};

use super::Planner;
use crate::scenario::VertigoSettings;

impl Planner<'_> {
    pub(super) fn add_vertigo(&mut self, settings: &VertigoSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let neighbours = &self.topology.switch(switch).ports;
            let sorted = |port| SortedPort { port, faces_host: !neighbours[usize::from(port.0)].faces_switch() };
            let vertigo = Vertigo::new(VertigoConfig {
                ports: ports.iter().map(|at| sorted(at.port)).collect(),
                candidates: settings.candidates,
                to_arrival_port: settings.to_arrival_port,
                records_ranks: settings.record_ranks,
                stream: self.stream_of(switch, "vertigo"),
            });
            self.draft(switch).deflection = Some(vertigo.into());
        }
    }
}
