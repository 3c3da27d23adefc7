//! The identity of a flow: its 5-tuple and the names of its random streams.
//!
//! It depends only on the flow's group and its position in the group. With a counter over all flows of a run, each
//! additional flow would change the paths and random numbers of all later ones.

use std::fmt;

use crate::engine::random::mix;

/// The identity of a flow. The order of identities is random.
///
/// The low 14 bits are its source port above 49,152: 16,384 consecutive flows of a group have different ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct FlowIdentity(u64);

const PORTS: u64 = (1 << 14) - 1;
/// The first of the dynamic ports (RFC 6335, section 6).
const FIRST_PORT: u16 = 0xc000;

impl FlowIdentity {
    /// Identifies the flow at a position (counted from 0) of a group; `group` is a random number of the group.
    pub const fn new(group: u64, position: u64) -> Self {
        let port = group.wrapping_add(position) & PORTS;
        Self(mix(group ^ mix(position)) & !PORTS | port)
    }

    /// Hashes the flow's 5-tuple in one direction. Flows with different low 31 bits have different hashes.
    pub const fn flow_hash(self, is_reverse: bool) -> u32 {
        fmix32((self.0 as u32) << 1 | is_reverse as u32)
    }
}

/// Formats the identity for the names of the flow's random streams.
impl fmt::Display for FlowIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// Recovers the source port of a flow from its [hash](FlowIdentity::flow_hash) in either direction.
pub const fn source_port(flow_hash: u32) -> u16 {
    FIRST_PORT | (unmix32(flow_hash) as u64 >> 1 & PORTS) as u16
}

/// The 32-bit finaliser of MurmurHash3 (Appleby, public domain): a bijection; every input bit affects every output bit.
#[inline]
pub const fn fmix32(value: u32) -> u32 {
    let value = (value ^ (value >> 16)).wrapping_mul(0x85eb_ca6b);
    let value = (value ^ (value >> 13)).wrapping_mul(0xc2b2_ae35);
    value ^ (value >> 16)
}

/// The inverse of [`fmix32`]: its factors are the inverses modulo 2^32.
const fn unmix32(value: u32) -> u32 {
    let value = (value ^ (value >> 16)).wrapping_mul(0x7ed1_b41d);
    let value = (value ^ (value >> 13) ^ (value >> 26)).wrapping_mul(0xa5cb_9243);
    value ^ (value >> 16)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn murmur3_gives_its_published_values_and_is_undone() {
        assert_eq!((fmix32(0), fmix32(1)), (0, 0x514e_28b7));
        for value in (0..1 << 20).map(|number: u32| number.wrapping_mul(0x9e37_79b9)) {
            assert_eq!(unmix32(fmix32(value)), value);
        }
    }

    #[test]
    fn a_group_of_16_384_flows_has_as_many_ports_the_same_both_ways() {
        let flows = (500..500 + 16_384).map(|position| FlowIdentity::new(0x1234_5678_9abc_def0, position));
        let ports: BTreeSet<u16> = flows
            .map(|flow| {
                let [there, back] = [false, true].map(|is_reverse| flow.flow_hash(is_reverse));
                assert_ne!(there, back);
                assert_eq!(source_port(there), source_port(back));
                source_port(there)
            })
            .collect();
        assert_eq!((ports.len(), ports.first()), (16_384, Some(&FIRST_PORT)));
    }

    #[test]
    fn flows_of_two_groups_seldom_have_one_hash() {
        let group = |group: u64| (0..100_000).map(move |position| FlowIdentity::new(group, position));
        let hashes: BTreeSet<u32> = group(7).chain(group(8)).map(|flow| flow.flow_hash(false)).collect();
        // Among 2e10 pairs, one in 2^31 collides: 9 pairs, sigma 3.
        assert!((199_970..200_000).contains(&hashes.len()), "{}", hashes.len());
    }

    #[test]
    fn identities_never_change_between_versions() {
        let flow = FlowIdentity::new(3, 5);
        assert_eq!((flow.to_string().as_str(), flow.flow_hash(false)), ("67e07ea6e630c008", 1_869_400_691));
    }
}
