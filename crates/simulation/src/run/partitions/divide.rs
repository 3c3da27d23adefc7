//! Dividing a network into partitions, and joining them again.

use hitless_core::wire::Time;
use hitless_scenario::Scenario;
use hitless_scenario::network::switch::hardware::{architecture, buffer_policy};
use hitless_scenario::network::topology::{DirectedLink, Division};
use hitless_switch::Switch;

use super::partition::Partition;
use crate::run::edge::Closed;
use crate::run::network::Network;
use crate::run::shared::Shared;

/// Divides a network that has not started.
pub fn divide(mut whole: Network<Closed>, scenario: &Scenario, division: &Division) -> Vec<Partition> {
    let others = (1..division.parts() as u32).map(|_| copy(&whole, scenario));
    let mut networks: Vec<Network<Closed>> = others.collect();
    for switch in whole.topology.switch_ids() {
        let part = division.of_switch(switch) as usize;
        if part > 0 {
            let number = switch.0 as usize;
            std::mem::swap(&mut whole.switches[number], &mut networks[part - 1].switches[number]);
        }
    }
    networks.insert(0, whole);
    (0..).zip(networks).map(|(number, network)| partition(number, network, division)).collect()
}

/// A copy of the network without switches.
fn copy(whole: &Network<Closed>, scenario: &Scenario) -> Network<Closed> {
    let Network { topology, shared, hosts, switches } = whole;
    let absent =
        || Switch::new(architecture(&scenario.switch), Vec::new(), buffer_policy(&scenario.switch, 0), Vec::new());
    let capture = shared.capture.as_ref().map(|capture| capture.for_partition());
    let empty = Shared::new(scenario, topology, shared.links.clone(), shared.routing.clone(), Closed);
    Network {
        topology: topology.clone(),
        shared: Shared { capture, ..empty },
        hosts: hosts.clone(),
        switches: switches.iter().map(|_| absent()).collect(),
    }
}

fn partition(number: u32, mut network: Network<Closed>, division: &Division) -> Partition {
    for host in network.topology.host_ids() {
        if division.of_host(host) != number {
            network.hosts.set_elsewhere(host);
        }
    }
    let mut cut = Vec::new();
    for index in 0..network.shared.links.iter().len() {
        let (from, to) = division.of_link(&network.topology, DirectedLink::from_index(index));
        if from == number && to != number {
            network.shared.links.at(index as u32).cut();
            cut.push((index as u32, to));
        }
    }
    cut.sort_by_key(|&(link, to)| (to, link));
    Partition { number, network, cut, events: 0, now: Time::ZERO }
}

/// Joins the partitions into one network. Returns also the number of events and the time of the last one.
pub fn join(partitions: Vec<Partition>, division: &Division) -> (Network<Closed>, u64, Time) {
    let mut partitions = partitions.into_iter();
    let Partition { mut network, mut events, mut now, .. } = partitions.next().expect("there is a first partition");
    for part in partitions {
        events += part.events;
        now = now.max(part.now);
        take_over(&mut network, part, division);
    }
    (network, events, now)
}

fn take_over(whole: &mut Network<Closed>, part: Partition, division: &Division) {
    let Partition { number, network, .. } = part;
    let Network { topology, mut shared, hosts, mut switches } = network;
    let hosts_count = topology.hosts.len() as u32;
    for switch in topology.switch_ids().filter(|&switch| division.of_switch(switch) == number) {
        std::mem::swap(&mut whole.switches[switch.0 as usize], &mut switches[switch.0 as usize]);
        whole.shared.clocks.take_over(hosts_count + switch.0, &shared.clocks);
    }
    for host in topology.host_ids().filter(|&host| division.of_host(host) == number) {
        whole.shared.clocks.take_over(host.0, &shared.clocks);
    }
    for index in 0..shared.links.iter().len() {
        if division.of_link(&topology, DirectedLink::from_index(index)).1 == number {
            whole.shared.links.take_over(index, &mut shared.links);
        }
    }
    whole.hosts.merge(hosts);
    whole.shared.take_over(shared);
}
