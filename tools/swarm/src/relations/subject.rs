//! The world that a relation changes: the recorded configuration of its run.

use hitless_scenario::Scenario;
use hitless_scenario::kind::Registry;
use hitless_scenario::network::topology::{Node, Topology};
use toml::{Table, Value};

use crate::world::{World, shapes_links};

/// A world with every default written.
pub struct Subject {
    pub seed: u64,
    /// The world with all defaults written out.
    pub world: World,
    pub scenario: Scenario,
    topology: Topology,
}

impl Subject {
    /// Converts a world; `None` if the check refuses it.
    pub fn of(world: &World, registry: &Registry) -> Option<Self> {
        // Headroom and response times depend on the ports and rates, and change with them in steps.
        if ["switch.pfc", "switch.cbfc"].iter().any(|control| world.value(control).is_some()) {
            return None;
        }
        let scenario = world.check(registry).ok()?;
        let topology = scenario.topology.build().ok()?;
        let table = scenario.effective_toml().parse().ok()?;
        Some(Self { seed: scenario.seed, world: World::new(table), scenario, topology })
    }

    /// Returns a copy of its table, for changes.
    pub fn table(&self) -> Table {
        self.world.table.clone()
    }

    /// Whether none of its mechanisms is of these kinds.
    pub fn has_none_of(&self, kinds: &[&str]) -> bool {
        self.world.kinds().iter().all(|kind| !kinds.contains(kind))
    }

    /// As [`shapes_links`].
    pub fn shapes_links(&self) -> bool {
        shapes_links(&self.scenario)
    }

    pub fn hosts(&self) -> Vec<String> {
        self.topology.hosts.iter().map(|host| host.name.clone()).collect()
    }

    pub fn switches(&self) -> Vec<String> {
        self.topology.switches.iter().map(|switch| switch.name.clone()).collect()
    }

    /// Links as a graph lists them: names of both ends, rate, delay and overhead. `[[link]]` is left out.
    pub fn links(&self) -> Vec<Table> {
        let name = |node: Node| match node {
            Node::Host(host) => self.topology.host(host).name.clone(),
            Node::Switch(switch) => self.topology.switch(switch).name.clone(),
        };
        let link = |link: &hitless_scenario::network::topology::Link| {
            let mut entry =
                Table::try_from(link.specs[0]).unwrap_or_else(|error| unreachable!("a link is always TOML: {error}"));
            let ends = [link.a.node, link.b.node].map(|node| Value::from(name(node)));
            entry.insert("ends".into(), Value::Array(ends.into()));
            entry
        };
        self.topology.links.iter().map(link).collect()
    }
}
