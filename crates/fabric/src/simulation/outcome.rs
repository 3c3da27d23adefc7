//! Closing the books of a run.

use std::collections::BTreeMap;

use hitless_hosts::{FlowOutcome, FlowRecord, MessageRecord};
use hitless_switch::{DropReason, Report};
use hitless_wire::{FlowId, PortId, Time};

use super::order::{FlowVerdict, OrderChecker};
use super::sampling::{Sampler, Subject};
use super::{End, Simulation};
use crate::link::Link;
use crate::results::{FlowTotals, Outcome, Summary, Table};
use crate::topology::{DirectedLink, SwitchId};
use crate::workload::{FlowSize, FlowSpec};

impl Simulation {
    pub(super) fn into_outcome(mut self, end: End, ended_at: Time) -> Outcome {
        let mut reports = self.reports(ended_at);
        self.add_resources(&mut reports);
        let mut violations = self.broken_accounts(end);
        violations.extend(reports.iter().flat_map(|(_, report)| report.broken_promises.iter().cloned()));
        violations.extend(self.hardware_violations());
        self.medium.settle_order();
        let summary = self.summary(end, ended_at, &reports);
        Outcome { summary, tables: self.tables(&reports), violations }
    }

    pub(super) fn reports(&self, now: Time) -> Vec<(SwitchId, Report)> {
        let of_switch = |(number, switch): (usize, &hitless_switch::Switch<_>)| {
            let id = SwitchId(number as u32);
            switch.reports(now).map(|report| (id, report)).collect::<Vec<_>>()
        };
        self.switches.iter().enumerate().flat_map(of_switch).collect()
    }

    /// Adds to each mechanism's report what it takes of a real switch.
    fn add_resources(&self, reports: &mut [(SwitchId, Report)]) {
        let footprints = self.switches.iter().flat_map(|switch| switch.footprints());
        for ((_, report), footprint) in reports.iter_mut().zip(footprints) {
            footprint.named().into_iter().for_each(|(name, value)| report.count("switch", name, value));
        }
    }

    /// Injected = delivered + dropped + in flight, and what is in flight exists.
    fn broken_accounts(&self, end: End) -> Vec<String> {
        let mut broken = Vec::new();
        let flows_in_flight = self.hosts.totals().packets.in_flight();
        let control = self.medium.control_packets;
        let alive = self.medium.packets.alive() as i64;
        if flows_in_flight + control as i64 != alive {
            broken.push(format!(
                "packets went astray: flows have {flows_in_flight} in flight, switches {control} of their own, but {alive} exist"
            ));
        }
        let is_drained = end == End::AllFlowsDone && self.medium.queue.is_empty();
        if is_drained && flows_in_flight != 0 {
            broken.push(format!("{flows_in_flight} packets of flows are left in a network where nothing moves"));
        }
        for (index, link) in self.medium.links.iter().enumerate() {
            if is_drained && link.counters.in_flight() != 0 {
                let name = self.topology.link_name(DirectedLink::from_index(index));
                broken.push(format!("{} frames never left link {name}", link.counters.in_flight()));
            }
        }
        broken
    }

