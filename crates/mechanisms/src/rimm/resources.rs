//! What RIMM takes of a switch.

use hitless_switch::Resources;

use super::Rimm;

pub(super) fn resources(rimm: &Rimm) -> Resources {
    let mut resources = Resources::new("rimm");
    let relieves = !rimm.config.watched.is_empty();
    if relieves {
        resources.registers.extend(rimm.detector.stated());
        resources.registers.extend(rimm.alarms.stated());
        resources.registers.extend(rimm.sequencer.stated());
    }
    rimm.monitor.stated().for_each(|register| resources.add_register(register));
    // Messages go to any neighbour: to its own queue, or to that of the class of the packet that set it off.
    let queues = |port: usize| rimm.message_queues[port].map_or(rimm.class_queues[port], |_| 1);
    let ways = rimm.config.neighbours.iter().map(|neighbour| queues(usize::from(neighbour.port.0)) as u64);
    resources.mirror_sessions = if relieves { ways.sum() } else { 0 };
    resources
        .not_counting("the hash of a flow, and the minimum over the QDM table")
        .not_counting("the table of which neighbours send a packet back, and of links that are up")
        .not_counting("the line bandwidth and the neighbours' buffers that detours take")
}
