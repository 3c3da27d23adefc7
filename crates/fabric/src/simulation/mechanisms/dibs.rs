//! DIBS on the switches of the ports that its entries name.

use hitless_engine::RandomStreams;
use hitless_mechanisms::dibs::DibsConfig;

use super::Planner;
use crate::scenario::DibsSettings;

impl Planner<'_> {
    pub(super) fn add_dibs(&mut self, settings: &DibsSettings) {
        let streams = RandomStreams::new(self.scenario.seed);
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            self.draft(switch).dibs = Some(DibsConfig {
                relieved: ports.iter().map(|port| port.port).collect(),
                to_arrival_port: settings.to_arrival_port,
                stream: streams.stream(&format!("switch {} dibs", switch.0)),
            });
        }
    }
}
