//! Why a frame of the link is not taken.

use std::fmt;

/// Why a frame of the link is not taken. Nothing of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Refusal {
    /// Of another type: not a frame of the link at all.
    OtherType,
    /// For another station, or from another one than the other end.
    OtherAddress,
    /// It ends within a header.
    Truncated,
    /// A version that this program does not speak.
    Version,
    /// Bits that must be zero are not.
    ReservedBits,
    /// A kind of shim that this version does not have.
    UnknownKind,
    /// The same kind of shim twice.
    DuplicateKind,
    /// The length of the inner frame is more than what is there, or less than an Ethernet header.
    InnerLength,
    /// Bytes behind the end that are no padding.
    TrailingBytes,
    /// A data header that cannot be on a link: another type, or flags that exclude each other.
    DataHeader,
    /// An acknowledgement that cannot be on a link.
    Acknowledgement,
    /// A loss notification that contradicts its acknowledgement, or reports no loss.
    LossNotification,
    /// A pause frame for a class that does not exist, or for a time that is never asked for.
    Pause,
    /// Shims, or shims and an inner frame, that never come together.
    Composition,
    /// A message between the ends of the link that this version does not have.
    Control,
    /// A header of a detoured packet that no switch writes.
    Detour,
    /// A mark of a packet that no switch writes.
    Mark,
    /// A header of something that the two ends of this link do not run.
    Unexpected,
}

impl Refusal {
    /// All of them, in the order of [`RefusalCounters`].
    pub const ALL: [Self; 18] = [
        Self::OtherType,
        Self::OtherAddress,
        Self::Truncated,
        Self::Version,
        Self::ReservedBits,
        Self::UnknownKind,
        Self::DuplicateKind,
        Self::InnerLength,
        Self::TrailingBytes,
        Self::DataHeader,
        Self::Acknowledgement,
        Self::LossNotification,
        Self::Pause,
        Self::Composition,
        Self::Control,
        Self::Detour,
        Self::Mark,
        Self::Unexpected,
    ];

    /// A short name for counters and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OtherType => "other_type",
            Self::OtherAddress => "other_address",
            Self::Truncated => "truncated",
            Self::Version => "version",
            Self::ReservedBits => "reserved_bits",
            Self::UnknownKind => "unknown_kind",
            Self::DuplicateKind => "duplicate_kind",
            Self::InnerLength => "inner_length",
            Self::TrailingBytes => "trailing_bytes",
            Self::DataHeader => "data_header",
            Self::Acknowledgement => "acknowledgement",
            Self::LossNotification => "loss_notification",
            Self::Pause => "pause",
            Self::Composition => "composition",
            Self::Control => "control",
            Self::Detour => "detour",
            Self::Mark => "mark",
            Self::Unexpected => "unexpected",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OtherType => "the frame is of another EtherType than the link's",
            Self::OtherAddress => "the frame is not from the other end of the link to this one",
            Self::Truncated => "the frame ends within a header",
            Self::Version => "the other end speaks another version of the link format",
            Self::ReservedBits => "bits that must be zero are set",
            Self::UnknownKind => "a header of a kind that this version does not have",
            Self::DuplicateKind => "two headers of one kind",
            Self::InnerLength => "the length of the inner frame does not fit the frame",
            Self::TrailingBytes => "there are bytes behind the end of the frame that are no padding",
            Self::DataHeader => "a data header that no switch puts on a link",
            Self::Acknowledgement => "an acknowledgement that no switch puts on a link",
            Self::LossNotification => "a loss notification that contradicts its acknowledgement",
            Self::Pause => "a pause frame with a class or a time that no switch asks for",
            Self::Control => "a message that this version does not have",
            Self::Detour => "a header of a detoured packet that no switch writes",
            Self::Mark => "a mark that no switch writes",
            Self::Unexpected => "a header of something that the ends of this link do not run",
            Self::Composition => "headers that never come together, or with or without an inner frame",
        })
    }
}

impl std::error::Error for Refusal {}

/// How many frames were refused, for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalCounters([u64; Refusal::ALL.len()]);

impl RefusalCounters {
    /// One more.
    pub fn count(&mut self, refusal: Refusal) {
        let counter = &mut self.0[refusal as usize];
        *counter = counter.saturating_add(1);
    }

    /// How many were refused for this reason.
    pub fn get(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

    /// Each reason with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Refusal, u64)> + '_ {
        Refusal::ALL.into_iter().zip(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_reason_has_a_counter_and_a_name_of_its_own() {
        let mut counters = RefusalCounters::default();
        for (index, refusal) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, index);
            (0..=index).for_each(|_| counters.count(refusal));
        }
        assert!(
            counters
                .iter()
                .zip(1..)
                .all(|((refusal, count), expected)| count == expected && counters.get(refusal) == count)
        );
        let names: BTreeSet<_> = Refusal::ALL.iter().map(|refusal| refusal.name()).collect();
        assert_eq!(names.len(), Refusal::ALL.len());
    }
}
