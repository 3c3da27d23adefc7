//! Totals of each group of flows.

use std::collections::BTreeMap;

use hitless_hosts::{FlowOutcome, FlowRecord};
use hitless_scenario::Scenario;

use crate::results::Table;

/// Sums over the flows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, hitless_core::state::Value)]
struct Sums {
    flows: u64,
    completed: u64,
    delivered_bytes: u64,
    packets_received: u64,
    packets_arrived_late: u64,
    packets_reordered: u64,
    packets_held: u64,
    reorder_timeouts: u64,
    rates: Shares,
}

impl Sums {
    fn add(&mut self, flow: &FlowRecord) {
        assert!(flow.finished >= flow.started, "{:?} ends before it starts", flow.flow);
        self.flows += 1;
        self.completed += u64::from(flow.outcome == FlowOutcome::Completed);
        self.delivered_bytes += flow.bytes_delivered;
        self.packets_received += flow.receiver.packets_received;
        self.packets_reordered += flow.receiver.reordered_packets;
        // Without a reorder buffer, the transport sees the order of arrival.
        let late = flow
            .reorder_buffer
            .map_or(flow.receiver.reordered_packets, |reorder_buffer| reorder_buffer.packets_reordered);
        self.packets_arrived_late += late;
        let reorder_buffer = flow.reorder_buffer.unwrap_or_default();
        self.packets_held += reorder_buffer.packets_held;
        self.reorder_timeouts += reorder_buffer.timeouts;
        let seconds = flow.finished.saturating_since(flow.started).as_seconds();
        if seconds > 0.0 {
            self.rates.add(flow.bytes_delivered as f64 / seconds);
        }
    }
}

/// Count, sum and sum of squares of the values in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, hitless_core::state::Value)]
struct Shares {
    count: u64,
    sum: f64,
    squares: f64,
}

impl Shares {
    fn add(&mut self, share: f64) {
        self.count += 1;
        self.sum += share;
        self.squares += share * share;
    }

    /// Jain's fairness index (Jain, Chiu and Hawe 1984): 1 if all values are equal, 1/n if one of n has everything.
    /// `None` for fewer than two values, or if all are 0.
    fn jain_index(&self) -> Option<f64> {
        (self.count > 1 && self.squares > 0.0).then(|| self.sum * self.sum / (self.count as f64 * self.squares))
    }
}

/// The sums of all groups, without flows that started during the warm-up.
#[derive(Clone, Debug, Default, hitless_core::state::State)]
pub(super) struct GroupTotals {
    of_groups: Vec<Sums>,
}

impl GroupTotals {
    pub fn new(groups: usize) -> Self {
        Self { of_groups: vec![Sums::default(); groups] }
    }

    /// Adds a final flow record. Add the flows of a group in the order of their ends, because floating-point sums
    /// depend on it.
    pub fn add(&mut self, scenario: &Scenario, flow: &FlowRecord) {
        if flow.started >= scenario.warmup {
            self.of_groups[flow.tag as usize].add(flow);
        }
    }

    /// Jain's index of the flows' mean rates from start to end, for each group of two or more flows.
    pub fn fairness(&self, scenario: &Scenario) -> BTreeMap<String, f64> {
        let named = scenario.flows.iter().map(|group| group.name.clone()).zip(&self.of_groups);
        named.filter_map(|(name, sums)| Some((name, sums.rates.jain_index()?))).collect()
    }

    /// The table with one row for each group.
    pub fn table(&self, scenario: &Scenario) -> Table {
        table(scenario, &self.of_groups)
    }
}

fn table(scenario: &Scenario, sums: &[Sums]) -> Table {
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
        .unsigned("reorder_timeouts", &rows, |(_, sums)| sums.reorder_timeouts)
}
