//! The state of the receiving end for explorations.

use crate::linkguardian::headers::SequenceNumber;
use hitless_switch::explore::{Digest, State};

use super::super::config::ReceiverConfig;
use super::super::egress_view::EgressView;
use super::Receiver;
use super::gaps::{Gap, Reports};

impl State for Receiver {
    fn tell(&self, digest: &mut Digest<'_>) {
        digest.value((self.is_active, self.knows_numbers, self.asked_at.is_some()));
        self.asked_at.iter().for_each(|&at| digest.deadline(at + self.config.acknowledgement_timeout));
        digest.value((self.expected.peek(0), self.ack_number.peek(0), self.credited_until, self.suspect));
        self.latest_received.tell(digest);
        digest.value((self.acknowledgements_pending.peek(0), self.is_pausing.peek(0), self.pause_repetitions));
        self.pause_due_at.iter().for_each(|&at| digest.time(at));
        // If it is not armed, the start is set when the countdown begins.
        digest.value(self.countdown_is_armed);
        if self.countdown_is_armed {
            digest.time(self.countdown_from);
        }
        digest.value(self.missing.len());
        for missing in self.missing.iter() {
            let age = digest.now().saturating_since(missing.since);
            assert!(age <= self.config.acknowledgement_timeout * 16, "a world that lasts too long");
            digest.value((missing.sequence, missing.is_awaited));
        }
        digest.value(self.overflow.told());
        self.reports.tell(digest);
        digest.value((self.held_bytes, self.held_repairs, self.early.told(), self.depth_is_watched));
        digest.value((self.held_packets, self.waiting_packets, self.is_draining, self.is_ordered, self.was_unordered));
        digest.value((self.counters.resynchronisations > 0, self.counters.starts > 0));
        digest.value(&self.checker);
        assert!(self.monitor.is_none(), "what a monitor has counted is not told");
    }
}

impl State for Reports {
    fn tell(&self, digest: &mut Digest<'_>) {
        digest.value((self.gaps.len(), self.is_armed));
        for Gap { first_lost, count, seen_until, reported_since } in &self.gaps {
            digest.value((first_lost, count, seen_until, reported_since.is_some()));
            reported_since.iter().for_each(|&since| digest.time(since));
        }
        if self.is_armed || !self.gaps.is_empty() {
            digest.time(self.reported_at);
        }
    }
}

impl Receiver {
    /// Like [`Receiver::new`], for a sender that begins at `first` and does not announce it.
    pub fn beginning_at(config: ReceiverConfig, first: SequenceNumber) -> Self {
        let mut receiver = Self::new(config);
        receiver.expected.poke(0, first);
        receiver.ack_number.poke(0, first);
        receiver.latest_received = EgressView::new(first.previous());
        receiver.credited_until = first;
        receiver
    }

    /// Describes packets that a receiver still keeps at rest; `None` if there are none.
    pub fn left_over(&self) -> Option<String> {
        let Self { held_packets, waiting_packets, reports, .. } = self;
        let awaited = self.missing.first_awaited();
        let is_at_rest = *waiting_packets == 0 && *held_packets == 0 && awaited.is_none() && reports.gaps.is_empty();
        let rest = format!("{waiting_packets} packets wait ({held_packets} in the queue) for {awaited:?}");
        (!is_at_rest).then(|| format!("{rest}; {} gaps are being reported", reports.gaps.len()))
    }
}
