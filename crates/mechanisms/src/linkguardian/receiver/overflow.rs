//! Packets that arrived and found no room in the reordering buffer: order steps over their numbers.
//!
//! Nothing repairs them, because they were acknowledged. Without this memory the receiver would wait ackNoTimeout for
//! each, and overflow again meanwhile. A switch learns of them by deflect-on-drop, as Simple Deflection does.

use std::collections::BTreeSet;

use crate::linkguardian::headers::SequenceNumber;

/// The numbers of refused packets that order must still step over.
#[derive(Debug, Default, hitless_core::state::Value)]
pub struct Overflow {
    numbers: BTreeSet<u32>,
    /// Credits of a paused queue that were granted for packets that never entered it.
    credits_spare: u64,
}

fn place(sequence: SequenceNumber) -> u32 {
    sequence.steps_from(SequenceNumber::default())
}

impl Overflow {
    /// Notes a refused packet; all numbers before `credited_until` have credit.
    pub fn note(&mut self, sequence: SequenceNumber, credited_until: SequenceNumber) {
        self.numbers.insert(place(sequence));
        self.credits_spare += u64::from(sequence.offset_from(credited_until) < 0);
    }

    /// Removes refused numbers from `next` and returns the first other number.
    pub fn step_over(&mut self, mut next: SequenceNumber) -> SequenceNumber {
        while !self.numbers.is_empty() && self.numbers.remove(&place(next)) {
            next = next.plus(1);
        }
        next
    }

    pub fn count(&self, first: SequenceNumber, count: u64) -> u64 {
        const CIRCLE: u32 = 2 * SequenceNumber::RANGE;
        let steps = |number: u32| u64::from((number + CIRCLE - place(first)) % CIRCLE);
        self.numbers.iter().filter(|&&number| steps(number) < count).count() as u64
    }

    /// Takes back a spare credit, if any.
    pub fn take_spare_credit(&mut self) -> bool {
        let is_spare = self.credits_spare > 0;
        self.credits_spare -= u64::from(is_spare);
        is_spare
    }

    /// Clears everything, because the sequence numbers start again.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The state for explorations.
    #[cfg(test)]
    pub fn told(&self) -> (Vec<u32>, u64) {
        (self.numbers.iter().copied().collect(), self.credits_spare)
    }
}
