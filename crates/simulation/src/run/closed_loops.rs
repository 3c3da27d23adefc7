//! Closed loops: a flow starts when others have ended.

use hitless_core::wire::Time;
use hitless_scenario::workload::{Dependents, FlowSpec, Sequence};

/// All closed loops of a run. Sequences are numbered from 0, then each dependent flow has a number.
#[derive(Default, hitless_core::state::State)]
pub(super) struct ClosedLoops {
    #[part]
    sequences: Vec<Sequence>,
    /// Number of sequences that may start another flow.
    open: usize,
    #[part]
    dependents: Dependents,
}

impl ClosedLoops {
    pub fn new(sequences: Vec<Sequence>, dependents: Dependents) -> Self {
        Self { open: sequences.len(), sequences, dependents }
    }

    /// By group: whether it has closed loops. Empty for a run without any.
    pub fn groups(&self, groups: usize) -> Vec<bool> {
        let mut are_closed = vec![false; groups];
        let closed = self.sequences.iter().map(Sequence::group).chain(self.dependents.groups());
        closed.for_each(|group| are_closed[group] = true);
        if are_closed.contains(&true) { are_closed } else { Vec::new() }
    }

    /// Number of flows still to start, of dependent flows and of those sequences that know their length.
    pub fn flows_to_come(&self) -> u64 {
        self.sequences.iter().filter_map(Sequence::left).sum::<u64>() + self.dependents.waiting()
    }

    /// The flows that wait for others, with the positions in their group of those that have not ended.
    pub fn held_back(&self) -> impl Iterator<Item = (&FlowSpec, Vec<u64>)> {
        self.dependents.held_back()
    }

    /// Whether no flow follows.
    pub fn are_over(&self) -> bool {
        self.open == 0 && self.dependents.waiting() == 0
    }

    /// The number of each sequence and the start of its first flow.
    pub fn starts(&self) -> impl Iterator<Item = (u32, Time)> + '_ {
        (0..).zip(self.sequences.iter().map(Sequence::start))
    }

    /// Notes the end of a flow; returns the numbers and start times of those that follow.
    pub fn follow(&mut self, ended: &FlowSpec, ended_at: Time) -> Vec<(u32, Time)> {
        let first_dependent = self.sequences.len() as u32;
        let sequences = (0..).zip(&self.sequences).filter(|(_, sequence)| sequence.group() == ended.group);
        let next = sequences.map(|(number, sequence)| (number, sequence.start_after(ended_at)));
        let dependents = self.dependents.end(ended.group, ended.position, ended_at).into_iter();
        next.chain(dependents.map(|(number, start)| (first_dependent + number, start))).collect()
    }

    /// The flow of closed loop `number` that starts now; `None` if its sequence is over.
    pub fn next_at(&mut self, now: Time, number: u32) -> Option<FlowSpec> {
        let Some(sequence) = self.sequences.get_mut(number as usize) else {
            return Some(self.dependents.start(number - self.sequences.len() as u32, now));
        };
        let next = sequence.next_at(now);
        if next.is_none() {
            debug_assert!(self.open > 0, "a sequence has ended twice");
            self.open -= 1;
        }
        next
    }
}
