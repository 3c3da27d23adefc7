//! SQR's metadata on the packets it keeps (section III-F). It never leaves the switch.

use hitless_core::wire::packet::PortId;
use hitless_core::wire::shim::{Shim, ShimId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct CacheMetadata {
    /// Position among the protected packets of the primary port (PktTag); wraps.
    pub tag: u32,
    /// Clock when the packet was sent or kept back (StartEgressTstamp): the low bits of nanoseconds.
    pub started_ns: u32,
    /// The original egress port (PrimaryPort), below [`Self::PORTS`].
    pub primary: PortId,
    /// Whether this is the only copy: the packet was kept back because its port was down or others were before it.
    pub is_kept_back: bool,
    /// The tags to step over if no copy answers for them.
    pub skip: Option<Skip>,
}

/// A run of tags without a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Skip {
    /// The first tag of the run.
    pub from: u32,
    /// The first tag after the run.
    pub to: u32,
}

impl CacheMetadata {
    pub const PORTS: u16 = 1 << 14;
    const IS_KEPT_BACK: u16 = 1 << 15;
    const HAS_SKIP: u16 = 1 << 14;
}

impl Skip {
    /// The maximum length; the order steps over a longer run in parts.
    pub const LONGEST: u32 = (1 << 24) - 1;
}

/// On the wire a skip is its first tag and its length in 24 bits.
impl Shim for CacheMetadata {
    const ID: ShimId = ShimId::new(17, 0);
    const WIRE_BYTES: u32 = 0;

    fn emit(&self, bytes: &mut [u8]) {
        assert!(self.primary.0 < Self::PORTS, "a cached packet's port fits the field beside its flags");
        let flag = |is_set: bool, flag: u16| if is_set { flag } else { 0 };
        let flags = flag(self.is_kept_back, Self::IS_KEPT_BACK) | flag(self.skip.is_some(), Self::HAS_SKIP);
        let skip = self.skip.unwrap_or(Skip { from: 0, to: 0 });
        let length = skip.to.wrapping_sub(skip.from).min(Skip::LONGEST);
        bytes[0..4].copy_from_slice(&self.tag.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.started_ns.to_be_bytes());
        bytes[8..10].copy_from_slice(&(self.primary.0 | flags).to_be_bytes());
        bytes[10..14].copy_from_slice(&skip.from.to_be_bytes());
        bytes[14..17].copy_from_slice(&length.to_be_bytes()[1..]);
    }

    fn parse(bytes: &[u8]) -> Self {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let port = u16::from_be_bytes([bytes[8], bytes[9]]);
        let from = word(10);
        // The word begins with the last byte of `from`, which the mask removes.
        let to = from.wrapping_add(word(13) & Skip::LONGEST);
        Self {
            tag: word(0),
            started_ns: word(4),
            primary: PortId(port & (Self::PORTS - 1)),
            is_kept_back: port & Self::IS_KEPT_BACK != 0,
            skip: (port & Self::HAS_SKIP != 0).then_some(Skip { from, to }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(metadata: &CacheMetadata) -> CacheMetadata {
        let mut bytes = [0; CacheMetadata::BYTES];
        metadata.emit(&mut bytes);
        CacheMetadata::parse(&bytes)
    }

    #[test]
    fn what_is_emitted_is_parsed() {
        let plain =
            CacheMetadata { tag: u32::MAX, started_ns: 7, primary: PortId(300), is_kept_back: true, skip: None };
        let skipping = CacheMetadata { is_kept_back: false, skip: Some(Skip { from: u32::MAX, to: 3 }), ..plain };
        let last = CacheMetadata { primary: PortId(CacheMetadata::PORTS - 1), ..skipping };
        for metadata in [plain, skipping, last] {
            assert_eq!(again(&metadata), metadata);
        }
    }

    #[test]
    fn a_skip_that_is_too_long_is_taken_in_steps() {
        let plain = CacheMetadata { tag: 9, started_ns: 7, primary: PortId(1), is_kept_back: true, skip: None };
        for (length, kept) in [(Skip::LONGEST, Skip::LONGEST), (Skip::LONGEST + 1, Skip::LONGEST)] {
            let skip = |length: u32| Some(Skip { from: u32::MAX - 1, to: (u32::MAX - 1).wrapping_add(length) });
            let metadata = CacheMetadata { skip: skip(length), ..plain };
            assert_eq!(again(&metadata), CacheMetadata { skip: skip(kept), ..plain });
        }
    }
}
