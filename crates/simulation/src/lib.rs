//! The simulation of a scenario, from its first event to its results.
//!
//! [`Simulation`] runs a scenario under the simulated clock: [`link`] is what happens to frames on the way, [`results`]
//! what comes out. A [`Session`] is a run that stops where its driver wants. Both are a [`run::Run`] without an
//! [`Edge`](run::Edge); a live run has one, behind which nodes are real.

pub mod bench;
pub mod checkpoint;
pub mod link;
pub mod results;
pub mod run;

pub use results::{Outcome, Summary};
pub use run::{ReceiveCounters, Resumable, Session, Simulation};
