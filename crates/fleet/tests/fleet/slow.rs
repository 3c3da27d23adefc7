//! A year recomputed from scratch at each event. It was written from the rules and uses only the crate's input types.

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::engine::RandomStreams;
use hitless_core::engine::draws::below;
use hitless_fleet::repair::Repair;
use hitless_fleet::series::Metrics;
use hitless_fleet::topology::{LinkId, SwitchId, Topology};
use hitless_fleet::year::Outcome;
use hitless_fleet::{LossRate, Plan, Policy};
use proptest::prelude::*;

const DAY_S: u64 = 86_400;

/// Rows by time, the repairs, and the number of skipped failures.
pub struct Expected {
    rows: Vec<(i64, Metrics)>,
    repairs: Vec<Repair>,
    skipped: u64,
}

struct State<'a> {
    plan: &'a Plan<'a>,
    /// Links that are down, with the time since.
    down: BTreeMap<LinkId, u64>,
    /// Corrupting links: actual and effective loss, Gb/s, and whether LinkGuardian runs.
    corrupting: BTreeMap<LinkId, (f64, f64, f64, bool)>,
    covered: Option<BTreeSet<usize>>,
}

fn paths(topology: &Topology, down: &BTreeSet<LinkId>, at: SwitchId) -> u64 {
    let switch = topology.switch(at);
    if switch.tier == topology.top_tier {
        return 1;
    }
    switch
        .up
        .iter()
        .filter(|link| !down.contains(link))
        .map(|&link| paths(topology, down, topology.link(link).upper))
        .sum()
}

fn all_links(topology: &Topology) -> impl Iterator<Item = LinkId> {
    (0..topology.links.len() as u32).map(LinkId)
}

fn tors(topology: &Topology) -> Vec<SwitchId> {
    (0..topology.switches.len() as u32).map(SwitchId).filter(|&at| topology.switch(at).tier == 0).collect()
}

