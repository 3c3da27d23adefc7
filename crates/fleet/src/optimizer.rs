//! The best set of corrupting links to take down, exactly.
//!
//! CorrOpt's optimizer (Zhuo et al. 2017, section 5) asks for the set of corrupting links whose loss rates add up to
//! most, so that every ToR keeps its share of paths. No path leaves a pod below the spines, so each pod is a problem of
//! its own. The published simulator tries all subsets; we branch and bound, with the same result:
//!
//! - Links that touch no ToR in danger, should all corrupting links go down, go down at once (CorrOpt's own step).
//! - Links *above* the ToR switches' own are tried one after the other, the worst first. Of links from one switch to
//!   spines only their number matters to the paths, so with one of them kept all better ones are kept as well.
//! - Once those are fixed, the ToR switches' own links concern nobody else, and each ToR is a small knapsack.
//!
//! The answer is exact for any topology in tiers. The time is short for the named shapes; a hostile graph with many
//! corrupting links in middle tiers of one pod may take long.

use std::collections::{BTreeMap, BTreeSet};

use crate::loss::LossSum;
use crate::network::{Corruption, Network, PathCounts};
use crate::tally::Tally;
use crate::topology::{LinkId, SwitchId};

/// A corrupting link, and what taking it down is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The link.
    pub link: LinkId,
    /// What it adds to the penalty.
    pub worth: LossSum,
}

/// Corrupting links of a pod, for a worth of one's choice.
pub fn candidates(network: &Network, pod: usize, worth: impl Fn(&Corruption) -> LossSum) -> Vec<Candidate> {
    let corrupting = network.corrupting_in(pod).iter();
    corrupting.map(|(&link, corruption)| Candidate { link, worth: worth(corruption) }).collect()
}

/// The links of `pod` to take down, in ascending order. `candidates` are links of that pod that are up.
///
/// The path counts are left as they were.
pub fn best_to_take_down(paths: &mut PathCounts, pod: usize, candidates: &[Candidate]) -> Vec<LinkId> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let (mut chosen, contested) = split(paths, pod, candidates);
    chosen.iter().for_each(|&link| paths.take_down(link));
    let possible: Vec<_> = contested.into_iter().filter(|candidate| paths.try_losing(candidate.link)).collect();
    let found = if possible.is_empty() { Vec::new() } else { Search::run(paths, pod, &possible) };
    chosen.iter().for_each(|&link| paths.bring_up(link));
    chosen.extend(found);
    chosen.sort_unstable();
    chosen
}

/// Links that endanger no ToR even if all candidates go down, and the others.
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

/// Links that carry equally many paths: if one is kept up, so is every one that is worth less.
type Kind = (SwitchId, Option<SwitchId>);

/// The search over the links above the ToR switches' own.
struct Search<'p, 't> {
    paths: &'p mut PathCounts<'t>,
    pod: usize,
    /// Links whose lower end is no ToR, the most worth first, with what all from there on are worth.
    shared: Vec<(Candidate, Kind, LossSum)>,
    /// Links of each ToR, the most worth first.
    own: Vec<(SwitchId, Vec<Candidate>)>,
    taken: Vec<LinkId>,
    /// Kinds of which a link is kept up, with how often that was decided on the way here.
    kept: Tally<Kind>,
    best: Option<LossSum>,
    best_set: Vec<LinkId>,
}

impl<'p, 't> Search<'p, 't> {
    /// The best set.
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

    /// Decides on the shared links from `next` on, those before being worth `taken`.
    fn step(&mut self, next: usize, taken: LossSum) {
        // What ToR switches can give up only shrinks as more shared links go down, so this bounds all that follows.
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

/// Which of a ToR's own links to take down, within the paths that it can lose.
struct Knapsack {
    /// Worth, paths lost, and link; the most worth first.
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

    /// Decides on the items from `next` on. A link that loses no fewer paths than one that was kept (`lightest_kept`),
    /// and is worth no more, is kept too: exchanging the two would be better.
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
