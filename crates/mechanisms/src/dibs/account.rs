//! What DIBS counts.

use hdrhistogram::Histogram;
use hitless_switch::Report;
use hitless_wire::PortId;
use hitless_wire::shim::DetourCount;

/// Counters of one relieved port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Packets that were to leave by the port.
    pub seen: u64,
    /// Of those, the ones that went elsewhere.
    pub detoured: u64,
    /// Of the detoured ones, those that went back to where they had come from.
    pub sent_back: u64,
    /// Packets for which no other port had room either.
    pub nowhere_to_go: u64,
}

/// Counters of one switch.
#[derive(Debug)]
pub struct Account {
    /// In the order of the configuration.
    ports: Vec<(PortId, PortCounters)>,
    /// The most detours that a packet has had in the whole fabric when it was detoured here.
    most_detours: u64,
    /// Detours of packets that had been detoured and were forwarded to a host.
    detours: Histogram<u64>,
    /// Detours that the packet has no room to be counted in.
    pub uncounted: u64,
}

impl Account {
    /// Of these ports, nothing yet.
    pub fn new(relieved: &[PortId]) -> Self {
        let detours = Histogram::new_with_bounds(1, u64::from(u8::MAX), 3).expect("these bounds are legal");
        let ports = relieved.iter().map(|&port| (port, PortCounters::default())).collect();
        Self { ports, most_detours: 0, detours, uncounted: 0 }
    }

    /// The counters of a relieved port.
    pub fn port(&mut self, port: PortId) -> &mut PortCounters {
        let found = self.ports.iter_mut().find(|(relieved, _)| *relieved == port);
        &mut found.expect("only packets of relieved ports are looked at").1
    }

    /// A packet of `port` was detoured.
    pub fn detoured(&mut self, port: PortId, is_sent_back: bool, count: DetourCount) {
        let counters = self.port(port);
        counters.detoured += 1;
        counters.sent_back += u64::from(is_sent_back);
        self.most_detours = self.most_detours.max(u64::from(count.0));
    }

    /// A packet goes to its host.
    pub fn arrived(&mut self, count: Option<DetourCount>) {
        if let Some(DetourCount(count)) = count {
            self.detours.saturating_record(u64::from(count));
        }
    }

    /// All of it.
    pub fn report(&self) -> Report {
        let mut report = Report::new("dibs");
        for (port, counters) in &self.ports {
            let scope = format!("port {}", port.0);
            report.count(&scope, "packets seen", counters.seen);
            report.count(&scope, "packets detoured", counters.detoured);
            report.count(&scope, "packets sent back to where they came from", counters.sent_back);
            report.count(&scope, "packets with nowhere to go", counters.nowhere_to_go);
            report.acted |= counters.seen > 0;
            if counters.sent_back > counters.detoured || counters.detoured + counters.nowhere_to_go > counters.seen {
                report.broken_promises.push(format!("the packets of {scope} do not add up: {counters:?}"));
            }
        }
        report.count("switch", "most detours of a packet", self.most_detours);
        report.count("switch", "detours not counted in their packet", self.uncounted);
        if !self.detours.is_empty() {
            report.histograms.push(("switch".into(), "detours of a packet that was detoured", self.detours.clone()));
        }
        report
    }
}
