//! Any text as a compiled P4 program: it is refused with a reason, or takes packets.
#![no_main]

use std::sync::Arc;

use hitless_p4::fabric::Answers;
use hitless_p4::observer::Nobody;
use hitless_p4::packet::Instance;
use hitless_p4::pipeline::Pipeline;
use hitless_p4::program::Program;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &[u8])| {
    let (document, packet) = input;
    match Program::load(document) {
        Ok(program) => {
            let mut pipeline = Pipeline::new(Arc::new(program), 1);
            let came = (1, packet, Instance::Normal);
            pipeline.process(came, 0, &mut Answers::default(), &mut Nobody, &mut |_, _| ());
        }
        Err(error) => assert!(!error.what.is_empty()),
    }
});
