//! The flows of a group that have not ended.

use hitless_core::engine::Pages;
use hitless_core::wire::FlowId;
use hitless_scenario::workload::FlowSpec;

use crate::run::fabric::Fabric;

/// Flows that had not ended when last looked at.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct ActiveFlows {
    flows: Vec<FlowId>,
    /// How many flows of the run have been looked at.
    seen: usize,
}

impl ActiveFlows {
    /// The flows of `group` that have not ended, in the order in which they started; `specs` are all that have started.
    pub fn of_group(&mut self, group: usize, network: &impl Fabric, specs: &Pages<FlowSpec>) -> &[FlowId] {
        debug_assert!(self.seen <= specs.len(), "a flow that had started is gone");
        // One that was let go meanwhile has ended.
        let is_new = |&number: &usize| specs.get(number).is_some_and(|spec| spec.group == group);
        self.flows.extend((self.seen..specs.len()).filter(is_new).map(|number| FlowId(number as u32)));
        self.seen = specs.len();
        self.flows.retain(|&flow| !network.has_ended(flow));
        &self.flows
    }
}
