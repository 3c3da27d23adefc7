//! What SQR writes on the packets it keeps (section III-F). It never leaves the switch.

use crate::packet::PortId;
use crate::shim::{Shim, ShimKind};

/// The metadata of a packet in SQR's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheMetadata {
    /// Position among the protected packets of the primary port (PktTag); wraps.
    pub tag: u32,
    /// Clock at which the packet was sent, or kept back (StartEgressTstamp): the low bits of nanoseconds.
    pub started_ns: u32,
    /// The port by which the packet would leave (PrimaryPort).
    pub primary: PortId,
    /// The only copy that exists: the packet was kept back because its port was down or others were before it.
    pub is_kept_back: bool,
    /// Where the order is to go on when nothing answers for the tags before it.
    pub skip: Option<Skip>,
}

/// A run of tags that nobody has any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The first of them.
    pub from: u32,
    /// The first that somebody has.
    pub to: u32,
}

impl Shim for CacheMetadata {
    const KIND: ShimKind = ShimKind::SqrCache;
    const BYTES: usize = 19;
    const WIRE_BYTES: u32 = 0;

    fn emit(&self, bytes: &mut [u8]) {
        let skip = self.skip.unwrap_or(Skip { from: 0, to: 0 });
        bytes[0..4].copy_from_slice(&self.tag.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.started_ns.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.primary.0.to_be_bytes());
        bytes[10] = u8::from(self.is_kept_back) | u8::from(self.skip.is_some()) << 1;
        bytes[11..15].copy_from_slice(&skip.from.to_be_bytes());
        bytes[15..19].copy_from_slice(&skip.to.to_be_bytes());
    }

    fn parse(bytes: &[u8]) -> Self {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            tag: word(0),
            started_ns: word(4),
            primary: PortId(u16::from_be_bytes([bytes[8], bytes[9]])),
            is_kept_back: bytes[10] & 1 == 1,
            skip: (bytes[10] & 2 == 2).then(|| Skip { from: word(11), to: word(15) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_emitted_is_parsed() {
        let plain =
            CacheMetadata { tag: u32::MAX, started_ns: 7, primary: PortId(300), is_kept_back: true, skip: None };
        let skipping = CacheMetadata { is_kept_back: false, skip: Some(Skip { from: u32::MAX, to: 3 }), ..plain };
        for metadata in [plain, skipping] {
            let mut bytes = [0; CacheMetadata::BYTES];
            metadata.emit(&mut bytes);
            assert_eq!(CacheMetadata::parse(&bytes), metadata);
        }
    }
}
