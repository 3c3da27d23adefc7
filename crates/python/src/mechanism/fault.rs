//! Passes an exception of a Python hook through the simulator.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pyo3::prelude::*;

use crate::exceptions::MechanismError;
use crate::simulator::Failure;

/// Ends the run after the `hook` of a mechanism of `kind` has raised `error`. The simulator is unwound, and [`caught`]
/// returns the error.
pub fn end_run(kind: &str, hook: &str, error: PyErr) -> ! {
    let failure = Python::attach(|py| {
        let name = error.get_type(py).qualname().map_or_else(|_| "an error".into(), |name| name.to_string());
        let failure = MechanismError::new_err(format!("{kind} raised {name} in {hook}: {}", error.value(py)));
        failure.set_cause(py, Some(error));
        failure
    });
    resume_unwind(Box::new(failure))
}

/// Runs the simulator. An error of a hook, or a broken assertion, ends this call but not the process.
pub fn caught<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|payload| Err(failure(payload)))
}

fn failure(payload: Box<dyn Any + Send>) -> Failure {
    payload
        .downcast::<PyErr>()
        .map_or_else(|panic| Failure::Simulation(panic_message(panic.as_ref())), |error| Failure::Mechanism(*error))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a check of the simulator failed: {}", text.unwrap_or("no message"))
}
