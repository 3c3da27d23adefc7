//! RoCEv2, reliable connection: RDMA WRITE messages with go-back-N or selective repeat, and DCQCN.
//!
//! What a network card does in hardware (InfiniBand Architecture Specification, volume 1, chapter 9): the
//! [`RoceRequester`] cuts messages into packets and numbers them. With go-back-N the [`RoceResponder`] takes them in
//! order only, acknowledges, and answers a gap with one negative acknowledgement, at which the requester goes back to
//! the hole. With selective repeat ([`selective`]) it takes what comes, and only what is missing is sent again.
//! [`dcqcn`] answers marked packets with notifications and sets the rate by them.
//!
//! Not here: READ and SEND, receiver-not-ready, atomic operations.

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
