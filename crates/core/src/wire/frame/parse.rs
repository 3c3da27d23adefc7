//! The parsed frame, and the values that a switch derives from it.

use super::ethernet::{EtherType, FrameTooShort, Header, MacAddress, VlanTags};
use super::ip::{self, IpHeader};
use crate::wire::packet::{Ecn, ServiceKey};

/// First port that Linux assigns to clients (`net.ipv4.ip_local_port_range`); this and higher ports do not identify a
/// service.
const EPHEMERAL_PORTS_FROM: u16 = 32_768;

/// The headers of a frame, as far as a switch reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub destination: MacAddress,
    pub source: MacAddress,
    /// VLAN tags, outermost first.
    pub vlan: VlanTags,
    /// Type of the payload after the tags.
    pub ether_type: EtherType,
    /// Offset of the payload in bytes.
    pub payload_at: usize,
    /// The IP header, if there is one and its lengths fit the frame.
    pub ip: Option<IpHeader>,
    pub(super) length_bytes: usize,
}

impl Frame {
    /// Parses a frame without check sequence.
    pub fn parse(bytes: &[u8]) -> Result<Self, FrameTooShort> {
        let header = Header::parse(bytes)?;
        let payload = &bytes[header.payload_at..];
        let ip = match header.ether_type {
            EtherType::IPV4 => ip::parse_ipv4(payload),
            EtherType::IPV6 => ip::parse_ipv6(payload),
            _ => None,
        };
        let Header { destination, source, vlan, ether_type, payload_at } = header;
        Ok(Self { destination, source, vlan, ether_type, payload_at, ip, length_bytes: bytes.len() })
    }

    /// Returns whether the frame claims to be IPv4 or IPv6 but has an IP header that contradicts itself or the frame's
    /// length. Its key consists of the Ethernet addresses and type.
    pub fn has_malformed_ip(&self) -> bool {
        matches!(self.ether_type, EtherType::IPV4 | EtherType::IPV6) && self.ip.is_none()
    }

    /// The traffic class: the priority code point of the outer tag (IEEE 802.1Q, clause 6.9.3), else the class selector
    /// of the IP header (RFC 2474, section 4.2.2), else 0.
    pub fn class(&self) -> u8 {
        match (self.vlan.outer, self.ip) {
            (Some(tag), _) => tag.priority,
            (None, Some(ip)) => ip.dscp >> 3,
            (None, None) => 0,
        }
    }

    /// The ECN field; frames without IP are not capable.
    pub fn ecn(&self) -> Ecn {
        self.ip.map_or(Ecn::NotCapable, |ip| ip.ecn)
    }

    /// Identifies the service of the flow by the outer VLAN and the lower of the two ports, unless that is a client's
    /// port too.
    ///
    /// Both directions of a connection have the same key. Fragments other than the first have no ports.
    pub fn service_key(&self) -> ServiceKey {
        let ports = self.ip.and_then(|ip| ip.ports);
        let lower = ports.map_or(0, |ports| ports.source.min(ports.destination));
        ServiceKey {
            port: if lower < EPHEMERAL_PORTS_FROM { lower } else { 0 },
            vlan: self.vlan.outer.map_or(0, |tag| tag.identifier),
        }
    }

    /// Bytes after the last header that was read, without padding.
    ///
    /// Only IP and frames with a length state where their payload ends; in other frames padding cannot be told from
    /// payload and is counted.
    pub fn payload_bytes(&self) -> usize {
        match self.ip {
            Some(ip) => ip.payload_bytes,
            None => self.body_bytes(),
        }
    }

    /// Bytes after the end announced by the headers, without check sequence.
    pub fn padding_bytes(&self) -> usize {
        self.length_bytes - self.payload_at - self.ip.map_or(self.body_bytes(), |ip| ip.datagram_bytes)
    }

    /// Bytes after the Ethernet header, without the padding of frames with a length instead of a type.
    fn body_bytes(&self) -> usize {
        let present = self.length_bytes - self.payload_at;
        self.ether_type.length().map_or(present, |length| length.min(present))
    }
}
