//! Queues that both ends of a link request from their switch.

use hitless_core::wire::{PortId, QueueId};
use hitless_switch::{Needs, QueueConfig};

/// Priority above normal traffic: repairs must not wait for the traffic that they repair.
pub const REPAIR_PRIORITY: u8 = 200;
/// Priority below all traffic: dummies and acknowledgements only fill gaps.
pub const FILLER_PRIORITY: u8 = 1;

pub(crate) fn request_queue(port: PortId, config: QueueConfig, counts: &mut [usize], wanted: &mut Needs) -> QueueId {
    let count = &mut counts[usize::from(port.0)];
    assert!(*count <= usize::from(u8::MAX), "the queues of a port are numbered by 8 bits");
    let queue = QueueId(*count as u8);
    *count += 1;
    wanted.queues.push((port, config));
    queue
}
