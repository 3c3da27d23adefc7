//! Bolt on the switches of the ports that its entries name.

use hitless_mechanisms::Bolt;
use hitless_mechanisms::bolt::{BoltConfig, BoltPort};

use super::Planner;
use crate::scenario::BoltSettings;
use crate::topology::select::SwitchPort;

impl Planner<'_> {
    pub(super) fn add_bolt(&mut self, settings: &BoltSettings) {
        for (switch, ports) in settings.ports_by_switch(self.topology) {
            let ports = ports.into_iter().map(|at| self.bolt_port(at)).collect();
            let bolt = Bolt::new(BoltConfig {
                ports,
                threshold_bytes: settings.threshold.0,
                segment_bytes: settings.segment.0 as u32,
                supply_bytes: settings.supply_max.0 as u32,
                ramp_up_tokens: settings.ramp_up_max,
                notice_bytes: settings.notice_bytes.0 as u32,
            });
            self.draft(switch).bolt = Some(bolt);
        }
    }

    fn bolt_port(&self, at: SwitchPort) -> BoltPort {
        let link = self.topology.link(self.topology.switch(at.switch).ports[usize::from(at.port.0)].link.link).settings;
        BoltPort { port: at.port, rate: link.rate, overhead_bytes: link.overhead_bytes }
    }
}
