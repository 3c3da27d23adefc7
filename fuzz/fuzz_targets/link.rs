//! Any bytes as a frame of a link: what is taken is encoded to the same bytes.
#![no_main]

use hitless_core::wire::frame::{EtherType, MacAddress};
use hitless_core::wire::link::{LinkFormat, LinkHeaderSet, PRIORITIES};
use hitless_mechanisms::{linkguardian, rimm};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let anybody = MacAddress::BROADCAST;
    let format = LinkFormat { ether_type: EtherType::EXPERIMENTAL_1, local: anybody, remote: anybody };
    let mut spoken = LinkHeaderSet::default();
    for headers in [&linkguardian::headers::ON_LINKS, &rimm::headers::ON_LINKS, &PRIORITIES] {
        spoken.add(headers).expect("each header has a number of its own");
    }
    let Ok(taken) = format.decode(&spoken, bytes) else { return };
    let shim_bytes: usize = taken.shims.iter().map(|(_, bytes)| 1 + bytes.len()).sum();
    let used = 16 + shim_bytes + taken.inner.map_or(0, |inner| 2 + inner.len());
    let mut again = vec![0; bytes.len().max(60)];
    let length = format.encode(&spoken, &taken.shims, taken.inner, &mut again).expect("what is taken is legal");
    assert!(used <= length);
    assert_eq!(again[12..used], bytes[12..used]);
    assert!(format.decode(&spoken, &bytes[..used - 1]).is_err());
});
