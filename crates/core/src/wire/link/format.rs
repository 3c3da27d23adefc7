//! The layout of a frame of the link, and how much room it takes.

use crate::wire::frame::{ETHERNET_HEADER_BYTES, EtherType, MINIMUM_BYTES, MacAddress};
use crate::wire::shim::ShimStack;

/// The version of the format.
pub const VERSION: u8 = 1;

/// Version, and number of shims.
pub(super) const FIXED_BYTES: usize = 2;
pub(super) const INNER_LENGTH_BYTES: usize = 2;
pub(super) const SHIM_COUNT_MASK: u8 = 0x0f;
pub(super) const HAS_INNER: u8 = 0x80;
pub(super) const TYPE_AT: usize = 12;

/// The most with any headers that a packet may bear.
pub const ADDED_BYTES_WITH_ALL_SHIMS: usize =
    ETHERNET_HEADER_BYTES + FIXED_BYTES + ShimStack::CAPACITY_BYTES + INNER_LENGTH_BYTES;

/// What is reserved for headers in the MTU: two of three bytes, each behind its number. A link that is protected has
/// as many on a packet.
const HEADER_BYTES_RESERVED: usize = 2 * (1 + 3);

/// What lies behind the Ethernet header, and so counts against the MTU.
const PAYLOAD_BYTES_ADDED_MAX: usize = FIXED_BYTES + HEADER_BYTES_RESERVED + INNER_LENGTH_BYTES;

/// The longest inner frame: what two bytes of length can say.
pub const INNER_BYTES_MAX: usize = u16::MAX as usize;

/// The MTU for hosts whose frames cross a link between interfaces of MTU `outer_mtu`, if they have `vlan_tags` tags at
/// most: what is left of it for the inner frame's payload when the inner frame's own Ethernet header, its tags, and
/// this format's bytes behind the outer Ethernet header are taken off. `None` when nothing is left.
///
/// 1,500 leaves 1,474 for untagged frames: 1,500 - 12 (version and count 2, data 4, acknowledgement 4, length 2) - 14.
pub const fn inner_mtu(outer_mtu: usize, vlan_tags: usize) -> Option<usize> {
    match outer_mtu.checked_sub(PAYLOAD_BYTES_ADDED_MAX + ETHERNET_HEADER_BYTES + 4 * vlan_tags) {
        Some(0) | None => None,
        some => some,
    }
}

/// The MTU that the interfaces of the link need for hosts with MTU `inner_mtu` and at most `vlan_tags` tags: the
/// inverse of [`inner_mtu`].
pub const fn outer_mtu(inner_mtu: usize, vlan_tags: usize) -> usize {
    inner_mtu + PAYLOAD_BYTES_ADDED_MAX + ETHERNET_HEADER_BYTES + 4 * vlan_tags
}

/// One end's notion of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFormat {
    /// The type of the link's frames.
    pub ether_type: EtherType,
    /// The address of this end.
    pub local: MacAddress,
    /// The address of the other end, or a group address where it is not known; then frames from any are taken.
    pub remote: MacAddress,
}

/// What came in a frame of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFrame<'a> {
    /// The shims, checked.
    pub shims: ShimStack,
    /// The frame that it carries, at least an Ethernet header long.
    pub inner: Option<&'a [u8]>,
}

const _: () = assert!(MINIMUM_BYTES > ETHERNET_HEADER_BYTES + FIXED_BYTES);
