//! Distribution of flows over queues by a hash.

/// Returns a number below `count` for a flow: the salted hash, mixed (the last step of MurmurHash3, 32 bits) and
/// scaled.
#[inline]
pub(super) fn spread(flow_hash: u32, salt: u32, count: u32) -> u32 {
    let mut hash = flow_hash ^ salt.wrapping_mul(0x9e37_79b9);
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    ((u64::from(hash) * u64::from(count)) >> 32) as u32
}
