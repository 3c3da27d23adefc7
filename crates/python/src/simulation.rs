//! The Python interface of one simulation: a run to its end, or in steps, with the state of switches that a control
//! plane can read and the commands that it can give.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use hitless_core::engine::Progress;
use hitless_core::wire::Time;
use hitless_scenario::network::loss::LossModel;
use hitless_simulation::Session;
use hitless_switch::LinkEnd;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::checkpoints::Checkpoints;
use crate::kept_rows::KeptRows;
use crate::mechanism::fault::caught;
use crate::rows::PythonRows;
use crate::scenario::CheckedScenario;
use crate::simulator::{self, Clocks, Control, Failure, Outcome, RowSink, Stopped};
use crate::tables;

/// One simulation: made from a checked scenario, run once or in steps, read afterwards.
///
/// Frozen: other threads use `progress` and `cancel` during `run`, so no method takes `&mut self`. Steps from several
/// threads are serialised.
#[pyclass(frozen, module = "hitless._native")]
pub struct Simulation {
    scenario: hitless_scenario::Scenario,
    control: Arc<Control>,
    stage: Mutex<Stage>,
    /// The run in steps; None before it, and after it has finished or failed.
    steps: Mutex<Option<(Session, Clocks)>>,
    /// Held from a question to its answer: the run gives one answer, whoever asked.
    asking: Mutex<()>,
}

/// Interval between two looks for the answer of a run.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The stage of a simulation. Results leave Rust on first reading and then belong to Python.
enum Stage {
    Ready,
    Running,
    InSteps,
    Done { summary_json: String, tables: Py<PyDict>, captures: Py<PyDict> },
    Failed,
}

#[pymethods]
impl Simulation {
    /// Makes a simulation with `seed`, or with the scenario's own.
    #[new]
    #[pyo3(signature = (scenario, seed=None))]
    fn new(scenario: &CheckedScenario, seed: Option<u64>) -> Self {
        let inner = (*scenario.inner).clone();
        let scenario = hitless_scenario::Scenario { seed: seed.unwrap_or(inner.seed), ..inner };
        let (stage, steps, asking) = (Mutex::new(Stage::Ready), Mutex::new(None), Mutex::new(()));
        Self { scenario, control: Arc::default(), stage, steps, asking }
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
        self.begin(Stage::Running)?;
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
        self.end(py, kept, outcome)
    }

