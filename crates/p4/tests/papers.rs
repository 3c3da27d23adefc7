//! The papers' systems as P4 programs, in p4/, pass the packet tests that stand beside them.

use std::path::Path;
use std::sync::Arc;

use hitless_p4::observer::Nobody;
use hitless_p4::program::Program;
use hitless_p4::stf;

#[test]
fn each_program_passes_its_packet_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    let names = ["afq", "linkguardian", "preemptive-deflection", "rimm", "simple-deflection", "sqr"];
    for name in names {
        let read = |file: &str| std::fs::read_to_string(folder.join(name).join(file)).unwrap();
        let program = Program::load(&read(&format!("{name}.json"))).unwrap_or_else(|error| panic!("{name}: {error}"));
        let outcome = stf::run(&Arc::new(program), &read("tests.stf"), "tests.stf", &mut Nobody)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(outcome.failures, Vec::<String>::new(), "{name}");
        assert!(outcome.sent > 0 && outcome.matched > 0, "{name} sends nothing, or expects nothing");
    }
}
