//! What surrounds an entry.

use std::collections::BTreeMap;

use hitless_core::engine::{RandomStreams, Stream};
use hitless_core::wire::PortId;
use hitless_switch::Mechanism;

use super::command::{Built, built};
use crate::Scenario;
use crate::network::topology::select::{SwitchPort, select_links, select_ports_by_switch};
use crate::network::topology::{DirectedLink, Endpoint, LinkSpec, SwitchId, Topology};

/// The scenario that an entry is part of, and its fabric.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The scenario. While entries are [resolved](super::Kind::resolve) it has none.
    pub scenario: &'a Scenario,
    /// Its fabric.
    pub topology: &'a Topology,
}

impl<'a> Surroundings<'a> {
    /// All entries with settings of the type `S`, each with its place among the entries of the scenario.
    pub fn entries<S: 'static>(self) -> impl Iterator<Item = (usize, &'a S)> {
        let entries = self.scenario.mechanisms.iter().enumerate();
        entries.filter_map(|(place, entry)| Some((place, entry.settings()?)))
    }

    /// A mechanism for each entry on each switch of which it names ports: made of the entry, and of what is kept for
    /// each of the ports. An entry without names means all ports of all switches; a name that means nothing is left
    /// out.
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

    /// The random stream `purpose` of a switch.
    pub fn stream(self, switch: SwitchId, purpose: &str) -> Stream {
        RandomStreams::new(self.scenario.seed).stream(&format!("switch {} {purpose}", switch.0))
    }

    /// The links that a name means; none when it means nothing, which the checks report.
    pub fn links(self, name: &str) -> Vec<DirectedLink> {
        select_links(self.topology, name).unwrap_or_default()
    }

    /// The port that sends on a link; none: that of a host.
    pub fn sending_port(self, link: DirectedLink) -> Option<SwitchPort> {
        switch_port(self.topology.ends(link).0)
    }

    /// The ports at both ends of each link that `name` means, the sending one first.
    ///
    /// # Errors
    /// A sentence: the name means no link, or one with a host at an end.
    pub fn ends_of(self, name: &str) -> Result<Vec<(SwitchPort, SwitchPort)>, String> {
        let port =
            |end: Endpoint| switch_port(end).ok_or_else(|| format!("{} is a host", self.topology.name(end.node)));
        let links = select_links(self.topology, name)?.into_iter().map(|link| self.topology.ends(link));
        links.map(|(from, to)| Ok((port(from)?, port(to)?))).collect()
    }

    /// The link that a port sends on.
    pub fn link_at(self, at: SwitchPort) -> DirectedLink {
        self.topology.switch(at.switch).ports[usize::from(at.port.0)].link
    }

    /// What the link of a port is like.
    pub fn link_settings_at(self, at: SwitchPort) -> LinkSpec {
        self.topology.link(self.link_at(at).link).settings
    }
}

fn switch_port(end: Endpoint) -> Option<SwitchPort> {
    Some(SwitchPort { switch: end.node.switch()?, port: end.port })
}
