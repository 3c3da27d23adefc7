//! Cross checks: what only holds between fields. Every refusal gives the reason.

mod afq;
mod bolt;
mod composition;
mod constant_rates;
mod deflection;
mod fabric;
mod failures;
mod faults;
mod flow_queueing;
mod headers;
mod link_protection;
mod rimm;
mod run;
mod sqr;
mod traffic;
mod trimming;

use super::error::Problem;
use super::{Purpose, Scenario};
use crate::topology::Topology;

/// All that does not fit together in `scenario`.
pub(super) fn check(scenario: &Scenario, purpose: Purpose) -> Vec<Problem> {
    let mut check = Check { scenario, purpose, problems: Vec::new() };
    check.run();
    check.switch();
    check.routing();
    check.flow_queueing();
    check.queues_of_ports();
    check.host();
    check.transports();
    // What follows speaks of nodes and links by name: without a fabric each name would be an error of its own.
    if let Some(topology) = check.topology() {
        check.switch_ports(&topology);
        check.flows(&topology);
        check.links(&topology);
        check.failures(&topology);
        check.mechanisms(&topology);
        check.one_protection_per_link(&topology);
        check.admission(&topology);
        check.composition(&topology);
        check.room_for_headers(&topology);
        check.measure(&topology);
    }
    check.problems
}

struct Check<'a> {
    scenario: &'a Scenario,
    purpose: Purpose,
    problems: Vec<Problem>,
}

impl Check<'_> {
    /// Reports `rule` on `field` unless it holds.
    fn require(&mut self, holds: bool, field: &str, rule: &str) {
        self.require_else(holds, || Problem::new(field, "", rule));
    }

    /// Reports a problem unless `holds`.
    fn require_else(&mut self, holds: bool, problem: impl FnOnce() -> Problem) {
        if !holds {
            self.problems.push(problem());
        }
    }

    /// Reports the second of two equal names.
    fn require_unique<'n>(&mut self, names: impl Iterator<Item = &'n str>, section: &str) {
        let mut seen = Vec::new();
        for (index, name) in names.enumerate() {
            let field = format!("{section}[{index}].name");
            self.require_else(!seen.contains(&name), || Problem::new(field, "", "this name is taken"));
            seen.push(name);
        }
    }

    /// Whether this is before the end of the run, when the clock ends it.
    fn is_within_run(&self, at: hitless_wire::Time) -> bool {
        self.purpose == Purpose::Live || self.scenario.duration.is_none_or(|duration| at < duration)
    }

    fn topology(&mut self) -> Option<Topology> {
        match self.scenario.topology.build() {
            Ok(topology) => self.named_well(topology),
            Err(errors) => {
                let to_problem = |error: &_| Problem::new("topology", "", format!("{error}"));
                self.problems.extend(errors.iter().map(to_problem));
                None
            }
        }
    }
}
