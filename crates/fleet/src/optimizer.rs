//! Finds the exact optimal set of corrupting links to take down.
//!
//! CorrOpt's optimizer (Zhuo et al. 2017, section 5) asks for the set of corrupting links with the maximum sum of loss
//! rates that leaves every ToR its share of paths. No path leaves a pod below the spines, so each pod is a separate
//! problem. The published simulator tries all subsets; we use branch and bound, with the same result:
//!
//! - If all corrupting links went down, some ToR switches would have too few paths. Links that do not affect these ToRs
//!   go down at once (CorrOpt's own step).
//! - Links *above* the ToR switches' own are tried one after the other, in descending order of loss rate. Among the
//!   links from one switch to spines only their number affects the paths. So if one of them is kept, all with a lower
//!   loss rate are kept too.
//! - Once those are fixed, the ToR switches' own links are independent, and each ToR is a small knapsack problem.
//!
//! The answer is exact for any topology in tiers. The search is fast for the named shapes; an adversarial graph with
//! many corrupting links in middle tiers of one pod can take long.

use std::collections::{BTreeMap, BTreeSet};

use crate::loss::LossSum;
use crate::network::{Corruption, Network, PathCounts};
use crate::tally::Tally;
use crate::topology::{LinkId, SwitchId};

/// A corrupting link, and the benefit of taking it down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub link: LinkId,
    /// Its contribution to the penalty.
    pub worth: LossSum,
}

/// Returns the corrupting links of a pod, with the benefit that `worth` computes.
pub fn candidates(network: &Network, pod: usize, worth: impl Fn(&Corruption) -> LossSum) -> Vec<Candidate> {
    let corrupting = network.corrupting_in(pod).iter();
    corrupting.map(|(&link, corruption)| Candidate { link, worth: worth(corruption) }).collect()
}

/// Returns the links of `pod` to take down, in ascending order. `candidates` are links of that pod that are up.
///
/// The path counts are restored.
pub fn best_to_take_down(paths: &mut PathCounts, pod: usize, candidates: &[Candidate]) -> Vec<LinkId> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let (mut chosen, contested) = split(paths, pod, candidates);
    chosen.iter().for_each(|&link| paths.take_down(link));
    let possible: Vec<_> = contested.into_iter().filter(|candidate| paths.try_losing(candidate.link)).collect();
    let found = if possible.is_empty() { Vec::new() } else { Search::run(paths, pod, &possible) };
    chosen.iter().for_each(|&link| paths.bring_up(link));
    assert!(found.iter().all(|link| !chosen.contains(link)), "a link goes down twice");
    chosen.extend(found);
    chosen.sort_unstable();
    chosen
}

/// Separates links that endanger no ToR even if all candidates go down from the others.
fn split(paths: &mut PathCounts, pod: usize, candidates: &[Candidate]) -> (Vec<LinkId>, Vec<Candidate>) {
    candidates.iter().for_each(|candidate| paths.take_down(candidate.link));
    let topology = paths.topology();
    let in_danger: BTreeSet<SwitchId> = match paths.holds_in(pod) {
        true => BTreeSet::new(),
        false => topology.pods[pod].iter().copied().filter(|&tor| paths.is_short(tor)).collect(),
    };
    candidates.iter().for_each(|candidate| paths.bring_up(candidate.link));
    let is_free = |link| in_danger.is_empty() || topology.tors_below(link).iter().all(|tor| !in_danger.contains(tor));
    let (free, contested): (Vec<Candidate>, Vec<_>) = candidates.iter().partition(|candidate| is_free(candidate.link));
    (free.into_iter().map(|candidate| candidate.link).collect(), contested)
}

/// Links that carry the same number of paths: if one is kept, so are all with a lower worth.
type Kind = (SwitchId, Option<SwitchId>);

/// The search over the links above the ToR switches' own.
struct Search<'p, 't> {
    paths: &'p mut PathCounts<'t>,
    pod: usize,
    /// Links with a lower end that is not a ToR, in descending order of worth; each with the worth of itself and all
    /// after it.
    shared: Vec<(Candidate, Kind, LossSum)>,
    /// Links of each ToR, in descending order of worth.
    own: Vec<(SwitchId, Vec<Candidate>)>,
    taken: Vec<LinkId>,
    /// Kinds with a kept link, each with the number of such decisions on the current branch.
    kept: Tally<Kind>,
    best: Option<LossSum>,
    best_set: Vec<LinkId>,
}

impl<'p, 't> Search<'p, 't> {
    fn run(paths: &'p mut PathCounts<'t>, pod: usize, candidates: &[Candidate]) -> Vec<LinkId> {
        let mut search = Self::new(paths, pod, candidates);
        search.step(0, LossSum::ZERO);
        search.best_set
    }

