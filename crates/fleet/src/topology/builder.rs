use hitless_core::wire::BitRate;

use super::shape::Shape;
use super::tiers::{Link, LinkId, Switch, SwitchId, Topology};

/// Default number of ports of a pipe: the published simulator's figure for spines.
const PORTS_PER_PIPE: usize = 16;
/// Larger numbers are refused, so that a typing error does not fill the memory.
const LINKS_MAX: usize = 4_000_000;
const SWITCHES_MAX: usize = 1_000_000;
/// Maximum rate in Gb/s; a faster link is a typing error. Links of all topologies are checked here.
const LINK_GBPS_MAX: u64 = 1_000_000;
const GBPS: u64 = 1_000_000_000;

/// Collects switches and links, and makes a [`Topology`] of them.
#[derive(Debug)]
pub struct Builder {
    shape: Shape,
    switches: Vec<Switch>,
    links: Vec<Link>,
    /// Total rate of all links; the check that it fits covers all partial sums.
    total_bps: u64,
}

impl Builder {
    pub const fn new(shape: Shape) -> Self {
        Self { shape, switches: Vec::new(), links: Vec::new(), total_bps: 0 }
    }

    /// Adds a switch with the given number of pipes, or the number that its ports need.
    pub fn switch(&mut self, tier: usize, pipes: Option<usize>) -> Result<SwitchId, String> {
        if self.switches.len() >= SWITCHES_MAX {
            return Err(format!("there are more than {SWITCHES_MAX} switches"));
        }
        let id = SwitchId(self.switches.len() as u32);
        let (up, down) = (Vec::new(), Vec::new());
        self.switches.push(Switch { tier, pod: None, up, down, first_pipe: 0, pipes: pipes.unwrap_or(0) });
        Ok(id)
    }

    /// Adds a link between neighbouring tiers.
    pub fn link(&mut self, lower: SwitchId, upper: SwitchId, rate: BitRate) -> Result<LinkId, String> {
        if self.links.len() >= LINKS_MAX {
            return Err(format!("there are more than {LINKS_MAX} links"));
        }
        let (low, high) = (self.switches[lower.index()].tier, self.switches[upper.index()].tier);
        if high != low + 1 {
            return Err(format!(
                "a link goes from a tier to the next above, and this one from tier {low} to tier {high}"
            ));
        }
        self.add_speed(rate)?;
        let id = LinkId(self.links.len() as u32);
        self.links.push(Link { lower, upper, rate, pipes: [0; 2] });
        self.switches[lower.index()].up.push(id);
        self.switches[upper.index()].down.push(id);
        Ok(id)
    }

    fn add_speed(&mut self, rate: BitRate) -> Result<(), String> {
        if rate.as_bps() > LINK_GBPS_MAX * GBPS {
            let gbps = rate.as_bps() as f64 / GBPS as f64;
            return Err(format!("a link carries {LINK_GBPS_MAX} Gb/s at most, and this one {gbps}"));
        }
        let total = self.total_bps.checked_add(rate.as_bps());
        self.total_bps = total.ok_or_else(|| format!("all links together carry more than {} Gb/s", u64::MAX / GBPS))?;
        Ok(())
    }

    /// Finishes the topology; every ToR must have a path to a spine, and every switch in between a ToR below it.
    pub fn finish(mut self) -> Result<Topology, String> {
        let top_tier = self.switches.iter().map(|switch| switch.tier).max().unwrap_or(0);
        if top_tier == 0 {
            return Err("there must be ToR switches in tier 0 and spines above them".into());
        }
        let unused = self.switches.iter().position(|at| at.tier > 0 && at.tier < top_tier && at.down.is_empty());
        if let Some(at) = unused {
            let tier = self.switches[at].tier;
            return Err(format!("switch {at} (counted from 0) of tier {tier} has no link to tier {}", tier - 1));
        }
        let pods = self.find_pods(top_tier);
        let pipes = self.number_pipes();
        let paths = self.count_paths(top_tier)?;
        let cut_off = pods.iter().flatten().find(|tor| paths[tor.index()] == 0);
        if let Some(tor) = cut_off {
            return Err(format!("switch {} (counted from 0) of tier 0 has no path to tier {top_tier}", tor.0));
        }
        let Self { shape, switches, links, .. } = self;
        Ok(Topology { shape, switches, links, pods, paths, top_tier, pipes })
    }

    /// Numbers the pods in order of their lowest switch.
    fn find_pods(&mut self, top_tier: usize) -> Vec<Vec<SwitchId>> {
        let mut pods = Vec::new();
        for start in 0..self.switches.len() {
            if self.switches[start].tier < top_tier && self.switches[start].pod.is_none() {
                pods.push(self.flood(SwitchId(start as u32), pods.len(), top_tier));
            }
        }
        pods
    }

    /// Marks everything connected to `start` without spines as `pod`; returns its ToR switches.
    fn flood(&mut self, start: SwitchId, pod: usize, top_tier: usize) -> Vec<SwitchId> {
        let (mut waiting, mut tors) = (vec![start], Vec::new());
        self.switches[start.index()].pod = Some(pod);
        while let Some(at) = waiting.pop() {
            let switch = &self.switches[at.index()];
            if switch.tier == 0 {
                tors.push(at);
            }
            let ends = |link: &LinkId| [self.links[link.index()].lower, self.links[link.index()].upper];
            let near: Vec<_> = switch.up.iter().chain(&switch.down).flat_map(ends).collect();
            for next in near {
                let neighbour = &mut self.switches[next.index()];
                if neighbour.tier < top_tier && neighbour.pod.is_none() {
                    neighbour.pod = Some(pod);
                    waiting.push(next);
                }
            }
        }
        tors.sort_unstable();
        tors
    }

    /// Numbers pipes: a link's pipe is its position among the switch's links modulo the number of pipes, in order of
    /// insertion.
    fn number_pipes(&mut self) -> usize {
        let mut total = 0;
        for switch in &mut self.switches {
            let ports = switch.up.len() + switch.down.len();
            if switch.pipes == 0 {
                switch.pipes = ports.div_ceil(PORTS_PER_PIPE).max(1);
            }
            switch.first_pipe = total;
            total += switch.pipes;
        }
        let mut ports = vec![0; self.switches.len()];
        for link in &mut self.links {
            for (pipe, end) in link.pipes.iter_mut().zip([link.lower, link.upper]) {
                let (switch, port) = (&self.switches[end.index()], &mut ports[end.index()]);
                *pipe = switch.first_pipe + *port % switch.pipes;
                *port += 1;
            }
        }
        total
    }

    /// Counts the paths to the spines, starting with the highest tier.
    fn count_paths(&self, top_tier: usize) -> Result<Vec<u64>, String> {
        let mut order: Vec<usize> = (0..self.switches.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(self.switches[at].tier));
        let mut paths = vec![0u64; self.switches.len()];
        for at in order {
            let switch = &self.switches[at];
            let above = switch.up.iter().map(|link| paths[self.links[link.index()].upper.index()]);
            let own = u64::from(switch.tier == top_tier);
            paths[at] = above.fold(own, u64::saturating_add);
        }
        // Sums over all ToR switches must also fit.
        let total = paths.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
        if total >= 1 << 53 { Err("there are too many paths to count".into()) } else { Ok(paths) }
    }
}
