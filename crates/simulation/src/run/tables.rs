//! The tables of a run.

use hitless_hosts::{FlowOutcome, FlowRecord, MessageRecord};
use hitless_network::topology::{DirectedLink, SwitchId, Topology};
use hitless_scenario::workload::{FlowSize, FlowSpec};
use hitless_switch::{MacCounters, Report};
use hitless_wire::{FlowId, PortId, Time};

use super::edge::Edge;
use super::event_loop::Run;
use super::group_totals;
use super::order::{FlowVerdict, OrderChecker};
use crate::results::Table;

/// All tables of `run`, with what the mechanisms say of themselves.
pub(super) fn tables<E: Edge>(run: &Run<E>, reports: &[(SwitchId, Report)]) -> Vec<Table> {
    let (shared, topology, groups) = (&run.network.shared, &run.network.topology, &run.scenario.flows);
    let tables = Tables { run };
    let failures = run.control_plane.recovery.table(topology, &shared.links);
    let mut all = vec![tables.messages(), tables.flows(), tables.links(), tables.ports(), failures];
    all.push(group_totals::table(&run.scenario, &shared.records.flows.flows));
    all.push(tables.corrupted_runs());
    all.push(shared.drops.table(topology, groups));
    all.push(mechanisms(topology, reports));
    all.push(histograms(topology, reports));
    all.push(series(topology, reports));
    all.extend(run.samplers.tables(groups));
    all
}

/// Tables that need several parts of a run.
struct Tables<'a, E> {
    run: &'a Run<E>,
}

