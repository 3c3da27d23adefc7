//! Handing over flows and messages while a run goes on, so that what has ended takes no memory.
//!
//! Now and then, between two events or two windows, the two ends of each flow are joined, and what nothing will change
//! any more leaves the run in the order of the tables. A flow of which a packet exists stays: the packet may be lost,
//! and is then counted for it. What is known of a flow elsewhere is let go with it.

use std::collections::BTreeSet;

use hitless_core::engine::Pages;
use hitless_core::wire::{FlowId, Packet, Time, Transport};
use hitless_hosts::{Complete, FlowRecords};
use hitless_scenario::Scenario;
use hitless_scenario::workload::FlowSpec;

use super::edge::Edge;
use super::group_totals::GroupTotals;
use super::network::Network;
use super::rows::Rows;
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

    /// Hands over what is known for good of all that ended before `now`; returns the flows that may be let go.
    /// `under_way` are the flows of the packets that exist.
    pub fn hand_over<E>(
        &mut self,
        now: Time,
        mut under_way: Vec<u32>,
        rows: &Rows<'_, E>,
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

    fn send<E>(&mut self, complete: &Complete, rows: &Rows<'_, E>) {
        let messages = complete.messages.chunks(ROWS).map(|records| rows.messages(records.iter()));
        messages.for_each(|table| self.sink.take(table));
        let flows = complete.flows.chunks(ROWS).map(|records| rows.flows(records.iter()));
        flows.for_each(|table| self.sink.take(table));
    }

    /// The run is over, and these are all the records that are left.
    pub fn finish<E>(&mut self, records: &FlowRecords, rows: &Rows<'_, E>) {
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

/// Hands over what has ended in a network, or in all partitions of it between two windows; returns the flows that may
/// be let go.
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
