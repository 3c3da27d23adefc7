//! Where LinkGuardian can run.

use hitless_core::engine::RandomStreams;
use hitless_core::engine::draws::below;

use crate::Share;
use crate::topology::{LinkId, Topology};

/// Where LinkGuardian can run.
#[derive(Clone, Debug)]
pub enum Deployment {
    /// On every link.
    Everywhere,
    /// On the ToR switches' own links in these pods; elsewhere a policy does without it.
    InPods(Vec<bool>),
}

impl Deployment {
    /// In a share of the pods, rounded up, chosen at random; everywhere for the whole.
    ///
    /// As in the published simulator links to spines then have none. Which pods is drawn by another generator there.
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

    /// Can LinkGuardian run on this link?
    pub fn covers(&self, topology: &Topology, link: LinkId) -> bool {
        match self {
            Self::Everywhere => true,
            Self::InPods(chosen) => {
                topology.switch(topology.link(link).lower).tier == 0 && chosen[topology.pod_of(link)]
            }
        }
    }
}
