//! Cross checks: rules between several fields. Every refusal gives a reason.

mod captures;
pub(crate) mod check;
pub(crate) mod composition;
mod conflicts;
mod links;
mod lossless;
mod run;
mod switch;
mod traffic;

use check::Check;
use hitless_core::settings::Problem;

use crate::kind::Surroundings;
use crate::network::topology::{Topology, TopologySettings};
use crate::{Purpose, Scenario};

/// Returns all violations of rules between fields of `scenario`.
pub(super) fn check(scenario: &Scenario, purpose: Purpose) -> Vec<Problem> {
    let mut check = Check::new(scenario, purpose);
    check.run();
    check.switch();
    check.routing();
    check.flow_queueing();
    check.queues_of_ports();
    check.host();
    check.transports();
    // The following checks refer to nodes and links by name. Without a fabric each name would be a separate error.
    if let Some(topology) = check.topology() {
        check.switch_exceptions(&topology);
        check.switch_ports(&topology);
        check.host_exceptions(&topology);
        check.flows(&topology);
        check.links(&topology);
        check.failures(&topology);
        let around = Surroundings { scenario, topology: &topology };
        check.mechanisms(around);
        check.conflicts(around);
        check.lossless(around);
        check.composition(around);
        check.room_for_headers(around);
        check.measure(&topology);
        check.captures(&topology);
    }
    check.into_problems()
}

impl Check<'_> {
    fn mechanisms(&mut self, around: Surroundings<'_>) {
        let mut kinds = Vec::new();
        for (number, entry) in around.scenario.mechanisms.iter().enumerate() {
            entry.check(around, &format!("mechanism[{number}]"), self);
            if !kinds.contains(&entry.name()) {
                kinds.push(entry.name());
                entry.check_together(around, self);
            }
        }
    }

    fn topology(&mut self) -> Option<Topology> {
        match self.scenario.fabric() {
            Ok(topology) => self.named_well(topology),
            Err(errors) => {
                self.report_all(errors.into_iter().map(|error| Problem::new("topology", "", error)));
                None
            }
        }
    }

    /// Requires that names of nodes cannot be mistaken for the arrows and ranges that refer to them.
    fn named_well(&mut self, topology: Topology) -> Option<Topology> {
        let is_plain = |name: &str| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
                && name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && !name.ends_with('-')
        };
        let bad: Vec<&str> = topology.names().filter(|name| !is_plain(name)).collect();
        for name in &bad {
            let rule = format!("'{name}' is no name for a node: letters, digits, '_' and, within, '-'");
            self.report(Problem::new("topology", "", rule));
        }
        if let TopologySettings::FatTree(tree) = &self.scenario.topology {
            self.require(tree.k.is_multiple_of(2), "topology.k", "must be even");
        }
        self.homes(&topology);
        bad.is_empty().then_some(topology)
    }

    /// Requires one link per host in a live run: there a host is a program behind an interface.
    fn homes(&mut self, topology: &Topology) {
        let mut hosts = topology.hosts.iter().filter(|host| host.is_multi_homed());
        if let (Purpose::Live, Some(host)) = (self.purpose, hosts.next()) {
            let rule =
                format!("{} has {} links, and in a live run a host has one interface", host.name, host.ports.len());
            self.report(Problem::new("topology", "", rule).hint("give each host one link, or simulate the scenario"));
        }
    }
}
