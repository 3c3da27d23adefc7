//! The round-trip time of the longest path of an empty fabric.

use hitless_core::wire::{Duration, HostId};

use super::nodes::{DirectedLink, LinkSpec, Topology};

/// The times of a packet and its answer in an empty fabric.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crossing<'a> {
    /// Frame length of the packet.
    pub there_bytes: u64,
    /// Frame length of the answer.
    pub back_bytes: u64,
    /// Time in each switch, in one direction; zero for switches beyond the end.
    pub in_switches: &'a [Duration],
    /// Time in the two hosts, in one direction.
    pub in_hosts: Duration,
}

impl Crossing<'_> {
    /// Returns the time of the packet there and of its answer back, in a switch.
    fn of_switch(&self, switch: usize) -> Duration {
        self.in_switches.get(switch).map_or(Duration::ZERO, |time| *time * 2)
    }

    /// Returns the time of the packet there and of its answer back, over the two directions of a link.
    fn of_link(&self, [there, back]: [LinkSpec; 2]) -> Duration {
        let frame = |link: LinkSpec, bytes: u64| link.rate.time_for(bytes + u64::from(link.overhead_bytes));
        there.flight_time() + back.flight_time() + frame(there, self.there_bytes) + frame(back, self.back_bytes)
    }
}

impl Topology {
    /// Returns the round-trip time between the two hosts furthest apart by paths with the fewest links. Of such paths
    /// the slowest counts. Two searches find these hosts exactly in a tree and in regular fabrics; in other graphs the
    /// time can be that of a shorter path. `None` without two hosts that a path connects.
    pub fn longest_round_trip(&self, crossing: &Crossing<'_>) -> Option<Duration> {
        let (far, _) = self.furthest_from(self.host_ids().next()?, crossing)?;
        self.furthest_from(far, crossing).map(|(_, time)| time + crossing.in_hosts * 2)
    }

    /// Returns the host with the longest round-trip time from `start`, and that time.
    fn furthest_from(&self, start: HostId, crossing: &Crossing<'_>) -> Option<(HostId, Duration)> {
        let both = |link: DirectedLink| [self.spec(link), self.spec(link.reversed())];
        let ports_of = |host: HostId| self.host(host).ports.iter().map(|port| (port.peer.node.index(0), port.link));
        let mut times: Vec<Option<Duration>> = vec![None; self.switches.len()];
        for (switch, link) in ports_of(start) {
            times[switch] = times[switch].max(Some(crossing.of_link(both(link)) + crossing.of_switch(switch)));
        }
        let mut latest: Vec<usize> = (0..times.len()).filter(|&switch| times[switch].is_some()).collect();
        while !latest.is_empty() {
            let mut next: Vec<(usize, Duration)> = Vec::new();
            let ports = |&from: &usize| self.switches[from].ports.iter().map(move |port| (from, port));
            for (from, port) in latest.iter().flat_map(ports) {
                let Some(to) = port.peer.node.switch().map(|switch| switch.0 as usize) else { continue };
                if let (None, Some(before)) = (times[to], times[from]) {
                    let of_link = crossing.of_link(both(port.link));
                    next.push((to, before + of_link + crossing.of_switch(to)));
                }
            }
            for &(to, time) in &next {
                times[to] = times[to].max(Some(time));
            }
            latest = next.into_iter().map(|(to, _)| to).collect();
            latest.sort_unstable();
            latest.dedup();
        }
        let others = self.host_ids().filter(|&host| host != start);
        let reached = others.flat_map(|host| {
            let times = &times;
            let arriving = move |link: DirectedLink| crossing.of_link(both(link.reversed()));
            ports_of(host).filter_map(move |(switch, link)| Some((times[switch]? + arriving(link), host)))
        });
        reached.max_by_key(|&(time, host)| (time, std::cmp::Reverse(host))).map(|(time, host)| (host, time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::TopologySettings;

    fn longest(topology: &str) -> Option<Duration> {
        let settings: TopologySettings = toml::from_str(topology).expect("it is a topology");
        let crossing = Crossing { there_bytes: 4_150, back_bytes: 64, ..Crossing::default() };
        settings.build().expect("it can be built").longest_round_trip(&crossing)
    }

    #[test]
    fn the_longest_path_counts_each_link_twice_with_both_frames() {
        let link = "{ rate = \"100 Gbps\", delay = \"1 us\", overhead_bytes = 0 }";
        let fat_tree = format!("kind = \"fat-tree\"\nk = 4\nhost_link = {link}\ncore_link = {link}");
        // 6 links: 12 us, and 6 x (332 + 5.12) ns.
        assert_eq!(longest(&fat_tree), Some(Duration::from_ps(14_022_720)));
        let slow = "{ rate = \"10 Gbps\", delay = \"5 us\", overhead_bytes = 20 }";
        let chain = format!(
            "kind = \"chain\"\nhosts_left = [\"a\"]\nswitches = [\"s\", \"t\"]\nhosts_right = [\"b\"]\n\
             host_link = {link}\nswitch_link = {slow}"
        );
        // 2 x (2 us + 337.12 ns) and 10 us + (4,170 + 84) x 0.8 ns.
        assert_eq!(longest(&chain), Some(Duration::from_ps(4_674_240 + 13_403_200)));
    }

    #[test]
    fn the_slowest_of_equally_short_paths_counts_and_detours_do_not() {
        let link = |ends: &str, delay: &str| {
            format!("[[links]]\nends = [{ends}]\nrate = \"100 Gbps\"\ndelay = \"{delay}\"\noverhead_bytes = 0\n")
        };
        let graph = ["\"a\", \"s\"", "\"b\", \"t\"", "\"s\", \"u\"", "\"u\", \"t\"", "\"s\", \"v\"", "\"v\", \"t\""];
        let delays = ["1 us", "1 us", "1 us", "1 us", "3 us", "1 us"];
        let links: String = graph.iter().zip(delays).map(|(ends, delay)| link(ends, delay)).collect();
        let text =
            format!("kind = \"graph\"\nhosts = [\"a\", \"b\"]\nswitches = [\"s\", \"t\", \"u\", \"v\"]\n{links}");
        // a, s, v, t, b: 6 us each way, and 4 x 337.12 ns.
        assert_eq!(longest(&text), Some(Duration::from_ps(12_000_000 + 1_348_480)));
    }
}
