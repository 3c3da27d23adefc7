//! Links: their faults, their failures and the repair.

use std::collections::BTreeSet;

use hitless_core::settings::Problem;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::line_clock::RATE_MIN;
use hitless_core::wire::{BitRate, Duration};

use super::check::Check;
use crate::Purpose;
use crate::network::link::LinkFailure;
use crate::network::link::{LinkImpairment, LinkState};
use crate::network::loss::{BitErrorLoss, LossModel};
use crate::network::recovery::{BackupChoice, Detection, RecoveryScheme};
use crate::network::switch::FlowQueueingSettings;
use crate::network::topology::select::select_links;
use crate::network::topology::{DELAY_MAX, DirectedLink, LinkId, Node, Topology};

impl Check<'_> {
    pub(super) fn links(&mut self, topology: &Topology) {
        let mut taken = BTreeSet::new();
        for (index, link) in self.scenario.links.iter().enumerate() {
            let section = format!("link[{index}]");
            let field = format!("{section}.name");
            let links = self.links_named(topology, &link.name, &field);
            let fresh = links.iter().all(|link| !taken.contains(link));
            self.require(fresh, &field, "this direction has a [[link]] entry already");
            taken.extend(links.iter().copied());
            self.shape(link.rate, link.delay, &section);
            self.impairment(link, &section);
            self.fec(topology, link, &links, &section);
            if link.changes_shape() {
                self.changing_line(topology, link, &section);
            }
        }
    }

    /// Requires that losses by bit errors follow from the error correction of the link, if it has a latency.
    fn fec(&mut self, topology: &Topology, entry: &LinkImpairment, links: &[DirectedLink], section: &str) {
        let changed = entry.changes.iter().enumerate().filter_map(|(index, change)| {
            change.loss.as_ref().map(|loss| (format!("{section}.changes[{index}].loss.fec"), loss))
        });
        for (field, loss) in std::iter::once((format!("{section}.loss.fec"), &entry.loss)).chain(changed) {
            let LossModel::BitErrors(BitErrorLoss { fec: of_loss, .. }) = loss else { continue };
            let with_fec = links.iter().map(|&link| (link, topology.spec(link).fec)).filter(|(_, fec)| !fec.is_none());
            let Some((link, fec)) = with_fec.into_iter().find(|(_, fec)| fec != of_loss) else { continue };
            let rule =
                format!("is \"{}\", and {} has fec = \"{}\"", of_loss.name(), topology.link_name(link), fec.name());
            let hint = "give both the same, or the link fec = \"none\": then it has no latency";
            self.report(Problem::new(field, "", rule).hint(hint));
        }
    }

    /// Requires a rate and a delay that can be simulated.
    fn shape(&mut self, rate: Option<BitRate>, delay: Option<Duration>, section: &str) {
        if let Some(rate) = rate.filter(|&rate| rate < RATE_MIN) {
            let rule = format!("is {}; at least {} can be simulated", rate.text(), RATE_MIN.text());
            let hint = "a link that carries nothing is down: schedule = [{ at = \"1 ms\", state = \"down\" }]";
            self.report(Problem::new(format!("{section}.rate"), "", rule).hint(hint));
        }
        if let Some(delay) = delay.filter(|&delay| delay > DELAY_MAX) {
            let rule = format!("is {}; at most {} can be simulated", delay.text(), DELAY_MAX.text());
            self.report(Problem::new(format!("{section}.delay"), "", rule));
        }
    }

    fn impairment(&mut self, link: &LinkImpairment, section: &str) {
        self.times_rise(link.changes.iter().map(|change| change.at), &format!("{section}.changes"));
        self.loss(&link.loss, &format!("{section}.loss"));
        for (index, change) in link.changes.iter().enumerate() {
            let field = format!("{section}.changes[{index}]");
            let changes = change.loss.is_some() || change.rate.is_some() || change.delay.is_some();
            self.require(changes, &field, "must change rate, delay or loss");
            if let Some(loss) = &change.loss {
                self.loss(loss, &format!("{field}.loss"));
            }
            self.shape(change.rate, change.delay, &field);
            let is_long = change.delay.is_none_or(|delay| delay > Duration::ZERO);
            self.require(
                is_long,
                &format!("{field}.delay"),
                "must be above zero: a change needs a link that takes time",
            );
        }
        self.times_rise(link.schedule.iter().map(|change| change.at), &format!("{section}.schedule"));
        let mut state = LinkState::Up;
        for (index, change) in link.schedule.iter().enumerate() {
            let field = format!("{section}.schedule[{index}].state");
            self.require(change.state != state, &field, "the link is in this state already (it is up at the start)");
            state = change.state;
        }
    }

    /// Requires that nothing depends on the rate or the delay that change during the run.
    fn changing_line(&mut self, topology: &Topology, entry: &LinkImpairment, section: &str) {
        let field = format!("{section}.changes");
        let links = select_links(topology, &entry.name).unwrap_or_default();
        let of_host = links.iter().find(|&&link| !topology.ends(link).0.node.is_switch());
        if let (Purpose::Live, Some(&link)) = (self.purpose, of_host) {
            let name = topology.link_name(link);
            self.report(Problem::new(&field, "", format!("a real card sends on {name}, at its own rate and delay")));
        }
        let changes_delay = entry.changes.iter().any(|change| change.delay.is_some());
        let fails = !entry.schedule.is_empty() || links.iter().any(|&link| self.fails(topology, link));
        self.require(!(changes_delay && fails), &field, "a link that fails has a constant delay");
        let changes_rate = entry.changes.iter().any(|change| change.rate.is_some());
        let by_rate = entry.losses().any(|loss| matches!(loss, LossModel::BitErrors(_)));
        self.require(!(changes_rate && by_rate), &field, "losses by \"bit-errors\" need a constant rate");
        let is_ideal = matches!(self.scenario.switch.flow_queueing, Some(FlowQueueingSettings::IdealFq(_)));
        self.require(!(changes_rate && is_ideal), &field, "flow_queueing \"ideal-fq\" needs constant rates");
    }

    fn loss(&mut self, model: &LossModel, section: &str) {
        let LossModel::GilbertElliott(loss) = model else { return };
        let problem = |(field, rule): (&str, String)| Problem::new(format!("{section}.{field}"), "", rule);
        self.report_all(loss.fault().map(problem));
    }
}

