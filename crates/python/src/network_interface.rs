//! The Python interface of a network interface under a port: its MTU, its carrier, its offloads.

use std::io;

use hitless_live::interfaces::device::{Carrier, NetworkDevice};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

/// An Ethernet interface, in the network namespace of the thread that made this object.
#[pyclass(frozen, module = "hitless._native")]
pub struct NetworkInterface(NetworkDevice);

#[pymethods]
impl NetworkInterface {
    /// Finds the interface called `name`; raises `OSError` with the complete message if it does not exist.
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        NetworkDevice::of_ethernet(name).map(Self).map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// Maximum number of bytes of a frame after addresses and type.
    #[getter]
    fn mtu_bytes(&self) -> PyResult<usize> {
        self.0.mtu_bytes().map_err(told)
    }

    /// Sets the MTU.
    fn set_mtu_bytes(&self, mtu_bytes: usize) -> PyResult<()> {
        self.0.set_mtu_bytes(mtu_bytes).map_err(told)
    }

    /// Switches it on or off.
    fn set_up(&self, up: bool) -> PyResult<()> {
        self.0.set_up(up).map_err(told)
    }

    /// "off", "lost" or "present".
    #[getter]
    fn carrier(&self) -> PyResult<&'static str> {
        self.0.carrier().map_err(told).map(|carrier| match carrier {
            Carrier::Off => "off",
            Carrier::Lost => "lost",
            Carrier::Present => "present",
        })
    }

    /// Number of the interface in its namespace.
    #[getter]
    fn index(&self) -> i32 {
        self.0.index()
    }

    /// The active offloads that change frames, in the spelling of `ethtool -k`.
    fn offloads_on(&self) -> PyResult<Vec<String>> {
        self.0.offloads_on().map_err(told)
    }

    /// Switches off the offloads that change frames; returns those that were switched off, and those that stay on.
    fn switch_off_offloads(&self) -> PyResult<(Vec<String>, Vec<String>)> {
        let done = self.0.switch_off_offloads().map_err(told)?;
        Ok((done.switched, done.still_on))
    }

    /// Switches off the offloads that change received frames; returns as `switch_off_offloads`.
    fn switch_off_receive_offloads(&self) -> PyResult<(Vec<String>, Vec<String>)> {
        let done = self.0.switch_off_receive_offloads().map_err(told)?;
        Ok((done.switched, done.still_on))
    }

    /// Switches these offloads on again.
    fn switch_on_offloads(&self, names: Vec<String>) -> PyResult<()> {
        self.0.switch_on_offloads(&names).map_err(told)
    }
}

fn told(error: io::Error) -> PyErr {
    PyOSError::new_err(error.to_string())
}
