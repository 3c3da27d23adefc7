//! Any text as a P4Runtime request and as a p4info, for a program that has everything that can be written.
#![no_main]

use hitless_p4::commands::Commands;
use hitless_p4::p4runtime::info::P4Info;
use hitless_p4::p4runtime::write::Request;
use hitless_p4::program::Program;
use hitless_p4::state::State;
use libfuzzer_sys::fuzz_target;

const PROGRAM: &str = include_str!("../../crates/p4/tests/p4/p4runtime/everything.json");
const INFO: &str = include_str!("../../crates/p4/tests/p4/p4runtime/everything.p4info.txtpb");

fuzz_target!(|input: (&str, bool)| {
    let (text, is_info) = input;
    let program = Program::load(PROGRAM).expect("the program is whole");
    if is_info {
        if let Err(error) = P4Info::load(text, "p4info.txtpb", &program) {
            assert!(error.place.is_some());
        }
        return;
    }
    let info = P4Info::load(INFO, "p4info.txtpb", &program).expect("it is the program's");
    let mut state = State::new(&program, 1);
    let commands = Commands { program: &program, state: &mut state, now_ns: 0 };
    if let Err(error) = Request::read(text, "entries.txtpb").and_then(|request| request.apply(&info, commands)) {
        assert!(error.place.is_some());
    }
});
