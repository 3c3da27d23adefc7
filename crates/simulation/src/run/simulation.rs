//! A scenario under the simulated clock, from its first event to its results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::{Division, Topology};
use hitless_scenario::workload::FlowSpec;

use super::autopsy::Autopsy;
use super::build::build;
use super::edge::{Closed, Edge};
use super::event_loop::Run;
use super::global::Global;
use super::outcome::close;
use super::partitions;
use super::streaming::Streaming;
use super::trial;
use crate::results::{Outcome, RowSink};

/// A change to each flow of a workload.
type Change = Arc<dyn Fn(FlowSpec) -> FlowSpec + Send + Sync>;

const UNDIVIDED: &str = "a run with an autopsy is not divided";

/// A run, with an autopsy or without: code for each, so that a run without pays nothing.
enum Driven {
    Plain(Box<Run<Closed>>),
    Observed(Box<Run<Autopsy>>),
}

impl Driven {
    fn new(scenario: Scenario) -> Result<Self, String> {
        if !scenario.measure.autopsy {
            return Ok(Self::Plain(Box::new(build(scenario, None, Closed)?)));
        }
        let mut run = Box::new(build(scenario, None, Autopsy::default())?);
        run.network.shared.edge = Autopsy::new(&run.network);
        Ok(Self::Observed(run))
    }

    fn topology(&self) -> &Topology {
        match self {
            Self::Plain(run) => run.topology(),
            Self::Observed(run) => run.topology(),
        }
    }

    fn global(&self) -> &Global {
        match self {
            Self::Plain(run) => &run.global,
            Self::Observed(run) => &run.global,
        }
    }

    fn global_mut(&mut self) -> &mut Global {
        match self {
            Self::Plain(run) => &mut run.global,
            Self::Observed(run) => &mut run.global,
        }
    }

    /// Returns the run if it has no autopsy.
    fn plain(self) -> Option<Run<Closed>> {
        match self {
            Self::Plain(run) => Some(*run),
            Self::Observed(_) => None,
        }
    }
}

/// A run of a scenario with all nodes simulated.
pub struct Simulation {
    run: Driven,
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
        let run = Driven::new(scenario)?;
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
        self.run.global_mut().flow_starts.change(move |flow| of_flow(flow));
        self.change = Some(change);
        self
    }

    /// Hands final rows of flows and messages to `sink` instead of keeping them; the outcome then lacks these tables.
    /// The run looks for final rows after each `records` records; a flow of one message makes four records
    /// ([`crate::results::RECORDS`] suits runs of any length).
    pub fn with_rows_to(mut self, sink: Box<dyn RowSink>, records: usize) -> Self {
        self.run.global_mut().streaming = Some(Box::new(Streaming::new(sink, records)));
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
        let Self { run, change, built } = self;
        let run = run.plain().expect(UNDIVIDED);
        if trial::is_affordable(&run) {
            let again = |scenario| {
                let again = Self::new(scenario)?;
                Ok(change.into_iter().fold(again, Self::with_change).run.plain().expect(UNDIVIDED))
            };
            return trial::run(run, built, again, division.parts(), progress);
        }
        if partitions::can_pay(&run.network, &division) {
            in_parts(run, &division, threads, progress)
        } else {
            to_end(run, progress)
        }
    }

    /// Like [`Self::run_on`], but always divided into up to `partitions` partitions, however small.
    pub fn run_divided(self, partitions: usize, threads: usize, progress: &Progress) -> Outcome {
        match self.division(partitions) {
            Some(division) => in_parts(self.run.plain().expect(UNDIVIDED), &division, threads, progress),
            None => self.run(progress),
        }
    }

    fn division(&self, partitions: usize) -> Option<Division> {
        let is_divided = partitions > 1 && self.run.global().scenario.undivided_because().is_none();
        let division = is_divided.then(|| Division::new(self.run.topology(), partitions));
        division.filter(|division| division.parts() > 1)
    }

    /// Runs to the end of the scenario on this thread.
    pub fn run(self, progress: &Progress) -> Outcome {
        match self.run {
            Driven::Plain(run) => to_end(*run, progress),
            Driven::Observed(run) => to_end(*run, progress),
        }
    }

    /// The run itself, for another driver; `None` with an autopsy.
    pub(super) fn into_run(self) -> Option<Run<Closed>> {
        self.run.plain()
    }
}

fn to_end<E: Edge>(mut run: Run<E>, progress: &Progress) -> Outcome {
    run.start();
    let (end, ended_at) = run.run_until_end(progress);
    close(run, end, ended_at)
}

fn in_parts(run: Run<Closed>, division: &Division, threads: usize, progress: &Progress) -> Outcome {
    let (run, end, ended_at) = partitions::run(run, division, threads, progress, &mut None);
    close(run, end, ended_at)
}
