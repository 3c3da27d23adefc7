//! The queues' state for exploring tests.

use super::QueuedScheduler;
use crate::explore::{Digest, State};

impl State for QueuedScheduler {
    /// # Panics
    /// If there is a group of queues: no exploring test needs that yet.
    fn tell(&self, digest: &mut Digest<'_>) {
        let Self {
            queues,
            levels,
            ready,
            occupied: _,
            by_rank: _,
            apart: _,
            evicted,
            group,
            serving,
            // Only valid until the taken packet is sent, which happens at once.
            duties: _,
            busy_until,
            service_is_due,
        } = self;
        assert!(group.is_none(), "a group of queues does not tell its state");
        for queue in queues {
            digest.value((queue.stops, queue.held_packets, queue.credit, queue.bytes, queue.waiting.len()));
            queue.waiting.iter().for_each(|entry| digest.packet(entry.packet));
        }
        levels.iter().for_each(|level| digest.value(&level.members));
        digest.value((ready, evicted.len(), service_is_due));
        digest.deadline(*busy_until);
        digest.value((*busy_until > digest.now()).then_some(serving));
    }
}
