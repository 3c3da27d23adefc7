//! Workloads: start times, endpoints and sizes of flows.
//!
//! A workload is a list of *groups*, one for each `[[flows]]` entry of a scenario. Each group is an iterator over
//! [`FlowSpec`]s in order of time, with separate random streams ("flows background"), so that adding or changing one
//! group does not affect another. [`Workload`] merges them. Flows are generated on demand: a Poisson group of millions
//! of flows takes no more memory than one of ten.

mod asking;
mod build;
pub(crate) mod cdf;
pub(crate) mod flow_list;
mod generators;
mod load;
mod size;
mod spec;

pub use build::build;
pub use cdf::Cdf;
pub use generators::{Dependents, Sequence, Workload};
pub use load::LoadDenominator;
pub use spec::{FlowSize, FlowSpec, Messages};

pub(crate) use build::{build_group, load_of};
pub(crate) use load::Offer;
