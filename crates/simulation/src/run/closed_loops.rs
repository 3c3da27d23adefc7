//! Closed loops: each flow starts when the previous one has ended.

use hitless_core::wire::Time;
use hitless_scenario::workload::{FlowSpec, Sequence};

/// All sequences of flows in a run.
#[derive(Default, hitless_core::state::State)]
pub(super) struct ClosedLoops {
    #[part]
    sequences: Vec<Sequence>,
    /// Number of sequences that may start another flow.
    open: usize,
}

impl ClosedLoops {
    pub fn new(sequences: Vec<Sequence>) -> Self {
        Self { open: sequences.len(), sequences }
    }

    /// The sequence of each group of flows, if it is one. Empty for a run without sequences.
    pub fn by_group(&self, groups: usize) -> Vec<Option<u32>> {
        if self.sequences.is_empty() {
            return Vec::new();
        }
        let mut by_group = vec![None; groups];
        for (number, sequence) in (0..).zip(&self.sequences) {
            by_group[sequence.group()] = Some(number);
        }
        by_group
    }

    /// Number of flows still to start, of those sequences that know their length.
    pub fn flows_to_come(&self) -> u64 {
        self.sequences.iter().filter_map(Sequence::left).sum()
    }

    /// Whether all sequences are over.
    pub fn are_over(&self) -> bool {
        self.open == 0
    }

    /// The number of each sequence and the start of its first flow.
    pub fn starts(&self) -> impl Iterator<Item = (u32, Time)> + '_ {
        (0..).zip(self.sequences.iter().map(Sequence::start))
    }

    /// When the flow after an ended one starts.
    pub fn start_after(&mut self, sequence: u32, ended_at: Time) -> Time {
        self.sequences[sequence as usize].start_after(ended_at)
    }

    /// The flow of a sequence that starts now; `None` if the sequence is over.
    pub fn next_at(&mut self, now: Time, sequence: u32) -> Option<FlowSpec> {
        let next = self.sequences[sequence as usize].next_at(now);
        if next.is_none() {
            debug_assert!(self.open > 0, "a sequence has ended twice");
            self.open -= 1;
        }
        next
    }
}
