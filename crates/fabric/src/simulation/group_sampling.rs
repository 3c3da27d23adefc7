//! What the flows of a group did in each interval, together: goodput, and what was sent again for it.

use hitless_hosts::transport::SenderStatistics;
use hitless_hosts::{FlowProgress, FlowRecord};
use hitless_wire::{Duration, FlowId, Time};

use super::Simulation;
use crate::results::Table;

/// What is counted, over all flows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    delivered_bytes: u64,
    packets_sent: u64,
    packets_retransmitted: u64,
    timeouts: u64,
    congestion_echoes: u64,
}

impl Counts {
    fn of(delivered_bytes: u64, sender: &SenderStatistics) -> Self {
        Self {
            delivered_bytes,
            packets_sent: sender.packets_sent,
            packets_retransmitted: sender.packets_retransmitted,
            timeouts: sender.timeouts,
            congestion_echoes: sender.congestion_echoes,
        }
    }

    fn of_progress(progress: &FlowProgress) -> Self {
        Self::of(progress.delivered_bytes, &progress.sender)
    }

    fn of_record(record: &FlowRecord) -> Self {
        Self::of(record.bytes_delivered, &record.sender)
    }

    fn add(&mut self, other: Counts) {
        self.delivered_bytes += other.delivered_bytes;
        self.packets_sent += other.packets_sent;
        self.packets_retransmitted += other.packets_retransmitted;
        self.timeouts += other.timeouts;
        self.congestion_echoes += other.congestion_echoes;
    }

    fn since(&self, before: &Counts) -> Counts {
        Counts {
            delivered_bytes: self.delivered_bytes - before.delivered_bytes,
            packets_sent: self.packets_sent - before.packets_sent,
            packets_retransmitted: self.packets_retransmitted - before.packets_retransmitted,
            timeouts: self.timeouts - before.timeouts,
            congestion_echoes: self.congestion_echoes - before.congestion_echoes,
        }
    }
}

/// A group of flows whose counts are taken periodically.
#[derive(Clone, Debug)]
pub(super) struct GroupSampler {
    group: usize,
    pub period: Duration,
    /// Flows that had not ended at the last sample.
    flows: Vec<FlowId>,
    /// Records of ended flows that have been looked at.
    records_seen: usize,
    /// What flows counted that have ended.
    ended: Counts,
    /// All counts at the last sample.
    before: Counts,
    /// What was counted in the interval that ended at each time.
    samples: Vec<(Time, Counts)>,
}

impl GroupSampler {
    pub fn new(group: usize, period: Duration) -> Self {
        let (ended, before) = Default::default();
        Self { group, period, flows: Vec::new(), records_seen: 0, ended, before, samples: Vec::new() }
    }

    /// A flow of `group` has been added.
    pub fn add(&mut self, flow: FlowId, group: usize) {
        if group == self.group {
            self.flows.push(flow);
        }
    }

    /// Counts in what ended since the last sample.
    fn close(&mut self, records: &[FlowRecord]) {
        let group = self.group;
        for record in records[self.records_seen..].iter().filter(|record| record.tag as usize == group) {
            self.ended.add(Counts::of_record(record));
        }
        self.records_seen = records.len();
    }
}

impl Simulation {
    pub(super) fn sample_group(&mut self, now: Time, number: usize) {
        let Some(sampler) = self.group_samplers.get_mut(number) else { return };
        let hosts = &self.hosts;
        sampler.close(&self.medium.records.flows);
        sampler.flows.retain(|&flow| !hosts.has_ended(flow));
        let mut total = sampler.ended;
        let active = sampler.flows.iter().filter_map(|&flow| hosts.progress(flow));
        active.for_each(|progress| total.add(Counts::of_progress(&progress)));
        sampler.samples.push((now, total.since(&sampler.before)));
        sampler.before = total;
    }

    pub(super) fn goodput(&self) -> Table {
        let of_sampler = |sampler: &GroupSampler| {
            let group = sampler.group;
            sampler.samples.iter().map(move |&(at, counts)| (group, at, counts)).collect::<Vec<_>>()
        };
        let rows: Vec<_> = self.group_samplers.iter().flat_map(of_sampler).collect();
        Table::new("goodput")
            .time("time_ps", &rows, |row| row.1)
            .text("group", &rows, |&(group, ..)| self.scenario.flows[group].name.clone())
            .unsigned("delivered_bytes", &rows, |row| row.2.delivered_bytes)
            .unsigned("packets_sent", &rows, |row| row.2.packets_sent)
            .unsigned("packets_retransmitted", &rows, |row| row.2.packets_retransmitted)
            .unsigned("timeouts", &rows, |row| row.2.timeouts)
            .unsigned("congestion_echoes", &rows, |row| row.2.congestion_echoes)
    }
}
