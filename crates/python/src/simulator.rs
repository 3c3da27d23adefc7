//! Simulation functions for Python, without Python types.

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use hitless_core::engine::{Answer, Progress};
pub use hitless_scenario::memory::Execution;
use hitless_scenario::memory::{Limit, of_run};
use hitless_scenario::network::topology::{DirectedLink, Topology};
use hitless_scenario::resources::{SwitchResources, survey};
use hitless_scenario::{Purpose, Scenario};
use hitless_simulation::Simulation;
use hitless_simulation::bench::Work;
use hitless_simulation::bench::switch::{Load, SwitchWork, packets_sent};
use pyo3::PyErr;
use rustix::time::{ClockId, clock_gettime};

use crate::checkpoints::{self, Checkpoints};
use crate::kinds::registry;
use crate::memory;

pub use hitless_simulation::results::{CaptureFile, Column, RECORDS, RowSink, Table};

/// The reason why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// The scenario is refused; the message is complete and formatted for people.
    Scenario(String),
    /// A run violated an assertion.
    Simulation(String),
    /// A checkpoint cannot be written, or the run cannot continue from it; the message gives the reason.
    Checkpoint(String),
    /// A Python mechanism raised this exception.
    Mechanism(PyErr),
    /// [`Control::cancel`] was called.
    Cancelled,
}

/// The results of a finished run.
pub struct Outcome {
    /// Drops by reason, trace hash, events, transmissions, times, warnings, as one JSON object.
    pub summary_json: String,
    /// All tables of results.
    pub tables: Vec<Table>,
    /// Captures of packets.
    pub captures: Vec<CaptureFile>,
}

/// Interface of a run for other threads.
#[derive(Default)]
pub struct Control {
    progress: Progress,
    /// The reason for ending early, if the partial results are wanted.
    stopped: Mutex<Option<Stopped>>,
    /// When the run began.
    began: OnceLock<Instant>,
}

/// The reason why a run ended early with partial results, which are those of a shorter run.
#[derive(Clone, Debug)]
pub enum Stopped {
    /// A user asked for it.
    Interrupted,
    /// It exceeded the memory limit; the amount, in a sentence.
    Memory(String),
}

impl Stopped {
    /// The texts for the summary: `ended_by`, and a sentence.
    fn words(&self) -> (&'static str, String) {
        match self {
            Stopped::Interrupted => ("interrupted", "the run was interrupted before its end".to_owned()),
            Stopped::Memory(passed) => ("memory limit", format!("the run was stopped, as {passed}")),
        }
    }
}

impl Control {
    /// The share of the run that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.progress.fraction()
    }

    /// Asks the run to end with [`Failure::Cancelled`].
    pub fn cancel(&self) {
        self.progress.cancel();
    }

    /// Asks the run to end with partial results, which are marked. The first reason counts.
    pub fn stop(&self, why: Stopped) {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.progress.cancel();
    }

    /// Asks the run for its present state.
    pub fn ask(&self) {
        self.progress.ask();
    }

    /// Takes the run's answer: events, wall time in seconds, and a report in words.
    pub fn take_answer(&self) -> Option<(u64, f64, String)> {
        let Answer { events, text } = self.progress.take_answer()?;
        Some((events, self.began.get().map_or(0.0, |began| began.elapsed().as_secs_f64()), text))
    }

    fn stopped(&self) -> Option<Stopped> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads and checks a scenario to run. A run that keeps the rows of flows and messages takes more memory.
pub fn prepare(text: &str, file_name: &str, execution: Execution) -> Result<Scenario, Failure> {
    check(text, file_name, Purpose::Simulation, execution)
}

/// Returns the reason why a run of `scenario` cannot write checkpoints; None if it can.
pub fn checkpoint_refusal(scenario: &Scenario) -> Result<Option<String>, Failure> {
    Simulation::new(scenario.clone()).map(checkpoints::refusal).map_err(Failure::Simulation)
}

