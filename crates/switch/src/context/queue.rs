//! A queue of a port, as a hook sees it.

use hitless_core::wire::{Duration, Packet, PortId, QueueId};

use super::visit::Reach;
use crate::drop_reason::DropReason;
use crate::environment::SwitchEvent;
use crate::outbox::Effects;

/// A queue of any port: its depth, its service, and packets sent to it by a mechanism.
///
/// Operations beyond [`Self::bytes`] and sending need a port with managed queues: a port where the mechanism subscribed
/// to a hook after the traffic manager or requested queues.
pub struct QueueAccess<'c, 'a> {
    pub(super) reach: &'c mut Reach<'a>,
    pub(super) port: PortId,
    pub(super) queue: QueueId,
}

impl QueueAccess<'_, '_> {
    /// Sends a copy of the packet to the queue, changed by `edit` and owned by the mechanism in `role`.
    pub fn mirror(self, role: u8, edit: impl FnOnce(&mut Packet)) {
        let mut copy = *self.reach.packet();
        edit(&mut copy);
        self.reach.core.pass.mirror(self.port, self.queue);
        self.emit(copy, role);
    }

    /// Like [`Self::mirror`], for an unchanged copy that takes `delay` longer to its queue than a copy of this
    /// pipeline.
    pub fn mirror_after(self, delay: Duration, role: u8) {
        let copy = *self.reach.packet();
        self.reach.emit_after(delay, copy, self.port, self.queue, role);
    }

    /// Like [`Self::mirror`], to a queue that keeps the copy for `duration` before it may be served.
    ///
    /// # Errors
    /// The reason why the traffic manager refused the copy, which has ended.
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

    /// Sends a packet made by the mechanism to the queue; the mechanism owns it in `role`.
    pub fn emit(self, packet: Packet, role: u8) {
        self.reach.emit_after(Duration::ZERO, packet, self.port, self.queue, role);
    }

    /// Like [`Self::emit`], for a packet that the port's hardware makes at the MAC: it enters its queue at once and
    /// leaves after the frame on the line, unless another queue has priority. The port must have queues for mechanisms.
    pub fn emit_at_mac(self, packet: Packet, role: u8) {
        let Self { reach, port, queue } = self;
        let handle = reach.create(packet, port, queue, role);
        reach.core.send_to_queue(reach.visit.now, Duration::ZERO, handle, &mut reach.outbox);
    }

    /// Pauses the queue at once.
    pub fn pause(self) {
        self.reach.core.has_new_stops = true;
        self.reach.core.queued(self.port).pause(self.queue);
    }

    /// Resumes the queue at once.
    pub fn resume(self) {
        self.reach.core.has_new_stops = true;
        self.reach.core.queued(self.port).resume(self.queue);
        self.reach.see_to_service(self.port);
    }

    /// Resumes the queue after `delay`.
    pub fn resume_after(self, delay: Duration) {
        let Self { reach, port, queue } = self;
        reach.outbox.schedule(reach.visit.now + delay, SwitchEvent::Resume { port, queue });
    }

    /// Returns whether the queue is paused.
    pub fn is_paused(self) -> bool {
        self.reach.core.queued(self.port).is_paused(self.queue)
    }

    /// Serves the queue by credit, starting with a credit of zero.
    pub fn schedule_by_credit(self) {
        self.reach.core.queued(self.port).schedule_by_credit(self.queue);
    }

    /// Adds credit for this many packets to the queue, which must be scheduled by credit.
    pub fn grant(self, packets: u64) {
        self.reach.core.queued(self.port).grant(self.queue, packets);
        self.reach.see_to_service(self.port);
    }

    /// Returns the bytes waiting in the queue. The architecture may show them in egress only. At a FIFO port the frame
    /// in transmission is included.
    #[inline]
    pub fn bytes(self) -> u64 {
        self.reach.note_depth_read();
        self.reach.core.queue_bytes(self.reach.visit.now, self.port, self.queue)
    }

    /// Returns the packets waiting in the queue, without the frame in transmission. The architecture may show them in
    /// egress only.
    #[inline]
    pub fn packets(self) -> usize {
        self.reach.note_depth_read();
        self.reach.core.queued(self.port).waiting_packets(self.queue)
    }

    /// Returns the bytes committed to the queue: waiting packets, the frame in transmission, and packets already
    /// assigned to the queue and under way. Ingress needs this sum to know whether a queue is full. The architecture
    /// may show it in egress only.
    pub fn committed_bytes(self) -> u64 {
        self.reach.note_depth_read();
        self.reach.core.committed(self.reach.visit.now, self.port, self.queue).bytes
    }

    /// Returns whether the queue will have room for the packet if ingress sends it there, judged by the bytes committed
    /// now. For managed queues, departures in the meantime are not foreseen. The architecture may show it in egress
    /// only.
    pub fn has_room(self) -> bool {
        self.reach.note_depth_read();
        let frame_bytes = self.reach.packet().frame_bytes;
        self.reach.core.check_room(self.reach.visit.now, self.port, self.queue, frame_bytes)
    }
}
