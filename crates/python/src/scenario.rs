//! A checked scenario, as Python passes it on.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::mechanism::fault::caught;
use crate::simulator::{self, Execution, MemoryParts};

/// A scenario that has been parsed and checked, for any number of simulations.
#[pyclass(frozen, module = "hitless._native")]
pub struct CheckedScenario {
    pub inner: Arc<hitless_scenario::Scenario>,
    /// The file's content.
    #[pyo3(get)]
    text: String,
    execution: Execution,
}

#[pymethods]
impl CheckedScenario {
    /// Reads and checks the scenario; raises `ScenarioError` with the complete message.
    ///
    /// Without `keeps_rows`, a run needs a callable for its rows, and the scenario can have more flows. A run on more
    /// `threads` takes more memory.
    #[new]
    #[pyo3(signature = (text, file_name, keeps_rows=true, threads=1))]
    fn new(py: Python<'_>, text: &str, file_name: &str, keeps_rows: bool, threads: usize) -> PyResult<Self> {
        let execution = Execution { keeps_rows, threads };
        let inner = py.detach(|| caught(|| simulator::prepare(text, file_name, execution)))?.into();
        Ok(Self { inner, text: text.to_owned(), execution })
    }

    /// The scenario as TOML with all defaults written out.
    #[getter]
    fn effective(&self) -> String {
        self.inner.effective_toml()
    }

    /// Estimates the memory of a run in bytes: the total, and its parts in descending order of size.
    fn memory(&self, py: Python<'_>) -> PyResult<(f64, MemoryParts)> {
        Ok(py.detach(|| caught(|| simulator::memory_of(&self.inner, self.execution)))?)
    }
}
