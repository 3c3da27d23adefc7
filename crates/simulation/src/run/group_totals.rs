//! What groups of flows came to, flow by flow added up.

use hitless_hosts::{FlowOutcome, FlowRecord};
use hitless_scenario::Scenario;

use crate::results::Table;

/// Sums over the flows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    flows: u64,
    completed: u64,
    delivered_bytes: u64,
    packets_received: u64,
    packets_arrived_late: u64,
    packets_reordered: u64,
    packets_held: u64,
    ordering_timeouts: u64,
}

impl Sums {
    fn add(&mut self, flow: &FlowRecord) {
        self.flows += 1;
        self.completed += u64::from(flow.outcome == FlowOutcome::Completed);
        self.delivered_bytes += flow.bytes_delivered;
        self.packets_received += flow.receiver.packets_received;
        self.packets_reordered += flow.receiver.reordered_packets;
        // Without a layer between, the transport sees what arrives.
        let late = flow.ordering.map_or(flow.receiver.reordered_packets, |ordering| ordering.packets_reordered);
        self.packets_arrived_late += late;
        let ordering = flow.ordering.unwrap_or_default();
        self.packets_held += ordering.packets_held;
        self.ordering_timeouts += ordering.timeouts;
    }
}

/// One row for each group; flows that started before the warm-up ended are left out.
pub(super) fn table(scenario: &Scenario, records: &[FlowRecord]) -> Table {
    let mut sums = vec![Sums::default(); scenario.flows.len()];
    for flow in records.iter().filter(|flow| flow.started >= scenario.warmup) {
        sums[flow.tag as usize].add(flow);
    }
    let rows: Vec<_> = scenario.flows.iter().zip(sums).collect();
    Table::new("groups")
        .text("group", &rows, |(group, _)| group.name.clone())
        .unsigned("flows", &rows, |(_, sums)| sums.flows)
        .unsigned("flows_completed", &rows, |(_, sums)| sums.completed)
        .unsigned("delivered_bytes", &rows, |(_, sums)| sums.delivered_bytes)
        .unsigned("packets_received", &rows, |(_, sums)| sums.packets_received)
        .unsigned("packets_arrived_late", &rows, |(_, sums)| sums.packets_arrived_late)
        .unsigned("packets_reordered", &rows, |(_, sums)| sums.packets_reordered)
        .unsigned("packets_held", &rows, |(_, sums)| sums.packets_held)
        .unsigned("ordering_timeouts", &rows, |(_, sums)| sums.ordering_timeouts)
}
