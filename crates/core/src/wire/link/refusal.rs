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
    /// A kind of shim that this version does not have, or of something that the two ends of this link do not run.
    UnknownKind,
    /// The same kind of shim twice.
    DuplicateKind,
    /// The length of the inner frame is more than what is there, or less than an Ethernet header.
    InnerLength,
    /// Bytes behind the end that are no padding.
    TrailingBytes,
    /// A header that says what no switch writes: reserved bits, flags that exclude each other, a class that does not
    /// exist.
    Header,
    /// Shims, or shims and an inner frame, that never come together, or contradict each other.
    Composition,
}

impl Refusal {
    /// All of them, in the order of [`RefusalCounters`].
    pub const ALL: [Self; 11] = [
        Self::OtherType,
        Self::OtherAddress,
        Self::Truncated,
        Self::Version,
        Self::ReservedBits,
        Self::UnknownKind,
        Self::DuplicateKind,
        Self::InnerLength,
        Self::TrailingBytes,
        Self::Header,
        Self::Composition,
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
            Self::Header => "header",
            Self::Composition => "composition",
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
            Self::UnknownKind => "a header of a kind that the two ends of this link do not both have",
            Self::DuplicateKind => "two headers of one kind",
            Self::InnerLength => "the length of the inner frame does not fit the frame",
            Self::TrailingBytes => "there are bytes behind the end of the frame that are no padding",
            Self::Header => "a header that says what no switch writes",
            Self::Composition => "headers that never come together, contradict each other, or lack an inner frame",
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
