//! Links that fail and are repaired, from scenario files: losses, paths and measurements.

mod busy;
mod order;
mod recovery;
mod sqr;
pub mod triangle;
mod withdrawal;
