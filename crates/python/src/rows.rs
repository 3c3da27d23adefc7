//! Passes rows of a run in progress to a Python callable.

use std::sync::{Arc, Mutex, PoisonError};

use hitless_simulation::results::{RowSink, Table};
use pyo3::prelude::*;

use crate::simulator::Control;
use crate::tables;

/// The exception that the callable raised, if any.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Takes the exception.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Calls `take(name, columns)` for each piece of a table. If it raises, the run ends and no more rows are passed on.
pub struct PythonRows {
    take: Py<PyAny>,
    control: Arc<Control>,
    raised: Raised,
    has_failed: bool,
}

impl PythonRows {
    /// Makes a sink for `take`, for a run that `control` can end.
    pub fn new(take: Py<PyAny>, control: Arc<Control>) -> (Self, Raised) {
        let raised = Raised::default();
        (Self { take, control, raised: raised.clone(), has_failed: false }, raised)
    }
}

impl RowSink for PythonRows {
    fn take(&mut self, rows: Table) {
        if self.has_failed {
            return;
        }
        let taken: PyResult<()> = Python::attach(|py| {
            self.take.call1(py, (rows.name, tables::columns(py, rows.columns)?))?;
            Ok(())
        });
        if let Err(error) = taken {
            self.has_failed = true;
            *self.raised.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.control.cancel();
        }
    }
}
