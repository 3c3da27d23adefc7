//! Marking congestion in a frame's own bytes.

use super::ethernet::EtherType;
use super::parse::Frame;

/// Sets "congestion experienced" (RFC 3168, section 5) in the IP header of a frame; the checksum of an IPv4 header is
/// kept as right or wrong as it was.
///
/// False, and nothing is changed, when the packet is not ECN-capable or the frame is not well-formed IP. True when it
/// carries the mark now, also when it did before.
pub fn mark_ce(bytes: &mut [u8]) -> bool {
    let Ok(frame) = Frame::parse(bytes) else { return false };
    if frame.ip.is_none() {
        return false;
    }
    let header = &mut bytes[frame.payload_at..];
    if frame.ether_type == EtherType::IPV4 { mark_ipv4(header) } else { mark_ipv6(header) }
}

fn mark_ipv4(header: &mut [u8]) -> bool {
    let before = u16::from_be_bytes([header[0], header[1]]);
    if before & 3 == 0 {
        return false;
    }
    let after = before | 3;
    let checksum = u16::from_be_bytes([header[10], header[11]]);
    header[1] = after as u8;
    header[10..12].copy_from_slice(&updated_checksum(checksum, before, after).to_be_bytes());
    true
}

/// The ECN field are bits 4 and 5 of the second byte; IPv6 has no header checksum.
fn mark_ipv6(header: &mut [u8]) -> bool {
    const ECN: u8 = 0x30;
    let is_capable = header[1] & ECN != 0;
    if is_capable {
        header[1] |= ECN;
    }
    is_capable
}

/// The Internet checksum after one word has changed: RFC 1624, equation 3.
fn updated_checksum(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