/// Runs to the end on up to `threads` threads; reports progress to `control`, which can also stop the run. Flows
/// and messages go to `rows` and are then in no table. `keeps_rows`: they stay in memory, there or in the tables. A run
/// with `checkpoints` uses one thread and keeps its rows.
pub fn run(
    scenario: &Scenario,
    threads: usize,
    control: &Control,
    rows: Option<Box<dyn RowSink>>,
    keeps_rows: bool,
    checkpoints: Option<&Checkpoints>,
) -> Result<Outcome, Failure> {
    let clocks = Clocks::start(threads);
    control.began.get_or_init(Instant::now);
    let mut simulation = Simulation::new(scenario.clone()).map_err(Failure::Simulation)?;
    if let Some(rows) = rows {
        simulation = simulation.with_rows_to(rows, RECORDS);
    }
    let too_much = |passed: String| control.stop(Stopped::Memory(passed));
    let run = || match checkpoints {
        Some(checkpoints) => checkpoints.run(simulation, &control.progress),
        None => Ok(simulation.run_on(threads, &control.progress)),
    };
    let outcome = memory::watched(keeps_rows, too_much, run).map_err(Failure::Checkpoint)?;
    let was_cut = outcome.summary.ended_by == "cancelled";
    let stopped = control.stopped().filter(|_| was_cut);
    if was_cut && stopped.is_none() {
        return Err(Failure::Cancelled);
    }
    finished(outcome, &clocks, stopped)
}

/// Checks the invariants of a run, and completes its summary with times and, if it was `stopped`, the reason.
pub fn finished(
    outcome: hitless_simulation::Outcome,
    clocks: &Clocks,
    stopped: Option<Stopped>,
) -> Result<Outcome, Failure> {
    refuse_violations(&outcome)?;
    let mut summary = serde_json::to_value(&outcome.summary).map_err(|error| Failure::Simulation(error.to_string()))?;
    summary["wall_s"] = clocks.wall_s().into();
    summary["cpu_s"] = clocks.cpu_s().into();
    if let Some((ended_by, incomplete)) = stopped.map(|why| why.words()) {
        summary["ended_by"] = ended_by.into();
        summary["incomplete"] = incomplete.into();
    }
    Ok(Outcome { summary_json: summary.to_string(), tables: outcome.tables, captures: outcome.captures })
}

/// Reads and checks a scenario.
pub fn check(text: &str, file_name: &str, purpose: Purpose, execution: Execution) -> Result<Scenario, Failure> {
    let bytes = (purpose == Purpose::Simulation).then(|| memory::limit(Path::new("/"))).flatten();
    let limit = bytes.map(|bytes| Limit { bytes, execution });
    hitless_scenario::check_for(text, file_name, purpose, &registry(), limit)
        .map_err(|error| Failure::Scenario(error.to_string()))
}

/// Reads and checks a scenario for a live run; returns it with all defaults written out, and its fabric as one JSON
/// object.
pub fn check_live(text: &str, file_name: &str) -> Result<(String, String), Failure> {
    let scenario = check(text, file_name, Purpose::Live, Execution::ALONE)?;
    let topology = scenario.build_topology().map_err(Failure::Scenario)?;
    Ok((scenario.effective_toml(), described(&topology).to_string()))
}

/// Returns the fabric of a scenario as one JSON object.
pub fn fabric(text: &str, file_name: &str) -> Result<String, Failure> {
    let scenario = check(text, file_name, Purpose::Survey, Execution::ALONE)?;
    Ok(described(&scenario.build_topology().map_err(Failure::Scenario)?).to_string())
}

/// Parts of an estimate: the field that determines its size, a description, and its bytes.
pub type MemoryParts = Vec<(String, String, f64)>;

/// Estimates the memory of a run: the total, and its parts.
pub fn memory_of(scenario: &Scenario, execution: Execution) -> Result<(f64, MemoryParts), Failure> {
    let topology = scenario.build_topology().map_err(Failure::Scenario)?;
    let estimate = of_run(scenario, &topology, execution);
    let bytes = estimate.bytes();
    Ok((bytes, estimate.parts.into_iter().map(|part| (part.field, part.what, part.bytes)).collect()))
}

/// Returns the switch resources that the mechanisms of a scenario need, as a JSON list, even if they exceed the budget.
pub fn resources(text: &str, file_name: &str) -> Result<String, Failure> {
    let scenario = check(text, file_name, Purpose::Survey, Execution::ALONE)?;
    let switches = survey(&scenario).map_err(Failure::Scenario)?;
    Ok(serde_json::Value::from_iter(switches.iter().map(SwitchResources::as_json)).to_string())
}

/// Describes hosts, switches and links of the fabric.
fn described(topology: &Topology) -> serde_json::Value {
    let links = (0..topology.links.len()).map(|number| {
        let forward = DirectedLink::from_index(2 * number);
        let (from, to) = topology.ends(forward);
        serde_json::json!({
            "name": topology.link_name(forward),
            "reverse": topology.link_name(forward.reversed()),
            "ends": [topology.name(from.node), topology.name(to.node)],
            "directions": [described_direction(topology, forward), described_direction(topology, forward.reversed())],
        })
    });
    serde_json::json!({
        "hosts": topology.hosts.iter().map(|host| &host.name).collect::<Vec<_>>(),
        "switches": topology.switches.iter().map(|switch| &switch.name).collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(),
    })
}

