//! Planes: the parts of a fabric that only hosts connect. A switch never sends a packet to another plane, so both hosts
//! of a flow need a port in the same one.

use std::collections::BTreeMap;

use hitless_core::wire::HostId;

use super::{SwitchId, Topology};

/// The planes of a fabric, numbered by their first switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planes {
    /// By [`super::SwitchId`].
    of_switches: Vec<u32>,
    count: u32,
}

impl Planes {
    pub fn new(topology: &Topology) -> Self {
        let mut of_switches = vec![u32::MAX; topology.switches.len()];
        let mut count = 0;
        for first in 0..of_switches.len() {
            if of_switches[first] != u32::MAX {
                continue;
            }
            let mut open = vec![first];
            while let Some(switch) = open.pop() {
                if std::mem::replace(&mut of_switches[switch], count) == u32::MAX {
                    let peers = topology.switches[switch].ports.iter().filter_map(|port| port.peer.node.switch());
                    open.extend(peers.map(|peer| peer.0 as usize).filter(|&peer| of_switches[peer] == u32::MAX));
                }
            }
            count += 1;
        }
        Self { of_switches, count }
    }

    /// Returns the plane of a switch.
    pub fn of_switch(&self, switch: SwitchId) -> u32 {
        self.of_switches[switch.0 as usize]
    }

    /// Returns the plane of each port of `host`.
    pub fn of_ports<'a>(&'a self, topology: &'a Topology, host: HostId) -> impl Iterator<Item = u32> + 'a {
        topology.attachments(host).map(|(switch, _)| self.of_switch(switch))
    }

    /// Returns the planes of the ports of `host`, one bit each.
    pub fn of_host(&self, topology: &Topology, host: HostId) -> u64 {
        self.of_ports(topology, host).fold(0, |planes, plane| planes | 1 << plane)
    }
}

impl Topology {
    /// Checks that every two hosts share a plane.
    pub(super) fn check_planes(&self) -> Result<(), String> {
        if !self.has_multi_homed_hosts() {
            return Ok(());
        }
        let planes = Planes::new(self);
        if planes.count > u64::BITS {
            return Err(format!("{} planes, which only hosts connect; at most {}", planes.count, u64::BITS));
        }
        let mut first_hosts = BTreeMap::new();
        for host in self.host_ids() {
            first_hosts.entry(planes.of_host(self, host)).or_insert(host);
        }
        for (a, host) in &first_hosts {
            if let Some((_, other)) = first_hosts.iter().find(|(b, _)| *a & **b == 0) {
                let [a, b] = [host, other].map(|&host| &self.host(host).name);
                return Err(format!(
                    "every path from '{a}' to '{b}' leads through another host, which forwards nothing"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::shapes::tests::LINK;
    use crate::network::topology::{Tier, TopologyBuilder};

    /// Two planes with one switch each, and the given links of hosts.
    fn two_planes(links: &[(&str, &str)]) -> Result<Topology, Vec<String>> {
        let mut builder = TopologyBuilder::new();
        for name in ["a", "b", "c"] {
            builder.host(name);
        }
        for name in ["s", "t"] {
            builder.switch(name, Tier::Edge);
        }
        links.iter().for_each(|(a, b)| builder.link_by_name(a, b, LINK));
        builder.finish()
    }

    #[test]
    fn ports_belong_to_the_planes_of_their_switches() {
        let links = [("a", "s"), ("b", "t"), ("a", "t"), ("b", "s"), ("c", "t")];
        let topology = two_planes(&links).expect("every two hosts share a plane");
        let planes = Planes::new(&topology);
        let of_hosts: Vec<Vec<u32>> =
            topology.host_ids().map(|host| planes.of_ports(&topology, host).collect()).collect();
        assert_eq!(of_hosts, [vec![0, 1], vec![1, 0], vec![1]]);
        assert_eq!(topology.host_ids().map(|host| planes.of_host(&topology, host)).collect::<Vec<_>>(), [3, 3, 2]);
        assert_eq!(topology.host_rate(HostId(0)).as_bps(), 20_000_000_000);
    }

    #[test]
    fn two_hosts_without_a_common_plane_are_refused() {
        let errors = two_planes(&[("a", "s"), ("b", "s"), ("b", "t"), ("c", "t")]).unwrap_err();
        assert_eq!(errors, ["every path from 'a' to 'c' leads through another host, which forwards nothing"]);
    }
}
