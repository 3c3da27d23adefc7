//! The choice between an undivided run and a run in partitions.
//!
//! A run starts undivided, and its links count frames. If these counts promise a gain from more threads, a second run
//! of the scenario repeats the time simulated so far in partitions weighed by the counts. The faster of the two runs
//! continues. The choice is by wall-clock time; both runs have the same results.

use std::time::{Duration, Instant};

use hitless_core::engine::Progress;
use hitless_core::wire::Time;
use hitless_scenario::network::topology::{DirectedLink, Division, Node};
use hitless_scenario::workload::FlowSize;
use hitless_scenario::{Scenario, Until};

use super::edge::Closed;
use super::event_loop::Run;
use super::global::{End, Global};
use super::outcome::close;
use super::partitions::{self, Trial};
use super::streaming::Streaming;
use crate::results::Outcome;

/// Maximum cost of a trial as a fraction of the expected wall time of the undivided run.
const COST_MAX: f64 = 0.03;
/// Length of the undivided start: a fraction of the expected wall time, and its maximum in seconds.
const START: f64 = 0.01;
const START_MAX_S: f64 = 0.1;
/// Minimum number of arrivals for each partition in a window. A window's synchronisation takes as long as about 30.
const ARRIVALS_MIN: f64 = 64.0;
/// Minimum total weight over the weight of the heaviest partition.
const BALANCE_MIN: f64 = 1.3;
/// A trial passes within this fraction of the wall time of the undivided run.
const PASSES: f64 = 0.9;
/// Maximum number of links of a network that a trial holds twice.
const LINKS_MAX: usize = 1 << 12;
/// Weight of an arrival at a host, which its transport answers, compared with an arrival at a switch.
const HOST_WEIGHT: u64 = 3;

/// Whether a network is small enough to be built and held twice.
pub(super) fn is_affordable(run: &Run<Closed>) -> bool {
    run.topology().links.len() <= LINKS_MAX
}

/// Runs `first`, which took `built` to construct, to its end: undivided, or in up to `parts` partitions with one thread
/// each. `again` builds the same run once more, without a destination of rows.
pub(super) fn run(
    mut first: Run<Closed>,
    built: Duration,
    again: impl FnOnce(Scenario) -> Result<Run<Closed>, String>,
    parts: usize,
    progress: &Progress,
) -> Outcome {
    let streaming = first.global.streaming.take();
    first.start();
    let began = Instant::now();
    let choice = loop {
        if let Some((end, ended_at)) = first.run_a_while(Time::NEVER, progress) {
            first.global.streaming = streaming;
            return close(first, end, ended_at);
        }
        let choice = choose(&first, began.elapsed().as_secs_f64(), built.as_secs_f64(), parts);
        if !matches!(choice, Choice::Wait) {
            break choice;
        }
    };
    let limit = began.elapsed().mul_f64(PASSES);
    if let Choice::Divide(division) = choice
        && let Ok(second) = again(first.global.scenario.clone())
    {
        let trial = Trial { until: first.now(), limit, streaming, undivided: first };
        return race(second, &division, trial, progress);
    }
    go_on(first, streaming, progress)
}

/// Lets `run` catch up with the undivided run in partitions. The winner runs to its end.
fn race(run: Run<Closed>, division: &Division, trial: Trial, progress: &Progress) -> Outcome {
    let mut trial = Some(trial);
    let (run, end, ended_at) = partitions::run(run, division, division.parts(), progress, &mut trial);
    match trial {
        None => close(run, end, ended_at),
        Some(Trial { undivided, streaming, .. }) => go_on(undivided, streaming, progress),
    }
}

/// Runs the undivided run to its end.
fn go_on(mut run: Run<Closed>, streaming: Option<Box<Streaming>>, progress: &Progress) -> Outcome {
    run.global.streaming = streaming;
    let (end, ended_at): (End, Time) = run.run_until_end(progress);
    close(run, end, ended_at)
}

/// What to do after a part of the undivided run.
enum Choice {
    Wait,
    Stay,
    Divide(Division),
}

/// Chooses after `took_s` seconds of a run that was built in `built_s` seconds.
fn choose(run: &Run<Closed>, took_s: f64, built_s: f64, parts: usize) -> Choice {
    let expected_s = took_s / done(run);
    if took_s < (START * expected_s).min(START_MAX_S) {
        return Choice::Wait;
    }
    if took_s + built_s > COST_MAX * expected_s {
        return Choice::Stay;
    }
    let Arrivals { weights, frames, .. } = Arrivals::of(run);
    let division = Division::weighed(run.topology(), parts, &weights);
    let windows = run.now.as_seconds() / partitions::lookahead(&run.network, &division).as_seconds();
    let has_work = frames as f64 >= ARRIVALS_MIN * division.parts() as f64 * windows;
    if has_work && balance(run, &division, &weights) >= BALANCE_MIN { Choice::Divide(division) } else { Choice::Stay }
}

/// The total weight over the weight of the heaviest part.
fn balance(run: &Run<Closed>, division: &Division, weights: &[u64]) -> f64 {
    let topology = run.topology();
    let hosts = topology.host_ids().map(|host| division.of_host(host));
    let parts = hosts.chain(topology.switch_ids().map(|switch| division.of_switch(switch)));
    let mut of_parts = vec![0; division.parts()];
    parts.zip(weights).for_each(|(part, weight)| of_parts[part as usize] += weight);
    let heaviest = of_parts.iter().copied().max().unwrap_or(0).max(1);
    of_parts.iter().sum::<u64>() as f64 / heaviest as f64
}

