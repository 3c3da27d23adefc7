//! The simulation of a scenario, from its first event to its results.
//!
//! [`Simulation`] runs a scenario under the simulated clock: [`link`] models the frames in flight, and [`results`]
//! holds the outcome. A [`Session`] is a run that its driver can stop and inspect. Both are a [`run::Run`] without an
//! [`Edge`](run::Edge); a live run has an edge with real nodes beyond it. Start reading at [`run`].

// Docs are required only where outsiders look: in the switch, the mechanism interface and the settings.
#![allow(missing_docs)]

pub mod bench;
pub mod checkpoint;
pub mod link;
pub mod results;
pub mod run;

pub use results::{Outcome, Summary};
pub use run::{ReceiveCounters, Resumable, Session, Simulation};
