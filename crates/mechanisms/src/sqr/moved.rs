//! Packets that egress moved from their primary port to the queues of its backup.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct MovedPackets {
    waiting: u32,
    has_left: bool,
}

impl MovedPackets {
    /// Adds a packet that goes to a queue of the backup.
    pub fn add(&mut self) {
        self.waiting += 1;
    }

    /// Removes a packet that the backup sends or refuses.
    pub fn remove(&mut self) {
        assert!(self.waiting > 0, "a packet that comes to the backup was moved there");
        self.waiting -= 1;
        self.has_left = true;
    }

    /// Forgets the packets that have left.
    pub fn begin_hold(&mut self) {
        self.has_left = false;
    }

    /// Whether a packet waits at the backup, or has left since [`Self::begin_hold`] and may still be in flight.
    pub fn may_be_overtaken(self) -> bool {
        self.waiting > 0 || self.has_left
    }
}
