//! Detours: packets for a failed link leave through another port of the same switch.
//!
//! The tables do not change. Entries that a detour can affect are *watched*: the fast path finds the entry empty, and
//! the packet's route is then looked up here, depending on its ingress port. So a fabric without detours pays nothing
//! for them.

use std::collections::BTreeMap;

use hitless_core::wire::{HostId, PortId};

use super::table::{HopSet, Table};
use crate::network::topology::{Node, SwitchId, Topology};

/// A port that can be the backup of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Detour {
    /// Number of links on the longest path from the switch to the switch of a destination.
    pub links: u32,
    pub port: PortId,
}

/// Entries that are watched, and detours in use.
#[derive(Clone, Debug, Default, hitless_core::state::State)]
pub(super) struct Watch {
    /// By place in the table: the entry.
    #[configured]
    sets: BTreeMap<usize, HopSet>,
    /// The port to use instead, by switch and port.
    detours: BTreeMap<(SwitchId, PortId), PortId>,
}

/// The paths to one destination for packets that are sent where the table would not send them.
struct Walk<'a> {
    watch: &'a Watch,
    table: &'a Table,
    topology: &'a Topology,
    /// The switch that they must not reach again.
    origin: SwitchId,
    destination: HostId,
    /// Number of links on the longest path, by switch and ingress port; `None` if a path leads back to the origin.
    known: BTreeMap<(SwitchId, PortId), Option<u32>>,
}

impl Walk<'_> {
    /// Returns the longest path from `switch`, entered through `arrival`.
    fn links_from(&mut self, switch: SwitchId, arrival: PortId) -> Option<u32> {
        if switch == self.origin {
            return None;
        }
        if let Some(&known) = self.known.get(&(switch, arrival)) {
            return known;
        }
        let links = self.longest(switch, arrival);
        self.known.insert((switch, arrival), links);
        links
    }

    fn longest(&mut self, switch: SwitchId, arrival: PortId) -> Option<u32> {
        if self.topology.is_attached(self.destination, switch) {
            return Some(0);
        }
        let hops = onward(self.watch.next_hops(self.table, switch, self.destination), arrival);
        let mut longest = None;
        // Each of the hops must lead to the destination, because the hash of the flow decides among them.
        for port in hops {
            let peer = self.topology.switch(switch).ports[usize::from(port.0)].peer;
            let Node::Switch(next) = peer.node else { return None };
            longest = longest.max(Some(self.links_from(next, peer.port)? + 1));
        }
        longest
    }
}

/// Returns the next hops of a packet from the port `arrival`: it goes back only without any other choice.
fn onward(hops: &[PortId], arrival: PortId) -> Vec<PortId> {
    let others: Vec<PortId> = hops.iter().copied().filter(|&hop| hop != arrival).collect();
    if others.is_empty() { hops.to_vec() } else { others }
}

impl Watch {
    /// Returns whether no entry is watched.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Returns all equal-cost next hops of `switch` towards `destination`, for watched and ordinary entries.
    pub fn next_hops<'t>(&self, table: &'t Table, switch: SwitchId, destination: HostId) -> &'t [PortId] {
        table.hops(self.entry(table, switch, destination).unwrap_or_else(|| table.set(switch, destination)))
    }

    /// Returns the next hops of a packet from the port `arrival`; `None` if its entry is not watched.
    pub fn onward(&self, table: &Table, switch: SwitchId, destination: HostId, arrival: PortId) -> Option<Vec<PortId>> {
        self.entry(table, switch, destination).map(|set| onward(table.hops(set), arrival))
    }

    /// Returns the port to use in place of `port` of `switch`.
    pub fn detour_of(&self, switch: SwitchId, port: PortId) -> PortId {
        self.detours.get(&(switch, port)).copied().unwrap_or(port)
    }

    pub fn set_detour(&mut self, switch: SwitchId, port: PortId, backup: Option<PortId>) {
        assert!(backup != Some(port), "port {} is no detour of itself", port.0);
        match backup {
            Some(backup) => self.detours.insert((switch, port), backup),
            None => self.detours.remove(&(switch, port)),
        };
    }

    pub fn detours(&self, table: &Table, topology: &Topology, switch: SwitchId, port: PortId) -> Vec<Detour> {
        let ports = &topology.switch(switch).ports;
        // A host with one port cannot be reached through another.
        if let Node::Host(host) = ports[usize::from(port.0)].peer.node
            && !topology.host(host).is_multi_homed()
        {
            return Vec::new();
        }
        let mut walks = self.walks(table, topology, switch, port);
        let detour = |(number, candidate): (u16, &crate::network::topology::Port)| {
            let Node::Switch(next) = candidate.peer.node else { return None };
            let links = |walk: &mut Walk<'_>| walk.links_from(next, candidate.peer.port);
            let paths: Option<Vec<u32>> = walks.iter_mut().map(links).collect();
            Some(Detour { links: paths?.into_iter().max().unwrap_or(0) + 1, port: PortId(number) })
        };
        let mut detours: Vec<_> = (0..).zip(ports).filter(|(number, _)| *number != port.0).filter_map(detour).collect();
        detours.sort_unstable();
        detours
    }

    /// Makes a search for each switch with hosts to which packets leave `switch` through `port`.
    fn walks<'a>(&'a self, table: &'a Table, topology: &'a Topology, switch: SwitchId, port: PortId) -> Vec<Walk<'a>> {
        let mut seen = vec![false; table.edges];
        let is_first = |host: &HostId| !std::mem::replace(&mut seen[table.places[host.0 as usize].edge as usize], true);
        let destinations = topology.host_ids().filter(is_first);
        let leave_by_port = destinations.filter(|&host| self.next_hops(table, switch, host).contains(&port));
        let walk =
            |destination| Walk { watch: self, table, topology, origin: switch, destination, known: BTreeMap::new() };
        leave_by_port.map(walk).collect()
    }

    /// Watches the entries that detours around `port` of `switch` can need, and empties them in `table`.
    pub fn add(&mut self, table: &mut Table, topology: &Topology, switch: SwitchId, port: PortId) {
        let mut places: Vec<usize> = Vec::new();
        for detour in self.detours(table, topology, switch, port) {
            let peer = topology.switch(switch).ports[usize::from(detour.port.0)].peer;
            let Node::Switch(next) = peer.node else { continue };
            for mut walk in self.walks(table, topology, switch, port) {
                walk.links_from(next, peer.port);
                let goes_back = |&&(at, arrival): &&(SwitchId, PortId)| {
                    let hops = self.next_hops(table, at, walk.destination);
                    hops.len() > 1 && hops.contains(&arrival)
                };
                places.extend(walk.known.keys().filter(goes_back).map(|&(at, _)| table.place(at, walk.destination)));
                places.push(table.place(switch, walk.destination));
            }
        }
        for place in places {
            let set = table.take(place);
            if set.count > 0 {
                self.sets.insert(place, set);
            }
        }
    }

    /// Returns the entry of `switch` for `destination`, if it is watched.
    fn entry(&self, table: &Table, switch: SwitchId, destination: HostId) -> Option<HopSet> {
        if table.is_at(destination, switch) {
            return None;
        }
        self.sets.get(&table.place(switch, destination)).copied()
    }
}

#[cfg(test)]
mod tests;
