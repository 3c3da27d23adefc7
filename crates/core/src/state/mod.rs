//! What changes in a run, as bytes: what a checkpoint is made of.
//!
//! A run is restored by building it anew from its scenario, and then loading what has changed since its start. So a
//! type is one of two sorts. A [`Value`] is made from bytes alone: a number, a packet, an event. A [`State`] has been
//! built from the scenario already, and takes the bytes into itself: a port keeps its rate and gets its queues back.
//! `#[derive(hitless_core::state::Value)]` writes the first trait from a declaration, [`state!`](crate::state!) the
//! second from the names of its fields. It takes the type apart without `..`: a field that is added later and forgotten
//! there does not compile.
//!
//! The bytes are read by the version of the program that wrote them, and by no other. They carry no names and no
//! tags, but the reader trusts nothing: whatever the bytes are, it ends with a value or with [`Damaged`], and takes
//! no more memory than a multiple of what it was given.

mod bytes;
mod collections;
mod macros;
mod numbers;

pub use bytes::{Damaged, Reader, State, Value, Writer};
pub use hitless_core_derive::Value;
pub use numbers::kept;
