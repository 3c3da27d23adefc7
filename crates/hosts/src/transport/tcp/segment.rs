//! A segment in flight, and its state.

use hitless_core::wire::Time;

/// SACKed.
pub(super) const SACKED: u8 = 1;
/// Assumed lost in its first transmission.
pub(super) const LOST: u8 = 2;
/// A retransmission is in flight.
pub(super) const RETRANSMITTED: u8 = 4;
/// Sent more than once.
pub(super) const EVER_RETRANSMITTED: u8 = 8;

/// A segment in flight.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct Segment {
    /// Sequence number after its last byte.
    pub end: u64,
    /// Time of the last transmission.
    pub sent_at: Time,
    pub payload_bytes: u16,
    /// State: [`SACKED`], [`LOST`], [`RETRANSMITTED`], [`EVER_RETRANSMITTED`].
    pub flags: u8,
}

impl Segment {
    #[inline]
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.payload_bytes)
    }

    #[inline]
    pub fn start(&self) -> u64 {
        self.end - self.bytes()
    }
}