/// Describes one direction of a link.
fn described_direction(topology: &Topology, link: DirectedLink) -> serde_json::Value {
    let spec = topology.spec(link);
    serde_json::json!({
        "rate_bps": spec.rate.as_bps(),
        "delay_ps": spec.delay.as_ps(),
        "overhead_bytes": spec.overhead_bytes,
    })
}

pub(crate) fn refuse_violations(outcome: &hitless_simulation::Outcome) -> Result<(), Failure> {
    if !outcome.violations.is_empty() {
        return Err(Failure::Simulation(format!("what must always hold did not: {}", outcome.violations.join("; "))));
    }
    if !outcome.limits.is_empty() {
        let limits: Vec<_> = outcome.limits.iter().map(|limit| format!("error: {limit}")).collect();
        return Err(Failure::Scenario(limits.join("\n\n")));
    }
    Ok(())
}

/// Runs a benchmark workload on up to `threads` threads; returns its measurements as a JSON object.
pub fn bench_engine(work: &str, fraction: f64, seed: u64, threads: usize) -> Result<String, Failure> {
    let known = Work::named(work).ok_or_else(|| Failure::Simulation(format!("there is no workload {work}")))?;
    let (clocks, before_bytes) = (Clocks::start(threads), memory::held_bytes("VmRSS:"));
    let simulation = known.build(&registry(), fraction, seed).map_err(Failure::Simulation)?;
    let (built_s, built_wall_s, hosts) = (clocks.cpu_s(), clocks.wall_s(), simulation.hosts());
    let rest_bytes = memory::held_bytes("VmRSS:").saturating_sub(before_bytes);
    let outcome = simulation.run_on(threads, &Progress::default());
    let (cpu_s, wall_s) = (clocks.cpu_s(), clocks.wall_s());
    refuse_violations(&outcome)?;
    let summary = &outcome.summary;
    let measured = serde_json::json!({
        "work": work,
        "transmissions": summary.transmissions,
        "events": summary.events,
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "build_cpu_s": built_s,
        "run_wall_s": wall_s - built_wall_s,
        "threads": threads,
        "transmissions_per_cpu_s": summary.transmissions as f64 / cpu_s,
        "ns_per_transmission": (cpu_s - built_s) * 1e9 / summary.transmissions as f64,
        "hosts": hosts,
        "rest_bytes_per_host": rest_bytes as f64 / hosts as f64,
        "peak_rss_bytes": memory::held_bytes("VmHWM:"),
        "flows_done": summary.flows.completed,
        "drops": summary.drops.values().sum::<u64>(),
        "simulated_s": summary.simulated_s,
        "trace_hash": summary.trace_hash,
    });
    Ok(measured.to_string())
}

/// Runs a discipline or mechanism in one switch; returns its measurements as a JSON object.
pub fn bench_switch(discipline: &str, load: &str, fraction: f64, seed: u64) -> Result<String, Failure> {
    let unknown = |what: &str, name: &str| Failure::Simulation(format!("there is no {what} {name}"));
    let work = SwitchWork::named(discipline).ok_or_else(|| unknown("discipline", discipline))?;
    let known = Load::named(load).ok_or_else(|| unknown("load", load))?;
    let clocks = Clocks::start(1);
    let outcome = work.run(&registry(), known, fraction, seed).map_err(Failure::Simulation)?;
    let (cpu_s, wall_s) = (clocks.cpu_s(), clocks.wall_s());
    refuse_violations(&outcome)?;
    let packets = packets_sent(&outcome);
    let measured = serde_json::json!({
        "discipline": discipline,
        "load": load,
        "packets": packets,
        "events": outcome.summary.events,
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "packets_per_cpu_s": packets as f64 / cpu_s,
        "drops": outcome.summary.drops.values().sum::<u64>(),
        "simulated_s": outcome.summary.simulated_s,
        "trace_hash": outcome.summary.trace_hash,
    });
    Ok(measured.to_string())
}

/// Wall time and CPU time since the start, of this thread or, for a run on several threads, of the process.
pub struct Clocks {
    wall: Instant,
    cpu: ClockId,
    cpu_s: f64,
}

impl Clocks {
    /// Starts the clocks for a run on `threads` threads.
    pub fn start(threads: usize) -> Self {
        let cpu = if threads > 1 { ClockId::ProcessCPUTime } else { ClockId::ThreadCPUTime };
        Self { wall: Instant::now(), cpu, cpu_s: seconds(cpu) }
    }

    fn wall_s(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// CPU time.
    pub fn cpu_s(&self) -> f64 {
        seconds(self.cpu) - self.cpu_s
    }
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
