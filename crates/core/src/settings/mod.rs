//! Settings from a file: what any such file needs, whatever it is about.
//!
//! Structs of settings *are* the documentation of their file: their doc comments become a [schema], against which
//! [`structure`] checks the [parsed file](document), so that no field can be undocumented and no unknown key gets
//! through. [`listing`] prints the schema for people, [`defaults`] fills in what depends on another field, [`quantity`]
//! reads numbers with units. A [`SettingsError`] says what is wrong, with file, line, field, value, rule and hint.

pub mod defaults;
pub mod document;
pub mod input;
pub mod listing;
pub mod quantity;
pub mod schema;
pub mod structure;

mod error;
mod shape;
mod suggest;

pub use error::{Finding, LineError, Lines, Problem, SettingsError};
pub use input::without_byte_order_mark;
pub use suggest::closest;
