//! Vertigo's counters.

use hdrhistogram::Histogram;
use hitless_core::wire::PortId;
use hitless_switch::{Quantity, Report};

use crate::configured_ports::ConfiguredPorts;
use crate::detours::Detours;

pub const ARRIVING_RANK: Quantity = Quantity::new("arriving_rank_bytes", "rank of arriving packets (bytes)");

hitless_switch::counters! {
    pub struct PortCounters {
        /// Packets routed to the port.
        seen as packets_seen = "packets seen",
        /// Packets that met a full queue and were not urgent enough, or were evicted from it.
        victims as packets_displaced = "packets that had to leave",
        driven_out as packets_driven_out = "packets driven out of the queue",
        deflected as packets_deflected = "packets deflected",
        sent_back as packets_sent_back = "packets sent back to where they came from",
        /// Victims without another port.
        nowhere_to_go as packets_with_nowhere_to_go = "packets with nowhere to go",
        /// Packets dropped here when victims of other ports were put into the full queue, including those victims.
        given_up as packets_given_up = "packets given up for a deflected one",
    }
}

#[derive(Debug, hitless_core::state::State)]
struct PortRecords {
    counters: PortCounters,
    /// Ranks of the packets routed to the port, if they are recorded.
    #[part]
    ranks: Option<Histogram<u64>>,
}

#[derive(Debug, hitless_core::state::State)]
pub struct SwitchCounters {
    #[part]
    ports: ConfiguredPorts<PortRecords>,
    #[part]
    pub detours: Detours,
}

impl SwitchCounters {
    pub fn new(sorted: &[PortId], records_ranks: bool) -> Self {
        let histogram = || Histogram::new(3).expect("three digits are legal");
        let records = || PortRecords { counters: PortCounters::default(), ranks: records_ranks.then(histogram) };
        let ports = ConfiguredPorts::new(sorted.iter().map(|&port| (port, records())));
        Self { ports, detours: Detours::new() }
    }

    pub fn port(&mut self, port: PortId) -> &mut PortCounters {
        &mut self.ports.of(port).counters
    }

    #[inline]
    pub fn seen(&mut self, port: PortId, rank: impl FnOnce() -> u32) {
        let records = self.ports.of(port);
        records.counters.seen += 1;
        if let Some(ranks) = &mut records.ranks {
            ranks.saturating_record(u64::from(rank()));
        }
    }

    pub fn victim(&mut self, port: PortId, was_queued: bool) {
        let counters = self.port(port);
        counters.victims += 1;
        counters.driven_out += u64::from(was_queued);
    }

    /// Notes that a packet goes to another port.
    pub fn deflected(&mut self, port: PortId, is_sent_back: bool) {
        let counters = self.port(port);
        counters.deflected += 1;
        counters.sent_back += u64::from(is_sent_back);
    }

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
                report.histograms.push((scope, ARRIVING_RANK, ranks.clone()));
            }
        }
        self.detours.report(&mut report);
        report
    }
}
