//! Mechanisms that are classes of Python: their kinds, and what their hooks see.
//!
//! A hook gets a `Context`: what there is to see, copied before the call. What it changes and asks for is
//! carried out when it has returned, in the order in which it asked.

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

/// Puts what such classes are made with into the module.
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
