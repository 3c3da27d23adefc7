//! The shim stack: headers that mechanisms put between Ethernet and the payload.
//!
//! The packet descriptor keeps a shim as the bytes that go on the wire, so a live switch only copies them, and packets
//! without shims cost nothing. Data that a P4 program would carry as bridged metadata (valid inside one switch, never
//! on a link) is a shim with [`Shim::WIRE_BYTES`] zero.

use std::fmt;

/// Identifies a header on a [`ShimStack`] and contains its length, so that the stack can step over unknown headers.
///
/// ```text
/// outside:1 number:2 length:5
/// ```
///
/// Each length has eight identifiers: four for headers of this tree ([`ShimId::new`]), and four, 128 to 255, for
/// headers from outside it ([`ShimId::outside`]). If those of a length are all taken, a new header makes itself a byte
/// longer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ShimId(u8);

impl ShimId {
    const LENGTH_BITS: u32 = 5;
    const LENGTH_MASK: u8 = (1 << Self::LENGTH_BITS) - 1;
    const NUMBERS: u8 = 4;

    /// Identifies a header of this tree that takes `bytes` in the descriptor; `number`, from 0 to 3, distinguishes
    /// headers of the same length.
    ///
    /// # Panics
    /// For a length beyond the stack's capacity, or a number beyond 3; in a constant, the compiler reports it.
    pub const fn new(bytes: usize, number: u8) -> Self {
        assert!(bytes > 0 && bytes < CAPACITY_BYTES, "a header is from 1 to 27 bytes long");
        assert!(number < Self::NUMBERS, "there are four headers of a length");
        Self(number << Self::LENGTH_BITS | bytes as u8)
    }

    /// Identifies a header from outside this tree.
    pub const fn outside(bytes: usize, number: u8) -> Self {
        Self(Self::new(bytes, number).0 | 1 << 7)
    }

    pub const fn number(self) -> u8 {
        self.0
    }

    #[inline]
    pub const fn bytes(self) -> usize {
        (self.0 & Self::LENGTH_MASK) as usize
    }
}

impl fmt::Debug for ShimId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "header {} ({} B)", self.0, self.bytes())
    }
}

/// Implements [`Shim`] for a struct of one 32-bit number as metadata that stays inside a switch.
#[macro_export]
macro_rules! metadata_number {
    ($header:ident, $id:expr) => {
        impl $crate::wire::Shim for $header {
            const ID: $crate::wire::ShimId = $id;
            const WIRE_BYTES: u32 = 0;

            #[inline]
            fn emit(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.0.to_be_bytes());
            }

            #[inline]
            fn parse(bytes: &[u8]) -> Self {
                Self(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            }
        }
    };
}

/// The position of a packet among all that entered a protected link, for checkers only: it takes no room on the wire,
/// and no mechanism reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckNumber(pub u32);

metadata_number!(CheckNumber, ShimId::new(4, 2));

/// The number of times that switches have sent the packet to a neighbour instead of to a full queue. It is for counters
/// and takes no room on the wire. Only PABO decides by it; PABO's authors also count bounces in the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetourCount(pub u8);

impl Shim for DetourCount {
    const ID: ShimId = ShimId::new(1, 0);
    const WIRE_BYTES: u32 = 0;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes[0] = self.0;
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self(bytes[0])
    }
}

/// A header that can be pushed on a [`ShimStack`].
pub trait Shim: Copy {
    /// Identifier on a stack, unique for each type.
    const ID: ShimId;
    /// Bytes in the descriptor, given by the identifier.
    const BYTES: usize = Self::ID.bytes();
    /// Bytes that the header adds to the frame on a link; zero for metadata that stays inside a switch.
    const WIRE_BYTES: u32 = Self::BYTES as u32;

    /// Writes the header into `bytes`, which is [`Self::BYTES`] long.
    fn emit(&self, bytes: &mut [u8]);

    /// Reads the header back from `bytes`, which is [`Self::BYTES`] long and was written by [`Self::emit`].
    fn parse(bytes: &[u8]) -> Self;
}

