//! The flow key of a frame, its hash, and the descriptor of a frame.

use std::net::IpAddr;

use super::ethernet::{EtherType, MacAddress, frame_bytes};
use super::ip::{Fragment, Ports, protocol};
use super::parse::Frame;
use crate::wire::packet::Packet;

/// The fields that the packets of a flow have in common.
///
/// - **IP:** addresses, protocol and ports. The two directions of a connection have different keys.
/// - **Fragments:** only addresses (in IPv4 also the protocol, which every fragment contains). All fragments of a
///   datagram have the same key, including the first, although only the first contains ports. So they share a queue and
///   a path and stay in order, and so do all fragmented datagrams between two hosts. An unfragmented datagram can
///   overtake a fragmented one of the same flow.
/// - **Everything else:** Ethernet addresses and type; all IEEE 802.3 frames with a length count as one type.
///
/// VLAN tags are excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowKey {
    Ip {
        source: IpAddr,
        destination: IpAddr,
        /// Protocol. For an IPv6 fragment this is the number of the fragment header, since the fragments can name
        /// different protocols (RFC 8200, section 4.5).
        protocol: u8,
        /// Ports; both 0 if the packet has no ports.
        ports: Ports,
    },
    /// Any other frame, and IP that could not be read.
    Ethernet {
        source: MacAddress,
        destination: MacAddress,
        /// Type; 0 for frames with a length.
        ether_type: EtherType,
    },
}

impl FlowKey {
    pub(super) fn of(frame: &Frame) -> Self {
        let Some(ip) = frame.ip else {
            let is_typed = frame.ether_type.length().is_none();
            let ether_type = if is_typed { frame.ether_type } else { EtherType(0) };
            return Self::Ethernet { source: frame.source, destination: frame.destination, ether_type };
        };
        let no_ports = Ports { source: 0, destination: 0 };
        let (protocol, ports) = match ip.fragment {
            Fragment::Whole => (ip.protocol, ip.ports.unwrap_or(no_ports)),
            _ if ip.source.is_ipv6() => (protocol::FRAGMENT, no_ports),
            _ => (ip.protocol, no_ports),
        };
        Self::Ip { source: ip.source, destination: ip.destination, protocol, ports }
    }

    /// Hashes the key: SipHash-2-4 (Aumasson and Bernstein, 2012) over its [bytes](Self::to_bytes), with the two halves
    /// combined by exclusive or. The hash is the same on every machine and in every version.
    pub fn hash(&self, seed: FlowHashSeed) -> u32 {
        let (bytes, length) = self.to_bytes();
        let hash = sip_hash_2_4(seed.0, 0, &bytes[..length]);
        (hash >> 32) as u32 ^ hash as u32
    }

    /// Returns the bytes to be hashed and their number; numbers are in network order. IP: 4 or 6, source, destination,
    /// protocol, source port, destination port. Ethernet: 0, source, destination, type.
    pub fn to_bytes(&self) -> ([u8; KEY_BYTES_MAX], usize) {
        let mut out = KeyBytes { bytes: [0; KEY_BYTES_MAX], length: 0 };
        match *self {
            Self::Ip { source, destination, protocol, ports } => {
                out.put(&[if source.is_ipv4() { 4 } else { 6 }]);
                out.put_address(source);
                out.put_address(destination);
                out.put(&[protocol]);
                out.put(&ports.source.to_be_bytes());
                out.put(&ports.destination.to_be_bytes());
            }
            Self::Ethernet { source, destination, ether_type } => {
                out.put(&[0]);
                out.put(&source.0);
                out.put(&destination.0);
                out.put(&ether_type.0.to_be_bytes());
            }
        }
        (out.bytes, out.length)
    }
}

/// Version, two IPv6 addresses, protocol and two ports.
const KEY_BYTES_MAX: usize = 1 + 16 + 16 + 1 + 2 + 2;

struct KeyBytes {
    bytes: [u8; KEY_BYTES_MAX],
    length: usize,
}

