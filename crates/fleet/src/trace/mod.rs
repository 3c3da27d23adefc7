//! Traces: which link begins to corrupt when, and how badly.

mod failures;
mod generate;
mod json;

pub use failures::{Failure, LATEST_S, Trace};
pub use generate::{Hazard, generate};
pub use json::{from_json, to_json};
