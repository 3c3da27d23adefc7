//! The Python interface of one scenario, from text to tables.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hitless_scenario::Scenario;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::checkpoints::Checkpoints;
use crate::kept_rows::KeptRows;
use crate::mechanism::fault::caught;
use crate::rows::PythonRows;
use crate::simulator::{self, Control, Execution, Outcome, RowSink, Stopped};
use crate::tables;

/// One simulation: made from a scenario's text, run once, read afterwards.
///
/// Frozen: other threads use `progress` and `cancel` during `run`, so no method takes `&mut self`.
#[pyclass(frozen, module = "hitless._native")]
pub struct Simulation {
    scenario: Scenario,
    control: Arc<Control>,
    stage: Mutex<Stage>,
}

/// The stage of a simulation. Results leave Rust on first reading and then belong to Python.
enum Stage {
    Ready,
    Running,
    Done { summary_json: String, tables: Py<PyDict>, captures: Py<PyDict> },
    Failed,
}

#[pymethods]
impl Simulation {
    /// Reads and checks the scenario; raises `ScenarioError` with the complete message.
    #[new]
    ///
    /// Without `keeps_rows`, `run` needs a callable for its rows, and the scenario can have more flows. A run on more
    /// `threads` takes more memory.
    #[pyo3(signature = (text, file_name, seed=None, keeps_rows=true, threads=1))]
    fn new(
        py: Python<'_>,
        text: &str,
        file_name: &str,
        seed: Option<u64>,
        keeps_rows: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let execution = Execution { keeps_rows, threads };
        let scenario = py.detach(|| caught(|| simulator::prepare(text, file_name, seed, execution)))?;
        Ok(Self { scenario, control: Arc::default(), stage: Mutex::new(Stage::Ready) })
    }

    /// Runs to the end on up to `threads` threads, while other Python threads run. Can be called once.
    ///
    /// Finished flows and messages are passed to `rows`, a callable, with the name of their table and its columns. An
    /// exception that it raises ends the run, and is raised here. Without `rows` they are kept in memory: of the tables
    /// named in `kept`, or of all.
    ///
    /// With `checkpoints` the run uses one thread, passes no rows, and keeps all.
    #[pyo3(signature = (threads=1, rows=None, checkpoints=None, kept=None))]
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        rows: Option<Py<PyAny>>,
        checkpoints: Option<Py<Checkpoints>>,
        kept: Option<Vec<String>>,
    ) -> PyResult<()> {
        self.start()?;
        let (rows, raised) = rows.map(|take| PythonRows::new(take, self.control.clone())).unzip();
        let kept = KeptRows::new(kept);
        let keeps_rows = rows.is_none() && kept.keeps_any();
        let checkpoints = checkpoints.as_ref().map(Py::get);
        let rows = match rows {
            Some(rows) => Some(Box::new(rows) as Box<dyn RowSink>),
            None => checkpoints.is_none().then(|| Box::new(kept.clone()) as Box<dyn RowSink>),
        };
        let run = || simulator::run(&self.scenario, threads, &self.control, rows, keeps_rows, checkpoints);
        let result = py.detach(|| caught(run));
        let raised = raised.and_then(|raised| raised.take());
        let outcome = raised.map_or_else(|| result.map_err(PyErr::from), Err);
        let Outcome { summary_json, tables, captures } = outcome.inspect_err(|_| *self.stage() = Stage::Failed)?;
        let tables = tables::to_python(py, kept.take_tables(), tables)?;
        let captures = tables::files(py, captures)?;
        *self.stage() = Stage::Done { summary_json, tables, captures };
        Ok(())
    }

    /// The reason why its run cannot write checkpoints; None if it can.
    fn checkpoint_refusal(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(py.detach(|| caught(|| simulator::checkpoint_refusal(&self.scenario)))?)
    }

    /// The share of the simulated time that has passed, 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        self.control.progress()
    }

    /// Asks the run to end; `run` then raises `Cancelled`.
    fn cancel(&self) {
        self.control.cancel();
    }

    /// Asks the run to end with partial results; its summary then gives the reason.
    fn stop(&self) {
        self.control.stop(Stopped::Interrupted);
    }

    /// The summary as JSON text.
    #[getter]
    fn summary(&self) -> PyResult<String> {
        match &*self.stage() {
            Stage::Done { summary_json, .. } => Ok(summary_json.clone()),
            _ => Err(not_done("summary")),
        }
    }

    /// Table name -> column name -> numpy array or list of str.
    #[getter]
    fn tables(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        match &*self.stage() {
            Stage::Done { tables, .. } => Ok(tables.clone_ref(py)),
            _ => Err(not_done("tables")),
        }
    }

    /// Name of a capture of packets -> its pcapng file.
    #[getter]
    fn captures(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        match &*self.stage() {
            Stage::Done { captures, .. } => Ok(captures.clone_ref(py)),
            _ => Err(not_done("captures")),
        }
    }

    /// The scenario as TOML with all defaults written out.
    #[getter]
    fn effective(&self) -> String {
        self.scenario.effective_toml()
    }
}

impl Simulation {
    fn start(&self) -> PyResult<()> {
        let mut stage = self.stage();
        if !matches!(*stage, Stage::Ready) {
            return Err(PyRuntimeError::new_err("a Simulation runs once; make a new one to run again"));
        }
        *stage = Stage::Running;
        Ok(())
    }

    /// Locks the stage. After a panic the stage is still valid, because it is always set in a single assignment.
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_done(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("no {what}: the simulation has not finished; call run() first"))
}
