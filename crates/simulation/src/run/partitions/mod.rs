//! A run in several partitions, each with its own event queue, packets and records.
//!
//! A link between two partitions is *cut*. A frame on it arrives one link delay later at the earliest, so all
//! partitions can run in parallel through a *window* as long as the minimum delay of the cut links, and then exchange
//! what they have sent ([`mail`]). A run-wide action, such as a change or a sample, ends a window and is done between
//! two windows ([`windows`]). This is conservative parallel simulation with lookahead. The result does not depend on
//! the number of partitions and [`workers`], because events are ordered by their keys, and no key depends on a
//! partition.

mod divide;
mod mail;
mod pace;
mod partition;
mod team;
mod trial;
mod whole;
mod windows;
mod workers;

use std::sync::{Mutex, PoisonError};
use std::thread;

use hitless_core::engine::Progress;
use hitless_core::wire::{Duration, HostId, Time};
use hitless_scenario::network::topology::{DirectedLink, Division};

use super::edge::Closed;
use super::event_loop::Run;
use super::global::{End, Global};
use super::network::Network;
use mail::Post;
use partition::Partition;
use team::Team;
pub(super) use trial::Trial;
use whole::Whole;
use windows::{Course, Ended};
use workers::{Dismissal, Gate, Report};

/// Runs `run`, which must not have started, to its end: in the partitions of `division`, on `threads` threads. Returns
/// the joined run, as if it had never been divided; the network has drained if every flow was done. A run that loses
/// its `trial` ends early, and leaves the trial.
pub(super) fn run(
    run: Run<Closed>,
    division: &Division,
    threads: usize,
    progress: &Progress,
    trial: &mut Option<Trial>,
) -> (Run<Closed>, End, Time) {
    let Run { global, network, .. } = run;
    let lookahead = lookahead(&network, division);
    let partitions = divide::divide(network, &global.scenario, division);
    let crew = Crew { lookahead, threads, progress, trial };
    let (global, partitions, ended) = run_partitions(global, partitions, division, crew);
    let (network, events, now) = divide::join(partitions, division);
    let (events, now) = (events + ended.events, now.max(ended.now));
    (Run { global, network, events, now }, ended.end, ended.ended_at)
}

/// Whether each partition has enough events in a window to pay for a thread. The estimate assumes that all hosts send
/// full frames at a quarter of their links' rates and that a packet crosses four links.
pub(super) fn can_pay(network: &Network<Closed>, division: &Division) -> bool {
    const LINKS: f64 = 4.0;
    const LOAD: f64 = 0.25;
    const FRAME_BITS: f64 = 12_000.0;
    // With fewer events for each thread, waking the threads takes longer than the work.
    const EVENTS_MIN: f64 = 32.0;
    let rate = |host: HostId| network.topology.host_rate(host).as_bps() as f64;
    let bits_per_s: f64 = network.topology.host_ids().map(rate).sum();
    let events = LOAD * LINKS * bits_per_s * lookahead(network, division).as_seconds() / FRAME_BITS;
    events >= EVENTS_MIN * division.parts() as f64
}

/// Minimum delay from one partition to another during the run.
pub(super) fn lookahead(network: &Network<Closed>, division: &Division) -> Duration {
    let links = (0..network.shared.links.iter().len()).map(DirectedLink::from_index);
    let cut = links.filter(|&link| {
        let (from, to) = division.of_link(&network.topology, link);
        from != to
    });
    let least = cut.map(|link| network.shared.shortest_delay(link)).min();
    least.unwrap_or(network.shared.sender_end_delay)
}

/// How the partitions run.
struct Crew<'a> {
    lookahead: Duration,
    threads: usize,
    progress: &'a Progress,
    trial: &'a mut Option<Trial>,
}

fn run_partitions(
    mut global: Global,
    partitions: Vec<Partition>,
    division: &Division,
    crew: Crew<'_>,
) -> (Global, Vec<Partition>, Ended) {
    let Crew { lookahead, threads, progress, trial } = crew;
    let post = Post::new(&partitions[0].network.topology, division);
    let gate = Gate::new(threads.clamp(1, partitions.len()) - 1);
    let reports: Vec<Report> = partitions.iter().map(|_| Report::default()).collect();
    let partitions: Vec<_> = partitions.into_iter().map(Mutex::new).collect();
    let ended = thread::scope(|scope| {
        let (partitions, reports, post, gate) = (&*partitions, &*reports, &post, &gate);
        for number in 0..gate.workers.len() {
            scope.spawn(move || workers::work(number, gate, partitions, reports, post));
        }
        let _dismissal = Dismissal(gate);
        let team = Team::new(partitions, reports, post, gate);
        Course { global: &mut global, whole: Whole::new(partitions, division), team, lookahead, progress, trial }.run()
    });
    let out = |partition: Mutex<Partition>| partition.into_inner().unwrap_or_else(PoisonError::into_inner);
    (global, partitions.into_iter().map(out).collect(), ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::build::build;

    #[test]
    fn a_fabric_of_many_hosts_is_divided_and_four_hosts_are_not() {
        for (example, pays) in [("bench-a", true), ("bench-b", true), ("dumbbell", false), ("link-failure", false)] {
            let text = hitless_scenario::example(example).expect("the example exists");
            let scenario = hitless_scenario::check(text, example, hitless_mechanisms::builtin()).expect("it is sound");
            let network = build(scenario, None, Closed).expect("it can be built").network;
            let division = Division::new(&network.topology, 2);
            assert_eq!(can_pay(&network, &division), pays, "{example}");
        }
    }
}
