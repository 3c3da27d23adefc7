//! The second clock: a fabric driven by the wall clock, between real interfaces.
//!
//! [`driver`] reads frames from interfaces, lets the fabric handle what is due, and sends what leaves; [`clock`] is what
//! it knows of time, so that tests can bring their own; [`lateness`] counts by how much it was late; [`memory`] is an
//! interface without a kernel.

pub mod clock;
pub mod driver;
pub mod lateness;
pub mod memory;
pub mod status;

pub use clock::{Clock, MonotonicClock};
pub use driver::{Command, Control, Driver, Options, Request, Waiting};
pub use lateness::Lateness;
pub use status::{PortStatus, Status};
