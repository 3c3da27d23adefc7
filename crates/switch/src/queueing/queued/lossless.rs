//! Queues with lossless packets.

use hitless_core::wire::QueueId;

use super::QueuedScheduler;
use crate::queueing::entry::Entry;

impl QueuedScheduler {
    /// Lets all queues hold lossless packets, which are admitted and refunded by their priority group. With `by_credit`
    /// each frame needs credit, and none passes an idle port without this check.
    pub fn hold_lossless(&mut self, by_credit: bool) {
        for (number, queue) in self.queues.iter_mut().enumerate() {
            (queue.is_lossless, queue.has_duties) = (true, true);
            self.apart |= 1 << number;
            if by_credit {
                queue.passing_bytes = 0;
            }
        }
    }

    /// Returns whether `queue` has separate admission.
    #[inline]
    pub const fn is_apart(&self, queue: QueueId) -> bool {
        self.apart >> queue.0 & 1 == 1
    }

    /// Returns the packet that leaves `queue` next.
    pub fn first(&self, queue: QueueId) -> Option<Entry> {
        self.queues[usize::from(queue.0)].waiting.first().copied()
    }

    /// Takes all waiting packets out of `queue`.
    ///
    /// # Panics
    /// If the queue belongs to a group.
    pub fn drain(&mut self, queue: QueueId) -> Vec<Entry> {
        assert!(!self.is_grouped(queue), "a group of queues is not drained");
        let index = usize::from(queue.0);
        let state = &mut self.queues[index];
        let entries: Vec<Entry> = std::iter::from_fn(|| state.waiting.pop_first()).collect();
        state.bytes -= entries.iter().map(|entry| u64::from(entry.frame_bytes)).sum::<u64>();
        self.occupied &= !(1 << index);
        if let Some(level) = self.levels.iter_mut().find(|level| level.mask >> index & 1 == 1) {
            level.members.emptied(queue.0);
        }
        self.refresh(queue);
        entries
    }
}
