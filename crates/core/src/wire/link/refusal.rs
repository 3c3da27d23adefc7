//! Reasons for rejecting a frame of the link, and their counters.

use std::fmt;

use strum::{IntoStaticStr, VariantArray};

/// The reason for rejecting a frame of the link. No part of a rejected frame is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
#[repr(u8)]
pub enum Refusal {
    /// Another EtherType: not a frame of the link at all.
    OtherType,
    /// Addressed to another station, or from a station other than the other end.
    OtherAddress,
    /// The frame ends within a header.
    Truncated,
    /// A version that this program does not speak.
    Version,
    ReservedBits,
    /// A kind of shim that this version does not have, or that no mechanism of this link uses.
    UnknownKind,
    /// The same kind of shim twice.
    DuplicateKind,
    /// The length of the inner frame exceeds the bytes present, or is less than an Ethernet header.
    InnerLength,
    /// Bytes after the end that are not padding.
    TrailingBytes,
    /// A header with contents that no switch writes: reserved bits, flags that exclude each other, a class that does
    /// not exist.
    Header,
    /// Shims, or shims and an inner frame, that contradict each other or never occur together.
    Composition,
}

impl Refusal {
    /// All reasons, in the order of [`RefusalCounters`].
    pub const ALL: [Self; 11] = *Self::VARIANTS.first_chunk().expect("as many as there are");

    /// A short name for counters and metrics.
    pub fn name(self) -> &'static str {
        self.into()
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

/// The number of rejected frames for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusalCounters([u64; Refusal::ALL.len()]);

impl RefusalCounters {
    pub fn count(&mut self, refusal: Refusal) {
        let counter = &mut self.0[refusal as usize];
        *counter = counter.saturating_add(1);
    }

    pub fn get(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

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
