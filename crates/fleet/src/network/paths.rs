//! The number of paths from each ToR to the spines, updated link by link.

use crate::topology::{LinkId, SwitchId, Topology};

/// The state of links and the resulting number of paths upwards.
///
/// The number of paths of a switch is the sum over its neighbours above, over links that are up; a spine has one path.
/// When a link changes, the difference is propagated to all switches below. The result equals a full recount, for any
/// topology in tiers.
#[derive(Clone, Debug)]
pub struct PathCounts<'t> {
    topology: &'t Topology,
    is_up: Vec<bool>,
    paths: Vec<u64>,
    /// Minimum number of paths of each ToR; 0 for other switches.
    floors: Vec<u64>,
    /// Number of ToR switches of each pod with too few paths.
    short_of: Vec<usize>,
}

impl<'t> PathCounts<'t> {
    /// Starts with all links up. `floor` returns the minimum number of paths of a ToR, given its initial number.
    pub fn new(topology: &'t Topology, floor: impl Fn(u64) -> u64) -> Self {
        let ids = (0..topology.switches.len()).map(|at| SwitchId(at as u32));
        let paths: Vec<_> = ids.map(|at| topology.paths_of(at)).collect();
        let floor_of =
            |(switch, &count): (&crate::topology::Switch, &u64)| if switch.tier == 0 { floor(count) } else { 0 };
        let floors = topology.switches.iter().zip(&paths).map(floor_of).collect();
        let is_up = vec![true; topology.links.len()];
        Self { topology, is_up, paths, floors, short_of: vec![0; topology.pods.len()] }
    }

    pub const fn topology(&self) -> &'t Topology {
        self.topology
    }

    pub fn is_up(&self, link: LinkId) -> bool {
        self.is_up[link.index()]
    }

    pub fn of(&self, switch: SwitchId) -> u64 {
        self.paths[switch.index()]
    }

    /// Number of paths that a ToR can lose.
    pub fn slack(&self, tor: SwitchId) -> u64 {
        self.paths[tor.index()].saturating_sub(self.floors[tor.index()])
    }

    pub fn is_short(&self, tor: SwitchId) -> bool {
        self.paths[tor.index()] < self.floors[tor.index()]
    }

    /// Whether every ToR of the pod has enough paths.
    pub fn holds_in(&self, pod: usize) -> bool {
        self.short_of[pod] == 0
    }

    /// Takes a link down that is up, and brings it up again; returns whether every ToR kept enough paths.
    pub fn try_losing(&mut self, link: LinkId) -> bool {
        self.take_down(link);
        let holds = self.holds_in(self.topology.pod_of(link));
        self.bring_up(link);
        holds
    }

    pub fn take_down(&mut self, link: LinkId) {
        self.set(link, false, &mut |_, _| ());
    }

    pub fn bring_up(&mut self, link: LinkId) {
        self.set(link, true, &mut |_, _| ());
    }

    /// Brings a link up or takes it down; passes the previous and new number of paths of each affected ToR to `tell`.
    pub fn set(&mut self, link: LinkId, is_up: bool, tell: &mut impl FnMut(u64, u64)) {
        assert!(self.is_up[link.index()] != is_up, "only what is up goes down, and only what is down comes up");
        self.is_up[link.index()] = is_up;
        let ends = self.topology.link(link);
        let carried = self.paths[ends.upper.index()];
        self.shift(ends.lower, carried, is_up, tell);
    }

    /// Changes the paths of a switch and of all switches below, once for each way down.
    fn shift(&mut self, at: SwitchId, carried: u64, is_up: bool, tell: &mut impl FnMut(u64, u64)) {
        let before = self.paths[at.index()];
        let after = if is_up { before + carried } else { before - carried };
        self.paths[at.index()] = after;
        let topology = self.topology;
        let switch = topology.switch(at);
        if switch.tier == 0 {
            let floor = self.floors[at.index()];
            let short_of = &mut self.short_of[switch.pod.expect("a ToR is in a pod")];
            *short_of = *short_of + usize::from(after < floor) - usize::from(before < floor);
            tell(before, after);
        }
        for &below in &switch.down {
            if self.is_up[below.index()] {
                self.shift(topology.link(below).lower, carried, is_up, tell);
            }
        }
    }
}
