//! Counters of packets and bytes.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Counter {
    pub packets: u64,
    /// Bytes of the packets at their arrival.
    pub bytes: u64,
}

impl Counter {
    pub fn count(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}
