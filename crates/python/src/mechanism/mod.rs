//! Mechanisms that are Python classes: their kinds, and the view of their hooks.
//!
//! A hook gets a `Context` with a copy of the visible state. Its changes and requests are executed after it has
//! returned, in order.

mod context;
pub mod fault;
mod hooks;
mod kind;
mod known_queues;
mod needs;
mod packet;
mod report;
mod words;

use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

/// Adds the classes for such mechanisms to the module.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<context::ContextView>()?;
    module.add_class::<context::QueueView>()?;
    module.add_class::<packet::PacketView>()?;
    module.add_class::<packet::EcnView>()?;
    module.add_class::<words::VerdictView>()?;
    module.add_class::<words::ReasonView>()?;
    module.add_class::<words::EventView>()?;
    module.add_function(wrap_pyfunction!(kind::register_mechanism, module)?)
}
