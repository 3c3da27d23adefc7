//! A queue of a port, as a hook sees it.

use hitless_core::wire::{Duration, Packet, PortId, QueueId};

use super::visit::Reach;
use crate::drop_reason::DropReason;
use crate::environment::SwitchEvent;
use crate::outbox::Effects;

/// A queue of any port: its depth, its service, and what a mechanism sends to it.
///
/// What asks for more than the depth needs a port whose queues can be managed: one that the mechanism subscribed to
/// behind the traffic manager, or asked queues of.
pub struct QueueAccess<'c, 'a> {
    pub(super) reach: &'c mut Reach<'a>,
    pub(super) port: PortId,
    pub(super) queue: QueueId,
}

impl QueueAccess<'_, '_> {
    /// Sends a copy of the packet, owned by the mechanism in `role` and changed by `edit`, to the queue.
    pub fn mirror(self, role: u8, edit: impl FnOnce(&mut Packet)) {
        let mut copy = *self.reach.packet();
        edit(&mut copy);
        self.reach.core.pass.mirror(self.port, self.queue);
        self.emit(copy, role);
    }

    /// As [`Self::mirror`], for a copy as it is that takes `delay` longer to its queue than one of this pipeline.
    pub fn mirror_after(self, delay: Duration, role: u8) {
        let copy = *self.reach.packet();
        self.reach.emit_after(delay, copy, self.port, self.queue, role);
    }

    /// As [`Self::mirror`], to a queue that keeps the copy for `duration` before it may be served.
    ///
    /// # Errors
    /// Why the traffic manager did not take the copy, which has ended.
    pub fn mirror_held(self, duration: Duration, role: u8, edit: impl FnOnce(&mut Packet)) -> Result<(), DropReason> {
        let Self { reach, port, queue } = self;
        let mut copy = *reach.packet();
        edit(&mut copy);
        reach.core.pass.mirror(port, queue);
        let handle = reach.create(copy, port, queue, role);
        let admitted = reach.core.hold(reach.visit.now, handle, duration, &mut reach.outbox);
        if let Err(reason) = admitted {
            reach.core.end(handle, reason, &mut reach.outbox);
        }
        admitted
    }

    /// Sends a packet that the mechanism made, owned by it in `role`, to the queue.
    pub fn emit(self, packet: Packet, role: u8) {
        self.reach.emit_after(Duration::ZERO, packet, self.port, self.queue, role);
    }

    /// As [`Self::emit`], for a packet that the hardware of the port itself makes, at the MAC: it is in its queue at
    /// once, and leaves behind the frame that is on the line if no other queue goes first. The port has queues for
    /// mechanisms.
    pub fn emit_at_mac(self, packet: Packet, role: u8) {
        let Self { reach, port, queue } = self;
        let handle = reach.create(packet, port, queue, role);
        reach.core.send_to_queue(reach.visit.now, Duration::ZERO, handle, &mut reach.outbox);
    }

    /// Stops the queue at once.
    pub fn pause(self) {
        self.reach.core.queued(self.port).pause(self.queue);
    }

    /// Lets the queue go on at once.
    pub fn resume(self) {
        self.reach.core.queued(self.port).resume(self.queue);
        self.reach.see_to_service(self.port);
    }

    /// Lets the queue go on after `delay`.
    pub fn resume_after(self, delay: Duration) {
        let Self { reach, port, queue } = self;
        reach.outbox.schedule(reach.visit.now + delay, SwitchEvent::Resume { port, queue });
    }

    /// Whether the queue is paused.
    pub fn is_paused(self) -> bool {
        self.reach.core.queued(self.port).is_paused(self.queue)
    }

    /// Serves the queue by credit from now on, beginning with none.
    pub fn schedule_by_credit(self) {
        self.reach.core.queued(self.port).schedule_by_credit(self.queue);
    }

    /// Lets so many packets more of the queue, which is scheduled by credit, be served.
    pub fn grant(self, packets: u64) {
        self.reach.core.queued(self.port).grant(self.queue, packets);
        self.reach.see_to_service(self.port);
    }

    /// Bytes waiting in the queue. The architecture may show them in egress only. At a FIFO port the frame in
    /// transmission is among them.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.reach.note_depth_read();
        self.reach.core.queue_bytes(self.reach.visit.now, self.port, self.queue)
    }

    /// Packets waiting in the queue, without the frame in transmission. The architecture may show them in egress only.
    #[inline]
    pub fn packets(self) -> usize {
        self.reach.note_depth_read();
        self.reach.core.queued(self.port).waiting_packets(self.queue)
    }

    /// Bytes that are committed to the queue: what waits there, the frame in transmission, and what has been
    /// decided for it and is on its way. What ingress must know to tell whether a queue is full. The architecture may
    /// show them in egress only.
    pub fn committed_bytes(self) -> u64 {
        self.reach.note_depth_read();
        self.reach.core.committed(self.reach.visit.now, self.port, self.queue).bytes
    }

    /// Whether the queue will have room for the packet if ingress sends it there, by what is committed to the
    /// queue now. Where packets wait in managed queues, one that leaves in the meantime is not foreseen. The
    /// architecture may show it in egress only.
    pub fn has_room(self) -> bool {
        self.reach.note_depth_read();
        let frame_bytes = self.reach.packet().frame_bytes;
        self.reach.core.has_room(self.reach.visit.now, self.port, self.queue, frame_bytes)
    }
}
