//! Vertigo on the switches of the ports that its entries name.

use hitless_engine::RandomStreams;
use hitless_mechanisms::vertigo::{SortedPort, VertigoConfig};

use super::Planner;
use crate::scenario::VertigoSettings;

impl Planner<'_> {
    pub(super) fn add_vertigo(&mut self, settings: &VertigoSettings) {
        let streams = RandomStreams::new(self.scenario.seed);
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let neighbours = &self.topology.switch(switch).ports;
            let sorted = |port| SortedPort { port, faces_host: !neighbours[usize::from(port.0)].faces_switch() };
            let ports = ports.iter().map(|at| sorted(at.port)).collect();
            self.draft(switch).vertigo = Some(VertigoConfig {
                ports,
                candidates: settings.candidates,
                to_arrival_port: settings.to_arrival_port,
                records_ranks: settings.record_ranks,
                stream: streams.stream(&format!("switch {} vertigo", switch.0)),
            });
        }
    }
}