/// The expected completed fraction of a run: of its time, or of the bytes of its flows.
fn done(run: &Run<Closed>) -> f64 {
    let bytes_arrived = Arrivals::of(run).bytes_at_hosts;
    let messages = run.network.shared.records.flows.messages.len();
    let Global { scenario, flow_starts, .. } = &run.global;
    let by_time = run.global.done_ppm(run.now, messages) as f64 / 1e6;
    if scenario.until == Until::Duration {
        return by_time;
    }
    let started = flow_starts.specs().iter().map(|(_, spec)| (spec.messages.count, spec.size));
    let (mut count, mut bytes) = (0, 0);
    for (messages, size) in started {
        let FlowSize::Bytes(length) = size else { return by_time };
        (count, bytes) = (count + messages, bytes + messages * length);
    }
    let offered = bytes as f64 * flow_starts.messages_expected() as f64 / count.max(1) as f64;
    by_time.max(bytes_arrived as f64 / offered.max(1.0))
}

/// Arrivals on all links so far.
struct Arrivals {
    /// By node, hosts first.
    weights: Vec<u64>,
    frames: u64,
    bytes_at_hosts: u64,
}

impl Arrivals {
    fn of(run: &Run<Closed>) -> Self {
        let topology = run.topology();
        let hosts = topology.hosts.len();
        // Each node has a weight, so that idle ones are spread too.
        let weights = vec![1; hosts + topology.switches.len()];
        let mut arrivals = Self { weights, frames: 0, bytes_at_hosts: 0 };
        for link in (0..2 * topology.links.len()).map(DirectedLink::from_index) {
            let (counters, to) = (run.link_counters(link), topology.ends(link).1.node);
            arrivals.frames += counters.frames_arrived;
            let is_host = matches!(to, Node::Host(_));
            arrivals.bytes_at_hosts += if is_host { counters.bytes_arrived } else { 0 };
            arrivals.weights[to.index(hosts)] += counters.frames_arrived * if is_host { HOST_WEIGHT } else { 1 };
        }
        arrivals
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::bench::Work;
    use crate::results::{RowSink, Table};
    use crate::run::Simulation;

    #[derive(Clone, Default)]
    struct Rows(Arc<Mutex<usize>>);

    impl RowSink for Rows {
        fn take(&mut self, rows: Table) {
            *self.0.lock().expect("nobody has failed") += rows.columns[0].1.len();
        }
    }

    fn part_of_a() -> Simulation {
        let work = Work::named("A").expect("it is in the list");
        work.build(hitless_mechanisms::builtin(), 0.2, 1).expect("the scenario is sound")
    }

    /// Runs a part of A by `act`. Returns its summary, violations and number of rows.
    fn run_by(act: impl FnOnce(Simulation, &Progress) -> Outcome) -> (String, Vec<String>, usize) {
        let rows = Rows::default();
        let outcome = act(part_of_a().with_rows_to(Box::new(rows.clone()), 16), &Progress::default());
        let rows = *rows.0.lock().expect("nobody has failed");
        assert!(rows > 0);
        (format!("{:?}", outcome.summary), outcome.violations, rows)
    }

    /// Runs up to the first housekeeping after some events.
    fn begin(run: &mut Run<Closed>) {
        run.start();
        while run.events == 0 {
            assert_eq!(run.run_a_while(Time::NEVER, &Progress::default()), None, "the run is too short for a trial");
        }
    }

    #[test]
    fn the_winner_of_a_trial_has_the_results_of_the_undivided_run() {
        let undivided = run_by(Simulation::run);
        for limit in [Duration::ZERO, Duration::MAX] {
            let raced = run_by(|first, progress| {
                let (mut first, second) =
                    (first.into_run().expect("it has no autopsy"), part_of_a().into_run().expect("it has no autopsy"));
                let streaming = first.global.streaming.take();
                begin(&mut first);
                let division = Division::weighed(first.topology(), 2, &Arrivals::of(&first).weights);
                assert_eq!(division.parts(), 2);
                let trial = Trial { until: first.now(), limit, streaming, undivided: first };
                race(second, &division, trial, progress)
            });
            assert_eq!(raced, undivided, "with a limit of {limit:?}");
        }
    }

    #[test]
    fn a_trial_needs_a_run_that_is_long_and_balanced() {
        let mut first = part_of_a().into_run().expect("it has no autopsy");
        begin(&mut first);
        let fraction = done(&first);
        assert!((0.01..0.9).contains(&fraction), "{fraction}");
        assert!(matches!(choose(&first, 0.01, 0.0, 2), Choice::Stay), "a trial costs a tenth of the run");
        let mut weights = Arrivals::of(&first).weights;
        let division = Division::weighed(first.topology(), 2, &weights);
        assert!(balance(&first, &division, &weights) > 1.8);
        weights.iter_mut().for_each(|weight| *weight = 0);
        weights[0] = 1_000_000;
        assert!(balance(&first, &division, &weights) < BALANCE_MIN, "one host has all the work");
    }
}
