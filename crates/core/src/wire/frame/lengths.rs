//! Lengths of Ethernet frames.

/// Destination, source and EtherType.
pub const ETHERNET_HEADER_BYTES: usize = 14;
/// The shortest Ethernet frame without its check sequence (IEEE 802.3, clause 4A.4.2); shorter ones are padded.
pub const MINIMUM_BYTES: usize = 60;
/// The frame check sequence, which no frame here contains and every length on a link counts.
pub const CHECK_SEQUENCE_BYTES: usize = 4;

/// What [`crate::wire::Packet::frame_bytes`] has to be for a frame of so many bytes: padded to the minimum, check
/// sequence added.
///
/// A veth pair hands short frames over unpadded; on an Ethernet link they would not be shorter than this.
pub const fn frame_bytes(length_bytes: usize) -> u32 {
    let padded = if length_bytes < MINIMUM_BYTES { MINIMUM_BYTES } else { length_bytes };
    (padded + CHECK_SEQUENCE_BYTES) as u32
}
