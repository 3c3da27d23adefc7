//! Handing over finished flows and messages during a run, so that they take no memory.
//!
//! At intervals, between two events or two windows, the records of each flow's two ends are joined, and final rows
//! leave the run in the order of the tables. A flow with packets left stays, because a later loss of such a packet
//! counts for the flow. With its row, all other state of a flow is freed.

use std::collections::BTreeSet;

use hitless_core::engine::Pages;
use hitless_core::wire::{FlowId, Packet, Time, Transport};
use hitless_hosts::{Complete, FlowRecords};
use hitless_scenario::Scenario;
use hitless_scenario::workload::FlowSpec;

use super::edge::Edge;
use super::group_totals::GroupTotals;
use super::network::Network;
use super::rows::{FLOWS, MESSAGES, Rows};
use crate::results::RowSink;

/// Maximum number of rows in one table handed over.
const ROWS: usize = 1 << 15;

/// Rows waiting to be handed over, and their destination.
pub(super) struct Streaming {
    sink: Box<dyn RowSink>,
    pub waiting: FlowRecords,
    /// Number of records that triggers a search for final rows.
    records: usize,
    /// Number of records that remained after the last search.
    left: usize,
    /// Number of messages handed over.
    messages: usize,
}

impl Streaming {
    pub fn new(sink: Box<dyn RowSink>, records: usize) -> Self {
        Self { sink, waiting: FlowRecords::default(), records, left: 0, messages: 0 }
    }

    /// Whether enough records exist for a search, given the number of new ones.
    pub fn is_due(&self, new: usize) -> bool {
        // Twice the remainder, so that searches take amortised constant time per record.
        new + self.waiting.len() >= self.records.max(2 * self.left)
    }

    /// Takes over the records of a network or partition.
    pub fn collect(&mut self, records: &mut FlowRecords) {
        self.waiting.merge(std::mem::take(records));
    }

    /// Number of complete messages, handed over or waiting.
    pub fn messages(&self) -> usize {
        self.messages + self.waiting.messages.len()
    }

    /// Hands over the final rows of flows that ended before `now`; returns the flows that may be freed. `under_way`
    /// lists the flows of all existing packets.
    pub fn hand_over<E>(
        &mut self,
        now: Time,
        mut under_way: Vec<u32>,
        rows: &Rows<'_, E>,
        totals: &mut GroupTotals,
    ) -> Vec<FlowId> {
        under_way.sort_unstable();
        let complete = self.waiting.take_complete(now, |flow| under_way.binary_search(&flow.0).is_ok());
        assert!(complete.flows.iter().all(|flow| flow.finished <= now), "a flow ends after {now}");
        self.left = self.waiting.len();
        self.messages += complete.messages.len();
        complete.flows.iter().for_each(|flow| totals.add(rows.scenario, flow));
        self.send(&complete, rows);
        // The rows of messages that never complete come last and still need the data of their flows.
        let needed: BTreeSet<FlowId> = self.waiting.unfinished.iter().map(|message| message.flow).collect();
        complete.flows.iter().map(|record| record.flow).filter(|flow| !needed.contains(flow)).collect()
    }

    fn send<E>(&mut self, complete: &Complete, rows: &Rows<'_, E>) {
        if self.sink.wants(MESSAGES) {
            let messages = complete.messages.chunks(ROWS).map(|records| rows.messages(records.iter()));
            messages.for_each(|table| self.sink.take(table));
        }
        if self.sink.wants(FLOWS) {
            let flows = complete.flows.chunks(ROWS).map(|records| rows.flows(records.iter()));
            flows.for_each(|table| self.sink.take(table));
        }
    }

    /// Hands over all remaining records at the end of the run.
    pub fn finish<E>(&mut self, records: &FlowRecords, rows: &Rows<'_, E>) {
        // At least one table of each kind, so that an empty table has its columns.
        if self.sink.wants(MESSAGES) {
            let begun: Vec<_> = records.messages.iter().chain(&records.unfinished).collect();
            for piece in begun.chunks(ROWS).chain(begun.is_empty().then_some(&[][..])) {
                self.sink.take(rows.messages(piece.iter().copied()));
            }
        }
        if self.sink.wants(FLOWS) {
            for piece in records.flows.chunks(ROWS).chain(records.flows.is_empty().then_some(&[][..])) {
                self.sink.take(rows.flows(piece.iter()));
            }
        }
    }
}

/// Hands over the final rows of a network, or of all its partitions between two windows; returns the flows that may be
/// freed.
pub(super) fn hand_over_of<E: Edge>(
    networks: &mut [&mut Network<E>],
    now: Time,
    scenario: &Scenario,
    specs: &Pages<FlowSpec>,
    streaming: &mut Streaming,
    totals: &mut GroupTotals,
) -> Vec<FlowId> {
    let mut under_way = Vec::new();
    for network in &mut *networks {
        streaming.collect(&mut network.shared.records.flows);
        under_way.append(&mut network.flows_of_packets(now));
    }
    let all: Vec<&Network<E>> = networks.iter().map(|network| &**network).collect();
    let rows = Rows { scenario, topology: &all[0].topology, specs, networks: &all };
    let over = streaming.hand_over(now, under_way, &rows, totals);
    networks.iter_mut().for_each(|network| over.iter().for_each(|&flow| network.let_go(flow)));
    over
}

impl<E: Edge> Network<E> {
    /// The flows of all existing packets, and of all packets that a mechanism may recreate.
    pub fn flows_of_packets(&self, now: Time) -> Vec<u32> {
        let packets = self.shared.packets.handles().into_iter().map(|packet| &self.shared.packets[packet]);
        let of_flow = |packet: &Packet| (packet.transport != Transport::None).then_some(packet.flow.0);
        let mut flows: Vec<u32> = packets.filter_map(of_flow).collect();
        self.switches.iter().for_each(|switch| switch.each_copy(now, &mut |packet| flows.extend(of_flow(packet))));
        flows
    }

    /// Frees a flow without remaining packets, after its counters have been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        self.shared.services.let_go(flow);
        self.shared.drops.let_go(flow);
        self.shared.records.let_go(flow);
        if let Some(order) = &mut self.shared.order {
            order.let_go(flow);
        }
        if let Some(capture) = &mut self.shared.capture {
            capture.let_go(flow);
        }
    }
}
