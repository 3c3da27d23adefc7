//! What a run leaves behind: tables, a summary, and whether everything that must always hold did.

mod order;
mod sink;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;

pub use order::OrderCounts;
pub use sink::{RECORDS, RowSink};
pub use table::{Column, Table};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Totals.
    pub summary: Summary,
    /// All tables.
    pub tables: Vec<Table>,
    /// What must always hold and did not, each in one sentence. A run with any is a failed run.
    pub violations: Vec<String>,
    /// Requests that cannot be simulated, each in one sentence. A run with any is refused: its scenario asks for too
    /// much, and nothing is wrong with the simulator.
    pub limits: Vec<String>,
}

/// The totals of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The seed of all random streams.
    pub seed: u64,
    /// Why the run ended: "duration", "all flows done" or "cancelled".
    pub ended_by: &'static str,
    /// Simulated seconds.
    pub simulated_s: f64,
    /// Events handled.
    pub events: u64,
    /// Packets put on a link: data, acknowledgements and control packets, each link counted.
    pub transmissions: u64,
    /// Hash over time and order of all events; equal for equal runs.
    pub trace_hash: String,
    /// Flows by what became of them.
    pub flows: FlowTotals,
    /// Failures of links; nothing for a scenario without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailureTotals>,
    /// What the order checker says of all flows together; nothing when it was off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderCounts>,
    /// By group of at least two flows, Jain's fairness index of their mean rates from start to end.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fairness: BTreeMap<String, f64>,
    /// Packets lost, by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets that a switch took out without loss, by reason: copies not needed, control packets that were read.
    pub retired: BTreeMap<&'static str, u64>,
    /// What the reader should know before trusting the results.
    pub warnings: Vec<String>,
}

/// Flows by what became of them.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct FlowTotals {
    /// Started.
    pub started: u64,
    /// Completed.
    pub completed: u64,
    /// Given up by their transport.
    pub failed: u64,
    /// Cut off by the end of the run.
    pub unfinished: u64,
}

/// Failures of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FailureTotals {
    /// Links that failed, each time counted.
    pub happened: u64,
    /// Failures that would have hit a link that was down already.
    pub ignored: u64,
}
