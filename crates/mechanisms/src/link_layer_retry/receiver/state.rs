//! The receiving end as an exploration sees it.

use hitless_switch::explore::{self, Digest};

use super::{Receiver, State};

impl explore::State for Receiver {
    fn tell(&self, digest: &mut Digest<'_>) {
        // The number that came last only counts replays, and since when one has been missing only how long it took.
        digest.value((self.state, self.expected, self.ack_is_due, self.slot_is_awaited));
        digest.deadline(self.next_slot);
        digest.value(&self.checker);
    }
}

impl Receiver {
    /// A bug: the number 0 is stepped over.
    pub fn step_over_zero(&mut self) {
        if self.expected.value() == 0 {
            self.expected = self.expected.plus(1);
        }
    }

    /// What it has to say although nothing happens any more, in a sentence; none: nothing. It may wait for a frame that
    /// has not been sent yet: a corrupted one may have been a replay of one that had come before.
    pub fn left_over(&self) -> Option<String> {
        let is_at_rest = matches!(self.state, State::SendAcks | State::NackSent) && !self.ack_is_due;
        (!is_at_rest).then(|| format!("{:?}: {:?} is awaited", self.state, self.expected))
    }
}
