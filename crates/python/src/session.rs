//! The Python interface of a run in steps: the state of switches that a control plane can read, and the commands that
//! it can give.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hitless_core::engine::Progress;
use hitless_core::wire::Time;
use hitless_scenario::network::loss::LossModel;
use hitless_switch::LinkEnd;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::mechanism::fault::caught;
use crate::simulator::{self, Clocks, Execution, Failure};
use crate::tables;

/// A run that stops at given times, shows counters, and accepts commands.
///
/// Calls from several threads are serialised.
#[pyclass(frozen, module = "hitless._native")]
pub struct Session {
    /// None after it has finished or failed.
    running: Mutex<Option<hitless_simulation::Session>>,
    clocks: Clocks,
    /// The scenario as TOML with all defaults written out.
    #[pyo3(get)]
    effective: String,
}

#[pymethods]
impl Session {
    /// Reads and checks the scenario and starts it; raises `ScenarioError` with the complete message.
    #[new]
    #[pyo3(signature = (text, file_name, seed=None))]
    fn new(py: Python<'_>, text: &str, file_name: &str, seed: Option<u64>) -> PyResult<Self> {
        let start = || {
            let scenario = simulator::prepare(text, file_name, seed, Execution::ALONE)?;
            let (effective, clocks) = (scenario.effective_toml(), Clocks::start(1));
            let running = hitless_simulation::Session::new(scenario).map_err(Failure::Simulation)?;
            Ok(Self { running: Mutex::new(Some(running)), clocks, effective })
        };
        Ok(py.detach(|| caught(start))?)
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

    /// Runs to the end of the scenario; returns its summary as JSON text, its tables and its captures. Call it once.
    fn finish(&self, py: Python<'_>) -> PyResult<(String, Py<PyDict>, Py<PyDict>)> {
        let running = py.detach(|| self.lock().take()).ok_or_else(is_over)?;
        let finish = || simulator::finished(running.finish(&Progress::default()), &self.clocks, None);
        let outcome = py.detach(|| caught(finish))?;
        let captures = tables::files(py, outcome.captures)?;
        Ok((outcome.summary_json, tables::to_python(py, Vec::new(), outcome.tables)?, captures))
    }
}

impl Session {
    /// Calls a function while other Python threads run. A broken assertion of the simulator ends the session.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut hitless_simulation::Session) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut slot = self.lock();
            let mut running = slot.take().ok_or_else(is_over)?;
            let result = caught(|| Ok(call(&mut running)))?;
            *slot = Some(running);
            result.map_err(PyValueError::new_err)
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<hitless_simulation::Session>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn link_end(name: &str) -> Result<LinkEnd, String> {
    match name {
        "sender" => Ok(LinkEnd::Sender),
        "receiver" => Ok(LinkEnd::Receiver),
        other => Err(format!("unknown end {other:?}; it is \"sender\" or \"receiver\"")),
    }
}

fn is_over() -> PyErr {
    PyRuntimeError::new_err("the session is over: it was finished, or a check of the simulator failed in it")
}
