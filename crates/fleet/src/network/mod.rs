//! The state of all links, with metrics that are updated link by link.

mod capacity;
mod paths;

use std::collections::BTreeMap;

use crate::Share;
use crate::loss::{LossRate, LossSum};
use crate::protection::Protection;
use crate::series::Metrics;
use crate::tally::Tally;
use crate::topology::{LinkId, Topology};
use capacity::{PodCapacities, ProtectedPorts};

pub use paths::PathCounts;

/// A link that corrupts frames and is up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corruption {
    pub loss: LossRate,
    /// LinkGuardian on the link, if it runs there.
    pub protection: Option<Protection>,
}

impl Corruption {
    pub fn effective(&self) -> LossRate {
        self.protection.map_or(self.loss, |protection| protection.effective)
    }
}

/// All links of a topology: sound, corrupting, or down.
#[derive(Clone, Debug)]
pub struct Network<'t> {
    topology: &'t Topology,
    paths: PathCounts<'t>,
    tor_paths: Tally,
    tor_paths_total: u64,
    capacities: PodCapacities,
    protected: ProtectedPorts,
    corrupting: Vec<BTreeMap<LinkId, Corruption>>,
    corrupting_count: usize,
    /// Links that are down, by pod, with the second at which they went down.
    down: Vec<BTreeMap<LinkId, u64>>,
    down_count: usize,
    loss: LossSum,
    effective_loss: LossSum,
    /// Bits of the corrupting links' loss rates: for positive numbers the order of the bits is the order of the
    /// numbers.
    loss_rates: Tally,
}

impl<'t> Network<'t> {
    /// Starts with all links up and sound; a ToR must keep the share `capacity` of its paths.
    pub fn new(topology: &'t Topology, capacity: Share) -> Self {
        let tors = || topology.pods.iter().flatten().map(|&tor| topology.paths_of(tor));
        let mut tor_paths = Tally::default();
        tors().for_each(|paths| tor_paths.add(paths));
        Self {
            topology,
            paths: PathCounts::new(topology, |paths| capacity.of_rounded_up(paths)),
            tor_paths,
            tor_paths_total: tors().sum(),
            capacities: PodCapacities::new(topology),
            protected: ProtectedPorts::new(topology),
            corrupting: vec![BTreeMap::new(); topology.pods.len()],
            corrupting_count: 0,
            down: vec![BTreeMap::new(); topology.pods.len()],
            down_count: 0,
            loss: LossSum::ZERO,
            effective_loss: LossSum::ZERO,
            loss_rates: Tally::default(),
        }
    }

    pub const fn topology(&self) -> &'t Topology {
        self.topology
    }

    pub fn is_up(&self, link: LinkId) -> bool {
        self.paths.is_up(link)
    }

    /// Corrupting links of a pod that are up, in ascending order.
    pub fn corrupting_in(&self, pod: usize) -> &BTreeMap<LinkId, Corruption> {
        &self.corrupting[pod]
    }

    /// Links of a pod that are down, in ascending order, with the second at which they went down.
    pub fn down_in(&self, pod: usize) -> &BTreeMap<LinkId, u64> {
        &self.down[pod]
    }

    /// Path counts for trial changes; the caller must restore them.
    pub const fn paths(&mut self) -> &mut PathCounts<'t> {
        &mut self.paths
    }

    /// Starts the corruption of a link that is up, or changes its rate.
    pub fn corrupt(&mut self, link: LinkId, loss: LossRate, protection: Option<Protection>) {
        assert!(self.is_up(link), "a link that is down corrupts nothing");
        self.forget(link);
        let corruption = Corruption { loss, protection };
        if let Some(protection) = protection {
            let bps = self.topology.link(link).rate.as_bps();
            self.capacities.change(self.topology, link, bps, protection.speed_bps);
            self.protected.change(self.topology, link, 1);
        }
        self.loss += loss.as_sum();
        self.effective_loss += corruption.effective().as_sum();
        self.loss_rates.add(loss.as_f64().to_bits());
        self.corrupting_count += 1;
        self.corrupting[self.topology.pod_of(link)].insert(link, corruption);
    }

    /// Takes a corrupting link down for repair at `now_s`.
    pub fn take_down(&mut self, link: LinkId, now_s: u64) {
        let was_corrupting = self.forget(link);
        assert!(was_corrupting, "only corrupting links are taken down");
        self.set(link, false);
        self.down[self.topology.pod_of(link)].insert(link, now_s);
        self.down_count += 1;
    }

    /// Brings a repaired link up.
    pub fn bring_up(&mut self, link: LinkId) {
        self.set(link, true);
        let was_down = self.down[self.topology.pod_of(link)].remove(&link);
        assert!(was_down.is_some(), "link {} comes up, and was not down", link.0);
        self.down_count -= 1;
    }

    fn set(&mut self, link: LinkId, is_up: bool) {
        assert!(self.is_up(link) != is_up, "link {} keeps its state", link.0);
        let (tally, total) = (&mut self.tor_paths, &mut self.tor_paths_total);
        self.paths.set(link, is_up, &mut |before, after| {
            tally.change(before, after);
            *total = *total + after - before;
        });
        let bps = self.topology.link(link).rate.as_bps();
        let (before, after) = if is_up { (0, bps) } else { (bps, 0) };
        self.capacities.change(self.topology, link, before, after);
    }

    /// Removes a link's corruption, if any, from all sums, as if the link were up and sound.
    fn forget(&mut self, link: LinkId) -> bool {
        let Some(corruption) = self.corrupting[self.topology.pod_of(link)].remove(&link) else {
            return false;
        };
        if let Some(protection) = corruption.protection {
            let bps = self.topology.link(link).rate.as_bps();
            self.capacities.change(self.topology, link, protection.speed_bps, bps);
            self.protected.change(self.topology, link, -1);
        }
        self.loss -= corruption.loss.as_sum();
        self.effective_loss -= corruption.effective().as_sum();
        self.loss_rates.remove(corruption.loss.as_f64().to_bits());
        self.corrupting_count -= 1;
        true
    }

    pub fn metrics(&self) -> Metrics {
        assert!(self.corrupting_count == 0 || self.loss > LossSum::ZERO, "corrupting links lose nothing");
        assert!(self.effective_loss <= self.loss, "protection adds losses");
        let sound = self.topology.links.len() - self.down_count - self.corrupting_count;
        let floor = sound as f64 * LossRate::SOUND.as_f64();
        let tors: usize = self.topology.pods.iter().map(Vec::len).sum();
        Metrics {
            total_penalty: self.loss.as_f64() + floor,
            total_effective_penalty: self.effective_loss.as_f64() + floor,
            avg_per_tor_paths: self.tor_paths_total as f64 / tors as f64,
            min_per_tor_paths: self.tor_paths.least().expect("there are ToR switches"),
            avg_per_pod_capacity: self.capacities.mean_gbps(),
            min_per_pod_capacity: self.capacities.least_bps() as f64 / 1e9,
            max_link_loss_rate: self.loss_rates.greatest().map_or(LossRate::SOUND.as_f64(), f64::from_bits),
            curr_disabled_links: self.down_count as u64,
            curr_corrupting_links: self.corrupting_count as u64,
            max_lg_ports_per_pipe: self.protected.most(),
        }
    }
}
