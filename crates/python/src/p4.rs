//! P4 programs without a network: packet tests, and the trace of a packet.

use std::sync::Arc;

use hitless_p4::fabric::Answers;
use hitless_p4::observer::Nobody;
use hitless_p4::p4runtime::info::P4Info;
use hitless_p4::p4runtime::write::Request;
use hitless_p4::packet::Instance;
use hitless_p4::pipeline::Pipeline;
use hitless_p4::program::Program;
use hitless_p4::stf;
use hitless_p4::trace::Trace;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

use crate::simulator::Clocks;

fn refused(error: &hitless_p4::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn load(document: &str) -> PyResult<Arc<Program>> {
    Program::load(document).map(Arc::new).map_err(|error| refused(&error))
}

/// A file: its name, and its text.
type File = (String, String);

/// Makes a pipeline and applies the commands of a file and the entries of a P4Runtime request; the p4info defines the
/// numbers in the request.
fn configured(program: &Arc<Program>, commands: &File, runtime: Option<&(File, File)>) -> PyResult<Pipeline> {
    let mut pipeline = Pipeline::new(program.clone(), 1);
    let mut control = pipeline.commands(0);
    control.run(&commands.1, &commands.0).map_err(|error| refused(&error))?;
    if let Some((info, request)) = runtime {
        let done = P4Info::load(&info.1, &info.0, program)
            .and_then(|info| Request::read(&request.1, &request.0)?.apply(&info, control));
        done.map_err(|error| refused(&error))?;
    }
    Ok(pipeline)
}

/// Runs the packet tests `tests` (STF) of the file `name` on the program in `document`, in p4c's format for BMv2.
/// Returns JSON text: packets sent, packets that left as expected, failures, answers of commands.
#[pyfunction]
pub fn p4_test(py: Python<'_>, document: &str, tests: &str, name: &str) -> PyResult<String> {
    let program = load(document)?;
    let outcome = py.detach(|| stf::run(&program, tests, name, &mut Nobody)).map_err(|error| refused(&error))?;
    Ok(json!({
        "sent": outcome.sent,
        "matched": outcome.matched,
        "failures": outcome.failures,
        "answers": outcome.answers,
    })
    .to_string())
}

/// Traces the packet `packet` from `port`, after applying the commands of a file (its name and its text) and a
/// P4Runtime request with its p4info. Returns JSON text: the lines of the trace, and the packets that left, each with
/// its port and its bytes in hexadecimal.
#[pyfunction]
pub fn p4_trace(
    document: &str,
    commands: File,
    runtime: Option<(File, File)>,
    port: u32,
    packet: &[u8],
) -> PyResult<String> {
    let program = load(document)?;
    let mut pipeline = configured(&program, &commands, runtime.as_ref())?;
    let (mut trace, mut left) = (Trace::default(), Vec::new());
    let came = (port, packet, Instance::Normal);
    pipeline.process(came, 0, &mut Answers::default(), &mut trace, &mut |port, bytes| {
        left.push(json!({"port": port, "bytes": stf::hex(bytes)}));
    });
    Ok(json!({"lines": trace.lines, "left": left}).to_string())
}

/// Runs the program `packets` times on `packet` from `port`, with entries as in [`p4_trace`]. Returns JSON text: the
/// number of packets that left, and the total CPU seconds.
#[pyfunction]
pub fn p4_bench(
    py: Python<'_>,
    document: &str,
    commands: File,
    runtime: Option<(File, File)>,
    port: u32,
    packet: &[u8],
    packets: u64,
) -> PyResult<String> {
    let program = load(document)?;
    let mut pipeline = configured(&program, &commands, runtime.as_ref())?;
    let packet = packet.to_vec();
    let (left, cpu_s) = py.detach(|| {
        let (mut left, mut answers) = (0u64, Answers::default());
        let clocks = Clocks::start(1);
        for number in 0..packets {
            let came = (port, &packet[..], Instance::Normal);
            pipeline.process(came, number * 100, &mut answers, &mut Nobody, &mut |_, _| left += 1);
        }
        (left, clocks.cpu_s())
    });
    Ok(json!({"packets": packets, "left": left, "cpu_s": cpu_s}).to_string())
}
