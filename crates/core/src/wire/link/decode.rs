//! From bytes to shims and inner frame.

use super::format::{
    FIXED_BYTES, HAS_INNER, INNER_LENGTH_BYTES, LinkFormat, LinkFrame, SHIM_COUNT_MASK, TYPE_AT, VERSION,
};
use super::headers::LinkHeaderSet;
use super::refusal::Refusal;
use crate::wire::frame::{ETHERNET_HEADER_BYTES, EtherType, MINIMUM_BYTES, MacAddress};
use crate::wire::shim::ShimStack;

/// Up to this length bytes behind the end are padding; an adapter may add a check sequence's worth to the minimum.
const PADDED_BYTES_MAX: usize = MINIMUM_BYTES + 4;

impl LinkFormat {
    /// Reads a frame of the link, whose headers are among the `spoken`. Allocates nothing; the work is bounded by the
    /// format.
    ///
    /// # Errors
    /// [`Refusal`]: why it is not taken.
    pub fn decode<'a>(&self, spoken: &LinkHeaderSet, bytes: &'a [u8]) -> Result<LinkFrame<'a>, Refusal> {
        self.check_ethernet(bytes)?;
        let [version, counts] =
            *bytes[ETHERNET_HEADER_BYTES..].first_chunk::<FIXED_BYTES>().ok_or(Refusal::Truncated)?;
        if version != VERSION {
            return Err(Refusal::Version);
        }
        if counts & !(HAS_INNER | SHIM_COUNT_MASK) != 0 {
            return Err(Refusal::ReservedBits);
        }
        let mut rest = &bytes[ETHERNET_HEADER_BYTES + FIXED_BYTES..];
        let shims = take_shims(spoken, counts & SHIM_COUNT_MASK, &mut rest)?;
        let inner = if counts & HAS_INNER == 0 { None } else { Some(take_inner(&mut rest)?) };
        if !rest.is_empty() && bytes.len() > PADDED_BYTES_MAX {
            return Err(Refusal::TrailingBytes);
        }
        spoken.check(&shims, inner.is_some())?;
        Ok(LinkFrame { shims, inner })
    }

    fn check_ethernet(&self, bytes: &[u8]) -> Result<(), Refusal> {
        let header: &[u8; ETHERNET_HEADER_BYTES] = bytes.first_chunk().ok_or(Refusal::Truncated)?;
        let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, ..] = *header;
        let (to, from) = (MacAddress([d0, d1, d2, d3, d4, d5]), MacAddress([s0, s1, s2, s3, s4, s5]));
        if EtherType(u16::from_be_bytes([header[TYPE_AT], header[TYPE_AT + 1]])) != self.ether_type {
            return Err(Refusal::OtherType);
        }
        let is_for_us = to.is_group() || to == self.local;
        let is_from_them = self.remote.is_group() || from == self.remote;
        if is_for_us && is_from_them { Ok(()) } else { Err(Refusal::OtherAddress) }
    }
}

fn take_shims(spoken: &LinkHeaderSet, count: u8, rest: &mut &[u8]) -> Result<ShimStack, Refusal> {
    let mut shims = ShimStack::default();
    for _ in 0..count {
        let (&code, behind) = rest.split_first().ok_or(Refusal::Truncated)?;
        *rest = &behind[spoken.parse(code, behind, &mut shims)?..];
    }
    Ok(shims)
}

fn take_inner<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Refusal> {
    let (length, behind) = rest.split_first_chunk::<INNER_LENGTH_BYTES>().ok_or(Refusal::Truncated)?;
    let length = usize::from(u16::from_be_bytes(*length));
    if length < ETHERNET_HEADER_BYTES || length > behind.len() {
        return Err(Refusal::InnerLength);
    }
    let (inner, padding) = behind.split_at(length);
    *rest = padding;
    Ok(inner)
}
