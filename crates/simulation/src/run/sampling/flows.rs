//! Samples of the progress of single flows, for the groups that a scenario selects.

use hitless_core::engine::Pages;
use hitless_core::wire::{Duration, FlowId, Time};
use hitless_hosts::FlowProgress;
use hitless_scenario::FlowGroup;
use hitless_scenario::workload::FlowSpec;

use super::active::ActiveFlows;
use crate::results::Table;
use crate::run::fabric::Fabric;

/// The progress of one flow at one time.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct FlowSample {
    time: Time,
    flow: FlowId,
    progress: FlowProgress,
}

/// Periodic sampler of a group's flows.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct FlowSampler {
    #[configured]
    group: usize,
    #[configured]
    pub period: Duration,
    active: ActiveFlows,
    samples: Vec<FlowSample>,
}

impl FlowSampler {
    pub fn new(group: usize, period: Duration) -> Self {
        Self { group, period, active: ActiveFlows::default(), samples: Vec::new() }
    }

    pub fn sample(&mut self, now: Time, network: &impl Fabric, specs: &Pages<FlowSpec>) {
        let flows = self.active.of_group(self.group, network, specs);
        let sample = |&flow: &FlowId| {
            let (sender, delivered) = network.progress(flow);
            let progress = FlowProgress { delivered_bytes: delivered.unwrap_or(0), ..sender? };
            Some(FlowSample { time: now, flow, progress })
        };
        self.samples.extend(flows.iter().filter_map(sample));
    }
}

pub(super) fn table<'a>(samplers: &'a [FlowSampler], groups: &[FlowGroup]) -> Table {
    let of_sampler = |sampler: &'a FlowSampler| sampler.samples.iter().map(|sample| (sampler.group, sample));
    let rows: Vec<_> = samplers.iter().flat_map(of_sampler).collect();
    Table::new("flow_progress")
        .time("time_ps", &rows, |(_, row)| row.time)
        .text("group", &rows, |&(group, _)| groups[group].name.clone())
        .unsigned("flow", &rows, |(_, row)| row.flow.0.into())
        .unsigned("cwnd_bytes", &rows, |(_, row)| row.progress.congestion_window_bytes)
        .unsigned("sequence", &rows, |(_, row)| row.progress.sent_bytes)
        .unsigned("acknowledged", &rows, |(_, row)| row.progress.acknowledged_bytes)
        .unsigned("delivered_bytes", &rows, |(_, row)| row.progress.delivered_bytes)
        .unsigned("packets_retransmitted", &rows, |(_, row)| row.progress.sender.packets_retransmitted)
}
