//! What Vertigo counts.

use hdrhistogram::Histogram;
use hitless_core::wire::PortId;
use hitless_switch::Report;

use crate::configured_ports::ConfiguredPorts;
use crate::detours::{Detours, Names};

hitless_switch::counters! {
    /// Counters of one port with sorted queues.
    pub struct PortCounters {
        /// By routing.
        seen = "packets seen",
        /// They met a full queue and were not urgent enough, or were driven out of it.
        victims = "packets that had to leave",
        driven_out = "packets driven out of the queue",
        deflected = "packets deflected",
        sent_back = "packets sent back to where they came from",
        /// Of the victims, those for which there was no other port.
        nowhere_to_go = "packets with nowhere to go",
        /// They ended here when victims of other ports were put into the full queue, those victims included.
        given_up = "packets given up for a deflected one",
    }
}

const NAMES: Names = Names {
    most: "most deflections of a packet",
    uncounted: "deflections not counted in their packet",
    of_packet: "deflections of a packet that was deflected",
};

/// What is kept for one port.
#[derive(Debug)]
struct PortRecords {
    counters: PortCounters,
    /// The ranks of the packets that routing sent there, if they are recorded.
    ranks: Option<Histogram<u64>>,
}

hitless_core::state!(PortRecords { values: counters; parts: ranks });

/// Counters of one switch.
#[derive(Debug)]
pub struct SwitchCounters {
    ports: ConfiguredPorts<PortRecords>,
    /// Deflections, by packet.
    pub detours: Detours,
}

hitless_core::state!(SwitchCounters { parts: ports, detours });

impl SwitchCounters {
    /// Of these ports, nothing yet.
    pub fn new(sorted: &[PortId], records_ranks: bool) -> Self {
        let histogram = || Histogram::new(3).expect("three digits are legal");
        let records = || PortRecords { counters: PortCounters::default(), ranks: records_ranks.then(histogram) };
        let ports = ConfiguredPorts::new(sorted.iter().map(|&port| (port, records())));
        Self { ports, detours: Detours::new() }
    }

    /// The counters of a port.
    pub fn port(&mut self, port: PortId) -> &mut PortCounters {
        &mut self.ports.of(port).counters
    }

    /// Routing has sent a packet of that rank to the port.
    #[inline]
    pub fn seen(&mut self, port: PortId, rank: impl FnOnce() -> u32) {
        let records = self.ports.of(port);
        records.counters.seen += 1;
        if let Some(ranks) = &mut records.ranks {
            ranks.saturating_record(u64::from(rank()));
        }
    }

    /// A packet has to leave the port.
    pub fn victim(&mut self, port: PortId, was_queued: bool) {
        let counters = self.port(port);
        counters.victims += 1;
        counters.driven_out += u64::from(was_queued);
    }

    /// It goes to another.
    pub fn deflected(&mut self, port: PortId, is_sent_back: bool) {
        let counters = self.port(port);
        counters.deflected += 1;
        counters.sent_back += u64::from(is_sent_back);
    }

    /// All of it.
    pub fn report(&self) -> Report {
        let mut report = Report::new("vertigo");
        for (port, PortRecords { counters, ranks }) in self.ports.iter() {
            let scope = format!("port {}", port.0);
            counters.report(&scope, &mut report);
            report.acted |= counters.seen > 0;
            let PortCounters { victims, driven_out, deflected, sent_back, nowhere_to_go, .. } = *counters;
            if deflected + nowhere_to_go != victims || sent_back > deflected || driven_out > victims {
                report.violated_invariants.push(format!("the packets of {scope} do not add up: {counters:?}"));
            }
            if let Some(ranks) = ranks.as_ref().filter(|ranks| !ranks.is_empty()) {
                report.histograms.push((scope, "rank of packets that arrive", ranks.clone()));
            }
        }
        self.detours.report(NAMES, &mut report);
        report
    }
}
