//! A scenario run in steps, as Python sees it: what a control plane may see of a switch, and do to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hitless_core::engine::Progress;
use hitless_core::wire::Time;
use hitless_scenario::network::loss::LossModel;
use hitless_switch::LinkEnd;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::mechanism::fault::caught;
use crate::simulator::{Driven, Execution, Prepared};
use crate::tables;

/// A run that stops where it is told to, shows counters, and takes commands.
///
/// Calls from several threads take turns.
#[pyclass(frozen, module = "hitless._native")]
pub struct Session {
    /// None once it has been finished, or has failed.
    driven: Mutex<Option<Driven>>,
}

#[pymethods]
impl Session {
    /// Reads and checks the scenario and starts it; raises `ScenarioError` with the complete message.
    #[new]
    #[pyo3(signature = (text, file_name, seed=None))]
    fn new(py: Python<'_>, text: &str, file_name: &str, seed: Option<u64>) -> PyResult<Self> {
        let driven = py.detach(|| caught(|| Driven::new(&Prepared::new(text, file_name, seed, Execution::ALONE)?)))?;
        Ok(Self { driven: Mutex::new(Some(driven)) })
    }

    /// The simulated time up to which it has run.
    #[getter]
    fn now_ps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |session| Ok(session.now().as_ps()))
    }

    /// Runs up to `until_ps`; False when the run has ended.
    fn advance(&self, py: Python<'_>, until_ps: u64) -> PyResult<bool> {
        self.with(py, |session| Ok(session.advance(Time(until_ps), &Progress::default())))
    }

    /// (good frames, all frames) that the MAC behind `link` has counted.
    fn receive_counters(&self, py: Python<'_>, link: &str) -> PyResult<(u64, u64)> {
        self.with(py, |session| {
            session.receive_counters(link).map(|counters| (counters.frames_ok, counters.frames_all))
        })
    }

    /// Has the "sender" or "receiver" end of `link` protect it.
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

    /// Has one end of `link` stop protecting it.
    fn unprotect(&self, py: Python<'_>, link: &str, end: &str) -> PyResult<()> {
        self.with(py, |session| session.unprotect(link, link_end(end)?))
    }

    /// Has `link` go down, in the directions that its name means.
    fn fail(&self, py: Python<'_>, link: &str) -> PyResult<()> {
        self.with(py, |session| session.fail(link))
    }

    /// Has `link` come up again.
    fn repair(&self, py: Python<'_>, link: &str) -> PyResult<()> {
        self.with(py, |session| session.repair(link))
    }

    /// Has frames of `link` be corrupted at `rate`, independently or in bursts of a mean length.
    #[pyo3(signature = (link, rate, mean_burst_frames=None))]
    fn corrupt(&self, py: Python<'_>, link: &str, rate: f64, mean_burst_frames: Option<f64>) -> PyResult<()> {
        self.with(py, |session| session.corrupt(link, &LossModel::at_rate(rate, mean_burst_frames)?))
    }

    /// Bytes that wait at the ports of switches: column name -> values.
    fn queues(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let table = self.with(py, |session| Ok(session.queues()))?;
        Ok(tables::columns(py, table.columns)?.unbind())
    }

    /// The table "mechanisms" of this moment: column name -> values.
    fn mechanisms(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let table = self.with(py, |session| Ok(session.mechanisms()))?;
        Ok(tables::columns(py, table.columns)?.unbind())
    }

    /// Runs to the end of the scenario: its summary as JSON text, and its tables. Once.
    fn finish(&self, py: Python<'_>) -> PyResult<(String, Py<PyDict>)> {
        let driven = py.detach(|| self.lock().take()).ok_or_else(is_over)?;
        let outcome = py.detach(|| caught(|| driven.finish()))?;
        Ok((outcome.summary_json, tables::to_python(py, outcome.tables)?))
    }
}

impl Session {
    /// With other Python threads running meanwhile. A broken assertion of the simulator ends the session.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut hitless_simulation::Session) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut slot = self.lock();
            let mut driven = slot.take().ok_or_else(is_over)?;
            let result = caught(|| Ok(call(&mut driven.session)))?;
            *slot = Some(driven);
            result.map_err(PyValueError::new_err)
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Driven>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
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
