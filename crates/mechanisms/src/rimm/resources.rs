//! What RIMM takes of a switch.

use hitless_switch::{RegisterUse, Resources};

/// Messages go to any neighbour, by `message_ways` queues: its own, or that of the class of the packet that set it off.
pub(super) fn resources(registers: impl Iterator<Item = RegisterUse>, message_ways: u64) -> Resources {
    let mut resources = Resources::new("rimm");
    resources.registers.extend(registers);
    resources.mirror_sessions = message_ways;
    resources
        .not_counting("the hash of a flow, and the minimum over the QDM table")
        .not_counting("the table of which neighbours send a packet back, and of links that are up")
        .not_counting("the line bandwidth and the neighbours' buffers that detours take")
}
