//! RoCEv2, reliable connection: RDMA WRITE messages with go-back-N or selective repeat, and DCQCN.
//!
//! It implements the functions of a network card (InfiniBand Architecture Specification, volume 1, chapter 9). The
//! [`RoceRequester`] splits messages into numbered packets. With go-back-N the [`RoceResponder`] accepts them in order
//! only, acknowledges them, and answers a gap with one negative acknowledgement; the requester then goes back to the
//! missing packet. With selective repeat (`selective`) it accepts packets in any order, and only missing ones are
//! retransmitted. `dcqcn` answers marked packets with notifications and sets the rate by them.
//!
//! Not implemented: READ and SEND, receiver-not-ready, atomic operations.

mod config;
mod dcqcn;
mod pace;
mod requester;
mod responder;
mod selective;

#[cfg(test)]
mod tests;

pub use config::{RoceRecovery, RoceSettings};
pub use dcqcn::{AlphaUpdate, DcqcnPreset, DcqcnSettings};
pub use requester::RoceRequester;
pub use responder::RoceResponder;
