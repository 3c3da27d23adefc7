//! Sums over the flows of a group for each interval: goodput, and retransmissions.

use hitless_core::engine::Pages;
use hitless_core::wire::{Duration, Time};
use hitless_scenario::FlowGroup;
use hitless_scenario::workload::FlowSpec;

use super::active::ActiveFlows;
use super::counts::Counts;
use crate::results::Table;
use crate::run::fabric::Fabric;

/// Periodic sampler of a group's sums.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct GroupSampler {
    #[configured]
    group: usize,
    #[configured]
    pub period: Duration,
    active: ActiveFlows,
    /// Numbers of sender and receiver records already added, by partition.
    records_seen: Vec<(usize, usize)>,
    /// Sums over the flows that have ended.
    ended: Counts,
    /// All sums at the last sample.
    before: Counts,
    /// Sums over each interval, with the time of its end.
    samples: Vec<(Time, Counts)>,
}

impl GroupSampler {
    pub fn new(group: usize, period: Duration) -> Self {
        let (active, records_seen, ended, before) = Default::default();
        Self { group, period, active, records_seen, ended, before, samples: Vec::new() }
    }

    /// Adds the remaining records of ended flows; call it before the records are handed over.
    pub fn add_ended(&mut self, network: &impl Fabric) {
        network.add_ended(self.group, &mut self.records_seen, &mut self.ended);
        self.records_seen.clear();
    }

    /// Takes a sample; `specs` lists all started flows.
    pub fn sample(&mut self, now: Time, network: &impl Fabric, specs: &Pages<FlowSpec>) {
        network.add_ended(self.group, &mut self.records_seen, &mut self.ended);
        let mut total = self.ended;
        for &flow in self.active.of_group(self.group, network, specs) {
            let (sender, delivered) = network.progress(flow);
            sender.iter().for_each(|progress| total.add(Counts::of_sender(&progress.sender)));
            total.add(Counts::of_receiver(delivered.unwrap_or(0)));
        }
        self.samples.push((now, total.since(&self.before)));
        self.before = total;
    }
}

pub(super) fn table<'a>(samplers: &'a [GroupSampler], groups: &[FlowGroup]) -> Table {
    let of_sampler =
        |sampler: &'a GroupSampler| sampler.samples.iter().map(|&(at, counts)| (sampler.group, at, counts));
    let rows: Vec<_> = samplers.iter().flat_map(of_sampler).collect();
    let table = Table::new("goodput").time("time_ps", &rows, |row| row.1);
    let table = table.text("group", &rows, |&(group, ..)| groups[group].name.clone());
    let names = Counts::NAMES.into_iter().enumerate();
    names.fold(table, |table, (place, name)| table.unsigned(name, &rows, |row| row.2.0[place]))
}
