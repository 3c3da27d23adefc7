//! Control ordered sets: what the two ends of a link tell each other below frames.
//!
//! The physical coding sublayer inserts them between frames (IEEE 802.3, clause 82; Ultra Ethernet calls its own
//! CtlOS). A set is one block of the line code. It has no check sequence, no preamble and no gap, and no MAC counts
//! it.

/// Bytes of the line's time that a set takes: one 64-bit block.
pub const ORDERED_SET_BYTES: u32 = 8;

/// What a set says: the 32 bits that are of use to whoever defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, crate::state::Value)]
pub struct OrderedSet(pub u32);
