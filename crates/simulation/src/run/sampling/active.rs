//! The active flows of a group.

use hitless_core::engine::Pages;
use hitless_core::wire::FlowId;
use hitless_scenario::workload::FlowSpec;

use crate::run::fabric::Fabric;

/// Flows that had not ended at the last sample.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct ActiveFlows {
    flows: Vec<FlowId>,
    /// Number of the run's flows examined so far.
    seen: usize,
}

impl ActiveFlows {
    /// The active flows of `group`, in the order of their starts; `specs` lists all started flows.
    pub fn of_group(&mut self, group: usize, network: &impl Fabric, specs: &Pages<FlowSpec>) -> &[FlowId] {
        debug_assert!(self.seen <= specs.len(), "a flow that had started is gone");
        // A flow freed since the last sample has ended.
        let is_new = |&number: &usize| specs.get(number).is_some_and(|spec| spec.group == group);
        self.flows.extend((self.seen..specs.len()).filter(is_new).map(|number| FlowId(number as u32)));
        self.seen = specs.len();
        self.flows.retain(|&flow| !network.has_ended(flow));
        &self.flows
    }
}
