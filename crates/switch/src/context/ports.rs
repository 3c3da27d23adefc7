//! The MAC of a port and the configured ports, as a hook sees them.

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
    /// Returns the counters that the control plane reads.
    pub fn counters(self) -> MacCounters {
        self.reach.core.ports[usize::from(self.port.0)].mac()
    }

    /// Returns the transmission time of this many bytes, without any overhead.
    pub fn line_time(self, bytes: u32) -> Duration {
        self.reach.core.ports[usize::from(self.port.0)].config.rate.time_for(u64::from(bytes))
    }

    /// Puts a packet without an owner into ingress as if it had come in on this port. Use it for packets made by the
    /// port's hardware, and for generated packets that must be routed normally, such as a notification to a sender.
    pub fn emit_at_ingress(self, packet: Packet) {
        let Self { reach, port } = self;
        let packet = reach.insert(Packet { owner: 0, role: 0, ingress_port: port, ..packet });
        reach.outbox.schedule(reach.visit.now, SwitchEvent::Loopback { port, packet });
    }

    /// Sends a control ordered set as soon as the line is free; packets waiting at the port leave later by its
    /// transmission time.
    pub fn send_ordered_set(self, set: OrderedSet) {
        let Self { reach, port } = self;
        let time = reach.core.ports[usize::from(port.0)].config.rate.time_for(u64::from(ORDERED_SET_BYTES));
        let scheduler = reach.core.queued(port);
        let last_bit_at = scheduler.busy_until.max(reach.visit.now) + time;
        // The ordered set occupies the line like a frame.
        scheduler.busy_until = last_bit_at;
        reach.outbox.outputs.push(Output::OrderedSet { port, set, last_bit_at });
    }
}

/// The ports of the switch, as configured.
pub struct Ports<'c> {
    pub(super) core: &'c Core,
}

impl<'c> Ports<'c> {
    /// Returns the number of ports, including recirculation ports.
    pub fn count(&self) -> u16 {
        self.core.ports.len() as u16
    }

    /// Returns whether the link partner of a port is a switch.
    #[inline]
    pub fn faces_switch(&self, port: PortId) -> bool {
        self.core.ports[usize::from(port.0)].config.faces_switch
    }

    /// Returns the ports with a switch as link partner.
    pub fn facing_switches(&self) -> impl Iterator<Item = PortId> + 'c {
        let core = self.core;
        let faces_switch = |&port: &PortId| core.ports[usize::from(port.0)].config.faces_switch;
        (0..self.count()).map(PortId).filter(faces_switch)
    }

    /// Returns the queue of a traffic class at a port.
    #[inline]
    pub fn class_queue(&self, port: PortId, class: u8) -> QueueId {
        self.core.ports[usize::from(port.0)].config.class_queue[usize::from(class & 7)]
    }

    /// Returns the limit in bytes of a configured queue, if it has one.
    #[inline]
    pub fn queue_limit_bytes(&self, port: PortId, queue: QueueId) -> Option<u64> {
        match self.core.ports[usize::from(port.0)].config.queues.get(usize::from(queue.0))?.limit {
            QueueLimit::Bytes(bytes) => Some(bytes),
            QueueLimit::Unlimited | QueueLimit::Packets(_) => None,
        }
    }
}
