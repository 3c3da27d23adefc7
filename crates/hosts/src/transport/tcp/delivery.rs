//! Segments in flight, the data delivered by one acknowledgement, and the timestamps that distinguish originals from
//! retransmissions.

use hitless_core::wire::{Duration, Time};

/// A timestamp clock of 2^20 ps, about a microsecond, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) struct Timestamp(pub u32);

impl Timestamp {
    #[inline]
    pub fn at(time: Time) -> Self {
        Self((time.0 >> 20) as u32)
    }

    /// Returns whether it is earlier than `other`, on a clock that wraps (RFC 7323, section 5.2).
    pub fn is_before(self, other: Timestamp) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration(u64::from(self.0.wrapping_sub(earlier.0)) << 20)
    }
}

/// Data delivered by one acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub now: Time,
    /// Minimum round-trip time so far: a retransmission acknowledged sooner was acknowledged for its original.
    pub minimum_rtt: Duration,
    /// Timestamp echo of the acknowledgement.
    pub echo: Timestamp,
    /// Bytes reported delivered for the first time.
    pub bytes: u64,
    /// Whether any of them is newly acknowledged by SACK.
    pub sacked: bool,
    /// Time of the oldest delivered segment that was sent only once; [`Time::NEVER`] if there is none.
    pub oldest_sent_at: Time,
    /// Time of the most recently sent segment delivered (RFC 8985, section 6.2, step 2).
    pub newest_sent_at: Time,
    /// End of that segment; zero if there is none.
    pub newest_end: u64,
    /// Number and last transmission of the most recently sent segment delivered, whichever of its transmissions
    /// arrived.
    pub last_sent: Option<(u64, Time)>,
    /// Whether a segment sent more than once was acknowledged in order.
    pub retransmitted: bool,
    /// Whether a segment sent once arrived after one sent later (RFC 8985, section 6.2, step 3).
    pub reordering: bool,
}

impl Delivery {
    pub fn new(now: Time, minimum_rtt: Duration, echo: u32) -> Self {
        Self {
            now,
            minimum_rtt,
            echo: Timestamp(echo),
            bytes: 0,
            sacked: false,
            oldest_sent_at: Time::NEVER,
            newest_sent_at: Time::ZERO,
            newest_end: 0,
            last_sent: None,
            retransmitted: false,
            reordering: false,
        }
    }

    /// Records the arrival of segment `number`, last sent at `sent_at`.
    pub fn note_sent(&mut self, number: u64, sent_at: Time) {
        let last = self.last_sent.get_or_insert((number, sent_at));
        if (sent_at, number) > (last.1, last.0) {
            *last = (number, sent_at);
        }
    }

    /// Counts a segment sent once.
    pub fn add_original(&mut self, segment: &Segment) {
        self.bytes += segment.bytes();
        self.oldest_sent_at = self.oldest_sent_at.min(segment.sent_at);
        self.note_newest(segment);
    }

    /// Counts a segment sent several times. It counts for RACK only if its last transmission has arrived.
    ///
    /// RFC 8985, section 6.2, step 2. The echo is only used for segments in order: receivers do not update it for
    /// segments above a gap (RFC 7323, section 4.3).
    pub fn add_retransmitted(&mut self, segment: &Segment, in_order: bool) {
        self.bytes += segment.bytes();
        // The echo is older than the last transmission, so an earlier one arrived.
        let stale = in_order && self.echo.is_before(Timestamp::at(segment.sent_at));
        // An acknowledgement sooner than the minimum round-trip time belongs to an earlier transmission.
        if !stale && self.now.saturating_since(segment.sent_at) >= self.minimum_rtt {
            self.note_newest(segment);
        }
    }

    fn note_newest(&mut self, segment: &Segment) {
        if (segment.sent_at, segment.end) > (self.newest_sent_at, self.newest_end) {
            self.newest_sent_at = segment.sent_at;
            self.newest_end = segment.end;
        }
    }
}

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
