//! Repairs that come before their turn while packets wait in a paused queue (section 5).
//!
//! In the queue of the others such a repair would be behind packets that wait for it: all of them would have to come
//! out before it. It waits in a queue of its own, which is served when its turn comes.

use crate::linkguardian::headers::SequenceNumber;

/// The numbers of those repairs.
#[derive(Debug, Default, hitless_state::Value)]
pub struct EarlyRepairs {
    /// In the order in which they came.
    waiting: Vec<SequenceNumber>,
    /// The one whose turn has come: its queue was given credit for it.
    called: Option<SequenceNumber>,
}

impl EarlyRepairs {
    /// Notes a repair that waits.
    pub fn note(&mut self, sequence: SequenceNumber) {
        self.waiting.push(sequence);
    }

    /// Whether this one waits.
    pub fn contains(&self, sequence: SequenceNumber) -> bool {
        self.waiting.contains(&sequence)
    }

    /// The one whose turn comes first, of those from `next` on.
    pub fn first_from(&self, next: SequenceNumber) -> Option<SequenceNumber> {
        let ahead = self.waiting.iter().copied().filter(|sequence| sequence.offset_from(next) >= 0);
        ahead.min_by_key(|sequence| sequence.steps_from(next))
    }

    /// Whether one waits whose turn was before `next`.
    pub fn has_before(&self, next: SequenceNumber) -> bool {
        self.waiting.iter().any(|sequence| sequence.offset_from(next) < 0)
    }

    /// Notes that its turn has come; whether that is news.
    pub fn call(&mut self, sequence: SequenceNumber) -> bool {
        self.called.replace(sequence) != Some(sequence)
    }

    /// Forgets one that waits no more; whether it had waited.
    pub fn forget(&mut self, sequence: SequenceNumber) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|&waiting| waiting != sequence);
        self.called.take_if(|called| *called == sequence);
        self.waiting.len() < before
    }

    /// All of it, for an exploration.
    #[cfg(test)]
    pub fn told(&self) -> (&[SequenceNumber], Option<SequenceNumber>) {
        (&self.waiting, self.called)
    }
}
