//! What Bolt's switch counts.

use hitless_switch::Report;
use hitless_wire::PortId;

use super::tokens::Grant;
use crate::configured_ports::ConfiguredPorts;

/// Counters of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Data packets of Bolt's senders.
    pub seen: u64,
    /// Of those, the ones that met a congested queue.
    pub congested: u64,
    /// Notices sent for them.
    pub notices: u64,
    by_ramp_up: u64,
    by_supply: u64,
    denied: u64,
}

hitless_state::state!(PortCounters { values: seen, congested, notices, by_ramp_up, by_supply, denied });

impl PortCounters {
    /// A packet asked for more.
    pub fn note_request(&mut self, granted: Option<Grant>) {
        match granted {
            Some(Grant::RampUp) => self.by_ramp_up += 1,
            Some(Grant::Supply) => self.by_supply += 1,
            None => self.denied += 1,
        }
    }
}

/// Counters of one switch.
#[derive(Debug)]
pub struct Account {
    ports: ConfiguredPorts<PortCounters>,
}

hitless_state::state!(Account { parts: ports });

impl Account {
    /// Of these ports, nothing yet.
    pub fn new(ports: impl Iterator<Item = PortId>) -> Self {
        Self { ports: ConfiguredPorts::with_default(ports) }
    }

    /// The counters of a port.
    pub fn port(&mut self, port: PortId) -> &mut PortCounters {
        self.ports.of(port)
    }

    /// All of it.
    pub fn report(&self) -> Report {
        let mut report = Report::new("bolt");
        for (port, counters) in self.ports.iter() {
            let scope = format!("port {}", port.0);
            report.count(&scope, "packets seen", counters.seen);
            report.count(&scope, "packets that met a congested queue", counters.congested);
            report.count(&scope, "notices sent", counters.notices);
            report.count(&scope, "increases for flows about to end", counters.by_ramp_up);
            report.count(&scope, "increases for unused bandwidth", counters.by_supply);
            report.count(&scope, "increases denied", counters.denied);
            report.acted |= counters.seen > 0;
            let asked = counters.by_ramp_up + counters.by_supply + counters.denied;
            if counters.notices > counters.congested || counters.congested + asked > counters.seen {
                report.violated_invariants.push(format!("the packets of {scope} do not add up: {counters:?}"));
            }
        }
        report
    }
}
