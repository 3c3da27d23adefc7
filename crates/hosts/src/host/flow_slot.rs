//! The place of a flow in the table of all flows.

use super::connection::Connection;
use crate::application::FlowConfig;

/// A flow's place in the table: 16 bytes, whatever the flow is doing.
#[derive(Clone, Debug)]
pub enum FlowSlot {
    /// Not started.
    Waiting(Box<FlowConfig>),
    /// Under way.
    Active(Box<Connection>),
    /// Over, or between hosts of other partitions; packets of it may still be under way.
    Ended,
}

hitless_state::value!(
    enum FlowSlot {
        Waiting(waiting),
        Active(active),
        Ended,
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_flows_that_are_not_active_take_little_memory() {
        assert_eq!(size_of::<FlowSlot>(), 16);
        assert!(size_of::<FlowConfig>() <= 112, "{}", size_of::<FlowConfig>());
        assert!(size_of::<Connection>() <= 1_024, "{}", size_of::<Connection>());
    }
}
