//! The end of a run: final invariants and the outcome.

use std::collections::BTreeSet;

use hitless_core::wire::Time;
use hitless_scenario::network::topology::{DirectedLink, SwitchId};
use hitless_scenario::{Scenario, memory};
use hitless_switch::queueing::GroupCounters;
use hitless_switch::{Report, ResourceCounters};

use super::edge::Edge;
use super::event_loop::Run;
use super::global::End;
use super::tables;
use crate::results::{CaptureFile, Explanation, FlowTotals, Outcome, Stalls, Summary};

/// Closes a run that has ended and returns its outcome.
pub(super) fn close<E: Edge>(mut run: Run<E>, end: End, ended_at: Time) -> Outcome {
    if end == End::AllFlowsDone {
        run.drain(ended_at);
    }
    // The switches of a divided run, joined here, no longer know their packets.
    if run.global.explanation.is_none() {
        run.global.explanation = Some(run.viewed(ended_at, |view| view.explain()));
    }
    let (hosts, mut environment) = run.network.hosts();
    hosts.end_run(ended_at, &mut environment);
    settle(run, end, ended_at)
}

/// The outcome of a live run stopped at `ended_at`; packets in flight stay in flight.
pub fn stop<E: Edge>(run: Run<E>, ended_at: Time) -> Outcome {
    settle(run, End::Stopped, ended_at)
}

fn settle<E: Edge>(mut run: Run<E>, end: End, ended_at: Time) -> Outcome {
    run.network.shared.settle_order();
    let flow_tables = run.settle_records(ended_at);
    let explained = run.global.explanation.take().and_then(|Explanation(stalls)| stalls);
    let (unfinished, stalls) = explained.map(|Stalls { sentence, table }| (sentence, table)).unzip();
    let leaks = buffer_leaks(&mut run, ended_at);
    let capture = run.network.shared.capture.take();
    let captures = capture.map_or(Vec::new(), |capture| capture.into_files(&run.global.scenario, ended_at));
    let ledger = Ledger { run: &run, end, ended_at };
    let mut reports = run.reports(ended_at);
    let mut violations = ledger.unbalanced();
    violations.extend(undeclared(run.scenario(), &reports));
    ledger.add_resources(&mut reports);
    violations.extend(reports.iter().flat_map(|(_, report)| report.violated_invariants.iter().cloned()));
    violations.extend(ledger.hardware_violations().chain(leaks));
    violations.extend(run.lossless_violations());
    let shared = &run.network.shared;
    violations.extend(shared.edge.violations(&shared.records.flows));
    let limits = ledger.limits(&reports);
    let mut tables = tables::tables(&run, &reports, flow_tables, ended_at);
    tables.extend(stalls);
    Outcome {
        summary: Summary { unfinished, ..ledger.summary(&reports, &captures) },
        tables,
        violations,
        captures,
        limits,
    }
}

/// Reported counters and quantities that the mechanism's kind does not declare, so that no reference lists them.
fn undeclared(scenario: &Scenario, reports: &[(SwitchId, Report)]) -> Vec<String> {
    let mut told = BTreeSet::new();
    for (_, report) in reports {
        let Some(entry) = scenario.mechanisms.iter().find(|entry| entry.name() == report.mechanism) else { continue };
        let counters = report.counters.iter().map(|(_, counter, _)| counter);
        let counters = counters.filter(|counter| !GroupCounters::ALL.contains(counter) && !entry.declares(counter));
        let quantities = report.quantities().filter(|quantity| !entry.declares_quantity(quantity));
        let keys = counters.map(|counter| counter.key).chain(quantities.map(|quantity| quantity.key));
        told.extend(keys.map(|key| format!("{} reports {key}, and its kind does not declare it", report.mechanism)));
    }
    told.into_iter().collect()
}

/// Packet buffers whose byte counts differ from their queues' content.
fn buffer_leaks<E: Edge>(run: &mut Run<E>, ended_at: Time) -> Vec<String> {
    let switches = run.network.switches.iter_mut().zip(&run.network.topology.switches);
    let leak = |(switch, known): (&mut hitless_switch::Switch, &hitless_scenario::network::topology::Switch)| {
        let (used, queued) = switch.buffer_imbalance(ended_at)?;
        Some(format!("the packet buffer of {} counts {used} bytes, and its queues hold {queued}", known.name))
    };
    switches.filter_map(leak).collect()
}

/// A run at its end.
struct Ledger<'a, E> {
    run: &'a Run<E>,
    end: End,
    ended_at: Time,
}