    /// Starts the run in steps, at 0 s.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        self.begin(Stage::InSteps)?;
        let start = || Session::new(self.scenario.clone()).map_err(Failure::Simulation);
        py.detach(|| {
            let session = caught(start).inspect_err(|_| *self.stage() = Stage::Failed)?;
            *self.steps() = Some((session, Clocks::start(1)));
            Ok(())
        })
    }

    /// The simulated time reached so far.
    #[getter]
    fn now_ps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |session| Ok(session.now().as_ps()))
    }

    /// Runs up to `until_ps`; returns False if the run has ended.
    fn advance(&self, py: Python<'_>, until_ps: u64) -> PyResult<bool> {
        self.with(py, |session| Ok(session.advance(Time(until_ps), &Progress::default())))
    }

    /// (good frames, all frames) that the MAC at the end of `link` has counted.
    fn receive_counters(&self, py: Python<'_>, link: &str) -> PyResult<(u64, u64)> {
        self.with(py, |session| {
            session.receive_counters(link).map(|counters| (counters.frames_ok, counters.frames_all))
        })
    }

    /// Makes the "sender" or "receiver" end of `link` protect it.
    fn protect(&self, py: Python<'_>, link: &str, end: &str, copies: u8, mode: &str) -> PyResult<()> {
        self.with(py, |session| {
            let keeps_order = match mode {
                "blocking" => true,
                "non-blocking" => false,
                other => return Err(format!("unknown mode {other:?}; it is \"blocking\" or \"non-blocking\"")),
            };
            session.protect(link, link_end(end)?, copies, keeps_order)
        })
    }

    /// Makes one end of `link` stop protecting it.
    fn unprotect(&self, py: Python<'_>, link: &str, end: &str) -> PyResult<()> {
        self.with(py, |session| session.unprotect(link, link_end(end)?))
    }

    /// Takes `link` down, in the named directions.
    fn fail(&self, py: Python<'_>, link: &str) -> PyResult<()> {
        self.with(py, |session| session.fail(link))
    }

    /// Brings `link` up again.
    fn repair(&self, py: Python<'_>, link: &str) -> PyResult<()> {
        self.with(py, |session| session.repair(link))
    }

    /// Corrupts frames of `link` at `rate`, independently or in bursts of a mean length.
    #[pyo3(signature = (link, rate, mean_burst_frames=None))]
    fn corrupt(&self, py: Python<'_>, link: &str, rate: f64, mean_burst_frames: Option<f64>) -> PyResult<()> {
        self.with(py, |session| session.corrupt(link, &LossModel::at_rate(rate, mean_burst_frames)?))
    }

    /// Bytes waiting at the ports of switches: column name -> values.
    fn queues(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let table = self.with(py, |session| Ok(session.queues()))?;
        Ok(tables::columns(py, table.columns)?.unbind())
    }

    /// The present table "mechanisms": column name -> values.
    fn mechanisms(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let table = self.with(py, |session| Ok(session.mechanisms()))?;
        Ok(tables::columns(py, table.columns)?.unbind())
    }

    /// Runs to the end after steps. Call it once.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let (session, clocks) = py.detach(|| self.steps().take()).ok_or_else(is_over)?;
        let finish = || simulator::finished(session.finish(&Progress::default()), &clocks, None);
        let outcome = py.detach(|| caught(finish)).map_err(PyErr::from);
        self.end(py, KeptRows::new(None), outcome)
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

    /// Describes the run in progress, for another thread: events, wall time in seconds, and a report in words. The run
    /// answers at its next housekeeping, and goes on. None if it does not run.
    fn describe(&self, py: Python<'_>) -> Option<(u64, f64, String)> {
        py.detach(|| {
            let _turn = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
            self.control.ask();
            loop {
                if let Some(answer) = self.control.take_answer() {
                    return Some(answer);
                }
                if !matches!(*self.stage(), Stage::Running) {
                    return None;
                }
                thread::sleep(BETWEEN_LOOKS);
            }
        })
    }

    /// Describes the run in steps in words.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |session| Ok(session.report()))
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
    fn begin(&self, next: Stage) -> PyResult<()> {
        let mut stage = self.stage();
        if !matches!(*stage, Stage::Ready) {
            return Err(PyRuntimeError::new_err("a Simulation runs once; make a new one to run again"));
        }
        *stage = next;
        Ok(())
    }

    /// Keeps the outcome of the run.
    fn end(&self, py: Python<'_>, kept: KeptRows, outcome: PyResult<Outcome>) -> PyResult<()> {
        let Outcome { summary_json, tables, captures } = outcome.inspect_err(|_| *self.stage() = Stage::Failed)?;
        let tables = tables::to_python(py, kept.take_tables(), tables)?;
        let captures = tables::files(py, captures)?;
        *self.stage() = Stage::Done { summary_json, tables, captures };
        Ok(())
    }

    /// Calls a function between two steps while other Python threads run. A broken assertion of the simulator ends the
    /// run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Session) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut slot = self.steps();
            let mut steps = slot.take().ok_or_else(is_over)?;
            let result = caught(|| Ok(call(&mut steps.0)))?;
            *slot = Some(steps);
            result.map_err(PyValueError::new_err)
        })
    }

    /// Locks the run in steps. Only threads without the GIL wait for it, because a step can call Python.
    fn steps(&self) -> MutexGuard<'_, Option<(Session, Clocks)>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the stage. After a panic the stage is still valid, because it is always set in a single assignment.
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_done(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("no {what}: the simulation has not finished; call run() first"))
}

fn link_end(name: &str) -> Result<LinkEnd, String> {
    match name {
        "sender" => Ok(LinkEnd::Sender),
        "receiver" => Ok(LinkEnd::Receiver),
        other => Err(format!("unknown end {other:?}; it is \"sender\" or \"receiver\"")),
    }
}

fn is_over() -> PyErr {
    PyRuntimeError::new_err("the run in steps is over: it was finished, or a check of the simulator failed in it")
}
