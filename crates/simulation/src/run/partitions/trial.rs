//! A race of a run in partitions with the undivided run of the same scenario.

use std::time::Duration;

use hitless_core::wire::Time;

use crate::run::edge::Closed;
use crate::run::event_loop::Run;
use crate::run::streaming::Streaming;

/// The state of a race, until the run in partitions has won.
pub struct Trial {
    /// The simulated time to reach, and the maximum wall time for it.
    pub until: Time,
    pub limit: Duration,
    /// The destination of the winner's rows: they leave the process, so only one run may have it.
    pub streaming: Option<Box<Streaming>>,
    pub undivided: Run<Closed>,
}
