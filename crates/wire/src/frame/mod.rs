//! Real Ethernet frames: what a switch reads in one, and the one thing that it writes into it.
//!
//! [`Frame::parse`] goes through a frame once, without allocating, and answers what the switch model needs; any bytes
//! may come, and none make it panic. What it cannot read it does not guess: such a frame keeps its addresses and its
//! type, which is enough to forward it and to keep its order. [`mark_ce`] writes the mark of congestion.
//!
//! A frame here runs from the destination address to the end of the payload or padding: a packet socket shows no
//! frame check sequence. [`Packet::frame_bytes`] counts it all the same; see [`frame_bytes`].

mod bytes;
mod ethernet;
mod flow;
mod ip;
mod mark;
mod priority;

use crate::packet::{Ecn, Packet, ServiceKey};

pub use ethernet::{EtherType, FrameTooShort, MacAddress, VlanTag, VlanTags};
pub use flow::{FlowHashSeed, FlowKey};
pub use ip::{Fragment, IpHeader, Ports};
pub use mark::mark_ce;
pub use priority::rank_of_dscp;

/// Destination, source and EtherType.
pub const ETHERNET_HEADER_BYTES: usize = 14;
/// The shortest Ethernet frame without its check sequence (IEEE 802.3, clause 4A.4.2); shorter ones are padded.
pub const MINIMUM_BYTES: usize = 60;
/// The frame check sequence, which no frame here contains and every length on a link counts.
pub const CHECK_SEQUENCE_BYTES: usize = 4;

/// The first port that Linux gives to clients (`net.ipv4.ip_local_port_range`): from here on a port names no service.
const EPHEMERAL_PORTS_FROM: u16 = 32_768;

/// What [`Packet::frame_bytes`] has to be for a frame of so many bytes: padded to the minimum, check sequence added.
///
/// A veth pair hands short frames over unpadded; on an Ethernet link they would not be shorter than this.
pub const fn frame_bytes(length_bytes: usize) -> u32 {
    let padded = if length_bytes < MINIMUM_BYTES { MINIMUM_BYTES } else { length_bytes };
    (padded + CHECK_SEQUENCE_BYTES) as u32
}

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
    length_bytes: usize,
}

impl Frame {
    /// Reads a frame without check sequence.
    ///
    /// # Errors
    /// [`FrameTooShort`]: it has no whole Ethernet header.
    pub fn parse(bytes: &[u8]) -> Result<Self, FrameTooShort> {
        let header = ethernet::Header::parse(bytes)?;
        let payload = &bytes[header.payload_at..];
        let ip = match header.ether_type {
            EtherType::IPV4 => ip::parse_ipv4(payload),
            EtherType::IPV6 => ip::parse_ipv6(payload),
            _ => None,
        };
        let ethernet::Header { destination, source, vlan, ether_type, payload_at } = header;
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

    /// What the frame's flow is told by: see [`FlowKey`].
    pub fn flow_key(&self) -> FlowKey {
        FlowKey::of(self)
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

    /// The descriptor of this frame: length, class, ECN and hash. What only a fabric knows (hosts, flow, ports of the
    /// switch) is left as it is by default. Its hops are those of switches and not of routers, so the packet begins with
    /// all of them: a frame whose IP hop limit is 1 crosses a switch like any other.
    pub fn describe(&self, seed: FlowHashSeed) -> Packet {
        Packet {
            frame_bytes: frame_bytes(self.length_bytes),
            flow_hash: self.flow_key().hash(seed),
            class: self.class(),
            ecn: self.ecn(),
            ttl: Packet::INITIAL_TTL,
            ..Packet::default()
        }
    }

    /// What follows the Ethernet header, without the padding of frames with a length instead of a type.
    fn body_bytes(&self) -> usize {
        let present = self.length_bytes - self.payload_at;
        self.ether_type.length().map_or(present, |length| length.min(present))
    }
}