/// Length of a shim's identifier, which precedes its bytes.
const ID_BYTES: usize = 1;
const CAPACITY_BYTES: usize = 28;

/// A stack of shims in 28 bytes; each shim takes [`ShimStack::needed_bytes`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, crate::state::Value)]
#[repr(transparent)]
pub struct ShimStack {
    /// Shims from the bottom, each as identifier and bytes, followed by zeros; zero is not a valid identifier.
    bytes: [u8; CAPACITY_BYTES],
}

/// The stack has no room for another shim: too many mechanisms were composed on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShimStackFull;

impl fmt::Display for ShimStackFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a packet carries at most {CAPACITY_BYTES} bytes of shim headers and their ids")
    }
}

impl std::error::Error for ShimStackFull {}

impl ShimStack {
    /// Maximum number of bytes of all shims of a packet.
    pub const CAPACITY_BYTES: usize = CAPACITY_BYTES;

    /// Bytes that a shim of type `S` takes, including its identifier.
    pub const fn needed_bytes<S: Shim>() -> usize {
        ID_BYTES + S::BYTES
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes[0] == 0
    }

    #[inline]
    pub fn contains<S: Shim>(&self) -> bool {
        self.find(S::ID).is_some()
    }

    /// Puts `shim` on top.
    pub fn push<S: Shim>(&mut self, shim: S) -> Result<(), ShimStackFull> {
        shim.emit(self.push_room(S::ID)?);
        Ok(())
    }

    /// Adds a shim with this identifier, and returns its bytes for the caller to write.
    pub fn push_room(&mut self, id: ShimId) -> Result<&mut [u8], ShimStackFull> {
        let used_bytes = self.used_bytes();
        let room = self.bytes.get_mut(used_bytes..used_bytes + ID_BYTES + id.bytes()).ok_or(ShimStackFull)?;
        room[0] = id.0;
        Ok(&mut room[ID_BYTES..])
    }

    /// Returns the bytes of the shim with this identifier.
    pub fn bytes_of(&self, id: ShimId) -> Option<&[u8]> {
        self.find(id).map(|start| &self.bytes[start..start + id.bytes()])
    }

    /// Returns a copy of the shim of type `S`.
    #[inline]
    pub fn get<S: Shim>(&self) -> Option<S> {
        let start = self.find(S::ID)?;
        Some(S::parse(&self.bytes[start..start + S::BYTES]))
    }

    /// Overwrites the shim of type `S`; returns false if there is no such shim.
    #[inline]
    pub fn replace<S: Shim>(&mut self, shim: S) -> bool {
        let Some(start) = self.find(S::ID) else { return false };
        shim.emit(&mut self.bytes[start..start + S::BYTES]);
        true
    }

    /// Takes the shim of type `S` off the stack, from any position.
    pub fn remove<S: Shim>(&mut self) -> Option<S> {
        let shim = self.get()?;
        self.remove_id(S::ID);
        Some(shim)
    }

    pub fn remove_id(&mut self, id: ShimId) {
        let Some(start) = self.find(id) else { return };
        self.bytes.copy_within(start + id.bytes().., start - ID_BYTES);
        self.bytes[CAPACITY_BYTES - ID_BYTES - id.bytes()..].fill(0);
    }

    /// Iterates over identifiers and bytes, from the bottom.
    pub fn iter(&self) -> impl Iterator<Item = (ShimId, &[u8])> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let id = self.id_at(start)?;
            let bytes = &self.bytes[start + ID_BYTES..][..id.bytes()];
            start += ID_BYTES + bytes.len();
            Some((id, bytes))
        })
    }

    /// Finds the first byte of the shim with this identifier.
    #[inline]
    fn find(&self, wanted: ShimId) -> Option<usize> {
        let mut start = 0;
        loop {
            let id = self.id_at(start)?;
            if id == wanted {
                return Some(start + ID_BYTES);
            }
            start += ID_BYTES + id.bytes();
        }
    }

    /// Reads the identifier at this position; `None` after the last shim.
    #[inline]
    fn id_at(&self, start: usize) -> Option<ShimId> {
        self.bytes.get(start).filter(|&&id| id != 0).map(|&id| ShimId(id))
    }

    fn used_bytes(&self) -> usize {
        let mut used = 0;
        while let Some(id) = self.id_at(used) {
            used += ID_BYTES + id.bytes();
        }
        assert!(used <= CAPACITY_BYTES, "{used} bytes of shims on a stack of {CAPACITY_BYTES}");
        used
    }
}

