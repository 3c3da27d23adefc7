//! State shared by a context and its handles.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, Packet, PortId, QueueId, Time};

use crate::architecture::DepthVisibility;
use crate::core::Core;
use crate::environment::Tables;
use crate::outbox::{Outbox, Output};
use crate::verdict::Half;

/// The reason for calling hooks: the same for all mechanisms called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub now: Time,
    pub port: PortId,
    pub packet: PacketHandle,
    pub is_last_try: bool,
    /// In egress: when the packet entered its queue, and how many packets waited there.
    pub queued: (Time, u32),
}

/// Everything that a hook can reach.
pub(crate) struct Reach<'a> {
    pub core: &'a mut Core,
    pub outbox: Outbox<'a>,
    pub tables: &'a dyn Tables,
    pub mechanism: u8,
    pub visit: Visit,
}

impl Reach<'_> {
    #[inline]
    pub fn packet(&mut self) -> &mut Packet {
        &mut self.outbox.packets[self.visit.packet]
    }

    /// Adds a packet that a mechanism or a port's hardware has made.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketHandle {
        let handle = self.outbox.packets.insert(packet);
        self.core.packets_created += 1;
        self.outbox.outputs.push(Output::Created(handle));
        handle
    }

    /// Adds a packet of the mechanism for a queue.
    #[inline]
    pub fn create(&mut self, mut packet: Packet, port: PortId, queue: QueueId, role: u8) -> PacketHandle {
        // 0 means that a packet has no owner.
        packet.owner = self.mechanism + 1;
        packet.role = role;
        packet.egress_port = port;
        packet.queue = queue;
        self.insert(packet)
    }

    /// Sends a packet of the mechanism to a queue, `delay` later than the latency from this half to the queue.
    pub fn emit_after(&mut self, delay: Duration, packet: Packet, port: PortId, queue: QueueId, role: u8) {
        let handle = self.create(packet, port, queue, role);
        let latency = match self.core.pass.half() {
            Half::Ingress => self.core.architecture.ingress_latency,
            Half::Egress => self.core.architecture.mirror_latency,
        };
        self.core.send_to_queue(self.visit.now, latency + delay, handle, &mut self.outbox);
    }

    /// Schedules the port's service, for when the line is free, if it has a packet ready.
    pub fn see_to_service(&mut self, port: PortId) {
        self.core.see_to_service(self.visit.now, port, &mut self.outbox);
    }

    /// Checks that the mechanism may read the depth of a queue here.
    #[inline]
    pub fn note_depth_read(&mut self) {
        let visibility = self.core.architecture.depth_visibility;
        let pass = &mut self.core.pass;
        if pass.is_checked() && pass.half() == Half::Ingress && visibility == DepthVisibility::Egress {
            pass.refuse("queue depth", "the depth of a queue is visible in egress only on this architecture");
        }
    }
}
