//! Ethernet, IPv4 and the headers of mechanisms around a transport.

use crate::wire::checksum::ones_complement_sum;
use crate::wire::frame::{CHECK_SEQUENCE_BYTES, EtherType, MINIMUM_BYTES, MacAddress};
use crate::wire::link::{LinkHeaderSet, put_captured};
use crate::wire::mac_control::PauseFrame;
use crate::wire::packet::{HostId, Packet};

/// Protocol numbers of IPv4.
pub mod protocol {
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
}

pub const IPV4_BYTES: u32 = 20;
pub const UDP_BYTES: u32 = 8;
pub const UDP_CHECKSUM_AT: usize = 6;
const MAC_CONTROL: u16 = 0x8808;
/// Destination of pause frames (IEEE 802.1Qbb; IEEE 802.3, annex 31B).
const PAUSE_ADDRESS: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 1];
const PRIORITY_PAUSE: u16 = 0x0101;

/// A frame from its destination address to its end, without check sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameBytes {
    pub head: Vec<u8>,
    /// Zeros after the headers; in a real frame, the omitted payload.
    pub payload_bytes: u32,
    /// Bytes after the payload: RoCEv2's check sum.
    pub tail: Vec<u8>,
    /// Zeros at the end.
    pub padding_bytes: u32,
    /// Length that the simulator counts, without check sequence.
    pub counted_bytes: u32,
}

impl FrameBytes {
    /// The bytes of a real frame. Without `is_whole` only the first `header_bytes` are kept.
    pub fn of(bytes: &[u8], header_bytes: usize, is_whole: bool) -> Self {
        let kept_bytes = if is_whole { bytes.len() } else { header_bytes.min(bytes.len()) };
        let (head, payload_bytes) = (bytes[..kept_bytes].to_vec(), (bytes.len() - kept_bytes) as u32);
        Self { head, payload_bytes, counted_bytes: bytes.len() as u32, ..Self::default() }
    }

    pub fn length_bytes(&self) -> u32 {
        (self.head.len() + self.tail.len()) as u32 + self.payload_bytes + self.padding_bytes
    }

    /// Number of bytes that a capture keeps: all, or the headers of a frame with payload.
    pub fn kept_bytes(&self, is_whole: bool) -> u32 {
        if is_whole || self.payload_bytes == 0 { self.length_bytes() } else { self.head.len() as u32 }
    }

    pub fn put(&self, is_whole: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        if is_whole || self.payload_bytes == 0 {
            out.resize(out.len() + self.payload_bytes as usize, 0);
            out.extend_from_slice(&self.tail);
            out.resize(out.len() + self.padding_bytes as usize, 0);
        }
    }

    /// Pads the frame to the length that the simulator counts, and to Ethernet's minimum.
    fn padded(mut self, counted_bytes: u32) -> Self {
        let wanted_bytes = counted_bytes.max(MINIMUM_BYTES as u32);
        self.padding_bytes = wanted_bytes.saturating_sub(self.length_bytes());
        self.counted_bytes = counted_bytes;
        self
    }
}

pub fn address_of(host: HostId) -> [u8; 4] {
    let [_, a, b, c] = (host.0.wrapping_add(1)).to_be_bytes();
    [10, a, b, c]
}

fn mac_of(host: HostId) -> MacAddress {
    let [a, b, c, d] = address_of(host);
    MacAddress([2, 0, a, b, c, d])
}

/// An IPv4 packet in the making.
pub struct Datagram {
    ethernet: Vec<u8>,
    ends: [[u8; 4]; 2],
    counted_bytes: u32,
    pub protocol: u8,
    /// Headers after IPv4's.
    pub transport: Vec<u8>,
    pub payload_bytes: u32,
    pub tail: Vec<u8>,
}

impl Datagram {
    pub fn new(packet: &Packet, vlan: u16, spoken: &LinkHeaderSet) -> Self {
        let mut ethernet = [mac_of(packet.destination).0, mac_of(packet.source).0].concat();
        if vlan != 0 {
            ethernet.extend(EtherType::VLAN.0.to_be_bytes());
            ethernet.extend((u16::from(packet.class & 7) << 13 | vlan & 0x0fff).to_be_bytes());
        }
        ethernet.extend(EtherType::IPV4.0.to_be_bytes());
        Self {
            ethernet,
            ends: [address_of(packet.source), address_of(packet.destination)],
            counted_bytes: packet.frame_bytes.saturating_sub(spoken.wire_bytes(&packet.shims)),
            protocol: protocol::UDP,
            transport: Vec::new(),
            payload_bytes: 0,
            tail: Vec::new(),
        }
    }

