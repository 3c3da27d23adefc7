//! Switches in tiers and the links between neighbouring tiers.
//!
//! Tier 0 holds the ToR switches, the highest tier the spines. A *pod* is a component that remains connected without
//! the spines (a pod of the Facebook fabric or of a fat tree, a single leaf of a leaf-spine). So no two pods share a
//! path from a ToR to a spine, and a link belongs to the pod of its lower end.

use hitless_core::wire::BitRate;

use super::shape::Shape;

/// Returns the rate of `gbps` Gb/s, rounded to bits per second; `None` below that.
pub fn rate_of(gbps: f64) -> Option<BitRate> {
    BitRate::from_bps((gbps * 1e9).round() as u64)
}

/// A link, numbered from 0 as in the published simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

impl LinkId {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SwitchId {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Switch {
    /// 0 for a ToR, the maximum for a spine.
    pub tier: usize,
    /// The pod; `None` for a spine.
    pub pod: Option<usize>,
    /// Links to the next tier above, in order of insertion.
    pub up: Vec<LinkId>,
    /// Links to the next tier below, in order of insertion.
    pub down: Vec<LinkId>,
    /// Number of its first pipe, counted over all switches.
    pub(super) first_pipe: usize,
    pub(super) pipes: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The end nearer to the hosts.
    pub lower: SwitchId,
    /// The end nearer to the spines.
    pub upper: SwitchId,
    /// Its speed while it is sound.
    pub rate: BitRate,
    /// The pipes at both ends, counted over all switches.
    pub pipes: [usize; 2],
}

/// A network of switches in tiers.
#[derive(Clone, Debug)]
pub struct Topology {
    pub shape: Shape,
    pub switches: Vec<Switch>,
    pub links: Vec<Link>,
    /// The ToR switches of each pod.
    pub pods: Vec<Vec<SwitchId>>,
    /// Number of paths from each switch to the spines while all links are up.
    pub(super) paths: Vec<u64>,
    /// The tier of the spines, which is also the number of layers of links of a pod.
    pub top_tier: usize,
    /// Number of pipes of all switches.
    pub pipes: usize,
}

impl Topology {
    pub fn link(&self, link: LinkId) -> &Link {
        &self.links[link.index()]
    }

    pub fn switch(&self, switch: SwitchId) -> &Switch {
        &self.switches[switch.index()]
    }

    /// The pod of a link, which is the pod of its lower end.
    pub fn pod_of(&self, link: LinkId) -> usize {
        self.switch(self.link(link).lower).pod.expect("the lower end of a link is no spine")
    }

    /// Number of paths from a switch to the spines while all links are up.
    pub fn paths_of(&self, switch: SwitchId) -> u64 {
        self.paths[switch.index()]
    }

    /// Returns the ToR switches below a link, in ascending order; their paths can use it. There is always one or more.
    pub fn tors_below(&self, link: LinkId) -> Vec<SwitchId> {
        let mut level = vec![self.link(link).lower];
        while self.switch(level[0]).tier > 0 {
            level = level.iter().flat_map(|&at| &self.switch(at).down).map(|&below| self.link(below).lower).collect();
            level.sort_unstable();
            level.dedup();
        }
        level
    }
}