    fn new(paths: &'p mut PathCounts<'t>, pod: usize, candidates: &[Candidate]) -> Self {
        let topology = paths.topology();
        let mut sorted = candidates.to_vec();
        sorted.sort_by_key(|candidate| (std::cmp::Reverse(candidate.worth), candidate.link));
        let mut own: BTreeMap<SwitchId, Vec<Candidate>> = BTreeMap::new();
        let mut shared = Vec::new();
        for candidate in sorted {
            let ends = topology.link(candidate.link);
            if topology.switch(ends.lower).tier == 0 {
                own.entry(ends.lower).or_default().push(candidate);
            } else {
                // Every spine has exactly one path, so links from a switch to different spines are equivalent.
                let is_to_spine = topology.switch(ends.upper).tier == topology.top_tier;
                shared.push((candidate, (ends.lower, (!is_to_spine).then_some(ends.upper)), LossSum::ZERO));
            }
        }
        let mut rest = LossSum::ZERO;
        for (candidate, _, from_here) in shared.iter_mut().rev() {
            rest += candidate.worth;
            *from_here = rest;
        }
        let own = own.into_iter().collect();
        Self { paths, pod, shared, own, taken: Vec::new(), kept: Tally::default(), best: None, best_set: Vec::new() }
    }

    /// Decides on the shared links starting at `next`; the earlier ones that go down are worth `taken`.
    fn step(&mut self, next: usize, taken: LossSum) {
        // The worth of the ToR switches' own links only shrinks as more shared links go down, so this bounds the whole
        // branch.
        let own = self.best_own_worth();
        let rest = self.shared.get(next).map_or(LossSum::ZERO, |&(_, _, from_here)| from_here);
        if self.best.is_some_and(|best| taken + own + rest <= best) {
            return;
        }
        let Some(&(candidate, kind, _)) = self.shared.get(next) else {
            self.best = Some(taken + own);
            self.best_set = self.whole_set();
            return;
        };
        // Links are in descending order of worth: if one of this kind is kept, taking this one down instead is no
        // better.
        if !self.kept.has(kind) {
            self.paths.take_down(candidate.link);
            if self.paths.holds_in(self.pod) {
                self.taken.push(candidate.link);
                self.step(next + 1, taken + candidate.worth);
                self.taken.pop();
            }
            self.paths.bring_up(candidate.link);
        }
        self.kept.add(kind);
        self.step(next + 1, taken);
        self.kept.remove(kind);
    }

    fn best_own_worth(&self) -> LossSum {
        self.own.iter().map(|(tor, links)| Knapsack::solve(self.paths, *tor, links).best).sum()
    }

    fn whole_set(&self) -> Vec<LinkId> {
        let own = self.own.iter().flat_map(|(tor, links)| Knapsack::solve(self.paths, *tor, links).best_set);
        self.taken.iter().copied().chain(own).collect()
    }
}

/// Selects among a ToR's own links those to take down, within the paths that it can lose.
struct Knapsack {
    /// Worth, paths lost, and link, in descending order of worth.
    items: Vec<(LossSum, u64, LinkId)>,
    best: LossSum,
    best_set: Vec<LinkId>,
}

impl Knapsack {
    fn solve(paths: &PathCounts, tor: SwitchId, links: &[Candidate]) -> Self {
        let topology = paths.topology();
        let item =
            |candidate: &Candidate| (candidate.worth, paths.of(topology.link(candidate.link).upper), candidate.link);
        let mut made = Self { items: links.iter().map(item).collect(), best: LossSum::ZERO, best_set: Vec::new() };
        made.step(0, paths.slack(tor), LossSum::ZERO, u64::MAX, &mut Vec::new());
        made
    }

    /// Decides on the items starting at `next`. If an item was kept, later ones that lose at least as many paths
    /// (`lightest_kept`) and have at most its worth are kept too, because exchanging the two would be better.
    fn step(&mut self, next: usize, slack: u64, worth: LossSum, lightest_kept: u64, taken: &mut Vec<LinkId>) {
        if worth > self.best {
            self.best = worth;
            self.best_set.clone_from(taken);
        }
        let rest: LossSum = self.items[next..].iter().map(|&(worth, _, _)| worth).sum();
        if next == self.items.len() || worth + rest <= self.best {
            return;
        }
        let (own_worth, weight, link) = self.items[next];
        if weight <= slack && weight < lightest_kept {
            taken.push(link);
            self.step(next + 1, slack - weight, worth + own_worth, lightest_kept, taken);
            taken.pop();
        }
        self.step(next + 1, slack, worth, lightest_kept.min(weight), taken);
    }
}
