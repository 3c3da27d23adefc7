//! The erasure code of a block: the losses that it can restore, and the length of its parity frames.
//!
//! Reed-Solomon runs across the frames of a block, each prefixed with its length and padded to the longest. As many
//! frames can be restored as there are parity frames, whichever are lost. Packets of a simulation have no bytes: a lost
//! packet comes back from [`super::contents`].

use crate::wharf::header::WharfHeader;
use hitless_core::wire::Shim;
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;

/// Maximum number of data frames in a block (published programs).
pub const DATA_FRAMES_MAX: usize = 50;
/// Maximum number of parity frames in a block (published programs).
pub const PARITY_FRAMES_MAX: usize = 5;

const LENGTH_BYTES: u32 = 2;
const ETHERNET_HEADER_BYTES: u32 = 14;
const CHECK_SEQUENCE_BYTES: u32 = 4;

/// Whether all data frames of a block can be restored from the received ones.
pub const fn can_restore(data_frames: usize, data_received: usize, parity_received: usize) -> bool {
    data_received + parity_received >= data_frames
}

/// Length with check sequence of the parity frames of a block. `longest_frame_bytes` is the longest data frame, with
/// check sequence and without Wharf's header.
pub const fn parity_frame_bytes(longest_frame_bytes: u32) -> u32 {
    // The symbols of the code have two bytes: an odd length is padded.
    let coded = (LENGTH_BYTES + longest_frame_bytes - CHECK_SEQUENCE_BYTES).next_multiple_of(2);
    let bytes = ETHERNET_HEADER_BYTES + WharfHeader::BYTES as u32 + coded + CHECK_SEQUENCE_BYTES;
    if bytes < MINIMUM_FRAME_BYTES { MINIMUM_FRAME_BYTES } else { bytes }
}

#[test]
fn a_parity_frame_is_as_long_as_what_it_carries() {
    for (longest, expected) in [(64, 86), (65, 88), (1_517, 1_540), (1_518, 1_540)] {
        assert_eq!(parity_frame_bytes(longest), expected);
    }
}
