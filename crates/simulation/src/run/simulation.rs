//! A scenario under the simulated clock, from its first event to its results.

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::Division;
use hitless_scenario::workload::FlowSpec;

use super::build::build;
use super::edge::Closed;
use super::event_loop::Run;
use super::outcome::close;
use super::partitions;
use super::streaming::Streaming;
use crate::results::{Outcome, RowSink};

/// A run of a scenario in which every node is simulated.
pub struct Simulation {
    run: Run<Closed>,
}

impl Simulation {
    /// Builds what `scenario` describes.
    ///
    /// # Errors
    /// A sentence, for what can only be found out here: a file of flows that cannot be read.
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        Ok(Self { run: build(scenario, None, Closed)? })
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> usize {
        self.run.topology().hosts.len()
    }

    /// The same simulation with each flow of the workload changed before it starts.
    ///
    /// Those of closed loops are left as they are.
    pub fn with_flows_changed(mut self, change: impl Fn(FlowSpec) -> FlowSpec + Send + 'static) -> Self {
        self.run.global.flow_starts = self.run.global.flow_starts.changed(change);
        self
    }

    /// The same simulation with flows and messages handed to `sink` as they are known for good, and not kept: its
    /// outcome has no tables of them. They are looked for when `records` have come, of which a flow of one message
    /// makes four ([`crate::results::RECORDS`] for a run of any length).
    pub fn with_rows_to(mut self, sink: Box<dyn RowSink>, records: usize) -> Self {
        self.run.global.streaming = Some(Box::new(Streaming::new(sink, records)));
        self
    }

    /// Runs to the end of the scenario on up to `threads` threads, each with a partition of the network. What comes out
    /// does not depend on how many there are. Where the scenario cannot be divided
    /// ([`Scenario::undivided_because`]), one thread runs it.
    ///
    /// One thread also runs what is too small: where all hosts together could not keep several busy through a window.
    pub fn run_on(self, threads: usize, progress: &Progress) -> Outcome {
        let division = self.division(threads).filter(|division| partitions::can_pay(&self.run.network, division));
        self.run_in(division, threads, progress)
    }

    /// [`Self::run_on`], in up to `partitions` partitions, however small they are.
    pub fn run_divided(self, partitions: usize, threads: usize, progress: &Progress) -> Outcome {
        let division = self.division(partitions);
        self.run_in(division, threads, progress)
    }

    fn division(&self, partitions: usize) -> Option<Division> {
        let is_divided = partitions > 1 && self.run.global.scenario.undivided_because().is_none();
        let division = is_divided.then(|| Division::new(self.run.topology(), partitions));
        division.filter(|division| division.parts() > 1)
    }

    fn run_in(self, division: Option<Division>, threads: usize, progress: &Progress) -> Outcome {
        let Some(division) = division else { return self.run(progress) };
        let (run, end, ended_at) = partitions::run(self.run, &division, threads, progress);
        close(run, end, ended_at)
    }

    /// Runs to the end of the scenario, on this thread.
    pub fn run(mut self, progress: &Progress) -> Outcome {
        self.run.start();
        let (end, ended_at) = self.run.run_until_end(progress);
        close(self.run, end, ended_at)
    }

    /// What runs, for whoever drives it otherwise.
    pub(super) fn into_run(self) -> Run<Closed> {
        self.run
    }
}
