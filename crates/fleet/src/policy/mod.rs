//! Who decides which links go down.

mod deployment;
mod drain;

use crate::Problem;
use crate::network::Network;
use crate::optimizer::{best_to_take_down, candidates};
use crate::topology::LinkId;

pub use deployment::Deployment;

/// What is done about corrupting links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Nothing.
    DoNothing,
    /// Take down whatever corrupts, whatever is left, and repair it in 4 days.
    DisableAndRepair,
    /// CorrOpt: take down what capacity allows, at once or when a repair has made room.
    CorrOpt,
    /// LinkGuardian on every corrupting link, and no repair.
    LinkGuardian,
    /// LinkGuardian at once, and CorrOpt's decisions (LinkGuardian, section 3.6).
    LinkGuardianCorrOpt,
    /// LinkGuardian at once, and decisions of our own: by effective loss, and waiting where that is worth it.
    LinkGuardianDrain,
}

/// Names on the command line.
const NAMES: [(&str, Policy); 6] = [
    ("none", Policy::DoNothing),
    ("disable", Policy::DisableAndRepair),
    ("corropt", Policy::CorrOpt),
    ("lg", Policy::LinkGuardian),
    ("lg+corropt", Policy::LinkGuardianCorrOpt),
    ("lg+drain", Policy::LinkGuardianDrain),
];

impl Policy {
    /// The policy of a name.
    pub fn named(name: &str) -> Result<Self, Problem> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, policy)| policy).ok_or_else(|| {
            let names: Vec<_> = Self::names().collect();
            Problem::new(format!("there is no policy {name:?}"), "--policy").hint(format!("it is {}", names.join(", ")))
        })
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|&(name, _)| name)
    }

    /// Does it run LinkGuardian?
    pub const fn protects(self) -> bool {
        matches!(self, Self::LinkGuardian | Self::LinkGuardianCorrOpt | Self::LinkGuardianDrain)
    }

    /// The links to take down after `link` has begun to corrupt, or changed its rate; in ascending order.
    pub fn after_failure(self, network: &mut Network, link: LinkId, now_s: u64) -> Vec<LinkId> {
        match self {
            Self::DoNothing | Self::LinkGuardian => Vec::new(),
            Self::DisableAndRepair => vec![link],
            Self::CorrOpt | Self::LinkGuardianCorrOpt => check_fast(network, link),
            Self::LinkGuardianDrain => drain::choose(network, network.topology().pod_of(link), now_s),
        }
    }

    /// The links to take down after a link of `pod` has come back; in ascending order.
    ///
    /// CorrOpt's optimizer looks at the whole network after each repair. In other pods nothing can have become
    /// possible, since their paths did not change: this pod is enough.
    pub fn after_repair(self, network: &mut Network, pod: usize, now_s: u64) -> Vec<LinkId> {
        match self {
            Self::DoNothing | Self::LinkGuardian | Self::DisableAndRepair => Vec::new(),
            Self::CorrOpt | Self::LinkGuardianCorrOpt => optimize(network, pod),
            Self::LinkGuardianDrain => drain::choose(network, pod, now_s),
        }
    }
}

/// CorrOpt's fast checker: this link alone, if every ToR keeps its share of paths without it.
fn check_fast(network: &mut Network, link: LinkId) -> Vec<LinkId> {
    if network.paths().try_losing(link) { vec![link] } else { Vec::new() }
}

/// CorrOpt's optimizer in one pod.
fn optimize(network: &mut Network, pod: usize) -> Vec<LinkId> {
    let candidates = candidates(network, pod, |corruption| corruption.loss.as_sum());
    best_to_take_down(network.paths(), pod, &candidates)
}
