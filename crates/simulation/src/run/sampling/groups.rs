//! What the flows of a group did in each interval, together: goodput, and what was sent again for it.

use hitless_hosts::transport::SenderStatistics;
use hitless_hosts::{FlowProgress, FlowRecord, Hosts};
use hitless_scenario::FlowGroup;
use hitless_scenario::workload::FlowSpec;
use hitless_wire::{Duration, Time};

use super::active::ActiveFlows;
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
    active: ActiveFlows,
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
        let (active, ended, before) = Default::default();
        Self { group, period, active, records_seen: 0, ended, before, samples: Vec::new() }
    }

    /// Takes a sample; `records` are those of all flows that have ended, `specs` all flows that have started.
    pub fn sample(&mut self, now: Time, hosts: &Hosts, records: &[FlowRecord], specs: &[FlowSpec]) {
        let group = self.group;
        for record in records[self.records_seen..].iter().filter(|record| record.tag as usize == group) {
            self.ended.add(Counts::of_record(record));
        }
        self.records_seen = records.len();
        let mut total = self.ended;
        let active = self.active.of_group(group, hosts, specs).iter().filter_map(|&flow| hosts.progress(flow));
        active.for_each(|progress| total.add(Counts::of_progress(&progress)));
        self.samples.push((now, total.since(&self.before)));
        self.before = total;
    }
}

/// The table of samples.
pub(super) fn table(samplers: &[GroupSampler], groups: &[FlowGroup]) -> Table {
    let of_sampler = |sampler: &GroupSampler| {
        let group = sampler.group;
        sampler.samples.iter().map(move |&(at, counts)| (group, at, counts)).collect::<Vec<_>>()
    };
    let rows: Vec<_> = samplers.iter().flat_map(of_sampler).collect();
    Table::new("goodput")
        .time("time_ps", &rows, |row| row.1)
        .text("group", &rows, |&(group, ..)| groups[group].name.clone())
        .unsigned("delivered_bytes", &rows, |row| row.2.delivered_bytes)
        .unsigned("packets_sent", &rows, |row| row.2.packets_sent)
        .unsigned("packets_retransmitted", &rows, |row| row.2.packets_retransmitted)
        .unsigned("timeouts", &rows, |row| row.2.timeouts)
        .unsigned("congestion_echoes", &rows, |row| row.2.congestion_echoes)
}
