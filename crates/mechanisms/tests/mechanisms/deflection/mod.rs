//! Deflection on a switch: where packets of congested queues go.

mod admission;
mod dibs;
mod late;
mod preemptive;
mod simple;
pub mod world;
