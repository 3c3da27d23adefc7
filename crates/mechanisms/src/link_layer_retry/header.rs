//! Link Layer Retry (Ultra Ethernet 1.0) on a link: a number in the preamble of each frame, and control ordered sets in
//! the other direction.
//!
//! Sources are the public descriptions of the standard (SAI proposal "Link Layer Retry", SONiC's design of the same
//! name). The number replaces bytes of the preamble, so that frames do not grow. The bits of the real sets are not
//! public; these are our choice.

use std::fmt;

use hitless_core::wire::mac_control::OrderedSet;
use hitless_core::wire::shim::{Shim, ShimId};

/// The position of a frame on its link: 20 bits that wrap.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct SequenceNumber(u32);

impl SequenceNumber {
    /// The count of numbers. At most half of them may be unacknowledged (SONiC: max_outstanding_frames up to 524,288).
    pub const RANGE: u32 = 1 << 20;

    /// The number with these bits, truncated to 20.
    pub const fn new(value: u32) -> Self {
        Self(value % Self::RANGE)
    }

    pub const fn value(self) -> u32 {
        self.0
    }

    pub const fn plus(self, count: u32) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    pub const fn previous(self) -> Self {
        Self::new(self.0.wrapping_sub(1))
    }

    /// The distance of this number ahead of `other`, from -524,288 to 524,287.
    pub const fn offset_from(self, other: Self) -> i32 {
        let steps = (self.0.wrapping_sub(other.0) % Self::RANGE) as i32;
        const RANGE: i32 = SequenceNumber::RANGE as i32;
        if steps < RANGE / 2 { steps } else { steps - RANGE }
    }
}

impl fmt::Debug for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct PreambleSequence(pub SequenceNumber);

impl Shim for PreambleSequence {
    const ID: ShimId = ShimId::new(3, 3);
    const WIRE_BYTES: u32 = 0;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.0.to_be_bytes()[1..]);
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self(SequenceNumber::new(u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]])))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Control {
    /// The transmitter starts, with this number on its first frame (LLR_INIT).
    Init(SequenceNumber),
    /// The receiver is ready for the start (LLR_INIT_ECHO).
    InitEcho(SequenceNumber),
    /// All frames up to this number have arrived (LLR_ACK, cumulative).
    Ack(SequenceNumber),
    /// All frames up to this number have arrived, and the next has not (LLR_NACK).
    Nack(SequenceNumber),
}

const KIND_SHIFT: u32 = 24;

impl Control {
    /// Encodes the set: 8 bits of kind, 4 of zero, 20 of number.
    pub const fn ordered_set(self) -> OrderedSet {
        let (kind, SequenceNumber(value)) = match self {
            Control::Init(number) => (1, number),
            Control::InitEcho(number) => (2, number),
            Control::Ack(number) => (3, number),
            Control::Nack(number) => (4, number),
        };
        OrderedSet(kind << KIND_SHIFT | value)
    }

    /// Decodes a set; `None` if it does not belong to this protocol.
    pub const fn read(set: OrderedSet) -> Option<Self> {
        let value = set.0 & !(u32::MAX << KIND_SHIFT);
        if value >= SequenceNumber::RANGE {
            return None;
        }
        let number = SequenceNumber(value);
        match set.0 >> KIND_SHIFT {
            1 => Some(Control::Init(number)),
            2 => Some(Control::InitEcho(number)),
            3 => Some(Control::Ack(number)),
            4 => Some(Control::Nack(number)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_go_round_a_circle(start in 0..SequenceNumber::RANGE, steps in 0..SequenceNumber::RANGE / 2) {
            let (near, far) = (SequenceNumber::new(start), SequenceNumber::new(start).plus(steps));
            prop_assert_eq!((far.offset_from(near), near.offset_from(far)), (steps as i32, -(steps as i32)));
            prop_assert_eq!(near.plus(1).previous(), near);
            let mut bytes = [0; PreambleSequence::BYTES];
            PreambleSequence(far).emit(&mut bytes);
            prop_assert_eq!(PreambleSequence::parse(&bytes), PreambleSequence(far));
        }

        #[test]
        fn any_bits_of_a_set_mean_one_thing_or_nothing(bits in any::<u32>(), kind in 0u32..6) {
            for set in [OrderedSet(bits), OrderedSet((kind << KIND_SHIFT) | (bits % SequenceNumber::RANGE))] {
                if let Some(control) = Control::read(set) {
                    prop_assert_eq!(control.ordered_set(), set);
                } else {
                    prop_assert!(!(1..=4).contains(&(set.0 >> KIND_SHIFT)) || set.0 & 0xf0_0000 != 0);
                }
            }
        }
    }
}
