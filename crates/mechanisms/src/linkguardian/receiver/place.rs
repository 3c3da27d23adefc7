//! Where the number of a frame lies among those that came before.

use crate::linkguardian::headers::SequenceNumber;

/// The longest gap that is taken for a loss, in numbers: as many as one notification can report. After a longer one the
/// numbers are taken up anew.
pub const GAP_MAX: i32 = u8::MAX as i32;
/// How far the latest number may be ahead of the first one waited for: as far as numbers can be compared.
const WINDOW: i32 = (SequenceNumber::RANGE / 2) as i32 - GAP_MAX;

/// Where the number of an original packet or a dummy lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The next, or behind a gap of so many.
    Ahead(u32),
    /// A number that was taken for lost and comes all the same: only after somebody sent a wrong one.
    Late,
    /// Too far off to be believed at once.
    Far,
}

/// Where `sequence` lies, when `expected` should have come and `waited_for` is to go on next.
pub fn place_of(sequence: SequenceNumber, expected: SequenceNumber, waited_for: SequenceNumber) -> Place {
    let gap = sequence.offset_from(expected);
    match gap {
        0..=GAP_MAX if sequence.offset_from(waited_for) <= WINDOW => Place::Ahead(gap as u32),
        _ if (-GAP_MAX..0).contains(&gap) => Place::Late,
        _ => Place::Far,
    }
}

/// Whether a packet that waits has a number that can still have its turn before `expected`.
pub fn may_have_waited(sequence: SequenceNumber, expected: SequenceNumber) -> bool {
    (-WINDOW - GAP_MAX..0).contains(&sequence.offset_from(expected))
}