impl fmt::Debug for ShimStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(id, _)| id)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header from outside this tree.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Foreign<const BYTES: usize, const NUMBER: u8>([u8; BYTES]);

    impl<const BYTES: usize, const NUMBER: u8> Shim for Foreign<BYTES, NUMBER> {
        const ID: ShimId = ShimId::outside(BYTES, NUMBER);

        fn emit(&self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.0);
        }

        fn parse(bytes: &[u8]) -> Self {
            Self(bytes.try_into().expect("a header is handed its own bytes"))
        }
    }

    type Data = Foreign<3, 0>;
    type Ack = Foreign<3, 1>;

    const fn data(value: u8) -> Data {
        Foreign([0, 0, value])
    }

    const fn ack(value: u8) -> Ack {
        Foreign([0x70, 0, value])
    }

    #[test]
    fn what_is_pushed_can_be_read_replaced_and_removed_in_any_order() {
        let mut stack = ShimStack::default();
        stack.push(data(7)).unwrap();
        stack.push(ack(9)).unwrap();
        assert_eq!(stack.get::<Data>(), Some(data(7)));
        assert!(stack.replace(data(8)));
        assert_eq!(stack.remove::<Data>(), Some(data(8)));
        assert_eq!(stack.get::<Ack>(), Some(ack(9)));
        assert!(!stack.contains::<Data>());
        assert!(!stack.replace(data(1)));
        assert_eq!(stack.remove::<Ack>(), Some(ack(9)));
        assert_eq!(stack, ShimStack::default());
    }

    #[test]
    fn every_header_on_the_stack_is_listed_with_its_bytes() {
        let mut stack = ShimStack::default();
        stack.push(CheckNumber(0x0102_0304)).unwrap();
        stack.push(ack(9)).unwrap();
        let listed: Vec<_> = stack.iter().map(|(id, bytes)| (id, bytes.to_vec())).collect();
        let expected = [(CheckNumber::ID, vec![1, 2, 3, 4]), (Ack::ID, vec![0x70, 0, 9])];
        assert_eq!(listed, expected);
    }

    #[test]
    fn a_header_that_the_stack_does_not_know_is_stepped_over() {
        assert!(Foreign::<9, 3>::ID.0 >= 128 && ShimId::new(27, 3).0 < 128);
        let mut stack = ShimStack::default();
        stack.push(Foreign::<9, 3>([7; 9])).unwrap();
        stack.push(ack(9)).unwrap();
        assert_eq!((stack.get(), stack.get()), (Some(ack(9)), Some(Foreign::<9, 3>([7; 9]))));
        assert_eq!((stack.remove(), stack.iter().count()), (Some(Foreign::<9, 3>([7; 9])), 1));
    }

    #[test]
    fn a_full_stack_refuses_and_stays_as_it_was() {
        let mut stack = ShimStack::default();
        stack.push(data(1)).unwrap();
        stack.push(ack(2)).unwrap();
        stack.push(Foreign::<4, 0>([3; 4])).unwrap();
        stack.push(CheckNumber(5)).unwrap();
        stack.push(CheckNumber(6)).unwrap();
        stack.push(DetourCount(7)).unwrap();
        let before = stack;
        assert_eq!(stack.push(data(4)), Err(ShimStackFull), "25 of 28 bytes are taken, and it needs 4");
        assert_eq!(stack, before);
    }
}
