//! A segment in flight, and what has become of it.

use hitless_core::wire::Time;

/// Selectively acknowledged.
pub(super) const SACKED: u8 = 1;
/// Believed lost in its first transmission.
pub(super) const LOST: u8 = 2;
/// A retransmission of it is in flight.
pub(super) const RETRANSMITTED: u8 = 4;
/// It was sent more than once.
pub(super) const EVER_RETRANSMITTED: u8 = 8;

/// A segment in flight.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct Segment {
    /// Sequence after its last byte.
    pub end: u64,
    /// When it was last sent.
    pub sent_at: Time,
    /// Its length.
    pub payload_bytes: u16,
    /// What has become of it: [`SACKED`], [`LOST`], [`RETRANSMITTED`], [`EVER_RETRANSMITTED`].
    pub flags: u8,
}

impl Segment {
    /// Whether it has this flag.
    #[inline]
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Its length.
    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.payload_bytes)
    }

    /// Sequence of its first byte.
    #[inline]
    pub fn start(&self) -> u64 {
        self.end - self.bytes()
    }
}
