//! The packet buffer shared by the queues of a switch.

use crate::explore::{Digest, State};

/// The division of the buffer among queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferPolicy {
    /// Queues share nothing; each has only its configured limit.
    Static,
    /// Dynamic thresholds (Choudhury and Hahne 1998): a queue can hold at most `alpha` times the free bytes.
    Shared {
        /// Bytes of the whole buffer.
        capacity_bytes: u64,
        /// The factor.
        alpha: f64,
    },
}

/// The state of the shared buffer.
#[derive(Debug, hitless_core::state::State)]
pub struct SharedBuffer {
    #[configured]
    policy: BufferPolicy,
    used_bytes: u64,
    peak_bytes: u64,
    /// Bytes under way to queues.
    underway_bytes: u64,
    /// Bytes in the headroom of priority groups, which is not part of the capacity.
    headroom_bytes: u64,
}

impl SharedBuffer {
    /// Creates an empty buffer.
    pub const fn new(policy: BufferPolicy) -> Self {
        Self { policy, used_bytes: 0, peak_bytes: 0, underway_bytes: 0, headroom_bytes: 0 }
    }

    /// Returns whether a queue with `queue_bytes` can take `arriving_bytes` more.
    pub fn has_room(&self, queue_bytes: u64, arriving_bytes: u32) -> bool {
        self.has_room_with(self.used_bytes, queue_bytes, arriving_bytes)
    }

    /// Like [`Self::has_room`], for a frame behind all frames under way; `queue_bytes` includes those under way to this
    /// queue.
    pub fn has_room_behind(&self, queue_bytes: u64, arriving_bytes: u32) -> bool {
        self.has_room_with(self.used_bytes + self.underway_bytes, queue_bytes, arriving_bytes)
    }

    /// Like [`Self::has_room`], as if the queue with `queue_bytes` had already dropped `freed_bytes` of them.
    pub fn has_room_without(&self, freed_bytes: u64, queue_bytes: u64, arriving_bytes: u32) -> bool {
        self.has_room_with(self.used_bytes - freed_bytes, queue_bytes - freed_bytes, arriving_bytes)
    }

    #[inline]
    fn has_room_with(&self, used_bytes: u64, queue_bytes: u64, arriving_bytes: u32) -> bool {
        let BufferPolicy::Shared { capacity_bytes, alpha } = self.policy else { return true };
        let free_bytes = capacity_bytes.saturating_sub(used_bytes);
        let arriving_bytes = u64::from(arriving_bytes);
        // A queue below its threshold still needs free bytes for the whole frame.
        arriving_bytes <= free_bytes && (queue_bytes + arriving_bytes) as f64 <= alpha * free_bytes as f64
    }

    /// Returns a queue's current limit, or `None` if nothing is shared.
    pub fn threshold_bytes(&self) -> Option<u64> {
        let BufferPolicy::Shared { capacity_bytes, alpha } = self.policy else { return None };
        let free_bytes = capacity_bytes.saturating_sub(self.used_bytes);
        Some((alpha * free_bytes as f64) as u64)
    }

    /// Returns the free bytes of the shared buffer; without one, each queue has its own limit.
    pub fn free_bytes(&self) -> u64 {
        let BufferPolicy::Shared { capacity_bytes, .. } = self.policy else { return u64::MAX };
        capacity_bytes.saturating_sub(self.used_bytes)
    }

    /// Accounts for a frame admitted to the headroom of a priority group.
    pub fn take_headroom(&mut self, bytes: u32) {
        self.headroom_bytes += u64::from(bytes);
        self.peak_bytes = self.peak_bytes.max(self.used_bytes());
    }

    /// Moves bytes of a frame that is about to be given back out of the headroom.
    pub fn leave_headroom(&mut self, bytes: u64) {
        self.headroom_bytes -= bytes;
        self.used_bytes += bytes;
    }

    /// Accounts for a frame under way to a queue.
    #[inline]
    pub fn announce(&mut self, bytes: u32) {
        self.underway_bytes += u64::from(bytes);
    }

    /// Accounts for the arrival of an announced frame, whether admitted or not.
    #[inline]
    pub fn end_way(&mut self, bytes: u32) {
        debug_assert!(u64::from(bytes) <= self.underway_bytes, "more has come than was announced");
        self.underway_bytes -= u64::from(bytes);
    }

    /// Accounts for an admitted frame.
    pub fn take(&mut self, bytes: u32) {
        self.used_bytes += u64::from(bytes);
        self.peak_bytes = self.peak_bytes.max(self.used_bytes);
    }

    /// Accounts for an admitted frame that leaves at once.
    pub fn pass(&mut self, bytes: u32) {
        self.peak_bytes = self.peak_bytes.max(self.used_bytes + u64::from(bytes));
    }

    /// Accounts for a frame that has left.
    pub fn give_back(&mut self, bytes: u32) {
        let bytes = u64::from(bytes);
        assert!(bytes <= self.used_bytes, "the packet buffer got back more bytes than it gave");
        self.used_bytes -= bytes;
    }

    /// Bytes in use in managed queues.
    pub const fn used_bytes(&self) -> u64 {
        self.used_bytes + self.headroom_bytes
    }

    /// Maximum number of bytes ever in use.
    pub const fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Whether queues compete for the buffer; then every port must account for its bytes.
    pub const fn is_shared(&self) -> bool {
        matches!(self.policy, BufferPolicy::Shared { .. })
    }
}

impl State for SharedBuffer {
    fn tell(&self, digest: &mut Digest<'_>) {
        digest.value((self.used_bytes, self.underway_bytes, self.headroom_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_threshold_shrinks_as_the_buffer_fills() {
        let mut buffer = SharedBuffer::new(BufferPolicy::Shared { capacity_bytes: 1_000, alpha: 1.0 });
        assert!(buffer.has_room(0, 1_000));
        buffer.take(600);
        assert!(buffer.has_room(300, 100));
        assert!(!buffer.has_room(301, 100));
        assert!(!buffer.has_room(0, 401));
        buffer.give_back(600);
        assert_eq!((buffer.used_bytes(), buffer.peak_bytes()), (0, 600));
        buffer.take(100);
        assert_eq!((buffer.used_bytes(), buffer.peak_bytes()), (100, 600), "a peak stays");
    }
}
