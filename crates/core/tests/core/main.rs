//! One program of all tests of the crate.

mod bytes;
mod checkpoint;
mod state;
