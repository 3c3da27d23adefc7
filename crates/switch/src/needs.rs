//! What a mechanism needs of the ports of its switch.

use hitless_core::wire::PortId;

use crate::hook_set::HookSet;
use crate::queueing::{QueueConfig, QueueGroup, QueueOrder};

/// What a mechanism needs of the ports of its switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    /// Hooks per port.
    pub hooks: Vec<(PortId, HookSet)>,
    /// Queues that must exist besides those of the port's own configuration. Queues are numbered in the order in
    /// which they are asked for, after those of the configuration.
    pub queues: Vec<(PortId, QueueConfig)>,
    /// Ports of which the queues of the port's own configuration are served in that order.
    pub orders: Vec<(PortId, QueueOrder)>,
    /// Groups of queues, one for a port at most; their queues are numbered after all others of the port.
    pub groups: Vec<(PortId, QueueGroup)>,
}
