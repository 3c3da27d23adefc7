//! Wharf's header (Giesen et al., NetCompute 2018; layout as in the published programs of Flightplan):
//!
//! ```text
//! class:3 block:5 | index:8 | original EtherType:16 | length:16
//! ```
//!
//! It follows the Ethernet addresses and replaces the EtherType, which it carries. A parity frame has no EtherType;
//! there the field holds the number of data frames in the block. The published programs fill a short block with empty
//! frames instead.

use hitless_core::wire::shim::{Shim, ShimId};

/// The header of a data frame or a parity frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct WharfHeader {
    /// Traffic class, 3 bits. Each class has separate blocks.
    pub class: u8,
    /// Number of the block, 5 bits that wrap.
    pub block: u8,
    /// Position in the block: data frames start at 0, parity frames at the number of data frames of a full block.
    pub index: u8,
    /// EtherType of a data frame, 0 if unknown; for a parity frame the number of data frames in its block.
    pub ether_type: u16,
    /// Length of a data frame without check sequence and this header; for a parity frame the length behind this header.
    pub length: u16,
}

impl WharfHeader {
    pub const BLOCKS: u8 = 32;
    const CLASSES: u8 = 8;
}

impl Shim for WharfHeader {
    const ID: ShimId = ShimId::new(6, 0);

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes[0] = ((self.class % Self::CLASSES) << 5) | (self.block % Self::BLOCKS);
        bytes[1] = self.index;
        bytes[2..4].copy_from_slice(&self.ether_type.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.length.to_be_bytes());
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self {
            class: bytes[0] >> 5,
            block: bytes[0] % Self::BLOCKS,
            index: bytes[1],
            ether_type: u16::from_be_bytes([bytes[2], bytes[3]]),
            length: u16::from_be_bytes([bytes[4], bytes[5]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_layout_is_the_published_one() {
        let header = WharfHeader { class: 5, block: 17, index: 3, ether_type: 0x0800, length: 1_514 };
        let mut bytes = [0; WharfHeader::BYTES];
        header.emit(&mut bytes);
        assert_eq!(bytes, [0b1011_0001, 3, 0x08, 0x00, 0x05, 0xea]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_header_and_come_back(bytes in any::<[u8; 6]>()) {
            let mut again = [0; WharfHeader::BYTES];
            WharfHeader::parse(&bytes).emit(&mut again);
            prop_assert_eq!(again, bytes);
        }
    }
}