impl Check<'_> {
    pub(super) fn failures(&mut self, topology: &Topology) {
        for (index, failure) in self.scenario.failures.iter().enumerate() {
            let section = match failure.line {
                Some(line) => format!("failure_file[{line}]"),
                None => format!("failure[{index}]"),
            };
            self.failure(failure, &section);
            if let Some(link) = self.failing_link(topology, failure, &section) {
                self.repair(topology, failure, link, &section);
            }
        }
        self.recovery();
    }

    /// Returns the link that fails, if the entry is valid.
    fn failing_link(&mut self, topology: &Topology, failure: &LinkFailure, section: &str) -> Option<LinkId> {
        let field = format!("{section}.link");
        let links = self.links_named(topology, &failure.link, &field);
        let [one, _other] = links.as_slice() else {
            self.require(links.is_empty(), &field, "a failed link is dead both ways: \"a<->b\"");
            return None;
        };
        let is_scheduled =
            |name: &str| select_links(topology, name).is_ok_and(|links| links.iter().any(|link| link.link == one.link));
        let scheduled = self.scenario.links.iter().any(|link| !link.schedule.is_empty() && is_scheduled(&link.name));
        self.require(!scheduled, &field, "has a schedule in [[link]]: a link goes down by the one or the other");
        let ends = topology.link(one.link);
        let has_one_port = |node| matches!(node, Node::Host(host) if !topology.host(host).is_multi_homed());
        let of_host = [ends.a.node, ends.b.node].into_iter().find(|&node| has_one_port(node));
        self.require_else(of_host.is_none() || !self.reroutes(), || {
            let name = of_host.map_or("", |node| topology.name(node));
            Problem::new(&field, "", format!("{name} has one port: nothing can be rerouted"))
        });
        Some(one.link)
    }

    fn failure(&mut self, failure: &LinkFailure, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        self.require(self.is_within_run(failure.first), &field("first"), "must be before the run ends (duration)");
        let has_period = failure.every.is_some();
        self.require(has_period || failure.count.is_none(), &field("count"), "has no effect without every");
        let lasts = failure.outage.is_none_or(|outage| outage > Duration::ZERO);
        self.require(lasts, &field("outage"), "must be above zero");
    }

    /// Requires that the length of the outage is known, and that the link is repaired before it fails again.
    fn repair(&mut self, topology: &Topology, failure: &LinkFailure, link: LinkId, section: &str) {
        let settings = topology.link(link).slowest();
        let Some(bound) = self.scenario.repair_bound(failure, settings) else {
            let rule = "must be given: only the recovery scheme \"same-port\" repairs a link";
            let problem = Problem::new(format!("{section}.outage"), "", rule);
            self.report(problem.hint("give outage = \"5 ms\", or [recovery] scheme = { kind = \"same-port\" }"));
            return;
        };
        self.outage_fits(failure, section);
        let Some(every) = failure.every else { return };
        let least = Duration(bound.as_ps().saturating_add(failure.jitter.as_ps()));
        self.require_else(every > least, || {
            let (bound, jitter) = (bound.text(), failure.jitter.text());
            let rule = format!(
                "must be longer than it takes to repair the link and to know of it ({bound}) and jitter ({jitter}) \
                 together"
            );
            Problem::new(format!("{section}.every"), "", rule)
        });
    }

    fn outage_fits(&mut self, failure: &LinkFailure, section: &str) {
        let Some(recovery) = &self.scenario.recovery else { return };
        let (RecoveryScheme::SamePort(scheme), Some(outage)) = (recovery.scheme, failure.outage) else { return };
        let (detection, reconfiguration) = (recovery.detection.bound(), scheme.reconfiguration);
        let fits = outage.as_ps() >= detection.as_ps().saturating_add(reconfiguration.as_ps());
        self.require_else(fits, || {
            let (detection, reconfiguration) = (detection.text(), reconfiguration.text());
            let rule =
                format!("is shorter than the repair takes: detection {detection}, reconfiguration {reconfiguration}");
            Problem::new(format!("{section}.outage"), "", rule)
        });
    }

    fn recovery(&mut self) {
        let Some(recovery) = &self.scenario.recovery else { return };
        if let Detection::Probes(probes) = recovery.detection {
            self.require(probes.interval > Duration::ZERO, "recovery.detection.interval", "must be above zero");
        }
        if let RecoveryScheme::LocalReroute(scheme) = recovery.scheme {
            let polls = scheme.backup != BackupChoice::Probed || scheme.probe_period > Duration::ZERO;
            self.require(polls, "recovery.scheme.probe_period", "must be above zero");
        }
    }
}
