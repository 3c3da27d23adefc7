//! The state shared by all checks: the scenario, places by name, and the list of problems.

use std::collections::BTreeSet;

use hitless_core::settings::quantity::QueueLength;
use hitless_core::settings::{Problem, suggestion};
use hitless_core::wire::{Bytes, Time};

use crate::network::recovery::RecoveryScheme;
use crate::network::topology::select::{SwitchPort, select_links, select_ports, suggested};
use crate::network::topology::{DirectedLink, Topology};
use crate::{Purpose, Scenario};

/// Returns whether `length` is a possible limit of a queue: above zero, and at most as many packets as 32 bits can
/// count.
pub fn is_length(length: QueueLength) -> bool {
    match length {
        QueueLength::Packets(packets) => (1..=u64::from(u32::MAX)).contains(&packets),
        QueueLength::Bytes(bytes) => bytes > Bytes::ZERO,
    }
}

/// The rule that [`is_length`] checks.
pub const LENGTH_RULE: &str = "must be above zero, and at most 4294967295 packets";

/// Maximum number of problems with a suggested link name.
const GUESSES: usize = 100;

/// A check in progress. Each rule reads the scenario, finds places by name, and reports violations. The order of
/// reports does not matter, because they are shown in the order of the file.
pub struct Check<'a> {
    pub scenario: &'a Scenario,
    pub purpose: Purpose,
    problems: Vec<Problem>,
}

impl<'a> Check<'a> {
    pub fn new(scenario: &'a Scenario, purpose: Purpose) -> Self {
        Self { scenario, purpose, problems: Vec::new() }
    }

    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}

impl Check<'_> {
    pub fn found(&self) -> usize {
        self.problems.len()
    }

    pub fn report(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub fn report_all(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.problems.extend(problems);
    }

    /// Reports a violation of `rule` on `field` unless `holds`.
    pub fn require(&mut self, holds: bool, field: &str, rule: &str) {
        self.require_else(holds, || Problem::new(field, "", rule));
    }

    /// Reports a problem unless `holds`.
    pub fn require_else(&mut self, holds: bool, problem: impl FnOnce() -> Problem) {
        if !holds {
            self.problems.push(problem());
        }
    }

    /// Reports the second of two equal names.
    pub fn require_unique<'n>(&mut self, names: impl Iterator<Item = &'n str>, section: &str) {
        let mut seen = BTreeSet::new();
        for (index, name) in names.enumerate() {
            let field = format!("{section}[{index}].name");
            self.require_else(seen.insert(name), || Problem::new(field, "", "this name is taken"));
        }
    }

    /// Requires that `name` can be the name of a `what`, a file or a folder.
    pub(super) fn require_file_name(&mut self, name: &str, what: &str, field: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        // A leading point would hide it.
        let fits = name.chars().all(is_plain) && name.starts_with(|c: char| c != '.');
        let rule = format!("must be letters, digits, '-', '_' and '.', because a {what} is named after it");
        self.require(fits, field, &rule);
    }

    /// Requires a group of flows with the name `group`.
    pub(super) fn require_group(&mut self, group: &str, field: &str) {
        let names = || self.scenario.flows.iter().map(|group| group.name.as_str());
        if !names().any(|name| name == group) {
            let problem = Problem::new(field, "", "no [[flows]] has this name");
            self.problems.push(problem.maybe_hint(suggestion(group, names())));
        }
    }

    /// Returns whether `at` is before the end of the run, if the run ends at a fixed time.
    pub fn is_within_run(&self, at: Time) -> bool {
        self.purpose == Purpose::Live || self.scenario.duration.is_none_or(|duration| at < duration)
    }

    /// Returns whether `link` can fail: by a failure of the scenario, or because a user of a live run can cut it.
    pub fn fails(&self, topology: &Topology, link: DirectedLink) -> bool {
        let may_be_cut = self.purpose == Purpose::Live && self.scenario.recovery.is_some();
        may_be_cut || self.scenario.failures_of(topology, link.link).next().is_some()
    }

    /// Returns whether the ends of a failed link send through another port.
    pub fn reroutes(&self) -> bool {
        let scheme = self.scenario.recovery.as_ref().map(|recovery| recovery.scheme);
        matches!(scheme, Some(RecoveryScheme::LocalReroute(_)))
    }

    /// Reports each of `times` (the fields `at` of the entries of `field`) that is not later than its predecessor, or
    /// not before the end of the run.
    pub fn times_rise(&mut self, times: impl Iterator<Item = Time>, field: &str) {
        let mut previous = None;
        for (index, time) in times.enumerate() {
            let at = format!("{field}[{index}].at");
            self.require(previous.is_none_or(|previous| time > previous), &at, "must be later than the one before");
            self.require(self.is_within_run(time), &at, "must be before the run ends (duration)");
            previous = Some(time);
        }
    }

    /// Returns the links called `name`; an invalid name is reported on `field`.
    pub fn links_named(&mut self, topology: &Topology, name: &str, field: &str) -> Vec<DirectedLink> {
        select_links(topology, name).unwrap_or_else(|rule| {
            self.no_such_place(topology, name, field, rule);
            Vec::new()
        })
    }

    /// Reports on `field` that `name` breaks `rule`, with a suggestion.
    pub fn no_such_place(&mut self, topology: &Topology, name: &str, field: &str, rule: String) {
        // A suggestion compares the name with all nodes, which is slow, and users only read the first ones.
        let hint = if self.problems.len() < GUESSES { suggested(topology, name, false) } else { None };
        self.report(Problem::new(field, "", rule).maybe_hint(hint));
    }

    /// Returns the link called `name` if it is exactly one, in one direction; otherwise reports a problem on `field`.
    pub fn one_link(&mut self, topology: &Topology, name: &str, field: &str) -> Option<DirectedLink> {
        let links = self.links_named(topology, name, field);
        self.require(links.len() < 2, field, "must be one direction: \"a->b\"");
        links.first().copied().filter(|_| links.len() == 1)
    }

    /// As [`Self::one_link`] for `mechanism`, but also reports a link with a host at one end.
    pub fn link_between_switches(
        &mut self,
        topology: &Topology,
        name: &str,
        mechanism: &str,
        field: &str,
    ) -> Option<DirectedLink> {
        let link = self.one_link(topology, name, field)?;
        let (from, to) = topology.ends(link);
        let rule = format!("{mechanism} needs a switch at both ends, and a host is at one");
        self.require(from.node.is_switch() && to.node.is_switch(), field, &rule);
        Some(link)
    }

    /// Requires that each of `names` is a port or a whole switch, and that they do not overlap.
    pub fn ports_named_once(&mut self, topology: &Topology, names: &[String], field: &str) {
        let mut seen = BTreeSet::<SwitchPort>::new();
        for (number, name) in names.iter().enumerate() {
            let ports = select_ports(topology, name);
            let field = format!("{field}[{number}]");
            match ports {
                Ok(ports) => {
                    self.require(!ports.iter().any(|port| seen.contains(port)), &field, "names a port twice");
                    seen.extend(ports);
                }
                Err(rule) => self.no_such_place(topology, name, &field, rule),
            }
        }
    }

    /// Reports that a live run cannot use `mechanism`, which the entry `section` contains.
    pub fn runs_in_simulations_only(&mut self, mechanism: &str, why: &str, section: &str) {
        let rule = format!("{mechanism} runs in simulations only: {why}");
        self.require(self.purpose != Purpose::Live, &format!("{section}.kind"), &rule);
    }
}
