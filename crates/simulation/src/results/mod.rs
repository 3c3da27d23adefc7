//! The outcome of a run: tables, a summary, and violated invariants.

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
    pub tables: Vec<Table>,
    /// Violated invariants, one sentence each. A run with any has failed.
    pub violations: Vec<String>,
    /// Captures of packets.
    pub captures: Vec<CaptureFile>,
    /// Requests that cannot be simulated, one sentence each. A run with any is refused because its scenario asks for
    /// too much; it does not indicate a bug in the simulator.
    pub limits: Vec<String>,
}

/// A capture of packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFile {
    pub counts: CaptureCounts,
    /// The file, in the pcapng format.
    pub bytes: Vec<u8>,
}

/// The packets of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureCounts {
    /// Name in the scenario.
    pub name: String,
    /// Packets in the file.
    pub packets: u64,
    /// Packets that the filter accepted, with those beyond the limit.
    pub accepted: u64,
    /// Accepted packets that the disk of a live run had no room for.
    pub missed: u64,
}

impl CaptureCounts {
    /// Warnings about an incomplete capture.
    pub fn warnings(&self) -> impl Iterator<Item = String> + use<> {
        let Self { name, packets, accepted, missed } = self;
        let is_cut = packets + missed < *accepted;
        let cut = is_cut.then(|| {
            let of = format!("the first {packets} of {accepted} packets");
            format!("the capture {name} has {of}: narrow its filter, or raise its limit")
        });
        let slow = (*missed > 0)
            .then(|| format!("the capture {name} lacks {missed} packets: the disk did not keep up; narrow its filter"));
        cut.into_iter().chain(slow)
    }
}

/// The explanation of the flows at the end of a run; `None` if every flow ended.
#[derive(Clone, Debug)]
pub(crate) struct Explanation(pub Option<Stalls>);

/// The explanation of flows that did not end.
#[derive(Clone, Debug)]
pub(crate) struct Stalls {
    pub sentence: String,
    pub table: Table,
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
    /// Frames put on links: data, acknowledgements and control packets, counted once for each link.
    pub transmissions: u64,
    /// Hash over time and order of all events; equal runs have equal hashes.
    pub trace_hash: String,
    /// Flows by outcome.
    pub flows: FlowTotals,
    /// Link failures; absent if the scenario has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailureTotals>,
    /// The order checker's counts over all flows; absent if the checker was off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderCounts>,
    /// Jain's fairness index of the flows' mean rates from start to end, for each group of two or more flows.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fairness: BTreeMap<String, f64>,
    /// Lost packets by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets that a switch removed without loss, by reason: spare copies, and control packets after processing.
    pub retired: BTreeMap<&'static str, u64>,
    /// Flows that did not finish, gave up or did not start, with the causes; absent if every flow ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// Facts to know before trusting the results.
    pub warnings: Vec<String>,
}

/// Flows by outcome.
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

/// Counts of link failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FailureTotals {
    /// Failures that took a link down.
    pub happened: u64,
    /// Failures that fell on a link that was down already.
    pub ignored: u64,
}
