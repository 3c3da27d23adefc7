//! What packet trimming counts.

use hitless_switch::Report;
use hitless_wire::PortId;

use crate::configured_ports::ConfiguredPorts;

/// Counters of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Packets that routing sent there.
    pub seen: u64,
    /// Of those, headers that another switch had cut.
    pub headers_passed: u64,
    /// Refused packets that were cut here.
    pub trimmed: u64,
    /// Refused packets that could not be cut, and ended.
    pub uncut: u64,
    /// Headers for which the queue of the headers had no room.
    pub headers_lost: u64,
}

hitless_state::state!(PortCounters { values: seen, headers_passed, trimmed, uncut, headers_lost });

/// Counters of one switch.
#[derive(Debug)]
pub struct Account {
    ports: ConfiguredPorts<PortCounters>,
}

hitless_state::state!(Account { parts: ports });

impl Account {
    /// Of these ports, nothing yet.
    pub fn new(ports: &[PortId]) -> Self {
        Self { ports: ConfiguredPorts::with_default(ports.iter().copied()) }
    }

    /// The counters of a port.
    #[inline]
    pub fn port(&mut self, port: PortId) -> &mut PortCounters {
        self.ports.of(port)
    }

    /// A packet is to leave by the port.
    #[inline]
    pub fn seen(&mut self, port: PortId, is_header: bool) {
        let counters = self.port(port);
        counters.seen += 1;
        counters.headers_passed += u64::from(is_header);
    }

    /// All of it.
    pub fn report(&self) -> Report {
        let mut report = Report::new("trimming");
        for (port, counters) in self.ports.iter() {
            let scope = format!("port {}", port.0);
            let PortCounters { seen, headers_passed, trimmed, uncut, headers_lost } = *counters;
            report.count(&scope, "packets seen", seen);
            report.count(&scope, "headers passed on", headers_passed);
            report.count(&scope, "packets trimmed", trimmed);
            report.count(&scope, "packets refused and not trimmed", uncut);
            report.count(&scope, "headers lost", headers_lost);
            report.acted |= seen > 0;
            if headers_lost > headers_passed + trimmed {
                report.violated_invariants.push(format!("the headers of {scope} do not add up: {counters:?}"));
            }
        }
        report
    }
}
