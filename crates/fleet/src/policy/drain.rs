//! A policy of our own: effective loss decides, and a pod is drained where that is worth the wait.
//!
//! CorrOpt takes down at once whatever capacity allows. Where capacity is scarce this is not best: at 75 % a single
//! ToR uplink under repair forbids nearly every link to a spine in its pod, and the reverse, so that links of the kind
//! that happens to be down keep those of the other kind waiting, however bad these are. Two things are different here:
//!
//! 1. **Effective loss decides**, not actual loss. LinkGuardian leaves more of a loss of 1e-4 than of one of 2e-3. Its
//!    table has few values, so that links are often equal; then actual loss decides.
//! 2. **Draining.** Let the *target* be the best set to take down if all links of the pod were back. When part of the
//!    target has to wait, and links outside of it could go down now, these go down only if their wait would cost more
//!    than they do: with R the expected time until the target is possible and T the mean repair time,
//!    `outside * (R + T) >= waiting * (T - R)` in effective loss times seconds. Otherwise they are held back.
//!
//! No parameter was fitted: both sides are expected penalties, and repair times have the distribution of
//! [`crate::repair`]. docs/fleet.md says what it gains.

use super::candidates;
use crate::LossSum;
use crate::network::{Corruption, Network, PathCounts};
use crate::optimizer::{Candidate, best_to_take_down};
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
    let target = target(paths, pod, &candidates, &down);
    let waiting = worth_without(&candidates, &target, &possible);
    let outside = worth_without(&candidates, &possible, &target);
    if waiting == 0.0 || outside == 0.0 {
        return possible;
    }
    let until_s = time_until_possible(paths, pod, &target, &down);
    if outside * (until_s + MEAN_S) >= waiting * (MEAN_S - until_s) {
        return possible;
    }
    let of_target: Vec<_> = candidates.into_iter().filter(|candidate| target.contains(&candidate.link)).collect();
    best_to_take_down(paths, pod, &of_target)
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

/// The best set if every link that is down were back.
fn target(paths: &mut PathCounts, pod: usize, candidates: &[Candidate], down: &[(f64, LinkId)]) -> Vec<LinkId> {
    down.iter().for_each(|&(_, link)| paths.bring_up(link));
    let target = best_to_take_down(paths, pod, candidates);
    down.iter().for_each(|&(_, link)| paths.take_down(link));
    target
}

/// The worth of the links of one set that are not in another one.
fn worth_without(candidates: &[Candidate], of: &[LinkId], but: &[LinkId]) -> f64 {
    let counts = |candidate: &&Candidate| of.contains(&candidate.link) && !but.contains(&candidate.link);
    candidates.iter().filter(counts).map(|candidate| candidate.worth).sum::<LossSum>().as_f64()
}

/// Expected time until enough links are back for all of `target` to be down.
fn time_until_possible(paths: &mut PathCounts, pod: usize, target: &[LinkId], down: &[(f64, LinkId)]) -> f64 {
    let (mut until_s, mut back) = (0.0, 0);
    target.iter().for_each(|&link| paths.take_down(link));
    while !paths.holds_in(pod) {
        let (left_s, link) = down[back];
        paths.bring_up(link);
        (until_s, back) = (left_s, back + 1);
    }
    down[..back].iter().for_each(|&(_, link)| paths.take_down(link));
    target.iter().for_each(|&link| paths.bring_up(link));
    until_s
}
