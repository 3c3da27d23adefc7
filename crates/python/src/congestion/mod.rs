//! Congestion controls that are Python classes: their kinds, and the view of their hooks.

mod ack;
mod control;
mod kind;
mod window;

use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

/// Adds the classes for such congestion controls to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<window::TransportWindow>()?;
    module.add_class::<ack::Ack>()?;
    module.add_function(wrap_pyfunction!(kind::register_transport, module)?)
}
