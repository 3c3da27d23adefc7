//! Marks in the IP header: urgency from the sender, and congestion from a switch.
//!
//! A simulated host marks packets with a rank in bytes (`crate::wire::priority_mark`). A kernel lets programs set a
//! code point of six bits (`setsockopt` with `IP_TOS` or `IPV6_TCLASS`). [`rank_of_dscp`] converts code points to ranks
//! in bytes, so that code that compares or counts ranks works with both.

use super::ethernet::EtherType;
use super::parse::Frame;
use crate::wire::priority_mark::PriorityMark;

/// Bytes between two steps of urgency: an arbitrary choice. Mechanisms that compare ranks only use their order; a rank
/// guard allows a flow a number of bytes equal to its rank.
const STEP_BYTES: u32 = 65_536;
/// Steps between two class selectors: one for the class selector and AFx1, one each for AFx2 and AFx3, one unused.
const STEPS_PER_CLASS: u32 = 4;
const CLASS_MAX: u32 = 7;
/// Lower Effort (RFC 8622).
const LOWER_EFFORT: u8 = 0b00_0001;
/// Class selector 1, for traffic that must not disturb the default (RFC 3662; RFC 4594, section 4.10).
const CLASS_SELECTOR_1: u8 = 0b00_1000;

/// Returns the rank of packets with this code point, in bytes; a lower rank is more urgent.
///
/// Class selector 7 comes first (RFC 2474, section 4.2.2.2). Selectors are 262,144 B apart: 0 for selector 7, 1,835,008
/// for 0, the default. In a class of Assured Forwarding each step of drop precedence adds 65,536 B (RFC 2597, section
/// 2). Lower Effort and class selector 1 come after the default, with 2,097,152 B. Bits above the six of a code point
/// are ignored.
pub const fn rank_of_dscp(dscp: u8) -> u32 {
    let dscp = dscp & 0x3f;
    if dscp == LOWER_EFFORT || dscp == CLASS_SELECTOR_1 {
        return (CLASS_MAX + 1) * STEPS_PER_CLASS * STEP_BYTES;
    }
    let class = (dscp >> 3) as u32;
    let drop_precedence = (dscp & 7) as u32 / 2;
    // RFC 2597, section 6: AFxy is class x, 1 to 4, and twice y, 1 to 3.
    let is_assured = class >= 1 && class <= 4 && dscp & 1 == 0 && drop_precedence >= 1;
    let steps = if is_assured { drop_precedence - 1 } else { 0 };
    ((CLASS_MAX - class) * STEPS_PER_CLASS + steps) * STEP_BYTES
}

impl Frame {
    /// Converts the code point of a data packet to a mark. Returns `None` for packets without payload (mostly
    /// acknowledgements) and for frames without IP; they have the highest priority, as in simulated hosts.
    pub fn priority_mark(&self) -> Option<PriorityMark> {
        let ip = self.ip.filter(|ip| ip.payload_bytes > 0)?;
        Some(PriorityMark { rank_bytes: rank_of_dscp(ip.dscp), ..PriorityMark::default() })
    }
}

/// Sets "congestion experienced" (RFC 3168, section 5) in the IP header of a frame. The checksum of an IPv4 header
/// stays as right or wrong as it was.
///
/// Returns false and changes nothing if the packet is not ECN-capable or the frame is not well-formed IP. Returns true
/// if the packet carries the mark afterwards, even if it did before.
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

/// Marks an IPv6 header: the ECN field is bits 4 and 5 of the second byte, and there is no header checksum.
fn mark_ipv6(header: &mut [u8]) -> bool {
    const ECN: u8 = 0x30;
    let is_capable = header[1] & ECN != 0;
    if is_capable {
        header[1] |= ECN;
    }
    is_capable
}

/// Updates the Internet checksum after one word has changed: RFC 1624, equation 3.
fn updated_checksum(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code points from the highest to the lowest urgency; those in one list have equal rank.
    const ORDER: [&[u8]; 17] = [
        &[56],         // CS7
        &[48],         // CS6
        &[40, 44, 46], // CS5, VOICE-ADMIT, EF
        &[32, 34],     // CS4, AF41
        &[36],
        &[38],
        &[24, 26], // CS3, AF31
        &[28],
        &[30],
        &[16, 18], // CS2, AF21
        &[20],
        &[22],
        &[10], // AF11
        &[12],
        &[14],
        &[0, 2, 6], // the default, and code points without a meaning
        &[1, 8],    // LE, CS1
    ];

    #[test]
    fn code_points_rank_as_their_documents_say() {
        let mut before = None;
        for alike in ORDER {
            let ranks: Vec<u32> = alike.iter().map(|&dscp| rank_of_dscp(dscp)).collect();
            assert!(ranks.iter().all(|rank| *rank == ranks[0]), "{alike:?}: {ranks:?}");
            assert!(before.is_none_or(|rank| rank < ranks[0]), "{alike:?} after {before:?}");
            before = Some(ranks[0]);
        }
        assert_eq!([56, 46, 0, 1].map(rank_of_dscp), [0, 524_288, 1_835_008, 2_097_152]);
    }

    #[test]
    fn every_code_point_has_a_rank_and_no_more_than_six_bits_count() {
        for dscp in 0..=u8::MAX {
            assert!(rank_of_dscp(dscp) <= rank_of_dscp(1));
            assert_eq!(rank_of_dscp(dscp), rank_of_dscp(dscp & 0x3f));
        }
    }
}
