//! The layout of a frame of the link, and its overhead.

use crate::wire::frame::{ETHERNET_HEADER_BYTES, EtherType, MINIMUM_BYTES, MacAddress};
use crate::wire::shim::ShimStack;

pub const VERSION: u8 = 1;

/// Version, and number of shims.
pub(super) const FIXED_BYTES: usize = 2;
pub(super) const INNER_LENGTH_BYTES: usize = 2;
pub(super) const SHIM_COUNT_MASK: u8 = 0x0f;
pub(super) const HAS_INNER: u8 = 0x80;
pub(super) const TYPE_AT: usize = 12;

/// Maximum number of bytes added, with any headers that a packet can carry.
pub const ADDED_BYTES_WITH_ALL_SHIMS: usize =
    ETHERNET_HEADER_BYTES + FIXED_BYTES + ShimStack::CAPACITY_BYTES + INNER_LENGTH_BYTES;

/// Bytes reserved for headers in the MTU: two headers of three bytes, each preceded by its number. A packet on a
/// protected link carries at most these.
const HEADER_BYTES_RESERVED: usize = 2 * (1 + 3);

/// Bytes added after the Ethernet header, which count against the MTU.
const PAYLOAD_BYTES_ADDED_MAX: usize = FIXED_BYTES + HEADER_BYTES_RESERVED + INNER_LENGTH_BYTES;

/// Maximum length of the inner frame, as its length field has two bytes.
pub const INNER_BYTES_MAX: usize = u16::MAX as usize;

/// Returns the MTU for hosts if their frames cross a link between interfaces of MTU `outer_mtu` with at most
/// `vlan_tags` tags. It subtracts the inner frame's Ethernet header and tags, and this format's bytes after the outer
/// Ethernet header. `None` if nothing remains.
///
/// 1,500 leaves 1,474 for untagged frames: 1,500 - 12 (version and count 2, data 4, acknowledgement 4, length 2) - 14.
pub const fn inner_mtu(outer_mtu: usize, vlan_tags: usize) -> Option<usize> {
    match outer_mtu.checked_sub(PAYLOAD_BYTES_ADDED_MAX + ETHERNET_HEADER_BYTES + 4 * vlan_tags) {
        Some(0) | None => None,
        some => some,
    }
}

/// Returns the MTU that the interfaces of the link need for hosts with MTU `inner_mtu` and at most `vlan_tags` tags:
/// the inverse of [`inner_mtu`].
pub const fn outer_mtu(inner_mtu: usize, vlan_tags: usize) -> usize {
    inner_mtu + PAYLOAD_BYTES_ADDED_MAX + ETHERNET_HEADER_BYTES + 4 * vlan_tags
}

/// The parameters of the link at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFormat {
    pub ether_type: EtherType,
    pub local: MacAddress,
    /// Address of the other end, or a group address if it is unknown; then frames from any address are accepted.
    pub remote: MacAddress,
}

/// The contents of a frame of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFrame<'a> {
    /// The shims, already validated.
    pub shims: ShimStack,
    /// The inner frame, at least as long as an Ethernet header.
    pub inner: Option<&'a [u8]>,
}

const _: () = assert!(MINIMUM_BYTES > ETHERNET_HEADER_BYTES + FIXED_BYTES);