    fn hardware_violations(&self) -> impl Iterator<Item = String> + '_ {
        self.switches.iter().enumerate().filter_map(|(number, switch)| {
            let violation = switch.violation()?;
            let name = &self.topology.switches[number].name;
            Some(format!("switch {name} did what its hardware cannot do: {violation}"))
        })
    }

    fn summary(&self, end: End, ended_at: Time, reports: &[(SwitchId, Report)]) -> Summary {
        let totals = self.hosts.totals();
        Summary {
            seed: self.scenario.seed,
            ended_by: match end {
                End::Duration => "duration",
                End::AllFlowsDone => "all flows done",
                End::Cancelled => "cancelled",
                End::Paused => "paused",
                End::Stopped => "stopped",
            },
            simulated_s: ended_at.as_seconds(),
            events: self.events,
            transmissions: self.medium.links.iter().map(|link| link.counters.frames_sent).sum(),
            trace_hash: format!("{:016x}", self.medium.trace.value()),
            flows: FlowTotals {
                started: totals.flows_started,
                completed: totals.flows_completed,
                failed: totals.flows_failed,
                unfinished: totals.flows_started - totals.flows_completed - totals.flows_failed,
            },
            failures: self.recovery.totals(),
            order: self.medium.order.as_ref().map(|order| order.totals()),
            fairness: self.fairness(),
            drops: self.drops(),
            retired: self.ended_in_switches(|reason| !reason.is_loss()),
            packets_peak: self.medium.packets.peak(),
            warnings: self.warnings(end, reports),
        }
    }

    /// By group of at least two flows, Jain's index of their mean rates from start to end.
    fn fairness(&self) -> BTreeMap<String, f64> {
        let mut rates = vec![Vec::new(); self.scenario.flows.len()];
        for flow in self.medium.records.flows.iter().filter(|flow| flow.started >= self.scenario.warmup) {
            let seconds = flow.finished.saturating_since(flow.started).as_seconds();
            if seconds > 0.0 {
                rates[flow.tag as usize].push(flow.bytes_delivered as f64 / seconds);
            }
        }
        let named = self.scenario.flows.iter().map(|group| group.name.clone()).zip(rates);
        named.filter_map(|(name, rates)| Some((name, jain_index(&rates)?))).collect()
    }

    pub(super) fn drops(&self) -> BTreeMap<&'static str, u64> {
        let mut drops = self.ended_in_switches(DropReason::is_loss);
        let mut add = |reason: &'static str, count: u64| {
            if count > 0 {
                *drops.entry(reason).or_insert(0) += count;
            }
        };
        for link in &self.medium.links {
            add("corrupted on a link", link.counters.frames_corrupted);
            add("lost on a link that was down", link.counters.frames_lost_down);
        }
        let totals = self.hosts.totals();
        add("network card full", totals.dropped_by_network_card);
        add("arrived after the end of the flow", totals.strays);
        add("copy of a packet held for order", totals.duplicates);
        drops
    }

    pub(super) fn ended_in_switches(&self, counts: impl Fn(DropReason) -> bool) -> BTreeMap<&'static str, u64> {
        let total = |reason: DropReason| self.switches.iter().map(|switch| switch.drops()[reason as usize]).sum();
        let reasons = DropReason::ALL.into_iter().filter(|&reason| counts(reason));
        reasons.map(|reason| (reason.name(), total(reason))).filter(|&(_, count)| count > 0).collect()
    }

    fn warnings(&self, end: End, reports: &[(SwitchId, Report)]) -> Vec<String> {
        let mut warnings = Vec::new();
        if end == End::Cancelled {
            warnings.push("the run was stopped before its end".to_owned());
        }
        if let Some(ignored) = self.recovery.totals().map(|totals| totals.ignored).filter(|&ignored| ignored > 0) {
            warnings.push(format!("{ignored} failures were to hit links that were down already, and did not happen"));
        }
        for (switch, report) in reports.iter().filter(|(_, report)| !report.acted) {
            let name = &self.topology.switch(*switch).name;
            warnings.push(format!("{} was switched on at {name} and never acted", report.mechanism));
        }
        warnings
    }

    fn tables(&self, reports: &[(SwitchId, Report)]) -> Vec<Table> {
        let mut tables = vec![self.messages(), self.flows(), self.links(), self.ports(), self.failures()];
        tables.push(self.groups());
        tables.push(self.corrupted_runs());
        tables.push(self.drop_table());
        tables.push(self.mechanisms(reports));
        tables.push(self.histograms(reports));
        tables.push(self.series(reports));
        let is_queue = |sampler: &&Sampler| matches!(sampler.subject, Subject::QueueBytes { .. });
        let (queues, links): (Vec<_>, Vec<_>) = self.samplers.iter().partition(is_queue);
        tables.push(self.flow_progress());
        tables.push(self.goodput());
        tables.push(samples("queues", "port", &queues));
        tables.push(self.occupancy_table());
        tables.push(samples("throughput", "link", &links));
        tables
    }

    /// Messages as they were completed, and then those that had begun and were not when their flow or the run ended.
    fn messages(&self) -> Table {
        type Row = MessageRecord;
        let counts = |row: &&Row| row.started >= self.scenario.warmup;
        let records = &self.medium.records;
        let begun = records.messages.iter().chain(&records.unfinished);
        let rows: &[Row] = &begun.filter(counts).copied().collect::<Vec<_>>();
        let spec = |row: &Row| &self.flow_specs[row.flow.0 as usize];
        Table::new("messages")
            .unsigned("flow", rows, |row| row.flow.0.into())
            .text("group", rows, |row| self.scenario.flows[row.tag as usize].name.clone())
            .unsigned("number", rows, |row| row.number)
            .unsigned("query", rows, |row| spec(row).query.unwrap_or(0))
            .unsigned("bytes", rows, |row| row.bytes)
            .time("started_ps", rows, |row| row.started)
            .time("requested_ps", rows, |row| row.requested.unwrap_or(Time::NEVER))
            .time("delivered_ps", rows, |row| row.delivered)
            .time("acknowledged_ps", rows, |row| row.acknowledged)
    }

    fn flows(&self) -> Table {
        let counts = |row: &&FlowRecord| row.started >= self.scenario.warmup;
        let rows: &[FlowRecord] = &self.medium.records.flows.iter().filter(counts).copied().collect::<Vec<_>>();
        let host = |id: hitless_wire::HostId| self.topology.host(id).name.clone();
        let table = Table::new("flows")
            .unsigned("flow", rows, |row| row.flow.0.into())
            .text("group", rows, |row| self.scenario.flows[row.tag as usize].name.clone())
            .text("source", rows, |row| host(row.source))
            .text("destination", rows, |row| host(row.destination))
            .time("started_ps", rows, |row| row.started)
            .time("finished_ps", rows, |row| row.finished)
            .text("outcome", rows, |row| outcome_name(row.outcome).to_owned())
            .unsigned("messages_completed", rows, |row| row.messages_completed)
            .unsigned("message_bytes", rows, |row| self.message_bytes(row.flow))
            .unsigned("delivered_bytes", rows, |row| row.bytes_delivered)
            .unsigned("packets_sent", rows, |row| row.sender.packets_sent)
            .unsigned("packets_retransmitted", rows, |row| row.sender.packets_retransmitted)
            .unsigned("fast_recoveries", rows, |row| row.sender.fast_recoveries)
            .unsigned("timeouts", rows, |row| row.sender.timeouts)
            .unsigned("tail_loss_probes", rows, |row| row.sender.tail_loss_probes)
            .unsigned("sacked_peak_bytes", rows, |row| row.sender.sacks.peak_bytes)
            .unsigned("sack_gap_offset_bytes", rows, |row| row.sender.sacks.gap_offset_bytes)
            .unsigned("sack_pending_bytes", rows, |row| row.sender.sacks.pending_bytes)
            .unsigned("packets_received", rows, |row| row.receiver.packets_received)
            .unsigned("packets_duplicate", rows, |row| row.receiver.duplicate_packets)
            .unsigned("packets_reordered", rows, |row| row.receiver.reordered_packets)
            .unsigned("packets_marked", rows, |row| row.receiver.marked_packets)
            .unsigned("packets_trimmed", rows, |row| row.receiver.trimmed_packets)
            .unsigned("frames_lost_to_failures", rows, |row| self.medium.records.lost_to_failures(row.flow))
            .unsigned("frames_dropped", rows, |row| self.medium.drops.of_flow(row.flow).packets)
            .unsigned("dropped_bytes", rows, |row| self.medium.drops.of_flow(row.flow).bytes);
        let table = if self.scenario.host.ordering.is_some() { with_ordering_layer(table, rows) } else { table };
        match &self.medium.order {
            None => table,
            Some(order) => with_order(table, rows, order),
        }
    }

    /// Length of each message of a flow; 0 where they differ or there is none.
    fn message_bytes(&self, flow: FlowId) -> u64 {
        match self.flow_specs[flow.0 as usize] {
            FlowSpec { size: FlowSize::Bytes(bytes), connection: None, .. } => bytes,
            _ => 0,
        }
    }

    fn links(&self) -> Table {
        let rows: Vec<_> = self.medium.links.iter().enumerate().collect();
        Table::new("links")
            .text("link", &rows, |(index, _)| self.topology.link_name(DirectedLink::from_index(*index)))
            .unsigned("frames_sent", &rows, |(_, link)| link.counters.frames_sent)
            .unsigned("frames_arrived", &rows, |(_, link)| link.counters.frames_arrived)
            .unsigned("arrived_bytes", &rows, |(_, link)| link.counters.bytes_arrived)
            .unsigned("frames_corrupted", &rows, |(_, link)| link.counters.frames_corrupted)
            .unsigned("frames_lost_down", &rows, |(_, link)| link.counters.frames_lost_down)
            .time("last_arrival_ps", &rows, |(_, link)| link.counters.last_arrival)
    }

    /// How many frames in a row arrived corrupted, and how often.
    fn corrupted_runs(&self) -> Table {
        let of_link = |(index, link): (usize, &Link)| {
            let runs = (1_u64..).zip(link.corrupted_runs().to_vec());
            runs.filter(|(_, count)| *count > 0).map(move |(length, count)| (index, length, count))
        };
        let rows: Vec<_> = self.medium.links.iter().enumerate().flat_map(of_link).collect();
        Table::new("corrupted_runs")
            .text("link", &rows, |(index, ..)| self.topology.link_name(DirectedLink::from_index(*index)))
            .unsigned("frames", &rows, |(_, length, _)| *length)
            .unsigned("count", &rows, |(.., count)| *count)
    }

    fn ports(&self) -> Table {
        let of_switch = |(number, switch): (usize, &hitless_switch::Switch<_>)| {
            let count = switch.port_count();
            (0..count).map(|port| (number, PortId(port as u16), switch.mac(PortId(port as u16)))).collect::<Vec<_>>()
        };
        let rows: Vec<_> = self.switches.iter().enumerate().flat_map(of_switch).collect();
        Table::new("ports")
            .text("switch", &rows, |(number, ..)| self.topology.switches[*number].name.clone())
            .unsigned("port", &rows, |(_, port, _)| port.0.into())
            .text("link", &rows, |(number, port, _)| self.port_name(*number, *port))
            .unsigned("frames_received_ok", &rows, |(.., mac)| mac.frames_received_ok)
            .unsigned("frames_received_all", &rows, |(.., mac)| mac.frames_received_all)
            .unsigned("received_bytes", &rows, |(.., mac)| mac.bytes_received_ok)
            .unsigned("frames_sent", &rows, |(.., mac)| mac.frames_sent)
            .unsigned("sent_bytes", &rows, |(.., mac)| mac.bytes_sent)
            .unsigned("pause_frames_received", &rows, |(.., mac)| mac.pause_frames_received)
    }

    fn port_name(&self, switch: usize, port: PortId) -> String {
        let ports = &self.topology.switches[switch].ports;
        match ports.get(usize::from(port.0)) {
            Some(port) => self.topology.link_name(port.link),
            None => format!("recirculation {}", usize::from(port.0) - ports.len()),
        }
    }

    pub(super) fn mechanisms(&self, reports: &[(SwitchId, Report)]) -> Table {
        let of_report = |(switch, report): &(SwitchId, Report)| {
            let name = self.topology.switch(*switch).name.clone();
            let row = move |(scope, counter, value): &(String, &'static str, u64)| {
                (name.clone(), report.mechanism, scope.clone(), *counter, *value)
            };
            report.counters.iter().map(row).collect::<Vec<_>>()
        };
        let rows: Vec<_> = reports.iter().flat_map(of_report).collect();
        Table::new("mechanisms")
            .text("switch", &rows, |row| row.0.clone())
            .text("mechanism", &rows, |row| row.1.to_owned())
            .text("scope", &rows, |row| row.2.clone())
            .text("counter", &rows, |row| row.3.to_owned())
            .unsigned("value", &rows, |row| row.4)
    }

    fn histograms(&self, reports: &[(SwitchId, Report)]) -> Table {
        let mut rows = Vec::new();
        for (switch, report) in reports {
            for (scope, quantity, histogram) in &report.histograms {
                let name = &self.topology.switch(*switch).name;
                let recorded = histogram.iter_recorded();
                rows.extend(recorded.map(|bar| {
                    (name.clone(), scope.clone(), *quantity, bar.value_iterated_to(), bar.count_since_last_iteration())
                }));
            }
        }
        Table::new("histograms")
            .text("switch", &rows, |row| row.0.clone())
            .text("scope", &rows, |row| row.1.clone())
            .text("quantity", &rows, |row| row.2.to_owned())
            .unsigned("value", &rows, |row| row.3)
            .unsigned("count", &rows, |row| row.4)
    }

    fn series(&self, reports: &[(SwitchId, Report)]) -> Table {
        let mut rows = Vec::new();
        for (switch, report) in reports {
            let name = &self.topology.switch(*switch).name;
            for (scope, quantity, steps) in &report.series {
                rows.extend(steps.iter().map(|&(at, value)| (name.clone(), scope.clone(), *quantity, at, value)));
            }
        }
        Table::new("series")
            .text("switch", &rows, |row| row.0.clone())
            .text("scope", &rows, |row| row.1.clone())
            .text("quantity", &rows, |row| row.2.to_owned())
            .time("time_ps", &rows, |row| row.3)
            .unsigned("value", &rows, |row| row.4)
    }
}

