//! IPv4 and IPv6 headers, up to the ports.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::ethernet::{array, word};
use crate::wire::packet::Ecn;

const IPV6_HEADER_BYTES: usize = 40;
const IPV4_HEADER_BYTES: usize = 20;
/// Maximum number of consecutive extension headers; it bounds the work for one frame.
const EXTENSION_HEADERS_MAX: usize = 8;

/// Protocol numbers (IANA, "Assigned Internet Protocol Numbers") that the parser knows.
pub mod protocol {
    pub const HOP_BY_HOP: u8 = 0;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const DCCP: u8 = 33;
    pub const ROUTING: u8 = 43;
    pub const FRAGMENT: u8 = 44;
    pub const AUTHENTICATION: u8 = 51;
    pub const DESTINATION_OPTIONS: u8 = 60;
    pub const SCTP: u8 = 132;
    pub const MOBILITY: u8 = 135;
    pub const UDP_LITE: u8 = 136;
    pub const HOST_IDENTITY: u8 = 139;
    pub const SHIM6: u8 = 140;
}

/// The part of a datagram that a packet contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// All of it; also with an IPv6 fragment header that covers the whole datagram (RFC 6946).
    Whole,
    /// Its beginning: the only part with the transport header.
    First,
    Later,
}

/// The ports of TCP, UDP, UDP-Lite, SCTP or DCCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ports {
    pub source: u16,
    pub destination: u16,
}

/// The fields that a switch reads in an IP header and the transport header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    pub source: IpAddr,
    pub destination: IpAddr,
    /// Differentiated services code point, 0-63 (RFC 2474).
    pub dscp: u8,
    /// ECN field; ECT(0) and ECT(1) are both [`Ecn::Capable`].
    pub ecn: Ecn,
    /// Time to live, or hop limit.
    pub hop_limit: u8,
    /// The protocol named by the last extension header that was read. In a later fragment it is the protocol that the
    /// fragment header (in IPv4 the IP header) names.
    pub protocol: u8,
    pub fragment: Fragment,
    /// The ports, if any; `None` in a fragment other than the first.
    pub ports: Option<Ports>,
    /// Length of the IP packet including its header; further bytes of the frame are padding.
    pub datagram_bytes: usize,
    /// Bytes after the transport header, or after the IP headers if the transport is unknown.
    pub payload_bytes: usize,
}

/// The end of a chain of headers.
struct Upper {
    protocol: u8,
    at: usize,
    fragment: Fragment,
}

/// Reads an IPv4 header (RFC 791); the slice can have padding at its end. Returns `None` if lengths or version are
/// wrong.
pub fn parse_ipv4(bytes: &[u8]) -> Option<IpHeader> {
    let fixed: [u8; IPV4_HEADER_BYTES] = array(bytes, 0)?;
    let header_bytes = usize::from(fixed[0] & 0x0f) * 4;
    let datagram_bytes = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if fixed[0] >> 4 != 4 || header_bytes < IPV4_HEADER_BYTES || header_bytes > datagram_bytes {
        return None;
    }
    let datagram = bytes.get(..datagram_bytes)?;
    let flags_and_offset = u16::from_be_bytes([fixed[6], fixed[7]]);
    let fragment = fragment_of(flags_and_offset & 0x1fff, flags_and_offset & 0x2000 != 0);
    let mut upper = Upper { protocol: fixed[9], at: header_bytes, fragment };
    if fragment == Fragment::Whole && upper.protocol == protocol::AUTHENTICATION {
        upper.step_over(datagram);
    }
    let source = Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]);
    let destination = Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]);
    Some(assemble(source.into(), destination.into(), fixed[1], fixed[8], &upper, datagram))
}

