//! A mechanism's requirements on the ports of its switch.

use hitless_core::wire::PortId;

use crate::hook_set::HookSet;
use crate::queueing::{QueueConfig, QueueGroup, QueueOrder};

/// A mechanism's requirements on the ports of its switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    /// Hooks per port.
    pub hooks: Vec<(PortId, HookSet)>,
    /// Additional queues. Their numbers follow the queues of the port's configuration, in this order.
    pub queues: Vec<(PortId, QueueConfig)>,
    /// Ports where this order replaces the order of the queues of the port's configuration.
    pub orders: Vec<(PortId, QueueOrder)>,
    /// Groups of queues, at most one per port; their queues are numbered after all others of the port.
    pub groups: Vec<(PortId, QueueGroup)>,
    /// Roles of owned packets that skip `egress` and `tx`: the port that serves such a packet sends it at once.
    pub quiet_roles: Vec<u8>,
}
