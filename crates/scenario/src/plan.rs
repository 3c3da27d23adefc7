//! The mechanisms of each switch, and the commands of the control plane to them.

use std::collections::BTreeMap;

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Bytes, Time};
use hitless_switch::{Mechanism, PortConfig, Switch};
use rand::Rng;

use crate::Scenario;
use crate::kind::{Entries, Entry, Surroundings};
use crate::network::routing::PathRule;
use crate::network::switch::hardware;
use crate::network::topology::{SwitchId, Topology};

/// Everything that a fabric needs for its mechanisms.
pub struct Plan {
    /// Mechanisms by switch, in the order of their hooks.
    pub mechanisms: Vec<Vec<Box<dyn Mechanism>>>,
    /// Limits of queues, by switch and recirculation port.
    pub recirculation_limits: Vec<Vec<Option<Bytes>>>,
    /// Commands of the control plane, in the order of the scenario.
    pub commands: Vec<PlannedCommand>,
    /// Whether a mechanism asks which neighbours send packets back.
    pub asks_for_returns: bool,
    /// Index of the built mechanism, by entry of the scenario and switch.
    places: BTreeMap<(usize, SwitchId), usize>,
}

impl Plan {
    /// Removes mechanisms and commands of switches that are not here.
    pub fn keep(&mut self, is_here: &[bool]) {
        let of_others = self.mechanisms.iter_mut().zip(is_here).filter(|(_, is_here)| !**is_here);
        of_others.for_each(|(mechanisms, _)| mechanisms.clear());
        self.commands.retain(|command| is_here[command.switch.0 as usize]);
    }
}

/// A command of the control plane for a mechanism of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCommand {
    pub at: Time,
    pub switch: SwitchId,
    /// Index of the mechanism among those of the switch.
    pub mechanism: usize,
    /// Number of the command, defined by the mechanism.
    pub number: u32,
}

/// Builds the scenario's mechanisms.
pub fn plan(scenario: &Scenario, topology: &Topology) -> Result<Plan, String> {
    let around = Surroundings { scenario, topology };
    let switches = topology.switches.len();
    let ports = usize::from(scenario.switch.recirculation_ports);
    let mut plan = Plan {
        mechanisms: (0..switches).map(|_| Vec::new()).collect(),
        recirculation_limits: vec![vec![None; ports]; switches],
        commands: Vec::new(),
        asks_for_returns: scenario.mechanisms.iter().any(|entry| entry.facts.asks_for_returns),
        places: BTreeMap::new(),
    };
    for group in groups(&scenario.mechanisms) {
        plan.add(&group, around)?;
    }
    for (number, entry) in scenario.mechanisms.iter().enumerate() {
        plan.command(number, entry, around);
    }
    Ok(plan)
}

/// Groups the entries that make one mechanism on a switch, each with its number, in the order of hooks.
fn groups(entries: &[Entry]) -> Vec<Vec<(usize, &Entry)>> {
    let mut numbered: Vec<(usize, &Entry)> = entries.iter().enumerate().collect();
    numbered.sort_by_key(|(_, entry)| entry.order());
    let make_one = |one: &(usize, &Entry), next: &(usize, &Entry)| {
        one.1.name() == next.1.name() && one.1.facts.entries != Entries::Each
    };
    numbered.chunk_by(make_one).map(<[_]>::to_vec).collect()
}

impl Plan {
    fn add(&mut self, group: &[(usize, &Entry)], around: Surroundings<'_>) -> Result<(), String> {
        let entries: Vec<&Entry> = group.iter().map(|&(_, entry)| entry).collect();
        let Some(first) = entries.first() else { return Ok(()) };
        for (switch, mechanism) in first.build(&entries, around)? {
            let mechanisms = &mut self.mechanisms[switch.0 as usize];
            let place = mechanisms.len();
            self.places.extend(group.iter().map(|&(number, _)| ((number, switch), place)));
            mechanisms.push(mechanism);
        }
        for limit in first.recirculation_limits(around) {
            let known = &mut self.recirculation_limits[limit.switch.0 as usize][usize::from(limit.port)];
            *known = Some(known.map_or(limit.most, |most| most.max(limit.most)));
        }
        Ok(())
    }

    fn command(&mut self, number: usize, entry: &Entry, around: Surroundings<'_>) {
        for command in entry.commands(around) {
            let (at, switch) = (command.at, command.switch);
            let mechanism = *self.places.get(&(number, switch)).expect("who commands a mechanism has built it");
            self.commands.push(PlannedCommand { at, switch, mechanism, number: command.number });
        }
    }
}

/// Builds the switch `id`, with `mechanisms` in the order of their hooks and a queue limit for each recirculation port.
pub fn switch(
    scenario: &Scenario,
    topology: &Topology,
    id: SwitchId,
    streams: &RandomStreams,
    recirculation_limits: &[Option<Bytes>],
    mechanisms: Vec<Box<dyn Mechanism>>,
) -> Switch {
    let settings = &*scenario.switch.of_switch(topology, id);
    let ports = topology.switch(id).ports.iter().map(|port| {
        let link = topology.spec(port.link);
        let settings = scenario.switch.of_port(topology, id, port);
        let by_flow = settings.flow_queueing.as_ref().map(|queueing| {
            let stream = format!("flow hash at link {}", port.link.index());
            hardware::discipline(queueing, scenario.frame_max(), streams.stream(&stream).next_u64() as u32)
        });
        let marking = || streams.stream(&format!("marking at link {}", port.link.index()));
        let config = PortConfig {
            faces_switch: port.faces_switch(),
            line: port.link.index() as u32,
            line_changes: topology.line_changes(port.link),
            clock_offset_ppb: scenario.clocks.offset_ppb(streams, &topology.link_name(port.link)),
            flow_queueing: by_flow,
            flow_control: scenario.port_flow_control(topology, id, port),
            ..hardware::port(&settings, link.rate, link.overhead_bytes, marking)
        };
        config.with_lossless_queues()
    });
    let recirculation = recirculation_limits.iter().map(|limit| hardware::recirculation_port(settings, *limit));
    let ports = ports.chain(recirculation).collect();
    let mut switch = Switch::new(
        hardware::architecture(settings),
        ports,
        hardware::buffer_policy(settings, scenario.headroom_of_switch(topology, id)),
        mechanisms,
    );
    let next_hops = || streams.stream(&format!("next hops at switch {}", id.0));
    match (scenario.routing.choice, scenario.routing.flowlet_gap) {
        (PathRule::TwoChoices, _) => switch.choose_of_two(next_hops()),
        (PathRule::Flowlets, Some(gap)) => switch.choose_by_flowlet(gap, next_hops()),
        _ => {}
    }
    switch
}
