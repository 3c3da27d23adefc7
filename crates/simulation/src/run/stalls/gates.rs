//! Stopped ports and the ports that they wait for.

use std::collections::BTreeSet;

use hitless_core::wire::{PortId, Time};
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId};

use super::View;
use crate::run::edge::Edge;

/// A class of a sending port that the link partner can stop, by a pause or without credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) struct Gate {
    pub node: Node,
    pub port: PortId,
    pub class: u8,
}

impl<E: Edge> View<'_, E> {
    /// The link that a gate sends on.
    pub fn link_of(&self, gate: Gate) -> DirectedLink {
        self.topology().ports(gate.node)[usize::from(gate.port.0)].link
    }

    /// Since when the link partner has stopped a gate; `None` if it has not.
    pub fn stopped_since(&self, gate: Gate) -> Option<Time> {
        match gate.node {
            Node::Host(host) => self.hosts_with(host).card_stopped_since(host, gate.class),
            Node::Switch(switch) => self.switch(switch).paused_since(gate.port, gate.class),
        }
    }

    /// All gates that can never send again: each waits for gates of this set only.
    pub fn stuck_gates(&self) -> BTreeSet<Gate> {
        let mut stuck = self.stopped_gates();
        // Remove gates that wait for a port outside of the set, until none is left.
        loop {
            let can_go: Vec<Gate> = stuck.iter().copied().filter(|&gate| !self.is_stuck(gate, &stuck)).collect();
            if can_go.is_empty() {
                return stuck;
            }
            stuck.retain(|gate| !can_go.contains(gate));
        }
    }

    fn is_stuck(&self, gate: Gate, stuck: &BTreeSet<Gate>) -> bool {
        let waits_for = self.waits_for(gate);
        !waits_for.is_empty() && waits_for.iter().all(|other| stuck.contains(other))
    }

    fn stopped_gates(&self) -> BTreeSet<Gate> {
        let topology = self.topology();
        let of_classes = |node: Node, port: PortId, classes: u8| {
            (0..8).filter(move |class| classes >> class & 1 == 1).map(move |class| Gate { node, port, class })
        };
        let switches = topology.switch_ids().flat_map(|id| {
            let switch = self.switch(id);
            let ports =
                (0..switch.port_count() as u16).map(PortId).filter(|&port| switch.flow_control_of(port).is_some());
            ports.flat_map(move |port| of_classes(Node::Switch(id), port, switch.paused_classes(port)))
        });
        let hosts = topology.host_ids().flat_map(|id| {
            let hosts = self.hosts_with(id);
            let is_stopped = |class: &u8| hosts.card_stopped_since(id, *class).is_some();
            let classes = (0..8).filter(is_stopped).fold(0, |classes, class| classes | 1 << class);
            of_classes(Node::Host(id), PortId(0), classes)
        });
        switches.chain(hosts).collect()
    }

    /// Returns the gates that must send before a stopped gate may; empty if it waits for nothing.
    pub fn waits_for(&self, gate: Gate) -> Vec<Gate> {
        let to = self.topology().ends(self.link_of(gate)).1;
        let Node::Switch(next) = to.node else { return Vec::new() };
        let partner = self.switch(next);
        let frame_bytes = match gate.node {
            Node::Host(host) => self.hosts_with(host).card_first_frame_bytes(host, gate.class),
            Node::Switch(switch) => self.switch(switch).first_frame_bytes(gate.port, gate.class),
        };
        if !partner.holds_back(to.port, gate.class, frame_bytes) {
            return Vec::new();
        }
        let ports = partner.ports_with_packets_of(to.port, gate.class);
        ports.map(|port| Gate { node: to.node, port, class: gate.class }).collect()
    }

    /// Cycles of ports of switches that wait for each other for ever, in words.
    pub fn deadlocks(&self) -> Vec<String> {
        let is_of_switch = |gate: &Gate| matches!(gate.node, Node::Switch(SwitchId(_)));
        let mut stuck: BTreeSet<Gate> = self.stuck_gates().into_iter().filter(is_of_switch).collect();
        let mut cycles = Vec::new();
        while let Some(&first) = stuck.first() {
            let (way, cycle) = self.way_into_cycle(first);
            // A gate in front of a known cycle leads into it again.
            let is_new = cycle.iter().all(|gate| stuck.contains(gate));
            stuck.retain(|gate| !way.contains(gate) && !cycle.contains(gate));
            if is_new {
                cycles.push(self.cycle_in_words(&cycle));
            }
        }
        cycles
    }

    /// Number of packets at ports that can never send again.
    pub fn packets_stuck(&self) -> i64 {
        let places: BTreeSet<(Node, PortId)> = self.stuck_gates().iter().map(|gate| (gate.node, gate.port)).collect();
        let mut packets = 0;
        for (node, port) in places {
            match node {
                Node::Host(host) => self.hosts_with(host).each_stopped(host, |_| packets += 1),
                Node::Switch(switch) => self.switch(switch).each_stopped(port, |_| packets += 1),
            }
        }
        packets
    }

    /// Follows the first gate that each waits for from `first` until one comes again. Returns the gates up to there,
    /// and the cycle.
    pub fn way_into_cycle(&self, first: Gate) -> (Vec<Gate>, Vec<Gate>) {
        let mut way = vec![first];
        loop {
            let last = *way.last().expect("a way begins with a gate");
            let Some(&following) = self.waits_for(last).first() else { unreachable!("a stuck gate waits for another") };
            if let Some(at) = way.iter().position(|&known| known == following) {
                let cycle = way.split_off(at);
                return (way, cycle);
            }
            way.push(following);
        }
    }

    /// Names a cycle: "in class 0 a->b waits for b->c waits for a->b".
    pub fn cycle_in_words(&self, cycle: &[Gate]) -> String {
        let name = |&gate: &Gate| self.topology().link_name(self.link_of(gate));
        let names: Vec<String> = cycle.iter().chain(cycle.first()).map(name).collect();
        let class = cycle.first().map_or(0, |gate| gate.class);
        format!("in class {class} {}", names.join(" waits for "))
    }
}
