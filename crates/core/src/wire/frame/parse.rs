//! What a switch reads in a frame.

use super::ethernet::{EtherType, FrameTooShort, Header, MacAddress, VlanTags};
use super::ip::{self, IpHeader};
use crate::wire::packet::{Ecn, ServiceKey};

/// The first port that Linux gives to clients (`net.ipv4.ip_local_port_range`): from here on a port names no service.
const EPHEMERAL_PORTS_FROM: u16 = 32_768;

/// What a switch reads in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where it goes.
    pub destination: MacAddress,
    /// Where it comes from.
    pub source: MacAddress,
    /// VLAN tags, outermost first.
    pub vlan: VlanTags,
    /// What follows the tags.
    pub ether_type: EtherType,
    /// Where that begins, in bytes from the start of the frame.
    pub payload_at: usize,
    /// The IP header, when there is one and its lengths fit the frame.
    pub ip: Option<IpHeader>,
    pub(super) length_bytes: usize,
}

impl Frame {
    /// Reads a frame without check sequence.
    ///
    /// # Errors
    /// [`FrameTooShort`]: it has no whole Ethernet header.
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

    /// An IPv4 or IPv6 frame whose header contradicts itself or the frame's length. It is keyed by its addresses.
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

    /// The service of the flow: the lower of the two ports, unless clients use that one too, and the outer VLAN.
    ///
    /// Both directions of a connection have the same key. A fragment that is not its datagram's first has no ports.
    pub fn service_key(&self) -> ServiceKey {
        let ports = self.ip.and_then(|ip| ip.ports);
        let lower = ports.map_or(0, |ports| ports.source.min(ports.destination));
        ServiceKey {
            port: if lower < EPHEMERAL_PORTS_FROM { lower } else { 0 },
            vlan: self.vlan.outer.map_or(0, |tag| tag.identifier),
        }
    }

    /// Bytes behind the last header that was read, padding not counted.
    ///
    /// Only IP and frames with a length instead of a type say where their payload ends; in all others padding cannot
    /// be told from payload, and is counted.
    pub fn payload_bytes(&self) -> usize {
        match self.ip {
            Some(ip) => ip.payload_bytes,
            None => self.body_bytes(),
        }
    }

    /// Bytes behind the end of what the headers announce, without check sequence.
    pub fn padding_bytes(&self) -> usize {
        self.length_bytes - self.payload_at - self.ip.map_or(self.body_bytes(), |ip| ip.datagram_bytes)
    }

    /// What follows the Ethernet header, without the padding of frames with a length instead of a type.
    fn body_bytes(&self) -> usize {
        let present = self.length_bytes - self.payload_at;
        self.ether_type.length().map_or(present, |length| length.min(present))
    }
}
