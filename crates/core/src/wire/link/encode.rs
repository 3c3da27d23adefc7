//! From shims and inner frame to bytes.

use std::fmt;

use super::format::{FIXED_BYTES, HAS_INNER, INNER_BYTES_MAX, INNER_LENGTH_BYTES, LinkFormat, VERSION};
use super::headers::{LinkHeaderSet, is_for_observers};
use super::refusal::Refusal;
use crate::wire::frame::{ETHERNET_HEADER_BYTES, MINIMUM_BYTES};
use crate::wire::shim::{ShimId, ShimStack};

/// Why a frame cannot be put on the link: the switch, not the other end, did something wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotEncode {
    /// A header that the ends of the link do not speak, such as metadata that must not leave the switch.
    Internal(ShimId),
    /// The other end would refuse it.
    Illegal(Refusal),
    /// The inner frame is shorter than an Ethernet header or longer than [`INNER_BYTES_MAX`].
    InnerLength(usize),
    /// The buffer is too small.
    NoRoom {
        /// Bytes that the frame takes.
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
    /// Writes a frame with `shims`, all among the `spoken`, that carries `inner`, a frame without check sequence, or
    /// nothing; returns its length, at least 60 bytes.
    ///
    /// What is for observers only is left out: no room is counted for it.
    ///
    /// # Errors
    /// [`CannotEncode`]; `out` may have been written to.
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

/// Fills a slice from its beginning on; it is as long as what will be written.
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
