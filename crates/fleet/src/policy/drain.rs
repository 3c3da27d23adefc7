//! A policy of our own: effective loss decides, and a pod is drained where that is worth the wait.
//!
//! CorrOpt takes down at once whatever capacity allows. Where capacity is scarce this is not best: at 75 % a single
//! ToR uplink under repair forbids nearly every link to a spine in its pod, and the reverse, so that links of the kind
//! that happens to be down keep those of the other kind waiting, however bad these are. Two things are different here:
//!
//! 1. **Effective loss decides**, not actual loss. LinkGuardian leaves more of a loss of 1e-4 than of one of 2e-3. Its
//!    table has few values, so that links are often equal; then actual loss decides.
//! 2. **Draining.** Links under repair will come back one after the other, at times R that can be expected. For each of
//!    these moments there is a best set to take down then, the *target*. Where part of it has to wait until then, and
//!    links outside of it could go down now and would be in its way, there is a choice: held back, they wait for R and
//!    for the target's repair; taken down, they keep the target waiting for the rest of their own. With T the mean
//!    repair time, holding back gains `waiting * (T - R) - outside * (R + T)`, in effective loss times seconds. The
//!    moment that gains most decides, if any gains.
//!
//! No parameter was fitted: both sides are expected penalties, and repair times have the distribution of
//! [`crate::repair`]. docs/explanation/fleet.md says what it gains.

use crate::LossSum;
use crate::network::{Corruption, Network, PathCounts};
use crate::optimizer::{Candidate, best_to_take_down, candidates};
use crate::repair::{MEAN_S, expected_left_s};
use crate::topology::LinkId;

/// The links of `pod` to take down now, in ascending order.
pub fn choose(network: &mut Network, pod: usize, now_s: u64) -> Vec<LinkId> {
    let candidates = candidates(network, pod, worth);
    let down = down_by_return(network, pod, now_s);
    let paths = network.paths();
    let possible = best_to_take_down(paths, pod, &candidates);
    if possible.is_empty() || possible.len() == candidates.len() {
        return possible;
    }
    let target = best_target(paths, pod, &candidates, &down, &possible);
    target.map_or(possible.clone(), |target| both(&possible, &target))
}

/// The target that gains most by holding back what of `possible` is not in it; none where that gains nothing.
fn best_target(
    paths: &mut PathCounts,
    pod: usize,
    candidates: &[Candidate],
    down: &[(f64, LinkId)],
    possible: &[LinkId],
) -> Option<Vec<LinkId>> {
    let (mut best, mut best_gain) = (None, 0.0);
    for &(until_s, link) in down {
        paths.bring_up(link);
        let target = best_to_take_down(paths, pod, candidates);
        let waiting = worth_without(candidates, &target, possible);
        let outside = worth_without(candidates, possible, &target);
        let gain = waiting * (MEAN_S - until_s) - outside * (until_s + MEAN_S);
        if outside > 0.0 && gain > best_gain {
            (best, best_gain) = (Some(target), gain);
        }
    }
    down.iter().for_each(|&(_, link)| paths.take_down(link));
    best
}

/// The links that are in both sets, in the order of the first.
fn both(first: &[LinkId], second: &[LinkId]) -> Vec<LinkId> {
    first.iter().copied().filter(|link| second.contains(link)).collect()
}

/// Effective loss, and so little of the actual loss that it decides between equals only.
fn worth(corruption: &Corruption) -> LossSum {
    corruption.effective().as_sum() + corruption.loss.as_sum().shrunk(40)
}

/// Links under repair with the time in which each is expected back, the soonest first.
fn down_by_return(network: &Network, pod: usize, now_s: u64) -> Vec<(f64, LinkId)> {
    let left = |(&link, &since_s): (&LinkId, &u64)| (expected_left_s(now_s - since_s), link);
    let mut down: Vec<_> = network.down_in(pod).iter().map(left).collect();
    down.sort_by(|first, second| first.0.total_cmp(&second.0).then(first.1.cmp(&second.1)));
    down
}

/// The worth of the links of one set that are not in another one.
fn worth_without(candidates: &[Candidate], of: &[LinkId], but: &[LinkId]) -> f64 {
    let counts = |candidate: &&Candidate| of.contains(&candidate.link) && !but.contains(&candidate.link);
    candidates.iter().filter(counts).map(|candidate| candidate.worth).sum::<LossSum>().as_f64()
}
