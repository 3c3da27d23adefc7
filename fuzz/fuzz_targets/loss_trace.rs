//! Any text as a trace of losses: what is taken has a frame, and never more losses than frames.
#![no_main]

use hitless_scenario::network::loss::trace::LossTrace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match LossTrace::parse(text) {
        Ok(trace) => assert!(trace.frames() > 0 && trace.lost() <= trace.frames()),
        Err(error) => {
            assert!(error.line <= text.lines().count());
            assert!(error.to_string().len() < 300);
        }
    }
});
