//! Control plane of link protections that can be switched on and off during a run.

use hitless_scenario::Scenario;
use hitless_scenario::kind::{Entry, Protection, ProtectionOrder, Surroundings};
use hitless_scenario::network::topology::select::select_links;
use hitless_scenario::network::topology::{DirectedLink, Endpoint, Node, Topology};
use hitless_switch::{LinkEnd, ProtectionState, Switch};

use super::control_plane::Change;

/// The input for commands to protected links: the scenario, the topology, and the switches' state.
pub struct ProtectionControl<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) topology: &'a Topology,
    pub(super) switches: &'a [Switch],
}

impl ProtectionControl<'_> {
    /// The change that gives one end of a protected link an order.
    ///
    /// # Errors
    /// If the link has no protection that can be switched, or one of its ends has no room for it; the message is a
    /// sentence.
    pub fn command(&self, link: &str, end: LinkEnd, order: ProtectionOrder) -> Result<Change, String> {
        let directed = self.directed_link(link)?;
        let protects = |entry: &&Entry| entry.protections(self.topology).contains(&directed);
        let Some(entry) = self.scenario.mechanisms.iter().find(protects) else {
            return Err(format!("no protection that can be switched on is configured on '{link}'"));
        };
        let endpoint = self.endpoint(directed, end);
        let Node::Switch(switch) = endpoint.node else {
            return Err(format!("'{link}' ends at a host: both ends of a protected link are switches"));
        };
        if order != ProtectionOrder::Off {
            let around = Surroundings { scenario: self.scenario, topology: self.topology };
            entry.admits(directed, around, &|protection| self.is_on(protection))?;
        }
        let found = self.switches[switch.0 as usize].protection(endpoint.port, end);
        let (mechanism, _) = found.expect("both ends of a protected link have a mechanism that protects it");
        let command = entry.protection_command(endpoint.port, end, order);
        Ok(Change::Command { switch: switch.0, mechanism, command })
    }

    /// Whether an end of a protected link has its protection on.
    fn is_on(&self, protection: Protection) -> bool {
        let Protection { switch, port, end } = protection;
        self.switches[switch.0 as usize].protection(port, end).is_some_and(|(_, state)| state.is_commanded)
    }

    /// The ends of the links with a protection that can be switched on and off, and their states.
    pub fn states(&self) -> Vec<(DirectedLink, LinkEnd, ProtectionState)> {
        let links = self.scenario.mechanisms.iter().flat_map(|entry| entry.protections(self.topology));
        let ends = links.flat_map(|link| [LinkEnd::Sender, LinkEnd::Receiver].map(|end| (link, end)));
        ends.filter_map(|(link, end)| {
            let endpoint = self.endpoint(link, end);
            let switch = endpoint.node.switch()?;
            let (_, state) = self.switches[switch.0 as usize].protection(endpoint.port, end)?;
            Some((link, end, state))
        })
        .collect()
    }

    /// The directed link named "a->b".
    ///
    /// # Errors
    /// If no link has this name, or the name covers both directions; the message is a sentence.
    pub fn directed_link(&self, name: &str) -> Result<DirectedLink, String> {
        match *select_links(self.topology, name)? {
            [link] => Ok(link),
            _ => Err(format!("'{name}' is both directions of a link, and one is wanted: \"a->b\"")),
        }
    }

    /// The sending or the receiving end of a link.
    pub fn endpoint(&self, link: DirectedLink, end: LinkEnd) -> Endpoint {
        let (from, to) = self.topology.ends(link);
        match end {
            LinkEnd::Sender => from,
            LinkEnd::Receiver => to,
        }
    }
}
