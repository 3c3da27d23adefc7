//! Ethernet: lengths, addresses, VLAN tags and the EtherType.

use std::fmt;

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Returns whether this is a group address; the broadcast address is one (IEEE 802, clause 8.4: the first bit
    /// sent).
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The type of a frame's payload; a value below 1,536 is the length of an IEEE 802.3 frame instead.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    pub const IPV4: Self = Self(0x0800);
    pub const ARP: Self = Self(0x0806);
    pub const IPV6: Self = Self(0x86dd);
    /// Customer VLAN tag (IEEE 802.1Q).
    pub const VLAN: Self = Self(0x8100);
    /// Service VLAN tag (IEEE 802.1ad, "QinQ").
    pub const SERVICE_VLAN: Self = Self(0x88a8);
    /// Service VLAN tag of equipment older than IEEE 802.1ad.
    pub const OLD_SERVICE_VLAN: Self = Self(0x9100);
    /// First of the two types for local experiments (IEEE 802, clause 9.2.4).
    pub const EXPERIMENTAL_1: Self = Self(0x88b5);
    /// Minimum value of a type; smaller values are lengths (IEEE 802.3, clause 3.2.6).
    pub const LEAST: Self = Self(0x0600);

    const fn is_vlan(self) -> bool {
        matches!(self, Self::VLAN | Self::SERVICE_VLAN | Self::OLD_SERVICE_VLAN)
    }

    /// The length, if the field holds one instead of a type.
    pub const fn length(self) -> Option<usize> {
        if self.0 < Self::LEAST.0 { Some(self.0 as usize) } else { None }
    }
}

impl fmt::Display for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:04x}", self.0)
    }
}

impl fmt::Debug for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The control information of a VLAN tag (IEEE 802.1Q, clause 9.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VlanTag {
    /// Priority code point, 0-7.
    pub priority: u8,
    /// Drop eligible indicator: dropped before others in congestion.
    pub is_drop_eligible: bool,
    /// VLAN identifier, 0-4095; 0 for a tag that carries only a priority.
    pub identifier: u16,
}

impl VlanTag {
    const fn from_bits(bits: u16) -> Self {
        Self { priority: (bits >> 13) as u8, is_drop_eligible: bits & 0x1000 != 0, identifier: bits & 0x0fff }
    }
}

/// Up to two tags. A third is not read: the frame then has the type of a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VlanTags {
    /// The first on the wire.
    pub outer: Option<VlanTag>,
    pub inner: Option<VlanTag>,
}

/// Error: the frame does not contain a whole Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTooShort {
    pub bytes: usize,
}

impl fmt::Display for FrameTooShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes } = self;
        write!(
            f,
            "a frame of {bytes} bytes has no whole Ethernet header ({ETHERNET_HEADER_BYTES} bytes; frames on a "
        )?;
        write!(f, "link have at least {MINIMUM_BYTES})")
    }
}

impl std::error::Error for FrameTooShort {}

/// Everything before the payload.
pub struct Header {
    pub destination: MacAddress,
    pub source: MacAddress,
    pub vlan: VlanTags,
    pub ether_type: EtherType,
    pub payload_at: usize,
}

impl Header {
    pub fn parse(bytes: &[u8]) -> Result<Self, FrameTooShort> {
        let too_short = FrameTooShort { bytes: bytes.len() };
        let fixed: &[u8; ETHERNET_HEADER_BYTES] = bytes.first_chunk().ok_or(too_short)?;
        let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, high, low] = *fixed;
        let mut header = Self {
            destination: MacAddress([d0, d1, d2, d3, d4, d5]),
            source: MacAddress([s0, s1, s2, s3, s4, s5]),
            vlan: VlanTags::default(),
            ether_type: EtherType(u16::from_be_bytes([high, low])),
            payload_at: ETHERNET_HEADER_BYTES,
        };
        header.vlan.outer = header.take_tag(bytes);
        if header.vlan.outer.is_some() {
            header.vlan.inner = header.take_tag(bytes);
        }
        Ok(header)
    }

    /// Steps over a tag, if one comes next and is complete.
    fn take_tag(&mut self, bytes: &[u8]) -> Option<VlanTag> {
        if !self.ether_type.is_vlan() {
            return None;
        }
        let [control_high, control_low, type_high, type_low] = array(bytes, self.payload_at)?;
        self.ether_type = EtherType(u16::from_be_bytes([type_high, type_low]));
        self.payload_at += 4;
        Some(VlanTag::from_bits(u16::from_be_bytes([control_high, control_low])))
    }
}

/// Destination, source and EtherType.
pub const ETHERNET_HEADER_BYTES: usize = 14;
/// Minimum length of an Ethernet frame without its check sequence (IEEE 802.3, clause 4A.4.2); shorter frames are
/// padded.
pub const MINIMUM_BYTES: usize = 60;
/// Length of the frame check sequence. Frames here do not contain it, but every length on a link counts it.
pub const CHECK_SEQUENCE_BYTES: usize = 4;

/// Converts the length of a frame to [`crate::wire::Packet::frame_bytes`]: pads it to the minimum and adds the check
/// sequence.
///
/// A veth pair delivers short frames unpadded; on an Ethernet link they have at least this length.
pub const fn frame_bytes(length_bytes: usize) -> u32 {
    let padded = if length_bytes < MINIMUM_BYTES { MINIMUM_BYTES } else { length_bytes };
    (padded + CHECK_SEQUENCE_BYTES) as u32
}

/// Reads `N` bytes at offset `at`.
#[inline]
pub fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Reads a 16-bit number in network order.
#[inline]
pub fn word(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_be_bytes)
}