/// Reads an IPv6 header (RFC 8200); the slice can have padding at its end. Returns `None` if lengths or version are
/// wrong. Jumbograms (RFC 2675) are longer than any frame here.
pub fn parse_ipv6(bytes: &[u8]) -> Option<IpHeader> {
    let fixed: [u8; IPV6_HEADER_BYTES] = array(bytes, 0)?;
    let datagram_bytes = IPV6_HEADER_BYTES + usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    if fixed[0] >> 4 != 6 {
        return None;
    }
    let datagram = bytes.get(..datagram_bytes)?;
    let traffic_class = fixed[0] << 4 | fixed[1] >> 4;
    let source = Ipv6Addr::from(array::<16>(&fixed, 8)?);
    let destination = Ipv6Addr::from(array::<16>(&fixed, 24)?);
    let mut upper = Upper { protocol: fixed[6], at: IPV6_HEADER_BYTES, fragment: Fragment::Whole };
    for _ in 0..EXTENSION_HEADERS_MAX {
        if upper.fragment == Fragment::Later || !upper.step_over(datagram) {
            break;
        }
    }
    Some(assemble(source.into(), destination.into(), traffic_class, fixed[7], &upper, datagram))
}

fn fragment_of(offset: u16, has_more: bool) -> Fragment {
    match (offset, has_more) {
        (0, false) => Fragment::Whole,
        (0, true) => Fragment::First,
        _ => Fragment::Later,
    }
}

impl Upper {
    /// Steps over one extension header; false if the next header is of another kind or truncated.
    fn step_over(&mut self, datagram: &[u8]) -> bool {
        let Some([next, length]) = array(datagram, self.at) else { return false };
        let bytes = match self.protocol {
            protocol::FRAGMENT => 8,
            // RFC 4302, section 2.2: the length is in units of 4 bytes, minus 2.
            protocol::AUTHENTICATION => (usize::from(length) + 2) * 4,
            // RFC 8200, section 4.3: the length is in units of 8 bytes, without the first 8.
            protocol::HOP_BY_HOP
            | protocol::ROUTING
            | protocol::DESTINATION_OPTIONS
            | protocol::MOBILITY
            | protocol::HOST_IDENTITY
            | protocol::SHIM6 => (usize::from(length) + 1) * 8,
            _ => return false,
        };
        if self.at + bytes > datagram.len() {
            return false;
        }
        if self.protocol == protocol::FRAGMENT {
            let offset_and_flags = word(datagram, self.at + 2).unwrap_or(0);
            let fragment = fragment_of(offset_and_flags >> 3, offset_and_flags & 1 == 1);
            // A second fragment header inside a first fragment does not make it whole.
            self.fragment = if self.fragment == Fragment::Whole { fragment } else { self.fragment };
        }
        (self.protocol, self.at) = (next, self.at + bytes);
        true
    }

    /// Returns the ports, if the transport begins with them, and the length of its header.
    fn transport(&self, datagram: &[u8]) -> (Option<Ports>, usize) {
        if self.fragment == Fragment::Later {
            return (None, 0);
        }
        let header_bytes = match self.protocol {
            protocol::TCP => array::<13>(datagram, self.at).map_or(20, |header| usize::from(header[12] >> 4) * 4),
            protocol::UDP | protocol::UDP_LITE => 8,
            protocol::SCTP => 12,
            protocol::DCCP => 4,
            _ => return (None, 0),
        };
        let ports = array(datagram, self.at).map(|[s0, s1, d0, d1]| Ports {
            source: u16::from_be_bytes([s0, s1]),
            destination: u16::from_be_bytes([d0, d1]),
        });
        (ports, header_bytes)
    }
}

fn assemble(
    source: IpAddr,
    destination: IpAddr,
    traffic_class: u8,
    hop_limit: u8,
    upper: &Upper,
    datagram: &[u8],
) -> IpHeader {
    let (ports, transport_bytes) = upper.transport(datagram);
    IpHeader {
        source,
        destination,
        dscp: traffic_class >> 2,
        ecn: ecn_of(traffic_class),
        hop_limit,
        protocol: upper.protocol,
        fragment: upper.fragment,
        ports,
        datagram_bytes: datagram.len(),
        payload_bytes: datagram.len().saturating_sub(upper.at + transport_bytes),
    }
}

/// Reads the low two bits of the traffic class (RFC 3168, section 5).
fn ecn_of(traffic_class: u8) -> Ecn {
    match traffic_class & 3 {
        0 => Ecn::NotCapable,
        3 => Ecn::CongestionExperienced,
        _ => Ecn::Capable,
    }
}
