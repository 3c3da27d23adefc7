//! Policies: decisions about links that go down.

mod drain;

use hitless_core::engine::RandomStreams;
use hitless_core::engine::draws::below;

use crate::network::Network;
use crate::optimizer::{best_to_take_down, candidates};
use crate::topology::{LinkId, Topology};
use crate::{Problem, Share};

/// The reaction to corrupting links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    DoNothing,
    /// Take down every corrupting link regardless of capacity, and repair it in 4 days.
    DisableAndRepair,
    /// CorrOpt: take links down if capacity allows it, at once or after a repair has made room.
    CorrOpt,
    /// LinkGuardian on every corrupting link, without repairs.
    LinkGuardian,
    /// LinkGuardian at once, and CorrOpt's decisions (LinkGuardian, section 3.6).
    LinkGuardianCorrOpt,
    /// LinkGuardian at once, and our own decisions: by effective loss, with waiting if that is beneficial.
    LinkGuardianDrain,
}

const NAMES: [(&str, Policy); 6] = [
    ("none", Policy::DoNothing),
    ("disable", Policy::DisableAndRepair),
    ("corropt", Policy::CorrOpt),
    ("lg", Policy::LinkGuardian),
    ("lg+corropt", Policy::LinkGuardianCorrOpt),
    ("lg+drain", Policy::LinkGuardianDrain),
];

impl Policy {
    pub fn named(name: &str) -> Result<Self, Problem> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, policy)| policy).ok_or_else(|| {
            let names: Vec<_> = Self::names().collect();
            Problem::new(format!("there is no policy {name:?}"), "--policy").hint(format!("it is {}", names.join(", ")))
        })
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|&(name, _)| name)
    }

    pub const fn protects(self) -> bool {
        matches!(self, Self::LinkGuardian | Self::LinkGuardianCorrOpt | Self::LinkGuardianDrain)
    }

    /// Returns the links to take down after `link` has begun to corrupt or changed its rate, in ascending order.
    pub fn after_failure(self, network: &mut Network, link: LinkId, now_s: u64) -> Vec<LinkId> {
        match self {
            Self::DoNothing | Self::LinkGuardian => Vec::new(),
            Self::DisableAndRepair => vec![link],
            Self::CorrOpt | Self::LinkGuardianCorrOpt => check_fast(network, link),
            Self::LinkGuardianDrain => drain::choose(network, network.topology().pod_of(link), now_s),
        }
    }

    /// Returns the links to take down after a link of `pod` has come back, in ascending order.
    ///
    /// CorrOpt's optimizer examines the whole network after each repair. Paths of other pods did not change, so no
    /// further links can go down there, and this pod is sufficient.
    pub fn after_repair(self, network: &mut Network, pod: usize, now_s: u64) -> Vec<LinkId> {
        match self {
            Self::DoNothing | Self::LinkGuardian | Self::DisableAndRepair => Vec::new(),
            Self::CorrOpt | Self::LinkGuardianCorrOpt => optimize(network, pod),
            Self::LinkGuardianDrain => drain::choose(network, pod, now_s),
        }
    }
}

/// CorrOpt's fast checker: takes this link down if every ToR keeps its share of paths without it.
fn check_fast(network: &mut Network, link: LinkId) -> Vec<LinkId> {
    if network.paths().try_losing(link) { vec![link] } else { Vec::new() }
}

/// CorrOpt's optimizer in one pod.
fn optimize(network: &mut Network, pod: usize) -> Vec<LinkId> {
    let candidates = candidates(network, pod, |corruption| corruption.loss.as_sum());
    best_to_take_down(network.paths(), pod, &candidates)
}

/// The links that LinkGuardian can protect.
#[derive(Clone, Debug)]
pub enum Deployment {
    Everywhere,
    /// On the ToR switches' own links in these pods; other links are not protected.
    InPods(Vec<bool>),
}

impl Deployment {
    /// Chooses a share of the pods at random, rounded up; for the whole share, protection is possible everywhere.
    ///
    /// As in the published simulator, links to spines are then not protected. The published simulator draws the pods
    /// with another generator.
    pub fn new(topology: &Topology, share: Share, seed: u64) -> Self {
        if share == Share::ALL {
            return Self::Everywhere;
        }
        let pods = topology.pods.len();
        let mut stream = RandomStreams::new(seed).stream("deployment");
        let mut order: Vec<_> = (0..pods).collect();
        for at in (1..pods).rev() {
            order.swap(at, below(&mut stream, at + 1));
        }
        let mut chosen = vec![false; pods];
        let count = share.of_rounded_up(pods as u64) as usize;
        order[..count].iter().for_each(|&pod| chosen[pod] = true);
        Self::InPods(chosen)
    }

    pub fn covers(&self, topology: &Topology, link: LinkId) -> bool {
        match self {
            Self::Everywhere => true,
            Self::InPods(chosen) => {
                topology.switch(topology.link(link).lower).tier == 0 && chosen[topology.pod_of(link)]
            }
        }
    }
}