impl<E: Edge> Tables<'_, E> {
    /// Messages as they were completed, and then those that had begun and were not when their flow or the run ended.
    fn messages(&self) -> Table {
        type Row = MessageRecord;
        let counts = |row: &&Row| row.started >= self.run.scenario.warmup;
        let records = &self.run.network.shared.records.flows;
        let begun = records.messages.iter().chain(&records.unfinished);
        let rows: &[Row] = &begun.filter(counts).copied().collect::<Vec<_>>();
        let spec = |row: &Row| &self.run.flow_starts.specs()[row.flow.0 as usize];
        Table::new("messages")
            .unsigned("flow", rows, |row| row.flow.0.into())
            .text("group", rows, |row| self.run.scenario.flows[row.tag as usize].name.clone())
            .unsigned("number", rows, |row| row.number)
            .unsigned("query", rows, |row| spec(row).query.unwrap_or(0))
            .unsigned("bytes", rows, |row| row.bytes)
            .time("started_ps", rows, |row| row.started)
            .time("requested_ps", rows, |row| row.requested.unwrap_or(Time::NEVER))
            .time("delivered_ps", rows, |row| row.delivered)
            .time("acknowledged_ps", rows, |row| row.acknowledged)
    }

    fn flows(&self) -> Table {
        let counts = |row: &&FlowRecord| row.started >= self.run.scenario.warmup;
        let rows: &[FlowRecord] =
            &self.run.network.shared.records.flows.flows.iter().filter(counts).copied().collect::<Vec<_>>();
        let host = |id: hitless_wire::HostId| self.run.network.topology.host(id).name.clone();
        let table = Table::new("flows")
            .unsigned("flow", rows, |row| row.flow.0.into())
            .text("group", rows, |row| self.run.scenario.flows[row.tag as usize].name.clone())
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
            .unsigned("frames_lost_to_failures", rows, |row| self.run.network.shared.records.lost_to_failures(row.flow))
            .unsigned("frames_dropped", rows, |row| self.run.network.shared.drops.of_flow(row.flow).packets)
            .unsigned("dropped_bytes", rows, |row| self.run.network.shared.drops.of_flow(row.flow).bytes);
        let table = if self.run.scenario.host.ordering.is_some() { with_ordering_layer(table, rows) } else { table };
        match &self.run.network.shared.order {
            None => table,
            Some(order) => with_order(table, rows, order),
        }
    }

    /// Length of each message of a flow; 0 where they differ or there is none.
    fn message_bytes(&self, flow: FlowId) -> u64 {
        match self.run.flow_starts.specs()[flow.0 as usize] {
            FlowSpec { size: FlowSize::Bytes(bytes), connection: None, .. } => bytes,
            _ => 0,
        }
    }

    /// Whether links and ports that nothing has come by have rows too: in a larger fabric their names alone would take
    /// more memory than the fabric itself.
    fn has_all_rows(&self) -> bool {
        const LINKS_MAX: usize = 1 << 18;
        self.run.network.shared.links.iter().len() <= LINKS_MAX
    }

    fn links(&self) -> Table {
        let links = &self.run.network.shared.links;
        let counted = (0..links.iter().len()).map(|index| (index, links.counters(index)));
        let rows: Vec<_> = counted.filter(|(_, link)| self.has_all_rows() || link.frames_sent > 0).collect();
        Table::new("links")
            .text("link", &rows, |(index, _)| self.run.network.topology.link_name(DirectedLink::from_index(*index)))
            .unsigned("frames_sent", &rows, |(_, link)| link.frames_sent)
            .unsigned("frames_arrived", &rows, |(_, link)| link.frames_arrived)
            .unsigned("arrived_bytes", &rows, |(_, link)| link.bytes_arrived)
            .unsigned("frames_corrupted", &rows, |(_, link)| link.frames_corrupted)
            .unsigned("frames_lost_down", &rows, |(_, link)| link.frames_lost_down)
            .time("last_arrival_ps", &rows, |(_, link)| link.last_arrival)
    }

    /// How many frames in a row arrived corrupted, and how often.
    fn corrupted_runs(&self) -> Table {
        let of_link = |(index, runs): (usize, &[u64])| {
            let runs = (1_u64..).zip(runs.to_vec());
            runs.filter(|(_, count)| *count > 0).map(move |(length, count)| (index, length, count))
        };
        let rows: Vec<_> = self.run.network.shared.links.corrupted_runs().flat_map(of_link).collect();
        Table::new("corrupted_runs")
            .text("link", &rows, |(index, ..)| self.run.network.topology.link_name(DirectedLink::from_index(*index)))
            .unsigned("frames", &rows, |(_, length, _)| *length)
            .unsigned("count", &rows, |(.., count)| *count)
    }

    fn ports(&self) -> Table {
        let of_switch = |(number, switch): (usize, &hitless_switch::Switch)| {
            let count = switch.port_count();
            let counted = (0..count).map(|port| (number, PortId(port as u16), switch.mac(PortId(port as u16))));
            let is_used = |mac: &MacCounters| mac.frames_received_all + mac.frames_sent > 0;
            counted.filter(|(.., mac)| self.has_all_rows() || is_used(mac)).collect::<Vec<_>>()
        };
        let rows: Vec<_> = self.run.network.switches.iter().enumerate().flat_map(of_switch).collect();
        Table::new("ports")
            .text("switch", &rows, |(number, ..)| self.run.network.topology.switches[*number].name.clone())
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
        let ports = &self.run.network.topology.switches[switch].ports;
        match ports.get(usize::from(port.0)) {
            Some(port) => self.run.network.topology.link_name(port.link),
            None => format!("recirculation {}", usize::from(port.0) - ports.len()),
        }
    }
}

/// What mechanisms have counted: a row for each counter.
pub(super) fn mechanisms(topology: &Topology, reports: &[(SwitchId, Report)]) -> Table {
    let of_report = |(switch, report): &(SwitchId, Report)| {
        let name = topology.switch(*switch).name.clone();
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

fn histograms(topology: &Topology, reports: &[(SwitchId, Report)]) -> Table {
    let mut rows = Vec::new();
    for (switch, report) in reports {
        for (scope, quantity, histogram) in &report.histograms {
            let name = &topology.switch(*switch).name;
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

fn series(topology: &Topology, reports: &[(SwitchId, Report)]) -> Table {
    let mut rows = Vec::new();
    for (switch, report) in reports {
        let name = &topology.switch(*switch).name;
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

fn outcome_name(outcome: FlowOutcome) -> &'static str {
    match outcome {
        FlowOutcome::Completed => "completed",
        FlowOutcome::Failed => "failed",
        FlowOutcome::Unfinished => "unfinished",
    }
}
