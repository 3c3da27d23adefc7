//! What a mechanism may ask of its switch during a hook.

use hitless_engine::PacketHandle;
use hitless_wire::ordered_set::ORDERED_SET_BYTES;
use hitless_wire::{Duration, OrderedSet, Packet, PortId, QueueId, ServiceKey, Time};

use crate::architecture::DepthVisibility;
use crate::core::Core;
use crate::environment::{Environment, SwitchEvent};
use crate::mechanism::DropReason;
use crate::port::MacCounters;
use crate::queueing::{QueueLimit, Rounds};
use crate::register::{Half, Pass};

/// The hook's view of the switch: the time, the packet, and requests.
///
/// Whatever enters the traffic manager from a hook does so by a later event, so a hook is never re-entered.
pub struct Context<'a, E> {
    pub(crate) core: &'a mut Core,
    pub(crate) environment: &'a mut E,
    pub(crate) now: Time,
    pub(crate) mechanism: u8,
    pub(crate) port: PortId,
    pub(crate) packet: PacketHandle,
    pub(crate) enqueued_at: Time,
    pub(crate) is_last_try: bool,
}

impl<E: Environment> Context<'_, E> {
    /// The time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The hardware's timestamp: nanoseconds, wrapped to the bits it has.
    pub fn timestamp_ns(&self) -> u64 {
        let bits = self.core.architecture.timestamp_bits;
        (self.now.as_ps() / 1_000) & (u64::MAX >> (64 - bits))
    }

    /// In ingress the port by which the packet came, in egress the port by which it leaves.
    #[inline]
    pub fn port(&self) -> PortId {
        self.port
    }

    /// The packet.
    #[inline]
    pub fn packet(&mut self) -> &mut Packet {
        &mut self.environment.packets()[self.packet]
    }

    /// When the packet was enqueued (egress hooks only).
    pub fn enqueued_at(&self) -> Time {
        self.enqueued_at
    }

    /// Of a refused packet: whether it ends whatever the hook answers. So it is with a packet that another queue of this
    /// switch has refused before, and with one that was evicted for such a packet.
    pub fn is_last_try(&self) -> bool {
        self.is_last_try
    }

    /// Whether the packet belongs to the mechanism that asks.
    #[inline]
    pub fn is_mine(&mut self) -> bool {
        let owner = self.mechanism + 1;
        self.packet().owner == owner
    }

    /// Takes the packet: from now on only the owner's hooks see it.
    #[inline]
    pub fn adopt(&mut self, role: u8) {
        let owner = self.mechanism + 1;
        let packet = self.packet();
        packet.owner = owner;
        packet.role = role;
    }

    /// Gives the packet back: from now on it is a packet like any other.
    #[inline]
    pub fn release(&mut self) {
        let packet = self.packet();
        packet.owner = 0;
        packet.role = 0;
    }

    /// The pass that register accesses belong to.
    #[inline]
    pub fn pass(&mut self) -> &mut Pass {
        &mut self.core.pass
    }

    /// Sends a copy of the packet, owned by the mechanism in `role` and changed by `edit`, to a queue.
    pub fn mirror(&mut self, port: PortId, queue: QueueId, role: u8, edit: impl FnOnce(&mut Packet)) {
        let mut copy = *self.packet();
        edit(&mut copy);
        self.core.pass.mirror(port, queue);
        self.emit(copy, port, queue, role);
    }

    /// As [`Self::mirror`], for a copy as it is that takes `delay` longer to its queue than one of this pipeline.
    pub fn mirror_after(&mut self, delay: Duration, port: PortId, queue: QueueId, role: u8) {
        let copy = *self.packet();
        self.emit_after(delay, copy, port, queue, role);
    }

    /// Sends a packet that the mechanism made, owned by it in `role`, to a queue.
    pub fn emit(&mut self, packet: Packet, port: PortId, queue: QueueId, role: u8) {
        self.emit_after(Duration::ZERO, packet, port, queue, role);
    }

    fn emit_after(&mut self, delay: Duration, packet: Packet, port: PortId, queue: QueueId, role: u8) {
        let handle = self.create(packet, port, queue, role);
        let latency = match self.core.pass.half() {
            Half::Ingress => self.core.architecture.ingress_latency,
            Half::Egress => self.core.architecture.mirror_latency,
        };
        self.core.send_to_queue(self.now, latency + delay, handle, self.environment);
    }

    /// As [`Self::emit`], for a packet that the hardware of the port itself makes, at the MAC: it is in its queue at once,
    /// and leaves behind the frame that is on the line if no other queue goes first. The port has queues for mechanisms.
    pub fn emit_at_mac(&mut self, packet: Packet, port: PortId, queue: QueueId, role: u8) {
        let handle = self.create(packet, port, queue, role);
        self.core.send_to_queue(self.now, Duration::ZERO, handle, self.environment);
    }

    /// A packet that is nobody's enters ingress as if it had come in by `port`: one that the hardware of the port has made.
    /// Or one of a packet generator that is to be routed like any other, as a notice to a sender.
    pub fn emit_at_ingress(&mut self, packet: Packet, port: PortId) {
        let packet = Packet { owner: 0, role: 0, ingress_port: port, ..packet };
        let handle = self.environment.packets().insert(packet);
        self.core.packets_created += 1;
        self.environment.created(handle);
        self.environment.schedule(self.now, SwitchEvent::Loopback { port, packet: handle });
    }

    /// Sends a control ordered set as soon as the line of `port` is free; what waits there leaves that much later.
    pub fn send_ordered_set(&mut self, port: PortId, set: OrderedSet) {
        let time = self.line_time(port, ORDERED_SET_BYTES);
        let lane = self.core.lane_mut(port);
        let last_bit_at = lane.busy_until.max(self.now) + time;
        lane.busy_until = last_bit_at;
        self.environment.send_ordered_set(port, set, last_bit_at);
    }

    /// How long so many bytes, and nothing beside them, take on the line of a port.
    pub fn line_time(&self, port: PortId, bytes: u32) -> Duration {
        self.core.ports[usize::from(port.0)].config.rate.time_for(u64::from(bytes))
    }

    fn create(&mut self, mut packet: Packet, port: PortId, queue: QueueId, role: u8) -> PacketHandle {
        packet.owner = self.mechanism + 1;
        packet.role = role;
        packet.egress_port = port;
        packet.queue = queue;
        let handle = self.environment.packets().insert(packet);
        self.core.packets_created += 1;
        self.environment.created(handle);
        handle
    }

    /// As [`Self::mirror`], to a queue that keeps the copy for `duration` before it may be served.
    ///
    /// # Errors
    /// Why the traffic manager did not take the copy, which has ended.
    pub fn mirror_held(
        &mut self,
        port: PortId,
        queue: QueueId,
        duration: Duration,
        role: u8,
        edit: impl FnOnce(&mut Packet),
    ) -> Result<(), DropReason> {
        let mut copy = *self.packet();
        edit(&mut copy);
        self.core.pass.mirror(port, queue);
        let handle = self.create(copy, port, queue, role);
        let admitted = self.core.hold(self.now, handle, duration, self.environment);
        if let Err(reason) = admitted {
            self.core.end(handle, reason, self.environment);
        }
        admitted
    }

    /// Stops a queue at once.
    pub fn pause(&mut self, port: PortId, queue: QueueId) {
        self.core.lane_mut(port).pause(queue);
    }

    /// Lets a queue go on at once.
    pub fn resume(&mut self, port: PortId, queue: QueueId) {
        self.core.lane_mut(port).resume(queue);
        self.core.see_to_service(self.now, port, self.environment);
    }

    /// Serves no queue of a port but `open`, whoever else pauses or resumes them, until [`Self::open_queues`].
    pub fn close_queues_but(&mut self, port: PortId, open: &[QueueId]) {
        self.core.lane_mut(port).close_all_but(open);
    }

    /// Takes [`Self::close_queues_but`] back.
    pub fn open_queues(&mut self, port: PortId) {
        self.core.lane_mut(port).open_all();
        self.core.see_to_service(self.now, port, self.environment);
    }

    /// What the MAC of a port has counted: what the control plane reads.
    pub fn mac(&self, port: PortId) -> MacCounters {
        self.core.ports[usize::from(port.0)].mac
    }

    /// Lets a queue go on after `delay`.
    pub fn resume_after(&mut self, delay: Duration, port: PortId, queue: QueueId) {
        self.environment.schedule(self.now + delay, SwitchEvent::Resume { port, queue });
    }

    /// Serves a queue by credit from now on, beginning with none.
    pub fn schedule_by_credit(&mut self, port: PortId, queue: QueueId) {
        self.core.lane_mut(port).schedule_by_credit(queue);
    }

    /// Lets so many packets more of a queue that is scheduled by credit be served.
    pub fn grant(&mut self, port: PortId, queue: QueueId, packets: u64) {
        self.core.lane_mut(port).grant(queue, packets);
        self.core.see_to_service(self.now, port, self.environment);
    }

    /// Whether a queue is paused.
    pub fn is_paused(&mut self, port: PortId, queue: QueueId) -> bool {
        self.core.lane_mut(port).is_paused(queue)
    }

    /// Bytes waiting in a queue of any port. The architecture may show them in egress only. On a FIFO lane the frame in
    /// transmission is among them.
    pub fn queue_bytes(&mut self, port: PortId, queue: QueueId) -> u64 {
        self.note_depth_read();
        self.core.queue_bytes(self.now, port, queue)
    }

    /// Bytes that are committed to a queue of any port: what waits there, the frame in transmission, and what has been
    /// decided for it and is on its way. What ingress must know to tell whether a queue is full. The architecture may
    /// show them in egress only.
    pub fn committed_bytes(&mut self, port: PortId, queue: QueueId) -> u64 {
        self.note_depth_read();
        self.core.committed(self.now, port, queue).bytes
    }

    /// Whether a queue of any port will have room for the packet if ingress sends it there, by what is committed to the
    /// queue now. Where packets wait in managed queues, one that leaves in the meantime is not foreseen. The
    /// architecture may show it in egress only.
    pub fn has_room(&mut self, port: PortId, queue: QueueId) -> bool {
        self.note_depth_read();
        let frame_bytes = self.packet().frame_bytes;
        self.core.has_room(self.now, port, queue, frame_bytes)
    }

    fn note_depth_read(&mut self) {
        let visibility = self.core.architecture.depth_visibility;
        let pass = &mut self.core.pass;
        if pass.is_checked() && pass.half() == Half::Ingress && visibility == DepthVisibility::Egress {
            pass.refuse("queue depth", "the depth of a queue is visible in egress only on this architecture");
        }
    }

    /// Where the group of queues of a port is in its rounds: state that scheduler and pipeline share (AFQ, section 4:
    /// the disaggregated model). None: the port has no group.
    #[inline]
    pub fn rounds(&mut self, port: PortId) -> Option<Rounds> {
        self.core.lane_mut(port).rounds(self.now)
    }

    /// One bit for each queue of the group of a port that has a packet, from its first queue. The architecture may show
    /// it in egress only.
    pub fn occupied_queues(&mut self, port: PortId) -> u64 {
        self.note_depth_read();
        let lane = self.core.lane_mut(port);
        let first = lane.first_of_group().map_or(0, |queue| queue.0);
        lane.occupied() >> first
    }

    /// What a queue may grow to for want of a limit of its own, by the policy of the buffer; none: without limit.
    pub fn queue_threshold_bytes(&self) -> Option<u64> {
        self.core.buffer.threshold_bytes()
    }

    /// The limit of a queue of a port's own, if it has one in bytes.
    #[inline]
    pub fn queue_limit_bytes(&self, port: PortId, queue: QueueId) -> Option<u64> {
        match self.core.ports[usize::from(port.0)].config.queues.get(usize::from(queue.0))?.limit {
            QueueLimit::Bytes(bytes) => Some(bytes),
            QueueLimit::Unlimited | QueueLimit::Packets(_) => None,
        }
    }

    /// Whether the half of a port's group that goes first is empty and its rounds are over: a signal of the scheduler.
    pub fn waits_for_swap(&mut self, port: PortId) -> bool {
        self.core.lane_mut(port).waits_for_swap()
    }

    /// Bytes waiting in the group of queues of a port: a signal of the scheduler.
    pub fn group_bytes(&mut self, port: PortId) -> u64 {
        self.core.lane_mut(port).group_bytes()
    }

    /// Whether a port has nothing of its group of queues: nothing waits, nothing is on the way to it, and the line is free.
    pub fn group_is_idle(&mut self, port: PortId) -> bool {
        self.core.group_is_idle(self.now, port)
    }

    /// Exchanges the priorities of the two halves of a port's group of queues, at once.
    pub fn swap_halves(&mut self, port: PortId) {
        self.core.lane_mut(port).swap_halves();
    }

    /// Bytes in the packet buffer, all queues of all managed ports together.
    pub fn buffer_bytes(&self) -> u64 {
        self.core.buffer.used_bytes()
    }

    /// The service that the packet's flow belongs to.
    pub fn service_key(&mut self) -> ServiceKey {
        self.environment.service_key(self.packet)
    }

    /// The queue of a traffic class at a port.
    pub fn class_queue(&self, port: PortId, class: u8) -> QueueId {
        self.core.ports[usize::from(port.0)].config.class_queue[usize::from(class & 7)]
    }

    /// Calls [`crate::Mechanism::timer`] with `token` at `at`.
    pub fn wake_at(&mut self, at: Time, token: u32) {
        self.environment.schedule(at, SwitchEvent::Timer { mechanism: self.mechanism, token });
    }

    /// From the MAC to the traffic manager.
    pub fn ingress_latency(&self) -> Duration {
        self.core.architecture.ingress_latency
    }

    /// How many ports there are, recirculation ports included.
    pub fn port_count(&self) -> u16 {
        self.core.ports.len() as u16
    }

    /// The ports whose partner is a switch.
    pub fn ports_that_face_switches(&self) -> impl Iterator<Item = PortId> + '_ {
        (0..self.port_count()).map(PortId).filter(|&port| self.faces_switch(port))
    }

    /// Whether the neighbour at `port` sends the packet back here: a table by port and destination of the control plane's.
    pub fn returns(&self, port: PortId) -> bool {
        self.environment.returns(self.packet, port)
    }

    /// Whether the partner of a port is a switch.
    pub fn faces_switch(&self, port: PortId) -> bool {
        self.core.ports[usize::from(port.0)].config.faces_switch
    }
}
