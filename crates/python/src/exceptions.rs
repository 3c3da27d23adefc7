//! Exceptions for Python code.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::simulator::Failure;

create_exception!(hitless._native, ScenarioError, PyException, "A scenario that cannot be run; the text says why.");
create_exception!(hitless._native, SimulationError, PyException, "A run that broke one of its own checks.");
create_exception!(hitless._native, MechanismError, PyException, "A mechanism of Python's raised an error: its cause.");
create_exception!(
    hitless._native,
    CheckpointError,
    PyException,
    "A run that can write no checkpoint, or cannot go on from one; the text says why."
);
create_exception!(hitless._native, Cancelled, PyException, "The run was ended early by `cancel()`.");
create_exception!(
    hitless._native,
    FleetError,
    PyException,
    "Refused input; its arguments are what, where, and a hint."
);

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Scenario(message) => ScenarioError::new_err(message),
            Failure::Simulation(message) => SimulationError::new_err(message),
            Failure::Checkpoint(message) => CheckpointError::new_err(message),
            Failure::Mechanism(error) => error,
            Failure::Cancelled => Cancelled::new_err("the run was cancelled"),
        }
    }
}
