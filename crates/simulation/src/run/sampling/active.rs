//! The flows of a group that have not ended.

use hitless_scenario::workload::FlowSpec;
use hitless_wire::FlowId;

use crate::run::fabric::Fabric;

/// Flows that had not ended when last looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveFlows {
    flows: Vec<FlowId>,
    /// How many flows of the run have been looked at.
    seen: usize,
}

hitless_state::value!(ActiveFlows { flows, seen });

impl ActiveFlows {
    /// The flows of `group` that have not ended, in the order in which they started; `specs` are all that have started.
    pub fn of_group(&mut self, group: usize, network: &impl Fabric, specs: &[FlowSpec]) -> &[FlowId] {
        debug_assert!(self.seen <= specs.len(), "a flow that had started is gone");
        let new = (self.seen as u32..).zip(&specs[self.seen..]).filter(|(_, spec)| spec.group == group);
        self.flows.extend(new.map(|(number, _)| FlowId(number)));
        self.seen = specs.len();
        self.flows.retain(|&flow| !network.has_ended(flow));
        &self.flows
    }
}
