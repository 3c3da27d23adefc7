//! Samples of how flows get on, for the groups that a scenario asks for.

use hitless_hosts::FlowProgress;
use hitless_wire::{Duration, FlowId, Time};

use super::Simulation;
use crate::results::Table;

/// One flow at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowSample {
    time: Time,
    flow: FlowId,
    progress: FlowProgress,
}

/// A group of flows that is looked at periodically.
#[derive(Clone, Debug)]
pub(super) struct FlowSampler {
    pub group: usize,
    pub period: Duration,
    /// The flows of the group that have not ended when last looked at.
    pub flows: Vec<FlowId>,
    pub samples: Vec<FlowSample>,
}

impl FlowSampler {
    pub fn new(group: usize, period: Duration) -> Self {
        Self { group, period, flows: Vec::new(), samples: Vec::new() }
    }
}

impl Simulation {
    /// A flow has been added.
    pub(super) fn sample_from_now_on(&mut self, flow: FlowId, group: usize) {
        for sampler in self.flow_samplers.iter_mut().filter(|sampler| sampler.group == group) {
            sampler.flows.push(flow);
        }
    }

    pub(super) fn sample_flows(&mut self, now: Time, number: usize) {
        let Some(sampler) = self.flow_samplers.get_mut(number) else { return };
        let hosts = &self.hosts;
        sampler.flows.retain(|&flow| !hosts.has_ended(flow));
        let sample = |&flow: &FlowId| Some(FlowSample { time: now, flow, progress: hosts.progress(flow)? });
        sampler.samples.extend(sampler.flows.iter().filter_map(sample));
    }

    pub(super) fn flow_progress(&self) -> Table {
        let of_sampler = |sampler: &FlowSampler| {
            let group = sampler.group;
            sampler.samples.iter().map(move |&sample| (group, sample)).collect::<Vec<_>>()
        };
        let rows: Vec<_> = self.flow_samplers.iter().flat_map(of_sampler).collect();
        Table::new("flow_progress")
            .time("time_ps", &rows, |(_, row)| row.time)
            .text("group", &rows, |&(group, _)| self.scenario.flows[group].name.clone())
            .unsigned("flow", &rows, |(_, row)| row.flow.0.into())
            .unsigned("cwnd_bytes", &rows, |(_, row)| row.progress.congestion_window_bytes)
            .unsigned("sequence", &rows, |(_, row)| row.progress.sent_bytes)
            .unsigned("acknowledged", &rows, |(_, row)| row.progress.acknowledged_bytes)
            .unsigned("delivered_bytes", &rows, |(_, row)| row.progress.delivered_bytes)
            .unsigned("packets_retransmitted", &rows, |(_, row)| row.progress.packets_retransmitted)
    }
}
