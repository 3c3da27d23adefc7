//! The mutable state of a run as bytes: the contents of a checkpoint.
//!
//! A run is restored by building it anew from its scenario, and then loading what has changed since its start. So a
//! type is one of two sorts. A [`Value`] is made from bytes alone: a number, a packet, an event. A [`State`] has been
//! built from the scenario already, and takes the bytes into itself: a port keeps its rate and gets its queues back.
//! `#[derive(hitless_core::state::Value)]` and `#[derive(hitless_core::state::State)]` write them from a declaration. A
//! field of a state is a value, which is made anew, unless it is a `#[part]`, which is a state itself, or
//! `#[configured]`, which the scenario made and no run changes. The variant of an enumeration was settled when it was
//! built, and its fields are parts.
//!
//! ```
//! use hitless_core::state::State;
//!
//! #[derive(State)]
//! struct Meter {
//!     #[configured]
//!     limit: u64,
//!     count: u64,
//! }
//!
//! #[derive(State)]
//! enum Lane {
//!     Metered(Meter),
//!     Free,
//! }
//!
//! #[derive(State)]
//! struct Port {
//!     #[part]
//!     lanes: Vec<Lane>,
//!     waiting: Vec<u32>,
//! }
//! ```
//!
//! A field that is added later, and is neither a value nor marked, does not compile:
//!
//! ```compile_fail,E0277
//! struct Limit;
//!
//! #[derive(hitless_core::state::State)]
//! struct Meter {
//!     limit: Limit,
//!     count: u64,
//! }
//! ```
//!
//! Only the version of the program that wrote the bytes can read them. They carry no names and no tags. The reader
//! trusts nothing: for any bytes it ends with a value or with [`Damaged`], and its memory is bounded by a multiple of
//! the input's length.

mod bytes;
mod collections;
mod numbers;

pub use bytes::{Damaged, Reader, State, Value, Writer};
pub use hitless_core_derive::{State, Value};
pub use numbers::kept;
