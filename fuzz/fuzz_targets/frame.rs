//! Any bytes as an Ethernet frame: read, described and marked.
#![no_main]

use hitless_core::wire::Ecn;
use hitless_core::wire::frame::{FlowHashSeed, Frame, mark_ce};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(frame) = Frame::parse(bytes) else { return };
    assert!(frame.payload_at + frame.payload_bytes() + frame.padding_bytes() <= bytes.len());
    frame.describe(FlowHashSeed(1));
    frame.service_key();
    let mut marked = bytes.to_vec();
    let is_marked = mark_ce(&mut marked);
    assert_eq!(is_marked, frame.ecn() != Ecn::NotCapable);
    let again = Frame::parse(&marked).expect("a mark keeps a frame readable");
    assert_eq!(again.flow_key(), frame.flow_key());
    assert_eq!(is_marked, again.ecn() == Ecn::CongestionExperienced);
});
