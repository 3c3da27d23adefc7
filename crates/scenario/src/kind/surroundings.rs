//! The context of an entry.

use std::collections::BTreeMap;

use hitless_core::engine::{RandomStreams, Stream};
use hitless_core::wire::PortId;
use hitless_switch::Mechanism;

use super::command::{Built, built};
use crate::Scenario;
use crate::network::topology::select::{SwitchPort, select_links, select_ports_by_switch};
use crate::network::topology::{DirectedLink, Endpoint, LinkSpec, SwitchId, Topology};

/// The scenario that contains an entry, and its fabric.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The scenario. Its entries are missing while they are [resolved](super::Kind::resolve).
    pub scenario: &'a Scenario,
    pub topology: &'a Topology,
}

impl<'a> Surroundings<'a> {
    /// Returns all entries with settings of the type `S`, each with its index among the entries of the scenario.
    pub fn entries<S: 'static>(self) -> impl Iterator<Item = (usize, &'a S)> {
        let entries = self.scenario.mechanisms.iter().enumerate();
        entries.filter_map(|(place, entry)| Some((place, entry.settings()?)))
    }

    /// Builds a mechanism for each entry and each switch with a named port, from the entry and a value `T` for each of
    /// the ports. An entry without names covers all ports of all switches; unknown names are ignored.
    pub fn build_at<S: Clone, T: Default, M: Mechanism + 'static>(
        self,
        entries: &[&S],
        names: impl Fn(&S) -> &[String],
        make: impl Fn(S, BTreeMap<PortId, T>) -> M,
    ) -> Built {
        let mut all = Built::new();
        for &settings in entries {
            for (switch, ports) in select_ports_by_switch(self.topology, names(settings)) {
                let kept = ports.into_iter().map(|at| (at.port, T::default())).collect();
                all.push(built((switch, make(settings.clone(), kept))));
            }
        }
        all
    }

    /// Returns the random stream `purpose` of a switch.
    pub fn stream(self, switch: SwitchId, purpose: &str) -> Stream {
        RandomStreams::new(self.scenario.seed).stream(&format!("switch {} {purpose}", switch.0))
    }

    /// Returns the links with this name, or an empty list for an unknown name, which the checks report.
    pub fn links(self, name: &str) -> Vec<DirectedLink> {
        select_links(self.topology, name).unwrap_or_default()
    }

    /// Returns the port that sends on a link; `None` if a host sends on it.
    pub fn sending_port(self, link: DirectedLink) -> Option<SwitchPort> {
        switch_port(self.topology.ends(link).0)
    }

    /// Returns the ports at both ends of each link that `name` covers, the sending port first.
    ///
    /// # Errors
    /// A sentence, if the name is unknown or a link has a host at one end.
    pub fn ends_of(self, name: &str) -> Result<Vec<(SwitchPort, SwitchPort)>, String> {
        let port =
            |end: Endpoint| switch_port(end).ok_or_else(|| format!("{} is a host", self.topology.name(end.node)));
        let links = select_links(self.topology, name)?.into_iter().map(|link| self.topology.ends(link));
        links.map(|(from, to)| Ok((port(from)?, port(to)?))).collect()
    }

    /// Returns the link that a port sends on.
    pub fn link_at(self, at: SwitchPort) -> DirectedLink {
        self.topology.switch(at.switch).ports[usize::from(at.port.0)].link
    }

    /// Returns rate, delay and overhead of a port's link.
    pub fn link_settings_at(self, at: SwitchPort) -> LinkSpec {
        self.topology.spec(self.link_at(at))
    }
}

fn switch_port(end: Endpoint) -> Option<SwitchPort> {
    Some(SwitchPort { switch: end.node.switch()?, port: end.port })
}