/// What the ordering layers of hosts did.
fn with_ordering_layer(table: Table, rows: &[FlowRecord]) -> Table {
    let of = |row: &FlowRecord| row.ordering.unwrap_or_default();
    table
        .unsigned("packets_held", rows, |row| of(row).packets_held)
        .unsigned("packets_held_peak", rows, |row| of(row).held_peak_packets)
        .unsigned("packets_held_twice", rows, |row| of(row).duplicate_packets)
        .unsigned("ordering_timeouts", rows, |row| of(row).timeouts)
        .unsigned("packets_arrived_late", rows, |row| of(row).packets_reordered)
}

/// The table of flows with what the order checker says of each.
fn with_order(table: Table, rows: &[FlowRecord], order: &OrderChecker) -> Table {
    let verdicts: Vec<FlowVerdict> = rows.iter().map(|row| order.verdict(row.flow)).collect();
    table
        .unsigned("network_packets_sent", &verdicts, |verdict| verdict.counts.packets_sent)
        .unsigned("network_packets_lost", &verdicts, |verdict| verdict.counts.packets_lost)
        .unsigned("network_packets_reordered", &verdicts, |verdict| verdict.counts.packets_reordered)
        .unsigned("network_packets_duplicated", &verdicts, |verdict| verdict.counts.packets_duplicated)
        .unsigned("network_longest_gap_ps", &verdicts, |verdict| verdict.longest_gap.as_ps())
        .unsigned("network_jitter_ps", &verdicts, |verdict| verdict.jitter.as_ps())
}

/// Jain's fairness index (Jain, Chiu and Hawe 1984): 1 if all have the same, 1/n if one of n has all. None for fewer than
/// two, or if nobody has anything.
fn jain_index(shares: &[f64]) -> Option<f64> {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    (shares.len() > 1 && squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

fn samples(name: &'static str, subject: &'static str, samplers: &[&Sampler]) -> Table {
    let of_sampler = |sampler: &&Sampler| {
        let name = sampler.name.clone();
        sampler.samples.iter().map(move |&(at, value)| (name.clone(), at, value)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = samplers.iter().flat_map(of_sampler).collect();
    Table::new(name).text(subject, &rows, |row| row.0.clone()).time("time_ps", &rows, |row| row.1).unsigned(
        "value_bytes",
        &rows,
        |row| row.2,
    )
}

fn outcome_name(outcome: FlowOutcome) -> &'static str {
    match outcome {
        FlowOutcome::Completed => "completed",
        FlowOutcome::Failed => "failed",
        FlowOutcome::Unfinished => "unfinished",
    }
}
