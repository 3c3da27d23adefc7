//! Ports of a live switch: frames in and out of real Linux interfaces.
//!
//! The only module that talks to the kernel about packets. It knows frames as bytes and nothing of what is in them.
//!
//! - [`interface`]: what a port can do;
//! - [`open`](mod@open): how one is opened; [`OpenError`]: why that fails;
//! - [`link`]: the interface under a port: MTU, carrier, on and off;
//! - [`watch`]: what becomes of interfaces;
//! - [`offloads`]: what must be off so that frames arrive as they were sent;
//! - [`packet`]: ports over packet sockets;
//! - [`xdp`]: ports over AF_XDP;
//! - [`namespace`]: doing something in another network namespace;
//! - [`traffic`]: a generator and a sink, which measure what lies between two ports.

pub mod capability;
mod error;
mod frame;
pub mod interface;
pub mod link;
pub mod namespace;
pub mod offloads;
pub mod open;
pub mod packet;
mod sys;
pub mod traffic;
pub mod watch;
pub mod xdp;

pub use error::OpenError;
pub use interface::{Counters, Interface, MonotonicTime, Received, Refusal};
pub use open::{Options, Preference, open};
pub use sys::machine::{monotonic_ns, pin};
pub use sys::socket::wait_readable;
