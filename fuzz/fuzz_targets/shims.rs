//! Any bytes as each kind of shim: reading what was written gives the same shim.
#![no_main]

use std::fmt::Debug;

use hitless_core::wire::Shim;
use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::shim::CheckNumber;
use hitless_mechanisms::link_layer_retry::header::PreambleSequence;
use hitless_mechanisms::linkguardian::headers::{AckHeader, DataHeader, LossNotification};
use hitless_mechanisms::sqr::metadata::CacheMetadata;
use hitless_mechanisms::wharf::header::WharfHeader;
use libfuzzer_sys::fuzz_target;

fn survives<S: Shim + PartialEq + Debug>(bytes: &[u8]) {
    let Some(bytes) = bytes.get(..S::BYTES) else { return };
    let shim = S::parse(bytes);
    let mut again = vec![0; S::BYTES];
    shim.emit(&mut again);
    assert_eq!(S::parse(&again), shim);
}

fuzz_target!(|bytes: &[u8]| {
    survives::<DataHeader>(bytes);
    survives::<AckHeader>(bytes);
    survives::<LossNotification>(bytes);
    survives::<PauseFrame>(bytes);
    survives::<CheckNumber>(bytes);
    survives::<CacheMetadata>(bytes);
    survives::<PreambleSequence>(bytes);
    survives::<WharfHeader>(bytes);
});
