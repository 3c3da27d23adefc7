//! Deflection on one switch: where packets of congested queues go.

mod dibs;
mod preemptive;
mod simple;
mod world;
