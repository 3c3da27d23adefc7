//! Ports of a live switch: frames in and out of real Linux interfaces.
//!
//! The only crate that talks to the kernel about packets. It knows frames as bytes and nothing of what is in them.

pub mod interface;

pub use interface::{Counters, Interface, MonotonicTime, Received, Refusal};
