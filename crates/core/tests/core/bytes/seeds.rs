//! The seeds for fuzzing frames: fuzz/corpus/frame holds the bytes of these samples. The seeds for links are in
//! crates/mechanisms, which has the headers. The seeds of loss_trace, a text format without an encoder here, are
//! written by hand.

use std::fs;
use std::path::PathBuf;

use hitless_core::wire::frame::Frame;

use super::samples::{Extension, Network, Sample, Upper};

/// Environment variable: if set, the files are written instead of compared.
const WRITE: &str = "HITLESS_WRITE_SEEDS";

fn upper(protocol: u8) -> Upper {
    Upper { protocol, source_port: 40_000, destination_port: 443, payload: b"payload".to_vec() }
}

fn v4(traffic_class: u8, fragment: u16, options: &[u8], protocol: u8) -> Network {
    Network::V4 { traffic_class, fragment, options: options.to_vec(), upper: upper(protocol) }
}

fn v6(extensions: &[Extension], protocol: u8) -> Network {
    Network::V6 { traffic_class: 0xb9, extensions: extensions.to_vec(), upper: upper(protocol) }
}

fn frames() -> Vec<(&'static str, Vec<u8>)> {
    let options = Extension::Options { number: 0, words: 1 };
    let routing = Extension::Options { number: 43, words: 2 };
    let authentication = Extension::Authentication { words: 3 };
    let fragment = |offset_and_flags| Extension::Fragment { offset_and_flags };
    let networks = [
        ("tcp", v4(2, 0x4000, &[], 6)),
        ("udp", v4(1, 0, &[1; 8], 17)),
        ("icmp", v4(0, 0, &[], 1)),
        ("first_fragment", v4(3, 0x2000, &[], 17)),
        ("later_fragment", v4(0, 0x0005, &[], 17)),
        ("ipv6_tcp", v6(&[], 6)),
        ("ipv6_extensions", v6(&[options, routing, authentication, fragment(0)], 17)),
        ("ipv6_first_fragment", v6(&[options, fragment(1)], 17)),
        ("ipv6_later_fragment", v6(&[fragment(8)], 17)),
        ("arp", Network::Other { ether_type: 0x0806, payload: vec![0; 28] }),
        ("llc", Network::Other { ether_type: 38, payload: vec![0x42; 46] }),
    ];
    let untagged = networks.map(|(name, network)| (name, Sample { tags: vec![], network, padding_bytes: 4 }.bytes()));
    let tagged = Sample { tags: vec![(0x88a8, 0x6005), (0x8100, 0xa006)], network: v4(0, 0, &[], 6), padding_bytes: 0 };
    untagged.into_iter().chain([("two_tags", tagged.bytes())]).collect()
}

#[test]
fn the_corpus_is_what_the_encoder_makes() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/frame");
    for (name, bytes) in frames() {
        let file = folder.join(name);
        if std::env::var_os(WRITE).is_some() {
            fs::create_dir_all(&folder).expect("the corpus can be written");
            fs::write(&file, &bytes).expect("the corpus can be written");
        }
        let found = fs::read(&file).unwrap_or_default();
        assert!(found == bytes, "{} differs; {WRITE}=1 cargo test -p hitless-wire seeds writes it", file.display());
    }
}

#[test]
fn every_seed_is_well_formed() {
    for (name, bytes) in frames() {
        let frame = Frame::parse(&bytes).expect("it has an Ethernet header");
        assert!(!frame.has_malformed_ip(), "{name}");
    }
}
