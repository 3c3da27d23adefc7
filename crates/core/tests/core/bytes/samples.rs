//! Frames assembled byte by byte from the standards, without the parser's code.

use proptest::prelude::*;

/// The parts of a test frame.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Tag protocol identifier and control information, outermost first.
    pub tags: Vec<(u16, u16)>,
    pub network: Network,
    pub padding_bytes: usize,
}

#[derive(Clone, Debug)]
pub enum Network {
    V4 { traffic_class: u8, fragment: u16, options: Vec<u8>, upper: Upper },
    V6 { traffic_class: u8, extensions: Vec<Extension>, upper: Upper },
    Other { ether_type: u16, payload: Vec<u8> },
}

/// An IPv6 extension header: its number and, for a fragment header, offset and flag.
#[derive(Clone, Copy, Debug)]
pub enum Extension {
    Options { number: u8, words: u8 },
    Fragment { offset_and_flags: u16 },
    Authentication { words: u8 },
}

/// The payload of IP.
#[derive(Clone, Debug)]
pub struct Upper {
    pub protocol: u8,
    pub source_port: u16,
    pub destination_port: u16,
    pub payload: Vec<u8>,
}

pub const DESTINATION: [u8; 6] = [2, 0, 0, 0, 0, 2];
pub const SOURCE: [u8; 6] = [2, 0, 0, 0, 0, 1];

impl Sample {
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = [DESTINATION, SOURCE].concat();
        for (identifier, control) in &self.tags {
            bytes.extend([identifier.to_be_bytes(), control.to_be_bytes()].concat());
        }
        match &self.network {
            Network::V4 { traffic_class, fragment, options, upper } => {
                bytes.extend([0x08, 0x00]);
                bytes.extend(ipv4(*traffic_class, *fragment, options, upper));
            }
            Network::V6 { traffic_class, extensions, upper } => {
                bytes.extend([0x86, 0xdd]);
                bytes.extend(ipv6(*traffic_class, extensions, upper));
            }
            Network::Other { ether_type, payload } => {
                bytes.extend(ether_type.to_be_bytes());
                bytes.extend(payload);
            }
        }
        bytes.extend(vec![0xee; self.padding_bytes]);
        bytes
    }
}

/// The Internet checksum (RFC 1071), summed from scratch.
pub fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn ipv4(traffic_class: u8, fragment: u16, options: &[u8], upper: &Upper) -> Vec<u8> {
    let body = upper.bytes();
    let header_bytes = 20 + options.len();
    let mut header = vec![0x40 | (header_bytes / 4) as u8, traffic_class];
    header.extend(((header_bytes + body.len()) as u16).to_be_bytes());
    header.extend([0x12, 0x34]);
    header.extend(fragment.to_be_bytes());
    header.extend([64, upper.protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    header.extend(options);
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    [header, body].concat()
}

fn ipv6(traffic_class: u8, extensions: &[Extension], upper: &Upper) -> Vec<u8> {
    let mut body = Vec::new();
    for (index, extension) in extensions.iter().enumerate() {
        let next = extensions.get(index + 1).map_or(upper.protocol, Extension::number);
        body.extend(extension.bytes(next));
    }
    body.extend(upper.bytes());
    let first = extensions.first().map_or(upper.protocol, Extension::number);
    let mut header = vec![0x60 | traffic_class >> 4, traffic_class << 4, 0, 7];
    header.extend((body.len() as u16).to_be_bytes());
    header.extend([first, 63]);
    header.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    header.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    [header, body].concat()
}

impl Extension {
    fn number(&self) -> u8 {
        match self {
            Extension::Options { number, .. } => *number,
            Extension::Fragment { .. } => 44,
            Extension::Authentication { .. } => 51,
        }
    }

    fn bytes(&self, next: u8) -> Vec<u8> {
        match *self {
            Extension::Options { words, .. } => {
                let mut bytes = vec![0; 8 + usize::from(words) * 8];
                (bytes[0], bytes[1]) = (next, words);
                bytes
            }
            Extension::Fragment { offset_and_flags } => {
                let [high, low] = offset_and_flags.to_be_bytes();
                vec![next, 0, high, low, 1, 2, 3, 4]
            }
            Extension::Authentication { words } => {
                let mut bytes = vec![0; 12 + usize::from(words) * 4];
                (bytes[0], bytes[1]) = (next, words + 1);
                bytes
            }
        }
    }
}

impl Upper {
    /// A TCP or UDP header without checksum, or only the payload for other protocols.
    fn bytes(&self) -> Vec<u8> {
        let ports = [self.source_port.to_be_bytes(), self.destination_port.to_be_bytes()].concat();
        let rest = match self.protocol {
            6 => vec![0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0x20, 0, 0, 0, 0, 0],
            17 => [(8 + self.payload.len() as u16).to_be_bytes(), [0, 0]].concat(),
            _ => return self.payload.clone(),
        };
        [ports, rest, self.payload.clone()].concat()
    }
}

fn upper() -> impl Strategy<Value = Upper> {
    let protocol = prop_oneof![Just(6), Just(17), Just(1), Just(58), Just(47), Just(132), any::<u8>()];
    (protocol, any::<u16>(), any::<u16>(), prop::collection::vec(any::<u8>(), 0..80)).prop_map(
        |(protocol, source_port, destination_port, payload)| Upper { protocol, source_port, destination_port, payload },
    )
}

fn extension() -> impl Strategy<Value = Extension> {
    prop_oneof![
        (prop::sample::select(vec![0u8, 43, 60, 135]), 0u8..4)
            .prop_map(|(number, words)| Extension::Options { number, words }),
        prop::sample::select(vec![0u16, 1, 8, 9, 0xfff8])
            .prop_map(|offset| Extension::Fragment { offset_and_flags: offset }),
        (0u8..4).prop_map(|words| Extension::Authentication { words }),
    ]
}

fn network() -> impl Strategy<Value = Network> {
    let fragment = prop_oneof![4 => Just(0x4000u16), 1 => Just(0x2000), 1 => Just(0x2005), 1 => Just(0x0005)];
    let options = prop::collection::vec(Just([1u8; 4]), 0..11).prop_map(|words| words.concat());
    prop_oneof![
        (any::<u8>(), fragment, options, upper()).prop_map(|(traffic_class, fragment, options, upper)| Network::V4 {
            traffic_class,
            fragment,
            options,
            upper
        }),
        (any::<u8>(), prop::collection::vec(extension(), 0..5), upper())
            .prop_map(|(traffic_class, extensions, upper)| Network::V6 { traffic_class, extensions, upper }),
        (any::<u16>(), prop::collection::vec(any::<u8>(), 0..80))
            .prop_map(|(ether_type, payload)| Network::Other { ether_type, payload }),
    ]
}

/// Frames of all kinds, some of them with overwritten or missing bytes.
pub fn frames() -> impl Strategy<Value = Vec<u8>> {
    let tag = (prop::sample::select(vec![0x8100u16, 0x88a8]), any::<u16>());
    let sample = (prop::collection::vec(tag, 0..4), network(), 0usize..50)
        .prop_map(|(tags, network, padding_bytes)| Sample { tags, network, padding_bytes }.bytes());
    let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let cut = prop_oneof![3 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)];
    (sample, damage, cut).prop_map(|(mut bytes, damage, cut)| {
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes
    })
}
