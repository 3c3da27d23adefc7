//! Detours: what is sent over a link that has failed goes by another port of the same switch.
//!
//! The tables stay as they are. Where a detour may matter an entry is *watched*: the short way through the table finds
//! it empty, and the packet's route is then looked up here, with the port by which it came. So a fabric without
//! detours pays nothing for them.

use std::collections::BTreeMap;

use hitless_wire::{HostId, PortId};

use super::{HopSet, Routing};
use crate::topology::{Node, SwitchId, Topology};

/// A port that can be the backup of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Detour {
    /// Links on the longest way from the switch to the switch of a destination.
    pub links: u32,
    /// The port.
    pub port: PortId,
}

/// Entries that are watched, and detours in use.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    /// By place in the table: the entry.
    sets: BTreeMap<usize, HopSet>,
    /// By switch and port: the port to use instead.
    detours: BTreeMap<(SwitchId, PortId), PortId>,
}

/// The ways to one destination for packets that are sent where the table would not send them.
struct Walk<'a> {
    routing: &'a Routing,
    topology: &'a Topology,
    /// The switch that they must not come back to.
    origin: SwitchId,
    destination: HostId,
    /// By switch and port of arrival: links on the longest way from there; `None`: a way leads back.
    known: BTreeMap<(SwitchId, PortId), Option<u32>>,
}

impl Walk<'_> {
    /// From `switch`, entered by `arrival`.
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
        if self.topology.attachment(self.destination).0 == switch {
            return Some(0);
        }
        let hops = onward(self.routing.next_hops(switch, self.destination), arrival);
        let mut longest = None;
        for port in hops {
            let peer = self.topology.switch(switch).ports[usize::from(port.0)].peer;
            let Node::Switch(next) = peer.node else { return None };
            longest = longest.max(Some(self.links_from(next, peer.port)? + 1));
        }
        longest
    }
}

/// The next hops of a packet that came by `arrival`: it is not sent back where there is another choice.
fn onward(hops: &[PortId], arrival: PortId) -> Vec<PortId> {
    let others: Vec<PortId> = hops.iter().copied().filter(|&hop| hop != arrival).collect();
    if others.is_empty() { hops.to_vec() } else { others }
}

impl Routing {
    /// The ports that can be the backup of `port`, those with the shortest way first, then by number.
    ///
    /// From the neighbour at such a port every packet that `switch` sends out of `port` gets to its destination by the
    /// tables, whichever of several next hops is chosen, and never comes back to `switch`. A switch does not send a
    /// packet back out of the port by which it came where it has another choice.
    pub fn detours(&self, topology: &Topology, switch: SwitchId, port: PortId) -> Vec<Detour> {
        let ports = &topology.switch(switch).ports;
        if !ports[usize::from(port.0)].faces_switch() {
            return Vec::new();
        }
        let mut walks = self.walks(topology, switch, port);
        let detour = |(number, candidate): (u16, &crate::topology::Port)| {
            let Node::Switch(next) = candidate.peer.node else { return None };
            let way = |walk: &mut Walk<'_>| walk.links_from(next, candidate.peer.port);
            let ways: Option<Vec<u32>> = walks.iter_mut().map(way).collect();
            Some(Detour { links: ways?.into_iter().max().unwrap_or(0) + 1, port: PortId(number) })
        };
        let mut detours: Vec<_> = (0..).zip(ports).filter(|(number, _)| *number != port.0).filter_map(detour).collect();
        detours.sort_unstable();
        detours
    }

    /// One for each switch with hosts that packets leave `switch` for by `port`.
    fn walks<'a>(&'a self, topology: &'a Topology, switch: SwitchId, port: PortId) -> Vec<Walk<'a>> {
        let mut seen = vec![false; self.edges];
        let is_first = |host: &HostId| !std::mem::replace(&mut seen[self.places[host.0 as usize].edge as usize], true);
        let destinations = topology.host_ids().filter(is_first);
        let leave_by_port = destinations.filter(|&host| self.next_hops(switch, host).contains(&port));
        let walk = |destination| Walk { routing: self, topology, origin: switch, destination, known: BTreeMap::new() };
        leave_by_port.map(walk).collect()
    }

    /// Prepares for detours round `port` of `switch`: from now on packets that take one are not sent back.
    pub fn watch(&mut self, topology: &Topology, switch: SwitchId, port: PortId) {
        let mut places: Vec<usize> = Vec::new();
        for detour in self.detours(topology, switch, port) {
            let peer = topology.switch(switch).ports[usize::from(detour.port.0)].peer;
            let Node::Switch(next) = peer.node else { continue };
            for mut walk in self.walks(topology, switch, port) {
                walk.links_from(next, peer.port);
                let goes_back = |&&(at, arrival): &&(SwitchId, PortId)| {
                    let hops = self.next_hops(at, walk.destination);
                    hops.len() > 1 && hops.contains(&arrival)
                };
                places.extend(walk.known.keys().filter(goes_back).map(|&(at, _)| self.place(at, walk.destination)));
                places.push(self.place(switch, walk.destination));
            }
        }
        for place in places {
            let set = std::mem::take(&mut self.sets[place]);
            if set.count > 0 {
                self.watch.sets.insert(place, set);
            }
        }
    }

    /// Sends by `backup` what the table would send out of `port`; `None`: as the table says again.
    ///
    /// Holds for ports that are watched.
    pub fn set_detour(&mut self, switch: SwitchId, port: PortId, backup: Option<PortId>) {
        match backup {
            Some(backup) => self.watch.detours.insert((switch, port), backup),
            None => self.watch.detours.remove(&(switch, port)),
        };
    }

    /// [`Self::route`] where that finds nothing, for a packet that came by `arrival`.
    #[cold]
    #[inline(never)]
    pub fn route_watched(
        &self,
        switch: SwitchId,
        source: HostId,
        destination: HostId,
        flow_hash: u32,
        arrival: PortId,
    ) -> Option<PortId> {
        let set = self.watched(switch, destination)?;
        let hops = onward(self.hops(set), arrival);
        let choice = self.choose(switch, source, destination, flow_hash, hops.len() as u32);
        let port = hops[choice as usize];
        Some(self.watch.detours.get(&(switch, port)).copied().unwrap_or(port))
    }

    /// The entry of `switch` for `destination`, if it is watched.
    pub(super) fn watched(&self, switch: SwitchId, destination: HostId) -> Option<HopSet> {
        if self.places[destination.0 as usize].switch == switch {
            return None;
        }
        self.watch.sets.get(&self.place(switch, destination)).copied()
    }
}

#[cfg(test)]
mod tests;
