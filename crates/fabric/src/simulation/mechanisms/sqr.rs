//! SQR on the switches at the sending ends of its links.

use hitless_mechanisms::sqr::{Backstop, Caching, Release, SqrConfig};
use hitless_wire::PortId;

use super::Planner;
use crate::scenario::{SqrCaching, SqrRelease, SqrSettings};
use crate::topology::select::{SwitchPort, select_switch_ports};
use crate::topology::{Node, SwitchId};

impl Planner<'_> {
    pub(super) fn add_sqr(&mut self, settings: &SqrSettings) -> Result<(), String> {
        let links = settings.protected(self.topology);
        for switch in settings.switches(self.topology) {
            let mut config = config(settings);
            let senders = links.iter().map(|&link| self.topology.ends(link).0);
            let own = senders.filter(|end| end.node == Node::Switch(switch));
            config.protected = own.map(|end| end.port).collect();
            config.line_ports = self.topology.switch(switch).ports.len() as u16;
            config.caching_ports = self.caching_ports(settings, switch)?;
            self.draft(switch).sqr = Some(config);
        }
        Ok(())
    }

    fn caching_ports(&self, settings: &SqrSettings, switch: SwitchId) -> Result<Vec<PortId>, String> {
        let ports = settings.caching_ports.iter().map(|name| select_switch_ports(self.topology, name, 0));
        let ports = ports.collect::<Result<Vec<SwitchPort>, String>>()?;
        Ok(ports.into_iter().filter(|found| found.switch == switch).map(|found| found.port).collect())
    }
}

/// What does not depend on the switch.
fn config(settings: &SqrSettings) -> SqrConfig {
    SqrConfig {
        protected: Vec::new(),
        line_ports: 0,
        caching_ports: Vec::new(),
        marks: settings.marks(),
        steady_delay: settings.steady_delay.expect("a checked scenario spells it out"),
        failure_delay: settings.failure_delay.expect("a checked scenario spells it out"),
        clock_bits: settings.clock_bits,
        utilization_window: settings.utilization_window,
        caching: match settings.caching {
            SqrCaching::Ring => Caching::Ring,
            SqrCaching::DelayQueue => Caching::DelayQueue,
        },
        release: match settings.release {
            SqrRelease::AfterDelay => Release::AfterDelay,
            SqrRelease::WhenRerouted => Release::WhenRerouted,
        },
        backstop: settings
            .backstop
            .map(|backstop| Backstop { pause_bytes: backstop.pause.0, resume_bytes: backstop.resume.0 }),
        return_hold: settings.return_hold,
    }
}
