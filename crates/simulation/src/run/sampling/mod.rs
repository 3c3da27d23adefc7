//! Samplers: the quantities that the control plane polls during a run.

mod active;
mod counters;
mod counts;
mod flows;
mod groups;
mod occupancy;

use hitless_core::engine::Pages;
use hitless_core::wire::{Duration, Time};
use hitless_scenario::network::topology::Topology;
use hitless_scenario::workload::FlowSpec;
use hitless_scenario::{FlowGroup, Scenario};

use super::fabric::Fabric;
use crate::results::Table;
use counters::CounterSampler;
pub(super) use counts::Counts;
use flows::FlowSampler;
use groups::GroupSampler;

/// All samplers of a run, numbered in this order: counters, flows, groups of flows.
#[derive(hitless_core::state::State)]
pub(super) struct Samplers {
    #[part]
    counters: Vec<CounterSampler>,
    #[part]
    flows: Vec<FlowSampler>,
    #[part]
    groups: Vec<GroupSampler>,
}

impl Samplers {
    /// The samplers that `scenario` requests.
    ///
    /// # Errors
    /// If a name matches no port or link, which cannot happen in a checked scenario; the message is a sentence.
    pub fn new(scenario: &Scenario, topology: &Topology) -> Result<Self, String> {
        let group = |name: &str| scenario.flows.iter().position(|group| group.name == name);
        let flows = scenario.measure.flow.iter();
        let goodput = scenario.measure.goodput.iter();
        Ok(Self {
            counters: counters::samplers(scenario, topology)?,
            flows: flows.filter_map(|entry| Some(FlowSampler::new(group(&entry.group)?, entry.period))).collect(),
            groups: goodput.filter_map(|entry| Some(GroupSampler::new(group(&entry.group)?, entry.period))).collect(),
        })
    }

    pub fn start<F: Fabric>(&self, network: &mut F) {
        for number in 0..self.counters.len() + self.flows.len() + self.groups.len() {
            self.schedule(number, Time::ZERO, network);
        }
    }

    /// Takes a sample; `specs` lists all flows started so far.
    pub fn sample<F: Fabric>(&mut self, now: Time, number: usize, network: &mut F, specs: &Pages<FlowSpec>) {
        let (counters, flows) = (self.counters.len(), self.flows.len());
        if number < counters {
            self.counters[number].sample(now, network);
        } else if number < counters + flows {
            self.flows[number - counters].sample(now, network, specs);
        } else {
            self.groups[number - counters - flows].sample(now, network, specs);
        }
        self.schedule(number, now, network);
    }

    /// Prepares the samplers for the removal of the records of ended flows.
    pub fn add_ended<F: Fabric>(&mut self, network: &F) {
        self.groups.iter_mut().for_each(|sampler| sampler.add_ended(network));
    }

    fn period(&self, number: usize) -> Duration {
        let (counters, flows) = (self.counters.len(), self.flows.len());
        match number {
            _ if number < counters => self.counters[number].period,
            _ if number < counters + flows => self.flows[number - counters].period,
            _ => self.groups[number - counters - flows].period,
        }
    }

    fn schedule<F: Fabric>(&self, number: usize, now: Time, network: &mut F) {
        network.schedule_sample(now + self.period(number), number as u32);
    }

    pub fn tables(&self, groups: &[FlowGroup]) -> [Table; 5] {
        [
            flows::table(&self.flows, groups),
            groups::table(&self.groups, groups),
            counters::queues(&self.counters),
            counters::occupancy(&self.counters),
            counters::throughput(&self.counters),
        ]
    }
}
