//! The header with the state of checksum and segmentation (`struct virtio_net_hdr`, linux/virtio_net.h).

use crate::interfaces::frame::PartialChecksum;
use crate::interfaces::segments::Segments;

pub const BYTES: usize = 10;
const NEEDS_CHECKSUM: u8 = 1;
/// VIRTIO_NET_HDR_GSO_TCPV4 and VIRTIO_NET_HDR_GSO_TCPV6.
const OF_TCP: [u8; 2] = [1, 4];
const HAS_ECN: u8 = 0x80;
const TCP_CHECKSUM_AT: u16 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub is_merged: bool,
    /// Payload of each frame of a merged buffer; 0 if the buffer is not of TCP.
    pub segment_bytes: usize,
    pub partial: Option<PartialChecksum>,
}

impl State {
    pub fn read(header: &[u8]) -> Self {
        let number = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let needs = header[0] & NEEDS_CHECKSUM != 0;
        let partial = needs.then(|| PartialChecksum { start: number(6), offset: number(8) });
        let segment_bytes = if OF_TCP.contains(&(header[1] & !HAS_ECN)) { number(4) } else { 0 };
        Self { is_merged: header[1] != 0, segment_bytes, partial }
    }
}

/// Writes a header that makes the kernel copy all `copied` bytes of a frame instead of referring to the ring. A frame
/// that refers to the ring is copied anyway when it crosses a veth, at a higher cost.
pub fn write_copied(header: &mut [u8], copied: u16) {
    header[..BYTES].fill(0);
    header[2..4].copy_from_slice(&copied.to_ne_bytes());
}

/// Writes the header of a buffer of several frames with these `headers`.
pub fn write_merged(header: &mut [u8], segments: Segments, headers: &[u8]) {
    let ecn = if segments.has_cwr(headers) { HAS_ECN } else { 0 };
    header[0] = NEEDS_CHECKSUM;
    header[1] = OF_TCP[usize::from(segments.is_ipv6())] | ecn;
    let lengths = [headers.len() as u16, segments.payload_bytes() as u16, segments.tcp_at() as u16, TCP_CHECKSUM_AT];
    for (number, length) in lengths.into_iter().enumerate() {
        header[2 + 2 * number..4 + 2 * number].copy_from_slice(&length.to_ne_bytes());
    }
}
