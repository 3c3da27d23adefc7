//! Every header of this crate has an id of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The ids of headers in the sources below `folder`, each with the files that have it.
fn collect(folder: &Path, found: &mut BTreeMap<String, Vec<String>>) {
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            collect(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).expect("sources are text");
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("const ID: ShimId = ")) {
            found.entry(line.to_string()).or_default().push(path.display().to_string());
        }
    }
}

#[test]
fn no_two_headers_have_the_same_id() {
    let mut found = BTreeMap::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() >= 17, "{} headers found", found.len());
    let shared: Vec<_> = found.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(shared.is_empty(), "{shared:?}");
}
