//! The links that LinkGuardian can protect.

use hitless_core::engine::RandomStreams;
use hitless_core::engine::draws::below;

use crate::Share;
use crate::topology::{LinkId, Topology};

/// The links on which LinkGuardian can run.
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
