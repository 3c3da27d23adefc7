//! The MAC of a port, and the ports of the switch, as a hook sees them.

use hitless_core::wire::mac_control::ORDERED_SET_BYTES;
use hitless_core::wire::{Duration, OrderedSet, Packet, PortId, QueueId};

use super::visit::Reach;
use crate::core::Core;
use crate::environment::SwitchEvent;
use crate::outbox::{Effects, Output};
use crate::port::MacCounters;
use crate::queueing::QueueLimit;

/// The MAC of a port.
pub struct MacAccess<'c, 'a> {
    pub(super) reach: &'c mut Reach<'a>,
    pub(super) port: PortId,
}

impl MacAccess<'_, '_> {
    /// What it has counted: what the control plane reads.
    pub fn counters(self) -> MacCounters {
        self.reach.core.ports[usize::from(self.port.0)].mac()
    }

    /// How long so many bytes, and nothing beside them, take on the line.
    pub fn line_time(self, bytes: u32) -> Duration {
        self.reach.core.ports[usize::from(self.port.0)].config.rate.time_for(u64::from(bytes))
    }

    /// A packet that is nobody's enters ingress as if it had come in by the port: one that the hardware of the port has
    /// made. Or one of a packet generator that is to be routed like any other, as a notice to a sender.
    pub fn emit_at_ingress(self, packet: Packet) {
        let Self { reach, port } = self;
        let packet = reach.insert(Packet { owner: 0, role: 0, ingress_port: port, ..packet });
        reach.outbox.schedule(reach.visit.now, SwitchEvent::Loopback { port, packet });
    }

    /// Sends a control ordered set as soon as the line is free; what waits at the port leaves that much later.
    pub fn send_ordered_set(self, set: OrderedSet) {
        let Self { reach, port } = self;
        let time = reach.core.ports[usize::from(port.0)].config.rate.time_for(u64::from(ORDERED_SET_BYTES));
        let scheduler = reach.core.queued(port);
        let last_bit_at = scheduler.busy_until.max(reach.visit.now) + time;
        scheduler.busy_until = last_bit_at;
        reach.outbox.outputs.push(Output::OrderedSet { port, set, last_bit_at });
    }
}

/// The ports of the switch, as they are configured.
pub struct Ports<'c> {
    pub(super) core: &'c Core,
}

impl<'c> Ports<'c> {
    /// How many there are, recirculation ports included.
    pub fn count(&self) -> u16 {
        self.core.ports.len() as u16
    }

    /// Whether the partner of a port is a switch.
    #[inline]
    pub fn faces_switch(&self, port: PortId) -> bool {
        self.core.ports[usize::from(port.0)].config.faces_switch
    }

    /// Those whose partner is a switch.
    pub fn facing_switches(&self) -> impl Iterator<Item = PortId> + 'c {
        let core = self.core;
        let faces_switch = |&port: &PortId| core.ports[usize::from(port.0)].config.faces_switch;
        (0..self.count()).map(PortId).filter(faces_switch)
    }

    /// The queue of a traffic class at a port.
    #[inline]
    pub fn class_queue(&self, port: PortId, class: u8) -> QueueId {
        self.core.ports[usize::from(port.0)].config.class_queue[usize::from(class & 7)]
    }

    /// The limit of a queue of a port's own, if it has one in bytes.
    #[inline]
    pub fn queue_limit_bytes(&self, port: PortId, queue: QueueId) -> Option<u64> {
        match self.core.ports[usize::from(port.0)].config.queues.get(usize::from(queue.0))?.limit {
            QueueLimit::Bytes(bytes) => Some(bytes),
            QueueLimit::Unlimited | QueueLimit::Packets(_) => None,
        }
    }
}
