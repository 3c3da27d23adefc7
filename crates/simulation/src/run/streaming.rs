//! Handing over flows and messages while a run goes on, so that what has ended takes no memory.
//!
//! Now and then, between two events or two windows, the two ends of each flow are joined, and what nothing will change
//! any more leaves the run in the order of the tables. A flow of which a packet exists stays: the packet may be lost,
//! and is then counted for it. What is known of a flow elsewhere is let go with it.

use std::collections::BTreeSet;
use std::sync::MutexGuard;

use hitless_engine::Pages;
use hitless_hosts::{Complete, FlowRecords};
use hitless_network::topology::Topology;
use hitless_scenario::Scenario;
use hitless_scenario::workload::FlowSpec;
use hitless_wire::{FlowId, Packet, Time, Transport};

use super::drops::Lost;
use super::edge::{Closed, Edge};
use super::group_totals::GroupTotals;
use super::network::Network;
use super::order::FlowVerdict;
use super::partitions::Partition;
use super::rows::{CountedOfFlows, Rows};
use crate::results::RowSink;

/// Rows that are handed over at once, at most.
const ROWS: usize = 1 << 15;

/// What a run hands over, and what of it waits.
pub(super) struct Streaming {
    sink: Box<dyn RowSink>,
    pub waiting: FlowRecords,
    /// They are looked through when there are so many.
    records: usize,
    /// Records that were left when they were last looked through.
    left: usize,
    /// Messages that were handed over.
    messages: usize,
}

impl Streaming {
    pub fn new(sink: Box<dyn RowSink>, records: usize) -> Self {
        Self { sink, waiting: FlowRecords::default(), records, left: 0, messages: 0 }
    }

    /// Whether there is enough to look through, with so many records that are new.
    pub fn is_due(&self, new: usize) -> bool {
        new + self.waiting.len() >= self.records.max(2 * self.left)
    }

    /// Takes over what a network, or a partition of it, has recorded.
    pub fn collect(&mut self, records: &mut FlowRecords) {
        self.waiting.merge(std::mem::take(records));
    }

    /// Complete messages that have left the run, or wait here.
    pub fn messages(&self) -> usize {
        self.messages + self.waiting.messages.len()
    }

    /// Hands over what is known for good of all that ended before `now`; answers the flows that may be let go.
    /// `under_way` are the flows of the packets that exist.
    pub fn hand_over(
        &mut self,
        now: Time,
        mut under_way: Vec<u32>,
        rows: &Rows<'_>,
        totals: &mut GroupTotals,
    ) -> Vec<FlowId> {
        under_way.sort_unstable();
        let complete = self.waiting.take_complete(now, |flow| under_way.binary_search(&flow.0).is_ok());
        self.left = self.waiting.len();
        self.messages += complete.messages.len();
        complete.flows.iter().for_each(|flow| totals.add(rows.scenario, flow));
        self.send(&complete, rows);
        // The rows of messages that will never be complete come last, and need what is known of their flows.
        let needed: BTreeSet<FlowId> = self.waiting.unfinished.iter().map(|message| message.flow).collect();
        complete.flows.iter().map(|record| record.flow).filter(|flow| !needed.contains(flow)).collect()
    }

    fn send(&mut self, complete: &Complete, rows: &Rows<'_>) {
        let messages = complete.messages.chunks(ROWS).map(|records| rows.messages(records.iter()));
        messages.for_each(|table| self.sink.take(table));
        let flows = complete.flows.chunks(ROWS).map(|records| rows.flows(records.iter()));
        flows.for_each(|table| self.sink.take(table));
    }

    /// The run is over, and these are all the records that are left.
    pub fn finish(&mut self, records: &FlowRecords, rows: &Rows<'_>) {
        let begun: Vec<_> = records.messages.iter().chain(&records.unfinished).collect();
        // At least once, so that a table without rows has its columns.
        for piece in begun.chunks(ROWS).chain(begun.is_empty().then_some(&[][..])) {
            self.sink.take(rows.messages(piece.iter().copied()));
        }
        for piece in records.flows.chunks(ROWS).chain(records.flows.is_empty().then_some(&[][..])) {
            self.sink.take(rows.flows(piece.iter()));
        }
    }
}

/// Hands over what has ended in all partitions, between two windows, if there is enough of it; answers the flows that
/// may be let go.
pub(super) fn hand_over_of(
    partitions: &mut [MutexGuard<'_, Partition>],
    now: Time,
    scenario: &Scenario,
    specs: &Pages<FlowSpec>,
    streaming: &mut Streaming,
    totals: &mut GroupTotals,
) -> Vec<FlowId> {
    let mut under_way = Vec::new();
    for partition in &mut *partitions {
        streaming.collect(&mut partition.network.shared.records.flows);
        under_way.append(&mut partition.network.flows_of_packets(now));
    }
    let networks: Vec<&Network<Closed>> = partitions.iter().map(|partition| &partition.network).collect();
    let topology: &Topology = &networks[0].topology;
    let rows = Rows { scenario, topology, specs, counted: &networks };
    let over = streaming.hand_over(now, under_way, &rows, totals);
    for partition in partitions {
        over.iter().for_each(|&flow| partition.network.let_go(flow));
    }
    over
}

impl<E: Edge> Network<E> {
    /// The flows of all packets that exist, or that a mechanism may bring back.
    pub fn flows_of_packets(&mut self, now: Time) -> Vec<u32> {
        let existing = self.shared.existing();
        let packets = existing.into_iter().map(|packet| &self.shared.packets[packet]);
        let of_flow = |packet: &Packet| (packet.transport != Transport::None).then_some(packet.flow.0);
        let mut flows: Vec<u32> = packets.filter_map(of_flow).collect();
        self.switches.iter().for_each(|switch| switch.each_copy(now, &mut |packet| flows.extend(of_flow(packet))));
        flows
    }

    /// No packet of a flow exists, or will, and what was counted of it has been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        self.shared.services.let_go(flow);
        self.shared.drops.let_go(flow);
        self.shared.records.let_go(flow);
        if let Some(order) = &mut self.shared.order {
            order.let_go(flow);
        }
    }
}

impl<E: Edge> CountedOfFlows for Network<E> {
    fn lost_to_failures(&self, flow: FlowId) -> u64 {
        self.shared.records.lost_to_failures(flow)
    }

    fn dropped(&self, flow: FlowId) -> Lost {
        self.shared.drops.of_flow(flow)
    }

    fn verdict(&self, flow: FlowId) -> Option<FlowVerdict> {
        self.shared.order.as_ref().map(|order| order.verdict(flow))
    }
}

/// Partitions of one run: each has counted what happened in it.
impl CountedOfFlows for Vec<&Network<Closed>> {
    fn lost_to_failures(&self, flow: FlowId) -> u64 {
        self.iter().map(|network| network.lost_to_failures(flow)).sum()
    }

    fn dropped(&self, flow: FlowId) -> Lost {
        self.iter().map(|network| network.dropped(flow)).fold(Lost::default(), Lost::plus)
    }

    fn verdict(&self, _flow: FlowId) -> Option<FlowVerdict> {
        None // a run with the order checker has one partition
    }
}
