//! The capacity of pods, and the number of ports per pipe that run LinkGuardian.

use crate::tally::Tally;
use crate::topology::{LinkId, Topology};

/// Capacity from the ToR switches of a pod to the spines: the capacity of its narrowest layer of links.
#[derive(Clone, Debug)]
pub struct PodCapacities {
    layers: usize,
    layer_bps: Vec<u64>,
    least_bps: Tally,
    total_bps: u128,
}

impl PodCapacities {
    /// Starts with all links up and sound.
    pub fn new(topology: &Topology) -> Self {
        let layers = topology.top_tier;
        let mut layer_bps = vec![0; layers * topology.pods.len()];
        for link in (0..topology.links.len()).map(|at| LinkId(at as u32)) {
            layer_bps[place(topology, layers, link)] += topology.link(link).rate.as_bps();
        }
        let mut made = Self { layers, layer_bps, least_bps: Tally::default(), total_bps: 0 };
        for pod in 0..topology.pods.len() {
            let bps = made.of(pod);
            made.least_bps.add(bps);
            made.total_bps += u128::from(bps);
        }
        made
    }

    /// Changes a link's speed; 0 means down.
    pub fn change(&mut self, topology: &Topology, link: LinkId, before_bps: u64, after_bps: u64) {
        let (at, pod) = (place(topology, self.layers, link), topology.pod_of(link));
        let before = self.of(pod);
        self.layer_bps[at] = self.layer_bps[at] - before_bps + after_bps;
        let after = self.of(pod);
        self.least_bps.change(before, after);
        self.total_bps = self.total_bps - u128::from(before) + u128::from(after);
    }

    fn of(&self, pod: usize) -> u64 {
        let layers = &self.layer_bps[pod * self.layers..(pod + 1) * self.layers];
        layers.iter().copied().min().expect("there are links below the spines")
    }

    pub fn least_bps(&self) -> u64 {
        self.least_bps.least().expect("there are pods")
    }

    pub fn mean_gbps(&self) -> f64 {
        self.total_bps as f64 / (self.layer_bps.len() / self.layers) as f64 / 1e9
    }
}

fn place(topology: &Topology, layers: usize, link: LinkId) -> usize {
    topology.pod_of(link) * layers + topology.switch(topology.link(link).lower).tier
}

/// The number of ports of each pipe that run LinkGuardian. Both ends of a protected link count.
#[derive(Clone, Debug)]
pub struct ProtectedPorts {
    of_pipe: Vec<u64>,
    tally: Tally,
}

impl ProtectedPorts {
    pub fn new(topology: &Topology) -> Self {
        Self { of_pipe: vec![0; topology.pipes], tally: Tally::default() }
    }

    /// Starts (1) or ends (-1) the protection of a link.
    pub fn change(&mut self, topology: &Topology, link: LinkId, by: i64) {
        for pipe in topology.link(link).pipes {
            let before = self.of_pipe[pipe];
            self.of_pipe[pipe] = before.checked_add_signed(by).expect("only what has begun ends");
            if before > 0 {
                self.tally.remove(before);
            }
            if self.of_pipe[pipe] > 0 {
                self.tally.add(self.of_pipe[pipe]);
            }
        }
    }

    pub fn most(&self) -> u64 {
        self.tally.greatest().unwrap_or(0)
    }
}
