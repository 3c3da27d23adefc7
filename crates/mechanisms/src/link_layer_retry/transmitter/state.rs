//! The state of the sending end for explorations.

use crate::link_layer_retry::header::SequenceNumber;
use hitless_core::wire::Duration;
use hitless_switch::explore::{self, Digest};

use super::{State, Transmitter};

impl explore::State for Transmitter {
    fn tell(&self, digest: &mut Digest<'_>) {
        match self.state {
            State::Init { asked_at } => digest.time(asked_at),
            State::Advance => digest.value(1),
            State::Replay { next } => digest.value((2, next)),
            State::Flush { since } => digest.time(since),
        }
        digest.value((self.action().is_some(), self.next, self.held.len(), self.held_bytes, self.check_number));
        for held in &self.held {
            digest.loose_packet(&held.packet);
            if self.settings.data_age_timeout > Duration::ZERO {
                digest.time(held.sent_at);
            }
        }
        digest.value((self.replay_is_queued, self.replays_in_a_row, self.is_shut, self.down_since.is_some()));
        self.down_since.iter().for_each(|&since| digest.time(since));
        digest.time(self.wakes_at);
        // The first frame into an empty buffer sets it, and so does the end of a replay.
        if self.state == State::Advance && !self.held.is_empty() {
            digest.time(self.progress_at);
        }
        digest.value(self.counters.flushes > 0);
    }
}

impl Transmitter {
    pub fn begin_at(&mut self, first: SequenceNumber) {
        self.next = first;
    }

    /// Whether frames were ever given up.
    pub fn has_flushed(&self) -> bool {
        self.counters.flushes > 0
    }

    /// Describes the frames that a transmitter still keeps at rest; `None` if there are none.
    pub fn left_over(&self) -> Option<String> {
        let is_at_rest = self.state == State::Advance && self.held.is_empty() && !self.is_shut;
        (!is_at_rest).then(|| format!("{:?}: {} frames are held", self.state, self.held.len()))
    }
}
