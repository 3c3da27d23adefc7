//! The papers' systems as P4 programs, in p4/, pass the packet tests in the same folders.

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
        let program = Arc::new(program);
        let files = ["tests.stf", "boundaries.stf"].into_iter().filter(|file| folder.join(name).join(file).exists());
        for file in files {
            let outcome = stf::run(&program, &read(file), file, &mut Nobody);
            let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(outcome.failures, Vec::<String>::new(), "{name}: {file}");
            assert!(outcome.sent > 0 && outcome.matched > 0, "{name}: {file} sends nothing, or expects nothing");
        }
    }
}

/// A restriction of p4/hitless.p4: ingress and egress of AFQ's program are swapped.
#[test]
fn a_function_of_ingress_is_refused_in_egress_by_its_name_and_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4");
    let text = std::fs::read_to_string(folder.join("afq/afq.json")).unwrap();
    let half = |name: &str| format!("{{\"name\":\"{name}\",\"id\":");
    let (ingress, egress) = (half("ingress"), half("egress"));
    assert!(text.contains(&ingress) && text.contains(&egress));
    let swapped = text.replace(&ingress, "INGRESS").replace(&egress, &ingress).replace("INGRESS", &egress);
    let error = Program::load(&swapped).map(|_| ()).unwrap_err().to_string();
    let source = std::fs::read_to_string(folder.join("routes.p4")).unwrap();
    let line = source.lines().position(|line| line.contains("routed_port(")).unwrap() + 1;
    let action = "ingress.as_routed: routed_port is a function of ingress, and is called in egress";
    assert!(error.contains(&format!("routes.p4:{line}: action {action}")), "{error}");
}