impl<E: Edge> Ledger<'_, E> {
    /// Adds the switch resources of each mechanism to its report.
    fn add_resources(&self, reports: &mut [(SwitchId, Report)]) {
        let footprints = self.run.network.switches.iter().flat_map(|switch| switch.footprints());
        for ((_, report), footprint) in reports.iter_mut().zip(footprints) {
            report.count("switch", ResourceCounters::values(&footprint));
        }
    }

    /// Requests that mechanisms cannot satisfy, each listed once for all switches.
    fn limits(&self, reports: &[(SwitchId, Report)]) -> Vec<String> {
        let mut limits: Vec<String> = Vec::new();
        for limit in reports.iter().flat_map(|(_, report)| &report.limits) {
            if !limits.contains(limit) {
                limits.push(limit.clone());
            }
        }
        limits
    }

    /// Violations of the packet balance.
    fn unbalanced(&self) -> Vec<String> {
        let mut broken: Vec<String> = self.run.network.imbalance().into_iter().collect();
        let flows_in_flight = self.run.network.flows_in_flight();
        let is_drained = self.end == End::AllFlowsDone
            && self.run.network.shared.queue.is_empty()
            && self.run.network.shared.is_idle_elsewhere;
        // Ports of a deadlock wait for credits without events; pause frames would repeat.
        let stuck = || self.run.viewed(self.run.now, |view| view.packets_stuck());
        if is_drained && flows_in_flight != 0 && flows_in_flight > stuck() {
            broken.push(format!("{flows_in_flight} packets of flows are left in a network where nothing moves"));
        }
        for index in 0..self.run.network.shared.links.iter().len() {
            let in_flight = self.run.network.shared.links.counters(index).in_flight();
            if is_drained && in_flight != 0 {
                let name = self.run.network.topology.link_name(DirectedLink::from_index(index));
                broken.push(format!("{in_flight} frames never left link {name}"));
            }
        }
        broken
    }

    fn hardware_violations(&self) -> impl Iterator<Item = String> + '_ {
        self.run.network.switches.iter().enumerate().filter_map(|(number, switch)| {
            let violation = switch.violation()?;
            let name = &self.run.network.topology.switches[number].name;
            Some(format!("switch {name} did what its hardware cannot do: {violation}"))
        })
    }

    fn summary(&self, reports: &[(SwitchId, Report)], captures: &[CaptureFile]) -> Summary {
        let cut = captures.iter().flat_map(|capture| capture.counts.warnings()).collect();
        let totals = self.run.network.hosts.totals();
        assert!(totals.flows_started >= totals.flows_completed + totals.flows_failed, "more flows end than start");
        Summary {
            seed: self.run.global.scenario.seed,
            ended_by: match self.end {
                End::Duration => "duration",
                End::AllFlowsDone => "all flows done",
                End::Cancelled => "cancelled",
                End::Paused => "paused",
                End::Stopped => "stopped",
            },
            simulated_s: self.ended_at.as_seconds(),
            events: self.run.events + self.run.network.shared.events_at_once,
            transmissions: self.run.network.shared.links.iter().map(|link| link.frames_sent()).sum(),
            trace_hash: format!("{:016x}", self.run.network.shared.clocks.hash()),
            flows: FlowTotals {
                started: totals.flows_started,
                completed: totals.flows_completed,
                failed: totals.flows_failed,
                unfinished: totals.flows_started - totals.flows_completed - totals.flows_failed,
            },
            failures: self.run.global.control_plane.recovery.totals(),
            order: self.run.network.shared.order.as_ref().map(|order| order.totals()),
            fairness: self.run.global.totals.fairness(&self.run.global.scenario),
            drops: self.run.drops(),
            retired: self.run.retired(),
            unfinished: None,
            warnings: [self.warnings(reports), cut].concat(),
        }
    }

    fn warnings(&self, reports: &[(SwitchId, Report)]) -> Vec<String> {
        let (scenario, topology) = (&self.run.global.scenario, &self.run.network.topology);
        let mut warnings = scenario.warnings.clone();
        warnings.extend(memory::overloads(scenario, topology));
        warnings.extend(memory::empty_lists(scenario, topology));
        warnings.extend(scenario.flow_control_shortages(topology));
        warnings.extend(self.run.lossless_warnings());
        if self.end == End::Cancelled {
            warnings.push("the run was stopped before its end".to_owned());
        }
        if let Some(ignored) =
            self.run.global.control_plane.recovery.totals().map(|totals| totals.ignored).filter(|&ignored| ignored > 0)
        {
            warnings.push(format!("{ignored} failures were to hit links that were down already, and did not happen"));
        }
        for (switch, report) in reports {
            let name = &self.run.network.topology.switch(*switch).name;
            warnings.extend(report.warnings.iter().map(|what| format!("{} at {name}: {what}", report.mechanism)));
        }
        for (switch, report) in reports.iter().filter(|(_, report)| !report.acted) {
            let name = &self.run.network.topology.switch(*switch).name;
            warnings.push(format!("{} was switched on at {name} and never acted", report.mechanism));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use hitless_switch::{Counter, Quantity};

    use super::*;
    use crate::bench::Work;

    #[test]
    fn a_kind_declares_each_counter_and_quantity_of_its_reports() {
        let work = Work::named("F").expect("it is in the list");
        let scenario = work.scenario(hitless_mechanisms::builtin()).expect("the scenario is sound");
        let mut report = Report::new("linkguardian");
        report.count("switch", [(Counter { key: "own_count", label: "own", meaning: "" }, 1)]);
        let quantities = [("recovery_delay_ns", "recovery delay (ns)"), ("own_ns", "own (ns)")];
        let series = quantities.map(|(key, label)| (String::new(), Quantity::new(key, label), vec![]));
        report.series.extend(series);
        let found = undeclared(&scenario, &[(SwitchId(0), report)]);
        assert_eq!(found.len(), 2, "{found:?}");
        for (told, key) in found.iter().zip(["own_count", "own_ns"]) {
            assert!(told.starts_with(&format!("linkguardian reports {key}")), "{told}");
        }
    }
}
