//! Queues that may not be served now, for reports.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::QueueId;

use super::QueuedScheduler;

impl QueuedScheduler {
    /// Returns whether anything stops `queue`.
    pub fn is_stopped(&self, queue: QueueId) -> bool {
        self.queues[usize::from(queue.0)].stops != 0
    }

    /// Calls `look` for each packet in a queue that may not be served now.
    pub fn each_stopped(&self, look: impl FnMut(PacketHandle)) {
        let stopped = self.queues.iter().filter(|queue| !queue.may_be_served());
        stopped.flat_map(|queue| queue.waiting.iter().map(|entry| entry.packet)).for_each(look);
    }
}
