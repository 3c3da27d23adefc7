//! Every header of this tree has a unique id, and headers that can meet fit on a packet.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hitless_core::wire::shim::{CheckNumber, DetourCount, ShimStackFull};
use hitless_core::wire::{PortId, PriorityMark, ShimStack};
use hitless_mechanisms::linkguardian::headers::{DataHeader, PacketType, SequenceNumber};
use hitless_mechanisms::rimm::headers::DetourHeader;
use hitless_mechanisms::sqr::metadata::CacheMetadata;

/// The ids of headers in the sources below `folder`, each with the files that define it.
fn collect(folder: &Path, found: &mut BTreeMap<String, Vec<String>>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            collect(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).expect("sources are text");
        let id = |line: &str| match line.split_once("metadata_number!(") {
            Some((_, header)) => header.split_once(", ").map(|(_, id)| id.replace("));", ");")),
            None => line.trim().strip_prefix("const ID: ShimId = ").map(str::to_owned),
        };
        for line in text.lines().filter_map(id) {
            found.entry(line.to_string()).or_default().push(path.display().to_string());
        }
    }
}

#[test]
fn no_two_headers_have_the_same_id() {
    let mut found = BTreeMap::new();
    for sources in ["src", "../core/src/wire"] {
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(sources), &mut found);
    }
    assert!(found.len() >= 17, "{} headers found", found.len());
    let shared: Vec<_> = found.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(shared.is_empty(), "{shared:?}");
}

fn used_bytes(stack: &ShimStack) -> usize {
    stack.iter().map(|(_, bytes)| 1 + bytes.len()).sum()
}

#[test]
fn what_can_meet_on_a_packet_fits_to_the_byte() {
    let mut stack = ShimStack::default();
    stack.push(PriorityMark::default()).unwrap();
    stack.push(DetourCount(1)).unwrap();
    let carried = stack;
    let metadata = CacheMetadata { tag: 1, started_ns: 2, primary: PortId(3), is_kept_back: true, skip: None };
    stack.push(metadata).unwrap();
    assert_eq!((used_bytes(&stack), stack.get()), (ShimStack::CAPACITY_BYTES, Some(metadata)));
    let mut stack = carried;
    let data = DataHeader::new(PacketType::Data, SequenceNumber::default());
    stack.push(DetourHeader { sequence: 1, origin: 2, detours: 3, depth_segments: 4 }).unwrap();
    stack.push(data).unwrap();
    stack.push(CheckNumber(9)).unwrap();
    assert_eq!((used_bytes(&stack), stack.get()), (ShimStack::CAPACITY_BYTES, Some(CheckNumber(9))));
    assert_eq!(stack.push(DetourCount(2)), Err(ShimStackFull));
    assert_eq!(stack.iter().count(), 5);
    assert_eq!(stack.remove::<DetourCount>(), Some(DetourCount(1)));
    assert_eq!((stack.get(), stack.get()), (Some(PriorityMark::default()), Some(data)));
}
