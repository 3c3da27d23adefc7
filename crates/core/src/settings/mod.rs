//! Settings from a file: the parts that every such file needs, independent of its contents.
//!
//! Structs of settings *are* the documentation of their file: their doc comments become a [schema], against which
//! [`structure`] checks the [parsed file](document), so that every field is documented and every unknown key is
//! reported. [`listing`] prints the schema for people, [`defaults`] fills in values that depend on another field,
//! [`quantity`] reads numbers with units. A [`SettingsError`] reports file, line, field, value, rule and hint.

pub mod defaults;
pub mod document;
pub mod input;
pub mod listing;
pub mod quantity;
pub mod schema;
pub mod structure;

mod error;
mod hints;
mod scalar;
mod shape;
mod suggest;

pub use error::{Finding, LineError, Lines, Problem, SettingsError};
pub use input::without_byte_order_mark;
pub use suggest::{closest, in_short, suggestion};
