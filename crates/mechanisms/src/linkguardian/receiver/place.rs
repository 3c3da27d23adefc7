//! The place of a frame's number among earlier ones.

use crate::linkguardian::headers::SequenceNumber;

/// The maximum gap that counts as a loss, in numbers: the maximum of a notification. After a longer gap the receiver
/// continues at the new numbers.
pub const GAP_MAX: i32 = u8::MAX as i32;
/// The maximum distance of the latest number from the first awaited one: the range of comparable numbers.
const WINDOW: i32 = (SequenceNumber::RANGE / 2) as i32 - GAP_MAX;

/// The place of the number of an original packet or a dummy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The next number, or a number behind a gap of this length.
    Ahead(u32),
    /// A number that was considered lost and arrives late: only after a sender of wrong numbers.
    Late,
    /// A number too far off to be credible at once.
    Far,
}

/// The place of `sequence`, if `expected` should have arrived and `waited_for` is forwarded next.
pub fn place_of(sequence: SequenceNumber, expected: SequenceNumber, waited_for: SequenceNumber) -> Place {
    let gap = sequence.offset_from(expected);
    match gap {
        // Beyond the window the era correction of section 3.5 would compare numbers wrongly.
        0..=GAP_MAX if sequence.offset_from(waited_for) <= WINDOW => Place::Ahead(gap as u32),
        _ if (-GAP_MAX..0).contains(&gap) => Place::Late,
        _ => Place::Far,
    }
}

/// Whether a waiting packet's number can still have its turn before `expected`.
pub fn may_have_waited(sequence: SequenceNumber, expected: SequenceNumber) -> bool {
    (-WINDOW - GAP_MAX..0).contains(&sequence.offset_from(expected))
}
