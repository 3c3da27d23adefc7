//! Flows that start when another is done.

use hitless_wire::Time;

use super::Simulation;
use super::event::{SimulationEvent, kind};
use crate::workload::Sequence;

/// The sequences of a run.
#[derive(Default)]
pub(super) struct ClosedLoops {
    sequences: Vec<Sequence>,
    /// Those that may have another flow.
    open: usize,
}

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
}

impl Simulation {
    pub(super) fn start_closed_loops(&mut self) {
        for number in 0..self.closed_loops.sequences.len() {
            let start = self.closed_loops.sequences[number].start();
            self.schedule_in_loop(number as u32, start);
        }
    }

    /// Lets the flows of sequences follow those that have just ended.
    pub(super) fn follow_ended_flows(&mut self) {
        while let Some((number, ended_at)) = self.medium.records.ended_in_loops.pop() {
            let start = self.closed_loops.sequences[number as usize].start_after(ended_at);
            self.schedule_in_loop(number, start);
        }
    }

    pub(super) fn start_in_loop(&mut self, now: Time, number: u32) {
        match self.closed_loops.sequences[number as usize].next_at(now) {
            Some(spec) => self.start_flow(spec),
            None => self.closed_loops.open -= 1,
        }
    }

    fn schedule_in_loop(&mut self, sequence: u32, at: Time) {
        let order = self.medium.sequences.key(kind::FLOW, 0);
        self.medium.queue.push(at.max(self.now), order, SimulationEvent::NextInSequence { sequence });
    }
}
