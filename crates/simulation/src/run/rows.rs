//! Rows of the tables of flows and messages: all of a run, or the final ones during a run.

use hitless_core::engine::Pages;
use hitless_core::wire::{FlowId, HostId, Time};
use hitless_hosts::{FlowOutcome, FlowRecord, MessageRecord};
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::Topology;
use hitless_scenario::workload::{FlowSize, FlowSpec};

use super::drops::Lost;
use super::network::Network;
use super::order::FlowVerdict;
use crate::results::Table;

/// Names of the tables.
pub(super) const FLOWS: &str = "flows";
pub(super) const MESSAGES: &str = "messages";

/// The data that rows need besides the records.
pub(super) struct Rows<'a, E> {
    pub scenario: &'a Scenario,
    pub topology: &'a Topology,
    pub specs: &'a Pages<FlowSpec>,
    /// The network, or all its partitions, each with its own counters.
    pub networks: &'a [&'a Network<E>],
}

/// The losses of flows, over all partitions.
pub(super) struct Losses<'a, E>(pub &'a [&'a Network<E>]);

impl<E> Losses<'_, E> {
    /// Returns the frames lost on failed links.
    pub fn to_failures(&self, flow: FlowId) -> u64 {
        self.0.iter().map(|network| network.shared.records.lost_to_failures(flow)).sum()
    }

    /// Returns the losses in switches.
    pub fn dropped(&self, flow: FlowId) -> Lost {
        self.0.iter().map(|network| network.shared.drops.of_flow(flow)).fold(Lost::default(), Lost::plus)
    }

    /// Returns the frames that found a network card full.
    pub fn refused_by_nic(&self, flow: FlowId) -> u64 {
        self.0.iter().map(|network| network.shared.drops.refused_by_nic(flow)).sum()
    }
}

impl<E> Rows<'_, E> {
    /// The table of messages: complete ones in the order of completion, or those that their flow or the run left
    /// incomplete.
    pub fn messages<'r>(&self, records: impl Iterator<Item = &'r MessageRecord>) -> Table {
        type Row = MessageRecord;
        let rows: &[Row] = &records.filter(|row| row.started >= self.scenario.warmup).copied().collect::<Vec<_>>();
        let query = |row: &Row| self.specs.get(row.flow.0 as usize).and_then(|spec| spec.query);
        Table::new(MESSAGES)
            .unsigned("flow", rows, |row| row.flow.0.into())
            .text("group", rows, |row| self.scenario.flows[row.tag as usize].name.clone())
            .unsigned("position", rows, |row| self.position(row.flow))
            .unsigned("number", rows, |row| row.number)
            .unsigned("query", rows, |row| query(row).unwrap_or(0))
            .unsigned("bytes", rows, |row| row.bytes)
            .time("started_ps", rows, |row| row.started)
            .time("requested_ps", rows, |row| row.requested.unwrap_or(Time::NEVER))
            .time("delivered_ps", rows, |row| row.delivered)
            .time("acknowledged_ps", rows, |row| row.acknowledged)
    }

    /// The table of flows, in the order of their ends.
    pub fn flows<'r>(&self, records: impl Iterator<Item = &'r FlowRecord>) -> Table {
        let rows: &[FlowRecord] =
            &records.filter(|row| row.started >= self.scenario.warmup).copied().collect::<Vec<_>>();
        let host = |id: HostId| self.topology.host(id).name.clone();
        let table = Table::new(FLOWS)
            .unsigned("flow", rows, |row| row.flow.0.into())
            .text("group", rows, |row| self.scenario.flows[row.tag as usize].name.clone())
            .unsigned("position", rows, |row| self.position(row.flow))
            .text("source", rows, |row| host(row.source))
            .text("destination", rows, |row| host(row.destination))
            .time("started_ps", rows, |row| row.started)
            .time("finished_ps", rows, |row| row.finished)
            .text("outcome", rows, |row| outcome_name(row.outcome).to_owned())
            .unsigned("messages_completed", rows, |row| row.messages_completed)
            .unsigned("message_bytes", rows, |row| self.message_bytes(row.flow))
            .unsigned("delivered_bytes", rows, |row| row.bytes_delivered);
        let losses = Losses(self.networks);
        let table = with_counts_of_ends(table, rows)
            .unsigned("frames_lost_to_failures", rows, |row| losses.to_failures(row.flow))
            .unsigned("frames_dropped", rows, |row| losses.dropped(row.flow).packets)
            .unsigned("dropped_bytes", rows, |row| losses.dropped(row.flow).bytes)
            .unsigned("frames_dropped_by_nic", rows, |row| losses.refused_by_nic(row.flow));
        let table = if self.scenario.host.reorder_buffer.is_some() { with_reorder_buffer(table, rows) } else { table };
        if !self.scenario.measure.order {
            return table;
        }
        let verdicts: Vec<_> = rows.iter().map(|row| self.verdict(row.flow)).collect();
        with_order(table, &verdicts)
    }

    /// The flow's position in its group.
    fn position(&self, flow: FlowId) -> u64 {
        self.specs.get(flow.0 as usize).map_or(0, |spec| spec.position)
    }

    /// The order checker's verdict; a run with a checker has one partition.
    fn verdict(&self, flow: FlowId) -> FlowVerdict {
        self.networks[0].shared.order.as_ref().map(|order| order.verdict(flow)).unwrap_or_default()
    }

    /// Length of each message of the flow; 0 if the lengths differ or the flow has no messages.
    fn message_bytes(&self, flow: FlowId) -> u64 {
        match self.specs.get(flow.0 as usize) {
            Some(&FlowSpec { size: FlowSize::Bytes(bytes), connection: None, .. }) => bytes,
            _ => 0,
        }
    }
}

/// Adds the transport counters of both ends to the table of flows.
fn with_counts_of_ends(table: Table, rows: &[FlowRecord]) -> Table {
    table
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
}

/// Adds the counters of the receiving hosts' reorder buffers to the table of flows.
fn with_reorder_buffer(table: Table, rows: &[FlowRecord]) -> Table {
    let of = |row: &FlowRecord| row.reorder_buffer.unwrap_or_default();
    table
        .unsigned("packets_held", rows, |row| of(row).packets_held)
        .unsigned("packets_held_peak", rows, |row| of(row).held_peak_packets)
        .unsigned("packets_held_twice", rows, |row| of(row).duplicate_packets)
        .unsigned("reorder_timeouts", rows, |row| of(row).timeouts)
        .unsigned("packets_arrived_late", rows, |row| of(row).packets_reordered)
}

/// Adds the order checker's verdicts to the table of flows.
fn with_order(table: Table, verdicts: &[FlowVerdict]) -> Table {
    table
        .unsigned("network_packets_sent", verdicts, |verdict| verdict.counts.packets_sent)
        .unsigned("network_packets_lost", verdicts, |verdict| verdict.counts.packets_lost)
        .unsigned("network_packets_reordered", verdicts, |verdict| verdict.counts.packets_reordered)
        .unsigned("network_packets_duplicated", verdicts, |verdict| verdict.counts.packets_duplicated)
        .unsigned("network_longest_gap_ps", verdicts, |verdict| verdict.longest_gap.as_ps())
        .unsigned("network_jitter_ps", verdicts, |verdict| verdict.jitter.as_ps())
}

fn outcome_name(outcome: FlowOutcome) -> &'static str {
    match outcome {
        FlowOutcome::Completed => "completed",
        FlowOutcome::Failed => "failed",
        FlowOutcome::Unfinished => "unfinished",
    }
}