impl KeyBytes {
    fn put(&mut self, part: &[u8]) {
        self.bytes[self.length..self.length + part.len()].copy_from_slice(part);
        self.length += part.len();
    }

    fn put_address(&mut self, address: IpAddr) {
        match address {
            IpAddr::V4(address) => self.put(&address.octets()),
            IpAddr::V6(address) => self.put(&address.octets()),
        }
    }
}

/// Makes the hashes of switches differ. Without the seed, nobody can choose flows that collide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowHashSeed(pub u64);

/// SipHash with two rounds per word and four at the end; the key is `low` and `high`.
fn sip_hash_2_4(low: u64, high: u64, bytes: &[u8]) -> u64 {
    // The constants of SipHash are the ASCII text "somepseudorandomlygeneratedbytes".
    let mut state = SipState([
        low ^ 0x736f_6d65_7073_6575,
        high ^ 0x646f_7261_6e64_6f6d,
        low ^ 0x6c79_6765_6e65_7261,
        high ^ 0x7465_6462_7974_6573,
    ]);
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|&word| state.absorb(u64::from_le_bytes(word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    last[7] = bytes.len() as u8;
    state.absorb(u64::from_le_bytes(last));
    state.0[2] ^= 0xff;
    (0..4).for_each(|_| state.round());
    state.0.iter().fold(0, |all, part| all ^ part)
}

struct SipState([u64; 4]);

impl SipState {
    fn absorb(&mut self, word: u64) {
        self.0[3] ^= word;
        self.round();
        self.round();
        self.0[0] ^= word;
    }

    fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.0;
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32);
        c = c.wrapping_add(b);
        a = a.wrapping_add(d);
        b = b.rotate_left(17) ^ c;
        d = d.rotate_left(21) ^ a;
        c = c.rotate_left(32);
        self.0 = [a, b, c, d];
    }
}

impl Frame {
    /// The key of the frame's flow: see [`FlowKey`].
    pub fn flow_key(&self) -> FlowKey {
        FlowKey::of(self)
    }
}

impl Frame {
    /// Builds the descriptor of this frame: length, class, ECN and hash. Fields that only a fabric knows (hosts, flow,
    /// ports of the switch) keep their defaults. Hops are counted per switch and not per router, so the packet starts
    /// with all of them: a frame with IP hop limit 1 crosses a switch like any other.
    pub fn describe(&self, seed: FlowHashSeed) -> Packet {
        Packet {
            frame_bytes: frame_bytes(self.length_bytes),
            flow_hash: self.flow_key().hash(seed),
            class: self.class(),
            ecn: self.ecn(),
            ttl: Packet::INITIAL_TTL,
            ..Packet::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::hash::Hasher as _;

    proptest! {
        /// SipHash of the standard library, deprecated for unrelated reasons.
        #[test]
        #[expect(deprecated)]
        fn the_hash_is_sip_hash_2_4(
            low in any::<u64>(),
            high in any::<u64>(),
            bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let mut oracle = std::hash::SipHasher::new_with_keys(low, high);
            oracle.write(&bytes);
            prop_assert_eq!(sip_hash_2_4(low, high, &bytes), oracle.finish());
        }
    }

    #[test]
    fn hashes_never_change_between_versions() {
        let ports = Ports { source: 40_000, destination: 80 };
        let ip = |source: &str, destination: &str| FlowKey::Ip {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            protocol: 6,
            ports,
        };
        let arp = FlowKey::Ethernet {
            source: MacAddress([2, 0, 0, 0, 0, 1]),
            destination: MacAddress::BROADCAST,
            ether_type: EtherType::ARP,
        };
        for (key, hash) in [
            (ip("10.0.0.1", "10.0.0.2"), 2_335_252_723),
            (ip("fd00::1", "fd00::2"), 2_168_151_267),
            (arp, 4_260_665_231),
        ] {
            assert_eq!(key.hash(FlowHashSeed(1)), hash, "{key:?}");
            assert_ne!(key.hash(FlowHashSeed(2)), hash, "{key:?}");
        }
    }
}
