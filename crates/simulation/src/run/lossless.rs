//! The end of a run with flow control: dropped lossless packets, and deadlocks.

use std::collections::BTreeSet;

use hitless_core::wire::PortId;
use hitless_scenario::network::topology::{Node, SwitchId};
use hitless_switch::Switch;

use super::edge::Edge;
use super::event_loop::Run;

/// A class of a port that sends on a link between two switches, by numbers.
type Sender = (u32, u16, u8);

impl<E: Edge> Run<E> {
    /// Lossless packets that were dropped although the headroom suffices.
    pub(super) fn lossless_violations(&self) -> Vec<String> {
        self.lossless_drops(true)
    }

    /// Lossless packets that were dropped for lack of headroom, and deadlocks.
    pub(super) fn lossless_warnings(&self) -> Vec<String> {
        let deadlocks = self.deadlocks().into_iter().map(|cycle| format!("deadlock of flow control: {cycle}"));
        self.lossless_drops(false).into_iter().chain(deadlocks).collect()
    }

    fn lossless_drops(&self, is_guaranteed: bool) -> Vec<String> {
        let (scenario, topology) = (&self.global.scenario, &self.network.topology);
        let mut sentences = Vec::new();
        for (id, switch) in topology.switch_ids().zip(&self.network.switches) {
            for (number, port) in topology.switch(id).ports.iter().enumerate() {
                let number = PortId(number as u16);
                let control = switch.flow_control_of(number);
                let Some(control) = control.filter(|control| control.is_guaranteed == is_guaranteed) else { continue };
                for (class, drops) in switch.lossless_drops(number) {
                    let memory = if control.credits().is_some() {
                        format!("its partner had credits for {} B", control.headroom_bytes)
                    } else {
                        let needed = scenario.headroom_needed(topology.incoming(port)).arithmetic();
                        format!("its headroom is {} B, and the link needs {needed}", control.headroom_bytes)
                    };
                    sentences.push(format!(
                        "{} dropped {drops} packets of the lossless class {class} that came from {}: {memory}",
                        topology.switch(id).name,
                        topology.link_name(port.link.reversed()),
                    ));
                }
            }
        }
        sentences
    }

    /// Cycles of ports that wait for each other for ever, in words.
    pub(super) fn deadlocks(&self) -> Vec<String> {
        let mut stuck = self.senders_paused_by_switches();
        // Remove ports that wait for a port outside of the set, until none is left.
        loop {
            let can_go: Vec<Sender> = stuck.iter().copied().filter(|&sender| !self.is_stuck(sender, &stuck)).collect();
            if can_go.is_empty() {
                break;
            }
            stuck.retain(|sender| !can_go.contains(sender));
        }
        let mut cycles = Vec::new();
        while let Some(&first) = stuck.first() {
            cycles.push(self.cycle_in_words(&take_cycle(first, &mut stuck, |sender| self.waits_for(sender))));
        }
        cycles
    }

    fn senders_paused_by_switches(&self) -> BTreeSet<Sender> {
        let switches = self.network.switches.iter().enumerate();
        let of_switch = |(number, switch): (usize, &Switch)| {
            let ports = (0..switch.port_count() as u16).filter(|&port| switch.flow_control_of(PortId(port)).is_some());
            let paused = ports.map(|port| (port, switch.paused_classes(PortId(port))));
            let each = |(port, classes): (u16, u8)| {
                (0..8).filter(move |class| classes >> class & 1 == 1).map(move |class| (number as u32, port, class))
            };
            paused.flat_map(each).collect::<Vec<_>>()
        };
        switches.flat_map(of_switch).collect()
    }

    /// Returns the senders that must send before a paused sender may; empty if it waits for nothing.
    fn waits_for(&self, (switch, port, class): Sender) -> Vec<Sender> {
        let topology = &self.network.topology;
        let link = topology.switch(SwitchId(switch)).ports[usize::from(port)].link;
        let to = topology.ends(link).1;
        let Node::Switch(SwitchId(next)) = to.node else { return Vec::new() };
        let (sender, partner) = (&self.network.switches[switch as usize], &self.network.switches[next as usize]);
        if !partner.holds_back(to.port, class, sender.first_frame_bytes(PortId(port), class)) {
            return Vec::new();
        }
        partner.ports_with_packets_of(to.port, class).map(|port| (next, port.0, class)).collect()
    }

    fn is_stuck(&self, sender: Sender, stuck: &BTreeSet<Sender>) -> bool {
        let waits_for = self.waits_for(sender);
        !waits_for.is_empty() && waits_for.iter().all(|other| stuck.contains(other))
    }

    fn cycle_in_words(&self, cycle: &[Sender]) -> String {
        let topology = &self.network.topology;
        let name = |&(switch, port, _): &Sender| {
            topology.link_name(topology.switch(SwitchId(switch)).ports[usize::from(port)].link)
        };
        let names: Vec<String> = cycle.iter().chain(cycle.first()).map(name).collect();
        let class = cycle.first().map_or(0, |sender| sender.2);
        format!("in class {class} {}", names.join(" waits for "))
    }
}

/// Follows the first successor of each sender from `first` until one comes again; takes the senders on the way out of
/// `stuck`, and returns the cycle.
fn take_cycle(first: Sender, stuck: &mut BTreeSet<Sender>, next: impl Fn(Sender) -> Vec<Sender>) -> Vec<Sender> {
    let mut way = vec![first];
    loop {
        let last = *way.last().expect("a way begins with a sender");
        let Some(&following) = next(last).first() else { unreachable!("a stuck sender waits for another") };
        if let Some(at) = way.iter().position(|&known| known == following) {
            stuck.retain(|sender| !way.contains(sender));
            return way.split_off(at);
        }
        way.push(following);
    }
}