impl State<'_> {
    fn allows(&self, down: &BTreeSet<LinkId>) -> bool {
        let topology = self.plan.topology;
        tors(topology).into_iter().all(|tor| {
            let all = paths(topology, &BTreeSet::new(), tor) as f64;
            paths(topology, down, tor) >= (all * self.plan.capacity.as_f64() - 1e-9).ceil() as u64
        })
    }

    fn down_links(&self) -> BTreeSet<LinkId> {
        self.down.keys().copied().collect()
    }

    /// Returns the subset of `from` with the maximum worth on top of `down`, by trying all.
    fn best(&self, from: &[(LinkId, f64)], down: &BTreeSet<LinkId>) -> Vec<LinkId> {
        // A link that cannot go down alone cannot go down with others.
        let alone = |link: LinkId| self.allows(&(down | &BTreeSet::from([link])));
        let from: Vec<_> = from.iter().copied().filter(|&(link, _)| alone(link)).collect();
        assert!(from.len() <= 16, "too many subsets");
        let (mut best, mut best_set) = (0.0, Vec::new());
        for bits in 1u32..1 << from.len() {
            let set: Vec<_> = (0..from.len()).filter(|at| bits >> at & 1 == 1).map(|at| from[at]).collect();
            let worth: f64 = set.iter().map(|link| link.1).sum();
            let together = down | &set.iter().map(|link| link.0).collect();
            if worth > best && self.allows(&together) {
                (best, best_set) = (worth, set.into_iter().map(|link| link.0).collect());
            }
        }
        best_set
    }

    fn corrupt(&mut self, link: LinkId, loss: f64) {
        let topology = self.plan.topology;
        let rate = topology.link(link).rate;
        let lower = topology.switch(topology.link(link).lower);
        let covered =
            self.covered.as_ref().is_none_or(|pods| lower.tier == 0 && pods.contains(&lower.pod.expect("no spine")));
        let protects =
            matches!(self.plan.policy, Policy::LinkGuardian | Policy::LinkGuardianCorrOpt | Policy::LinkGuardianDrain);
        let entry = if protects && covered {
            let effect = self.plan.effects.on(rate, LossRate::new(loss).expect("a rate")).expect("a known effect");
            (loss, effect.effective.as_f64(), effect.speed_bps as f64 / 1e9, true)
        } else {
            (loss, loss, rate.as_bps() as f64 / 1e9, false)
        };
        self.corrupting.insert(link, entry);
    }

    fn chosen(&self, event: &Event, now_s: u64) -> Vec<LinkId> {
        let of_pod = |pod, effective: bool| -> Vec<(LinkId, f64)> {
            let worth = |(&link, &(loss, left, ..)): (&LinkId, &(f64, f64, f64, bool))| {
                (link, if effective { left + loss / (1u64 << 40) as f64 } else { loss })
            };
            self.corrupting.iter().map(worth).filter(|(link, _)| self.plan.topology.pod_of(*link) == pod).collect()
        };
        // Pods share no paths, so the optimum is the union of the pods' optima.
        let best_of_each = || {
            let pods = 0..self.plan.topology.pods.len();
            pods.flat_map(|pod| self.best(&of_pod(pod, false), &self.down_links())).collect()
        };
        match (self.plan.policy, event) {
            (Policy::DoNothing | Policy::LinkGuardian, _) => Vec::new(),
            (Policy::DisableAndRepair, Event::Failure(link, _)) => vec![*link],
            (Policy::DisableAndRepair, Event::Return(_)) => Vec::new(),
            (Policy::CorrOpt | Policy::LinkGuardianCorrOpt, Event::Failure(link, _)) => {
                self.best(&[(*link, 1.0)], &self.down_links())
            }
            (Policy::CorrOpt | Policy::LinkGuardianCorrOpt, Event::Return(_)) => best_of_each(),
            (Policy::LinkGuardianDrain, Event::Failure(link, _) | Event::Return(link)) => {
                self.drain(&of_pod(self.plan.topology.pod_of(*link), true), self.plan.topology.pod_of(*link), now_s)
            }
        }
    }

    fn drain(&self, waiting: &[(LinkId, f64)], pod: usize, now_s: u64) -> Vec<LinkId> {
        let down = self.down_links();
        let possible = self.best(waiting, &down);
        let worth = |of: &[LinkId], but: &[LinkId]| -> f64 {
            waiting.iter().filter(|(link, _)| of.contains(link) && !but.contains(link)).map(|link| link.1).sum()
        };
        let mean_s = 2.4 * DAY_S as f64;
        let left_s = |since_s: u64| match now_s - since_s {
            taken_s if taken_s < 2 * DAY_S => mean_s - taken_s as f64,
            taken_s => (4.0 * DAY_S as f64 - taken_s as f64).max(0.0),
        };
        let here = self.down.iter().filter(|(link, _)| self.plan.topology.pod_of(**link) == pod);
        let mut returns: Vec<_> = here.map(|(&link, &since_s)| (left_s(since_s), link)).collect();
        returns.sort_by(|first, second| first.partial_cmp(second).expect("numbers"));
        let (mut then_down, mut held, mut best_gain) = (down, BTreeSet::new(), 0.0);
        for (until_s, link) in returns {
            then_down.remove(&link);
            let target = self.best(waiting, &then_down);
            let gain = worth(&target, &possible) * (mean_s - until_s) - worth(&possible, &target) * (mean_s + until_s);
            let outside: BTreeSet<_> = possible.iter().copied().filter(|link| !target.contains(link)).collect();
            if !outside.is_empty() && gain > best_gain {
                (held, best_gain) = (outside, gain);
            }
        }
        possible.into_iter().filter(|link| !held.contains(link)).collect()
    }

    fn metrics(&self) -> Metrics {
        let topology = self.plan.topology;
        let down = self.down_links();
        let counts: Vec<_> = tors(topology).into_iter().map(|tor| paths(topology, &down, tor)).collect();
        let rate = |link: LinkId| match self.corrupting.get(&link) {
            _ if down.contains(&link) => 0.0,
            Some(&(.., gbps, _)) => gbps,
            None => topology.link(link).rate.as_bps() as f64 / 1e9,
        };
        let layer = |pod, tier| -> f64 {
            let inside = |link: &LinkId| {
                topology.pod_of(*link) == pod && topology.switch(topology.link(*link).lower).tier == tier
            };
            all_links(topology).filter(inside).map(rate).sum()
        };
        let pod = |pod| (0..topology.top_tier).map(|tier| layer(pod, tier)).fold(f64::INFINITY, f64::min);
        let pods: Vec<_> = (0..topology.pods.len()).map(pod).collect();
        let loss = |link: LinkId| self.corrupting.get(&link).map_or((1e-18, 1e-18), |entry| (entry.0, entry.1));
        let up = || all_links(topology).filter(|link| !down.contains(link));
        Metrics {
            total_penalty: up().map(|link| loss(link).0).sum(),
            total_effective_penalty: up().map(|link| loss(link).1).sum(),
            avg_per_tor_paths: counts.iter().sum::<u64>() as f64 / counts.len() as f64,
            min_per_tor_paths: *counts.iter().min().expect("ToR switches"),
            avg_per_pod_capacity: pods.iter().sum::<f64>() / pods.len() as f64,
            min_per_pod_capacity: pods.iter().copied().fold(f64::INFINITY, f64::min),
            max_link_loss_rate: up().map(|link| loss(link).0).fold(1e-18, f64::max),
            curr_disabled_links: down.len() as u64,
            curr_corrupting_links: self.corrupting.len() as u64,
            max_lg_ports_per_pipe: self.ports(),
        }
    }

    /// Maximum number of ports per pipe that run LinkGuardian, from the insertion order of links at each switch.
    fn ports(&self) -> u64 {
        let topology = self.plan.topology;
        let fabric = matches!(topology.shape, hitless_fleet::topology::Shape::Fabric { .. });
        let mut counts: BTreeMap<(SwitchId, usize), u64> = BTreeMap::new();
        for (at, switch) in topology.switches.iter().enumerate() {
            let at = SwitchId(at as u32);
            let ports: Vec<_> = all_links(topology)
                .filter(|&link| topology.link(link).lower == at || topology.link(link).upper == at)
                .collect();
            let pipes = match switch.tier {
                0 if fabric => 2,
                1 if fabric => 6,
                _ => ports.len().div_ceil(16).max(1),
            };
            for (index, link) in ports.iter().enumerate() {
                let runs = self.corrupting.get(link).is_some_and(|entry| entry.3);
                *counts.entry((at, index % pipes)).or_default() += u64::from(runs);
            }
        }
        counts.into_values().max().unwrap_or(0)
    }
}

