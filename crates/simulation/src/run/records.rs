//! Records of flows, and the services that flows belong to.

use std::collections::BTreeMap;

use hitless_core::engine::Pages;
use hitless_core::wire::{FlowId, ServiceKey, Time};
use hitless_hosts::FlowRecords;
use hitless_scenario::FlowGroup;

/// The services of flows.
#[derive(hitless_core::state::State)]
pub(super) struct Services {
    /// By group of flows; empty if no group has a service.
    #[configured]
    of_groups: Vec<ServiceKey>,
    /// By flow.
    of_flows: Pages<ServiceKey>,
}

impl Services {
    pub fn new(groups: &[FlowGroup]) -> Self {
        let of_groups: Vec<_> = groups.iter().map(|group| ServiceKey { port: group.port, vlan: group.vlan }).collect();
        let is_empty = of_groups.iter().all(|&key| key == ServiceKey::default());
        Self { of_groups: if is_empty { Vec::new() } else { of_groups }, of_flows: Pages::default() }
    }

    /// Adds the next flow, which belongs to this group.
    pub fn add_flow(&mut self, group: usize) {
        if let Some(&key) = self.of_groups.get(group) {
            self.of_flows.push(key);
        }
    }

    /// Frees a flow without remaining packets.
    pub fn let_go(&mut self, flow: FlowId) {
        self.of_flows.let_go(flow.0 as usize);
    }

    pub fn of_group(&self, group: usize) -> ServiceKey {
        self.of_groups.get(group).copied().unwrap_or_default()
    }

    pub fn of(&self, flow: FlowId) -> ServiceKey {
        self.of_flows.get(flow.0 as usize).copied().unwrap_or_default()
    }
}

/// Records of a run's flows.
#[derive(Default, hitless_core::state::State)]
pub(super) struct Records {
    /// Records of flows, of their ends and of messages.
    pub flows: FlowRecords,
    /// Number of flows that have ended.
    pub flows_ended: u64,
    /// When the last of them ended.
    pub last_ended: Time,
    /// By group: whether flows start when others of the group end. Empty for a run without such groups.
    #[configured]
    pub has_followers: Vec<bool>,
    /// Flows of these groups that have just ended, and when they did.
    pub ended_in_loops: Vec<(FlowId, Time)>,
    /// By flow: frames lost on failed links.
    lost_to_failures: BTreeMap<u32, u64>,
}

impl Records {
    /// Counts a flow of this group that has ended.
    pub fn note_ended(&mut self, group: u32, flow: FlowId, at: Time) {
        self.flows_ended += 1;
        self.last_ended = self.last_ended.max(at);
        if let Some(true) = self.has_followers.get(group as usize) {
            self.ended_in_loops.push((flow, at));
        }
    }

    /// Adds the records of another partition.
    pub fn merge(&mut self, other: Self) {
        let Self { flows, flows_ended, last_ended, lost_to_failures, .. } = other;
        self.flows.merge(flows);
        self.flows_ended += flows_ended;
        self.last_ended = self.last_ended.max(last_ended);
        lost_to_failures.into_iter().for_each(|(flow, count)| *self.lost_to_failures.entry(flow).or_default() += count);
    }

    /// Counts a frame of `flow` lost on a failed link.
    pub fn note_lost_to_failure(&mut self, flow: FlowId) {
        *self.lost_to_failures.entry(flow.0).or_default() += 1;
    }

    /// Number of frames of `flow` lost on failed links.
    pub fn lost_to_failures(&self, flow: FlowId) -> u64 {
        self.lost_to_failures.get(&flow.0).copied().unwrap_or(0)
    }

    /// Frees a flow that has been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        self.lost_to_failures.remove(&flow.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_the_service_of_its_flow() {
        let text = include_str!("../../../mechanisms/tests/scenario/failures.toml");
        let groups = hitless_scenario::check(text, "failures", hitless_mechanisms::builtin())
            .expect("the scenario is sound")
            .flows;
        let mut services = Services::new(&groups);
        assert_eq!(services.of(FlowId(0)), ServiceKey::default(), "a switch's own packet before any flow");
        services.add_flow(0);
        assert_eq!(services.of(FlowId(0)), ServiceKey { port: 5001, vlan: 10 });
        let mut none = Services::new(&[FlowGroup { port: 0, vlan: 0, ..groups[0].clone() }]);
        none.add_flow(0);
        assert!(none.of_flows.is_empty());
    }
}
