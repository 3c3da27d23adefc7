//! Traces: times, links and loss rates of failures.

mod failures;
mod generate;
mod json;

pub use failures::{Failure, LATEST_S, Trace};
pub use generate::{Hazard, generate};
pub use json::{from_json, to_json};
