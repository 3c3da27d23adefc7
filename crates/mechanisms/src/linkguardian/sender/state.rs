//! The state of the sending end for explorations.

use hitless_switch::explore::{Digest, State};

use super::super::settings::Buffering;
use super::Sender;
use super::lifecycle::{Lifecycle, Phase};

/// The state includes requests for this many numbers around the last one sent: more than a small world has.
const NUMBERS_TOLD: u16 = 32;

impl State for Sender {
    fn tell(&self, digest: &mut Digest<'_>) {
        digest.value((self.config.copies, self.next_sequence.peek(0), self.dummies_pending.peek(0)));
        digest.value((self.latest_acknowledged.peek(0), self.latest_sent, self.check_number));
        // Without a queue that is served by credit, the owed credit has no effect.
        digest.value((self.config.buffering == Buffering::PausedQueue).then_some(self.credit_owed));
        let Lifecycle { phase, is_commanded, commanded_mode, level, is_armed, seen_at_probe, unanswered_probes } =
            &self.lifecycle;
        digest.value((is_commanded, *commanded_mode as u8, level, is_armed, seen_at_probe, unanswered_probes));
        match phase {
            Phase::Off => digest.value(0),
            Phase::Starting { first } => digest.value((1, first)),
            Phase::On => digest.value(2),
            Phase::Closing { until } => digest.time(*until),
        }
        digest.value((self.counters.protected > 0, self.is_closing()));
        let first = self.latest_sent.value().wrapping_sub(NUMBERS_TOLD);
        for (array, register) in self.requests.iter().enumerate() {
            let is_requested = |number: &u16| register.peek(usize::from(*number));
            let numbers = (0..2 * NUMBERS_TOLD).map(|offset| first.wrapping_add(offset));
            numbers.filter(is_requested).for_each(|number| digest.value((array, number)));
        }
    }
}

impl Sender {
    /// Describes packets that a sender still keeps at rest; `None` if there are none.
    pub fn left_over(&self) -> Option<String> {
        let (acknowledged, sent) = (self.latest_acknowledged.peek(0), self.latest_sent);
        (acknowledged != sent && self.is_numbering())
            .then(|| format!("of {sent:?} sent only {acknowledged:?} is acknowledged"))
    }
}
