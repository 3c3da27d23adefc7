//! Repairs that arrive before their turn while packets wait in a paused queue (section 5).
//!
//! In the common queue such a repair would wait behind packets that wait for it, and all of them would have to leave
//! first. Therefore it waits in a separate queue, which is served when its turn comes.

use crate::linkguardian::headers::SequenceNumber;

#[derive(Debug, Default, hitless_core::state::Value)]
pub struct EarlyRepairs {
    waiting: Vec<SequenceNumber>,
    /// Repair that is due: its queue has the credit for it.
    called: Option<SequenceNumber>,
}

impl EarlyRepairs {
    pub fn note(&mut self, sequence: SequenceNumber) {
        self.waiting.push(sequence);
    }

    pub fn contains(&self, sequence: SequenceNumber) -> bool {
        self.waiting.contains(&sequence)
    }

    pub fn first_from(&self, next: SequenceNumber) -> Option<SequenceNumber> {
        let ahead = self.waiting.iter().copied().filter(|sequence| sequence.offset_from(next) >= 0);
        ahead.min_by_key(|sequence| sequence.steps_from(next))
    }

    pub fn has_before(&self, next: SequenceNumber) -> bool {
        self.waiting.iter().any(|sequence| sequence.offset_from(next) < 0)
    }

    /// Notes that a repair is due; returns whether this is new.
    pub fn call(&mut self, sequence: SequenceNumber) -> bool {
        self.called.replace(sequence) != Some(sequence)
    }

    /// Removes a repair; returns whether it was waiting.
    pub fn forget(&mut self, sequence: SequenceNumber) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|&waiting| waiting != sequence);
        self.called.take_if(|called| *called == sequence);
        self.waiting.len() < before
    }

    /// The state for explorations.
    #[cfg(test)]
    pub fn told(&self) -> (&[SequenceNumber], Option<SequenceNumber>) {
        (&self.waiting, self.called)
    }
}
