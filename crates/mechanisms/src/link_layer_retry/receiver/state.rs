//! The state of the receiving end for explorations.

use hitless_switch::explore::{self, Digest};

use super::{Receiver, State};

impl explore::State for Receiver {
    fn tell(&self, digest: &mut Digest<'_>) {
        // The last number only affects the count of replays, and the time since a loss only the measured delay.
        digest.value((self.state, self.expected, self.ack_is_due, self.slot_is_awaited));
        digest.deadline(self.next_slot);
        digest.value(&self.checker);
    }
}

impl Receiver {
    /// A planted bug: skips the number 0.
    pub fn step_over_zero(&mut self) {
        if self.expected.value() == 0 {
            self.expected = self.expected.plus(1);
        }
    }

    /// Describes a message that a receiver still has to send at rest; `None` if there is none. It may wait for a frame
    /// that has not been sent yet: a corrupted frame may have been a replay of a received one.
    pub fn left_over(&self) -> Option<String> {
        let is_at_rest = matches!(self.state, State::SendAcks | State::NackSent) && !self.ack_is_due;
        (!is_at_rest).then(|| format!("{:?}: {:?} is awaited", self.state, self.expected))
    }
}