#[derive(Clone, Copy)]
enum Event {
    Failure(LinkId, f64),
    Return(LinkId),
}

/// The pods with LinkGuardian; the same draws as in the crate.
fn covered(plan: &Plan) -> Option<BTreeSet<usize>> {
    let pods = plan.topology.pods.len();
    let share = plan.deployment.as_f64();
    let mut order: Vec<_> = (0..pods).collect();
    let mut stream = RandomStreams::new(plan.seed).stream("deployment");
    for at in (1..pods).rev() {
        order.swap(at, below(&mut stream, at + 1));
    }
    (share < 1.0).then(|| order.into_iter().take((share * pods as f64).ceil() as usize).collect())
}

/// Runs the year of `plan`, slowly.
pub fn run(plan: &Plan) -> Expected {
    let mut state = State { plan, down: BTreeMap::new(), corrupting: BTreeMap::new(), covered: covered(plan) };
    let mut events: BTreeMap<u64, Event> = BTreeMap::new();
    let mut used = BTreeSet::new();
    let mut add = |events: &mut BTreeMap<u64, Event>, wanted_s: u64, event| {
        let time_s = (wanted_s..).find(|second| !used.contains(second)).expect("a free second");
        used.insert(time_s);
        events.insert(time_s, event);
    };
    for failure in &plan.trace.failures {
        add(&mut events, failure.time_s, Event::Failure(failure.link, failure.loss.as_f64()));
    }
    let mut stream = RandomStreams::new(plan.seed).stream("repairs");
    let mut expected = Expected { rows: Vec::new(), repairs: Vec::new(), skipped: 0 };
    if let Some((&first_s, _)) = events.first_key_value() {
        expected.rows.push((first_s as i64 - 4 * DAY_S as i64, state.metrics()));
    }
    while let Some((now_s, event)) = events.pop_first() {
        match event {
            Event::Failure(link, _) if state.down.contains_key(&link) => {
                expected.skipped += 1;
                expected.rows.push((now_s as i64, state.metrics()));
                continue;
            }
            Event::Failure(link, loss) => state.corrupt(link, loss),
            Event::Return(link) => {
                state.down.remove(&link);
            }
        }
        let mut chosen = state.chosen(&event, now_s);
        chosen.sort();
        for link in chosen {
            state.corrupting.remove(&link);
            state.down.insert(link, now_s);
            let fixed = plan.policy == Policy::DisableAndRepair;
            let days = if fixed || below(&mut stream, 10) >= 8 { 4 } else { 2 };
            add(&mut events, now_s + days * DAY_S, Event::Return(link));
            expected.repairs.push(Repair { disable_time_s: now_s, link, delay_s: days * DAY_S });
        }
        expected.rows.push((now_s as i64, state.metrics()));
    }
    expected
}

/// Whole numbers must be equal, and sums equal except for rounding in the slow version.
pub fn check(found: &Outcome, expected: &Expected) -> Result<(), TestCaseError> {
    prop_assert_eq!(&found.repairs, &expected.repairs);
    prop_assert_eq!(found.skipped_failures, expected.skipped);
    prop_assert_eq!(found.series.times_s.len(), expected.rows.len());
    for (at, (time_s, slow)) in expected.rows.iter().enumerate() {
        let quick = &found.series.states[at];
        prop_assert_eq!(found.series.times_s[at], *time_s);
        let whole = |row: &Metrics| {
            (row.min_per_tor_paths, row.curr_disabled_links, row.curr_corrupting_links, row.max_lg_ports_per_pipe)
        };
        prop_assert_eq!(whole(quick), whole(slow), "at {} s", time_s);
        let sums = |row: &Metrics| {
            [
                row.total_penalty,
                row.total_effective_penalty,
                row.avg_per_tor_paths,
                row.avg_per_pod_capacity,
                row.min_per_pod_capacity,
                row.max_link_loss_rate,
            ]
        };
        for (quick, slow) in sums(quick).into_iter().zip(sums(slow)) {
            prop_assert!((quick - slow).abs() <= 1e-9 * slow, "{} and {} at {} s", quick, slow, time_s);
        }
    }
    Ok(())
}
