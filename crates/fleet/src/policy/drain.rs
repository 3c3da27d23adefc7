//! Our own policy: it decides by effective loss, and drains a pod if that is worth the wait.
//!
//! CorrOpt takes links down as soon as capacity allows it. With scarce capacity this is not optimal. At 75 % a single
//! ToR uplink under repair forbids nearly every link to a spine in its pod to go down, and vice versa. So links of one
//! kind under repair keep those of the other kind waiting, however high their loss is. This policy differs in two
//! points:
//!
//! 1. **Effective loss decides**, not actual loss. After protection by LinkGuardian a loss of 1e-4 leaves more than one
//!    of 2e-3. The table has few values, so links are often equal; then actual loss decides.
//! 2. **Draining.** Links under repair will return one after the other, at expected times R. For each such time there
//!    is an optimal set of links to take down then, the *target*. If part of the target must wait until then, and links
//!    outside the target could go down now but would be in its way, there is a choice. Held back, those links wait for
//!    R and for the target's repair. Taken down, they delay the target by the rest of their own repair. With the mean
//!    repair time T, holding back gains `waiting * (T - R) - outside * (R + T)`, in effective loss times seconds. The
//!    policy takes the time with the maximum gain, if it is positive.
//!
//! No parameter was fitted: both sides are expected penalties, and repair times have the distribution of
//! [`crate::repair`]. docs/explanation/fleet.md gives the benefit.

use crate::LossSum;
use crate::network::{Corruption, Network, PathCounts};
use crate::optimizer::{Candidate, best_to_take_down, candidates};
use crate::repair::{MEAN_S, expected_left_s};
use crate::topology::LinkId;

/// Returns the links of `pod` to take down now, in ascending order.
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

/// Returns the target with the maximum gain from holding back the links of `possible` that are outside it; `None` if no
/// target gains.
fn best_target(
    paths: &mut PathCounts,
    pod: usize,
    candidates: &[Candidate],
    down: &[(f64, LinkId)],
    possible: &[LinkId],
) -> Option<Vec<LinkId>> {
    let (mut best, mut best_gain) = (None, 0.0);
    for &(until_s, link) in down {
        // Links return one after the other, so the earlier ones stay up for later targets.
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

fn both(first: &[LinkId], second: &[LinkId]) -> Vec<LinkId> {
    first.iter().copied().filter(|link| second.contains(link)).collect()
}

/// Effective loss, plus a fraction of the actual loss that is small enough to decide only between equals.
fn worth(corruption: &Corruption) -> LossSum {
    corruption.effective().as_sum() + corruption.loss.as_sum().shrunk(40)
}

/// Returns links under repair with the expected time until their return, in ascending order.
fn down_by_return(network: &Network, pod: usize, now_s: u64) -> Vec<(f64, LinkId)> {
    let left = |(&link, &since_s): (&LinkId, &u64)| (expected_left_s(now_s - since_s), link);
    let mut down: Vec<_> = network.down_in(pod).iter().map(left).collect();
    down.sort_by(|first, second| first.0.total_cmp(&second.0).then(first.1.cmp(&second.1)));
    down
}

/// Returns the total worth of the links in `of` but not in `but`.
fn worth_without(candidates: &[Candidate], of: &[LinkId], but: &[LinkId]) -> f64 {
    let counts = |candidate: &&Candidate| of.contains(&candidate.link) && !but.contains(&candidate.link);
    candidates.iter().filter(counts).map(|candidate| candidate.worth).sum::<LossSum>().as_f64()
}
