//! The values that a Python class sets: the base class of `hitless.Transport`.

use hitless_hosts::transport::tcp::congestion::Window;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The window and the pacing rate of a connection.
#[pyclass(subclass, module = "hitless._native", name = "TransportWindow")]
#[derive(Default)]
pub struct TransportWindow {
    /// Fractions of a byte are kept for the class.
    cwnd: f64,
    ssthresh: f64,
    mss: u64,
    pacing_rate: Option<f64>,
}

impl TransportWindow {
    /// Takes over the sender's window, unless the class set the same number of bytes.
    pub fn take(&mut self, window: &Window) {
        if self.cwnd as u64 != window.cwnd_bytes {
            self.cwnd = window.cwnd_bytes as f64;
        }
        self.note_ssthresh(window.ssthresh_bytes);
    }

    /// Sets the threshold that the class reads.
    pub fn note_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = if bytes == u64::MAX { f64::INFINITY } else { bytes as f64 };
    }

    /// Returns the window in whole bytes, at least a segment.
    pub fn cwnd_bytes(&self) -> u64 {
        (self.cwnd as u64).max(self.mss)
    }

    /// Returns the pacing rate in bits per second.
    pub fn pacing_bps(&self) -> Option<u64> {
        self.pacing_rate.map(|rate| (rate as u64).max(1))
    }
}

/// Requires a positive, finite number.
fn positive(name: &str, unit: &str, value: f64) -> PyResult<f64> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(PyValueError::new_err(format!("{name} must be a positive number of {unit}, not {value}")))
}

#[pymethods]
impl TransportWindow {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Prepares a new connection; the simulator calls it before `__init__`.
    fn _begin(&mut self, mss: u64, cwnd: f64) {
        *self = Self { cwnd, ssthresh: f64::INFINITY, mss, pacing_rate: None };
    }

    /// Congestion window in bytes.
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, bytes: f64) -> PyResult<()> {
        self.cwnd = positive("cwnd", "bytes", bytes)?;
        Ok(())
    }

    /// The window to which the last loss, timeout or mark reduced it, in bytes; infinite before.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Payload of a full segment in bytes.
    #[getter]
    fn mss(&self) -> u64 {
        self.mss
    }

    /// Rate of payload in bits per second; None: as fast as the window allows, or as `pacing` of the transport says.
    #[getter]
    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    #[setter]
    fn set_pacing_rate(&mut self, rate: Option<f64>) -> PyResult<()> {
        self.pacing_rate = rate.map(|rate| positive("pacing_rate", "bits per second", rate)).transpose()?;
        Ok(())
    }
}
