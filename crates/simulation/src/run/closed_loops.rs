//! Flows that start when another is done.

use hitless_core::wire::Time;
use hitless_scenario::workload::{FlowSpec, Sequence};

/// The sequences of a run.
#[derive(Default)]
pub(super) struct ClosedLoops {
    sequences: Vec<Sequence>,
    /// Those that may have another flow.
    open: usize,
}

hitless_core::state!(ClosedLoops { values: open; parts: sequences });

impl ClosedLoops {
    pub fn new(sequences: Vec<Sequence>) -> Self {
        Self { open: sequences.len(), sequences }
    }

    /// By group of flows: the sequence that it is, if any. Empty when none is.
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

    /// Flows that are yet to start, as far as that is known.
    pub fn flows_to_come(&self) -> u64 {
        self.sequences.iter().filter_map(Sequence::left).sum()
    }

    /// Whether no flow will follow another any more.
    pub fn are_over(&self) -> bool {
        self.open == 0
    }

    /// Each sequence's number and when its first flow starts.
    pub fn starts(&self) -> impl Iterator<Item = (u32, Time)> + '_ {
        (0..).zip(self.sequences.iter().map(Sequence::start))
    }

    /// When the flow behind one that has ended starts.
    pub fn start_after(&mut self, sequence: u32, ended_at: Time) -> Time {
        self.sequences[sequence as usize].start_after(ended_at)
    }

    /// The flow of a sequence that starts now; `None`: the sequence is over.
    pub fn next_at(&mut self, now: Time, sequence: u32) -> Option<FlowSpec> {
        let next = self.sequences[sequence as usize].next_at(now);
        if next.is_none() {
            debug_assert!(self.open > 0, "a sequence has ended twice");
            self.open -= 1;
        }
        next
    }
}