    /// Bytes that a frame of `frame_bytes`, or of the packet's length, has for the transport and its payload.
    pub fn room_bytes(&self, frame_bytes: Option<u32>) -> u32 {
        let around_bytes = (self.ethernet.len() + CHECK_SEQUENCE_BYTES) as u32 + IPV4_BYTES;
        frame_bytes.unwrap_or(self.counted_bytes).saturating_sub(around_bytes)
    }

    /// Sets the transport to UDP with these headers after it; `payload_bytes` is set already.
    pub fn put_udp(&mut self, [source, destination]: [u16; 2], headers: &[u8], tail: &[u8]) {
        let bytes = UDP_BYTES + (headers.len() + tail.len()) as u32 + self.payload_bytes;
        for word in [source, destination, bytes as u16, 0] {
            self.transport.extend(word.to_be_bytes());
        }
        self.transport.extend(headers);
        self.tail.extend(tail);
    }

    fn transport_bytes(&self) -> u32 {
        (self.transport.len() + self.tail.len()) as u32 + self.payload_bytes
    }

    /// Writes the checksum of TCP or UDP at this place of the transport (RFC 9293, section 3.1).
    pub fn put_checksum(&mut self, at: usize) {
        let mut covered = self.ends.concat();
        covered.extend([0, self.protocol]);
        covered.extend((self.transport_bytes() as u16).to_be_bytes());
        covered.extend(&self.transport);
        let checksum = !ones_complement_sum(&covered);
        // RFC 768: a checksum of zero is sent as ones.
        let is_udp = self.protocol == protocol::UDP;
        let checksum = if is_udp && checksum == 0 { u16::MAX } else { checksum };
        self.transport[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    }

    /// The IPv4 header. The packet is atomic, so its identification is 0 (RFC 6864, section 4.1).
    pub fn ipv4(&self, packet: &Packet) -> [u8; IPV4_BYTES as usize] {
        let mut header = [0; IPV4_BYTES as usize];
        header[0] = 0x45;
        header[1] = (packet.class & 7) << 5 | packet.ecn as u8;
        header[2..4].copy_from_slice(&((IPV4_BYTES + self.transport_bytes()) as u16).to_be_bytes());
        header[6] = 0x40;
        header[8] = packet.ttl;
        header[9] = self.protocol;
        header[12..16].copy_from_slice(&self.ends[0]);
        header[16..20].copy_from_slice(&self.ends[1]);
        let checksum = !ones_complement_sum(&header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    }

    /// Writes the frame, with the headers of mechanisms around it if there are any.
    pub fn on_link(self, packet: &Packet, spoken: &LinkHeaderSet) -> FrameBytes {
        let mut head = self.ethernet.clone();
        head.extend(self.ipv4(packet));
        head.extend(&self.transport);
        let Self { payload_bytes, tail, counted_bytes, .. } = self;
        let inner = FrameBytes { head, payload_bytes, tail, ..FrameBytes::default() };
        let inner = inner.padded(counted_bytes.saturating_sub(CHECK_SEQUENCE_BYTES as u32));
        let mut head = self.ethernet[..12].to_vec();
        if !put_captured(spoken, &packet.shims, Some(inner.length_bytes()), &mut head) {
            return inner;
        }
        head.extend(&inner.head);
        FrameBytes { head, counted_bytes: counted_of(packet), ..inner }
    }
}

fn counted_of(packet: &Packet) -> u32 {
    packet.frame_bytes.saturating_sub(CHECK_SEQUENCE_BYTES as u32)
}

/// Writes a frame that a switch has made: a pause frame, or one with only headers of mechanisms. It is addressed to
/// the neighbour; switches have no addresses, so its source is 0.
pub fn control_frame(packet: &Packet, spoken: &LinkHeaderSet) -> FrameBytes {
    let mut head = [PAUSE_ADDRESS, [2, 0, 0, 0, 0, 0]].concat();
    match packet.shims.get::<PauseFrame>() {
        Some(pause) => put_pause(pause, &mut head),
        None => drop(put_captured(spoken, &packet.shims, None, &mut head)),
    }
    FrameBytes { head, ..FrameBytes::default() }.padded(counted_of(packet))
}

/// Writes opcode, enabled classes and their times (IEEE 802.1Q, clause 36).
fn put_pause(pause: PauseFrame, out: &mut Vec<u8>) {
    let class = usize::from(pause.class & 7);
    let mut quanta = [0; 8];
    quanta[class] = pause.quanta;
    let words = [MAC_CONTROL, PRIORITY_PAUSE, 1 << class].into_iter().chain(quanta);
    words.for_each(|word| out.extend(word.to_be_bytes()));
}
