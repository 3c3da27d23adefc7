//! Runs STF tests: `stf PROGRAM.json TESTS.stf ...`, in pairs. Prints one line for each pair: "pass" or the reason of
//! the failure.

use std::sync::Arc;

use hitless_p4::observer::Nobody;
use hitless_p4::program::Program;
use hitless_p4::stf;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for pair in files.chunks(2) {
        let [program, test] = pair else { continue };
        let outcome = run(program, test);
        println!("{test}: {}", outcome.map_or_else(|error| error, |()| "pass".to_string()));
    }
}

fn run(program: &str, test: &str) -> Result<(), String> {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
    let program = Program::load(&read(program)?).map_err(|error| format!("refused: {error}"))?;
    let outcome = stf::run(&Arc::new(program), &read(test)?, test, &mut Nobody);
    let outcome = outcome.map_err(|error| format!("not run: {error}"))?;
    if outcome.failures.is_empty() { Ok(()) } else { Err(format!("failed: {}", outcome.failures.join("; "))) }
}
