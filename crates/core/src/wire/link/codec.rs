//! From bytes to shims and inner frame, and back.

use std::fmt;

use super::format::{
    FIXED_BYTES, HAS_INNER, INNER_BYTES_MAX, INNER_LENGTH_BYTES, LinkFormat, LinkFrame, SHIM_COUNT_MASK, TYPE_AT,
    VERSION,
};
use super::headers::{LinkHeaderSet, is_for_observers};
use super::refusal::Refusal;
use crate::wire::frame::{ETHERNET_HEADER_BYTES, EtherType, MINIMUM_BYTES, MacAddress};
use crate::wire::shim::{Shim, ShimId, ShimStack};
use crate::wire::trimmed::Trimmed;

/// Maximum frame length at which trailing bytes count as padding; an adapter can add a check sequence's length to the
/// minimum.
const PADDED_BYTES_MAX: usize = MINIMUM_BYTES + 4;

impl LinkFormat {
    /// Decodes a frame of the link with headers among the `spoken`. It allocates nothing, and the format bounds the
    /// work.
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

/// The kind of a header without a number on links, in captures of a simulation only.
const CAPTURED_ONLY: u8 = 127;

/// The reason why a frame cannot be put on the link: a bug in this switch, not in the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotEncode {
    /// A header that the ends of the link do not speak, such as metadata that must not leave the switch.
    Internal(ShimId),
    /// The other end would reject the frame.
    Illegal(Refusal),
    /// The inner frame is shorter than an Ethernet header or longer than [`INNER_BYTES_MAX`].
    InnerLength(usize),
    NoRoom {
        needed_bytes: usize,
    },
}

impl fmt::Display for CannotEncode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Internal(id) => write!(
                f,
                "{id:?} cannot leave the switch: it is metadata of its own, or nothing at the other end reads it"
            ),
            Self::Illegal(refusal) => write!(f, "the other end would refuse the frame: {refusal}"),
            Self::InnerLength(bytes) => {
                write!(
                    f,
                    "a frame of {bytes} bytes cannot be carried: from {ETHERNET_HEADER_BYTES} to {INNER_BYTES_MAX} can"
                )
            }
            Self::NoRoom { needed_bytes } => {
                write!(f, "the frame takes {needed_bytes} bytes, more than there is room for")
            }
        }
    }
}

impl std::error::Error for CannotEncode {}

impl LinkFormat {
    /// Encodes a frame with `shims`, all among the `spoken`, and optionally `inner`, a frame without check sequence.
    /// Returns the length, at least 60 bytes.
    ///
    /// Shims for observers are left out and take no room.
    ///
    /// # Errors
    /// [`CannotEncode`]; `out` can be partly written.
    pub fn encode(
        &self,
        spoken: &LinkHeaderSet,
        shims: &ShimStack,
        inner: Option<&[u8]>,
        out: &mut [u8],
    ) -> Result<usize, CannotEncode> {
        let needed_bytes = check(spoken, shims, inner)?;
        let mut writer = Writer { out: out.get_mut(..needed_bytes).ok_or(CannotEncode::NoRoom { needed_bytes })? };
        writer.put(&self.remote.0);
        writer.put(&self.local.0);
        writer.put(&self.ether_type.0.to_be_bytes());
        let has_inner = if inner.is_some() { HAS_INNER } else { 0 };
        writer.put(&[VERSION, has_inner | spoken.codes(shims).count() as u8]);
        for (code, bytes) in spoken.codes(shims) {
            writer.put(&[code]);
            writer.put(bytes);
        }
        if let Some(inner) = inner {
            writer.put(&(inner.len() as u16).to_be_bytes());
            writer.put(inner);
        }
        writer.out.fill(0);
        Ok(needed_bytes)
    }
}

/// Appends everything of a frame of the link between its addresses and its inner frame, for a capture. Unlike
/// [`LinkFormat::encode`] it takes any combination of headers; one without a number on links has kind
/// [`CAPTURED_ONLY`] and its identifier before its bytes. Returns false and appends nothing if a packet has no headers.
pub fn put_captured(spoken: &LinkHeaderSet, shims: &ShimStack, inner_bytes: Option<u32>, out: &mut Vec<u8>) -> bool {
    let is_hidden = |id: ShimId| is_for_observers(id) || id == Trimmed::ID;
    let count = shims.iter().filter(|&(id, _)| !is_hidden(id)).count() as u8;
    if count == 0 && inner_bytes.is_some() {
        return false;
    }
    out.extend(EtherType::EXPERIMENTAL_1.0.to_be_bytes());
    out.extend([VERSION, count | if inner_bytes.is_some() { HAS_INNER } else { 0 }]);
    for (id, bytes) in shims.iter().filter(|&(id, _)| !is_hidden(id)) {
        match spoken.code_of(id) {
            Some(code) => out.push(code),
            None => out.extend([CAPTURED_ONLY, id.number()]),
        }
        out.extend(bytes);
    }
    out.extend(inner_bytes.iter().flat_map(|&bytes| (bytes as u16).to_be_bytes()));
    true
}

/// Applies the rules of the other end, and returns the length of the frame.
fn check(spoken: &LinkHeaderSet, shims: &ShimStack, inner: Option<&[u8]>) -> Result<usize, CannotEncode> {
    let mut on_link = ShimStack::default();
    let mut needed_bytes = ETHERNET_HEADER_BYTES + FIXED_BYTES;
    for (id, bytes) in shims.iter().filter(|&(id, _)| !is_for_observers(id)) {
        let code = spoken.code_of(id).ok_or(CannotEncode::Internal(id))?;
        needed_bytes += 1 + spoken.parse(code, bytes, &mut on_link).map_err(CannotEncode::Illegal)?;
    }
    spoken.check(&on_link, inner.is_some()).map_err(CannotEncode::Illegal)?;
    if let Some(inner) = inner {
        if !(ETHERNET_HEADER_BYTES..=INNER_BYTES_MAX).contains(&inner.len()) {
            return Err(CannotEncode::InnerLength(inner.len()));
        }
        needed_bytes += INNER_LENGTH_BYTES + inner.len();
    }
    Ok(needed_bytes.max(MINIMUM_BYTES))
}

/// Fills a slice from its start; the slice has exactly the length of the frame.
struct Writer<'a> {
    out: &'a mut [u8],
}

impl Writer<'_> {
    fn put(&mut self, part: &[u8]) {
        let (here, rest) = std::mem::take(&mut self.out).split_at_mut(part.len());
        here.copy_from_slice(part);
        self.out = rest;
    }
}
