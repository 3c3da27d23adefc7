//! A scenario under the simulated clock, from its first event to its results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::Division;
use hitless_scenario::workload::FlowSpec;

use super::autopsy::Autopsy;
use super::build::build;
use super::edge::{Closed, Edge};
use super::event_loop::Run;
use super::outcome::close;
use super::partitions;
use super::streaming::Streaming;
use super::trial;
use crate::results::{Outcome, RowSink};

/// A change to each flow of a workload.
type Change = Arc<dyn Fn(FlowSpec) -> FlowSpec + Send + Sync>;

/// A run of a scenario with all nodes simulated.
pub struct Simulation {
    run: Run<Closed>,
    change: Option<Change>,
    /// Wall time of the construction.
    built: Duration,
}

impl Simulation {
    /// Builds the simulation of `scenario`.
    ///
    /// # Errors
    /// On errors that show up only here, such as an unreadable file of flows; the message is a sentence.
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        let began = Instant::now();
        let run = build(scenario, None, Closed)?;
        Ok(Self { run, change: None, built: began.elapsed() })
    }

    /// Number of hosts.
    pub fn hosts(&self) -> usize {
        self.run.topology().hosts.len()
    }

    /// Changes each flow of the workload before it starts.
    ///
    /// Flows of closed loops stay as they are.
    pub fn with_flows_changed(self, change: impl Fn(FlowSpec) -> FlowSpec + Send + Sync + 'static) -> Self {
        self.with_change(Arc::new(change))
    }

    fn with_change(mut self, change: Change) -> Self {
        let of_flow = change.clone();
        self.run.global.flow_starts = self.run.global.flow_starts.changed(move |flow| of_flow(flow));
        self.change = Some(change);
        self
    }

    /// Hands final rows of flows and messages to `sink` instead of keeping them; the outcome then lacks these tables.
    /// The run looks for final rows after each `records` records; a flow of one message makes four records
    /// ([`crate::results::RECORDS`] suits runs of any length).
    pub fn with_rows_to(mut self, sink: Box<dyn RowSink>, records: usize) -> Self {
        self.run.global.streaming = Some(Box::new(Streaming::new(sink, records)));
        self
    }

    /// Runs to the end of the scenario on up to `threads` threads, each with one partition of the network. The results
    /// do not depend on the number of threads. If the scenario cannot be divided ([`Scenario::undivided_because`]), one
    /// thread runs it.
    ///
    /// The run starts undivided, and continues in partitions if a trial finds them faster; a large network is divided
    /// at the start if its hosts can cause enough events.
    pub fn run_on(self, threads: usize, progress: &Progress) -> Outcome {
        let Some(division) = self.division(threads) else { return self.run(progress) };
        if trial::is_affordable(&self.run) {
            let Self { run, change, built } = self;
            let again = |scenario| {
                let again = Self::new(scenario)?;
                Ok(change.into_iter().fold(again, Self::with_change).run)
            };
            return trial::run(run, built, again, division.parts(), progress);
        }
        let division = Some(division).filter(|division| partitions::can_pay(&self.run.network, division));
        self.run_in(division, threads, progress)
    }

    /// Like [`Self::run_on`], but always divided into up to `partitions` partitions, however small.
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
        let (run, end, ended_at) = partitions::run(self.run, &division, threads, progress, &mut None);
        close(run, end, ended_at)
    }

    /// Runs to the end of the scenario on this thread.
    pub fn run(self, progress: &Progress) -> Outcome {
        if !self.run.global.scenario.measure.autopsy {
            return to_end(self.run, progress);
        }
        let Run { global, network, events, now } = self.run;
        let autopsy = Autopsy::new(&network);
        to_end(Run { global, network: network.with_edge(autopsy), events, now }, progress)
    }

    /// The run itself, for another driver.
    pub(super) fn into_run(self) -> Run<Closed> {
        self.run
    }
}

fn to_end<E: Edge>(mut run: Run<E>, progress: &Progress) -> Outcome {
    run.start();
    let (end, ended_at) = run.run_until_end(progress);
    close(run, end, ended_at)
}
