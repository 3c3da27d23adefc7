//! The mutable state of a run as bytes: the contents of a checkpoint.
//!
//! A run is restored by building it again from its scenario and then loading its changes since the start. So there are
//! two sorts of types. A [`Value`] is made from bytes alone: a number, a packet, an event. A [`State`] was already
//! built from the scenario and loads the bytes into itself: a port keeps its rate and gets its queues back.
//! `#[derive(hitless_core::state::Value)]` implements the first trait from a declaration, [`state!`](crate::state!) the
//! second from the names of its fields. It destructures the type without `..`: a field that is added later and
//! forgotten there does not compile.
//!
//! Only the version of the program that wrote the bytes can read them. They carry no names and no tags. The reader
//! trusts nothing: for any bytes it ends with a value or with [`Damaged`], and its memory is bounded by a multiple of
//! the input's length.

mod bytes;
mod collections;
mod macros;
mod numbers;

pub use bytes::{Damaged, Reader, State, Value, Writer};
pub use hitless_core_derive::Value;
pub use numbers::kept;
