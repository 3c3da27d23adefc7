//! Ports of a live switch: frames in and out of real Linux interfaces.
//!
//! This is the only module that exchanges frames with the kernel. It treats frames as bytes and does not interpret
//! them.
//!
//! - [`interface`]: the interface of a port;
//! - [`open`](mod@open): opens a port; [`OpenError`]: the reasons for a failure;
//! - [`device`]: the network device under a port: MTU, carrier, on and off;
//! - [`watch`]: changes of interfaces;
//! - [`offloads`]: offloads that must be off so that frames arrive as they were sent;
//! - [`packet`]: ports over packet sockets;
//! - [`xdp`]: ports over AF_XDP;
//! - [`namespace`]: work in another network namespace;
//! - [`traffic`]: a generator and a sink, for measurements between two ports.

pub mod capability;
pub mod device;
mod error;
mod frame;
pub mod interface;
pub mod namespace;
pub mod offloads;
pub mod open;
pub mod packet;
mod segments;
mod sys;
pub mod traffic;
pub mod watch;
pub mod xdp;

pub use error::OpenError;
pub use interface::{Arrived, Counters, Interface, Merged, MonotonicTime, Received, Refusal, Together};
pub use open::{Options, Preference, open};
pub use segments::Segments;
pub use sys::machine::{monotonic_ns, pin};
pub use sys::socket::wait_readable;
