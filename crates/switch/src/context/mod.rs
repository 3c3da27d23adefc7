//! The switch as a mechanism sees it during a hook.
//!
//! [`Context`] has the operations that most mechanisms need. Operations on a queue, a group of queues, a scheduler or a
//! MAC are methods of the handles that it returns.

mod ports;
mod queue;
mod scheduler;
mod visit;

use hitless_core::wire::{Duration, Packet, PortId, QueueId, ServiceKey, Time};

pub use ports::{MacAccess, Ports};
pub use queue::QueueAccess;
pub use scheduler::{GroupAccess, SchedulerAccess};
use visit::Reach;
pub(crate) use visit::Visit;

use crate::core::Core;
use crate::environment::{SwitchEvent, Tables};
use crate::event::TimerToken;
use crate::outbox::{Effects, Outbox};
use crate::queueing::SharedBuffer;
use crate::register::Pass;

/// A hook's view of the switch: the time, the packet, and operations.
///
/// Operations on a queue or a port take effect at once; their effects outside the switch follow as soon as the hook has
/// returned. A packet sent by a hook enters the traffic manager by a later event, so a hook is never re-entered.
pub struct Context<'a> {
    reach: Reach<'a>,
}

impl<'a> Context<'a> {
    #[inline(always)]
    pub(crate) fn new(
        core: &'a mut Core,
        outbox: Outbox<'a>,
        tables: &'a dyn Tables,
        mechanism: u8,
        visit: Visit,
    ) -> Self {
        Self { reach: Reach { core, outbox, tables, mechanism, visit } }
    }

    /// Returns the time of the hook.
    #[inline]
    pub fn now(&self) -> Time {
        self.reach.visit.now
    }

    /// Returns the hardware's timestamp in nanoseconds, wrapped at its width.
    #[inline]
    pub fn timestamp_ns(&self) -> u64 {
        let bits = self.reach.core.architecture.timestamp_bits;
        (self.now().as_ps() / 1_000) & (u64::MAX >> (64 - bits))
    }

    /// Returns the ingress port in ingress, and the egress port in egress.
    #[inline]
    pub fn port(&self) -> PortId {
        self.reach.visit.port
    }

    /// Returns, in egress, when the packet entered its queue and how many packets waited there before it. A port that
    /// queues by flow does not count these.
    #[inline]
    pub fn queued(&self) -> (Time, u32) {
        self.reach.visit.queued
    }

    /// Returns the packet.
    ///
    /// # Panics
    /// In [`Mechanism::on`](crate::Mechanism::on), because an event comes without a packet.
    #[inline]
    pub fn packet(&mut self) -> &mut Packet {
        self.reach.packet()
    }

    /// Returns whether a packet that the traffic manager drops ends whatever the hook returns. This holds for a packet
    /// that another queue of this switch has refused before, and for a packet evicted by such a packet.
    pub fn is_last_try(&self) -> bool {
        self.reach.visit.is_last_try
    }

    /// Returns whether this mechanism owns the packet.
    #[inline]
    pub fn is_mine(&self) -> bool {
        self.reach.outbox.packets[self.reach.visit.packet].owner == self.reach.mechanism + 1
    }

    /// Takes ownership of the packet: only this mechanism's hooks see it until [`Self::release`].
    #[inline]
    pub fn adopt(&mut self, role: u8) {
        let owner = self.reach.mechanism + 1;
        let packet = self.packet();
        debug_assert!(packet.owner == 0 || packet.owner == owner, "the packet is another mechanism's");
        packet.owner = owner;
        packet.role = role;
    }

    /// Gives up ownership: the packet is an ordinary packet again.
    #[inline]
    pub fn release(&mut self) {
        let packet = self.packet();
        packet.owner = 0;
        packet.role = 0;
    }

    /// Returns the pass that register accesses belong to.
    #[inline]
    pub fn pass(&mut self) -> &mut Pass {
        &mut self.reach.core.pass
    }

    /// Calls [`Mechanism::on`](crate::Mechanism::on) with the [`Event::Timer`](crate::Event::Timer) of `timer` at `at`.
    pub fn wake_at(&mut self, at: Time, timer: impl TimerToken) {
        let (mechanism, token) = (self.reach.mechanism, timer.to_token());
        self.reach.outbox.schedule(at, SwitchEvent::Timer { mechanism, token });
    }

    /// Returns a queue of a port.
    #[inline]
    pub fn queue(&mut self, port: PortId, queue: QueueId) -> QueueAccess<'_, 'a> {
        QueueAccess { reach: &mut self.reach, port, queue }
    }

    /// Returns the group of queues of a port.
    #[inline]
    pub fn group(&mut self, port: PortId) -> GroupAccess<'_, 'a> {
        GroupAccess { reach: &mut self.reach, port }
    }

    /// Returns the scheduler of a port.
    #[inline]
    pub fn scheduler(&mut self, port: PortId) -> SchedulerAccess<'_, 'a> {
        SchedulerAccess { reach: &mut self.reach, port }
    }

    /// Returns the MAC of a port.
    #[inline]
    pub fn mac(&mut self, port: PortId) -> MacAccess<'_, 'a> {
        MacAccess { reach: &mut self.reach, port }
    }

    /// Returns the ports as configured.
    #[inline]
    pub fn ports(&self) -> Ports<'_> {
        Ports { core: self.reach.core }
    }

    /// Returns the packet buffer. All queues share it, except on ports with a single FIFO queue.
    #[inline]
    pub fn buffer(&self) -> &SharedBuffer {
        &self.reach.core.buffer
    }

    /// Time from the MAC to the traffic manager.
    #[inline]
    pub fn ingress_latency(&self) -> Duration {
        self.reach.core.architecture.ingress_latency
    }

    /// Returns the service that the packet's flow belongs to.
    pub fn service_key(&self) -> ServiceKey {
        self.reach.tables.service_key(&self.reach.outbox.packets[self.reach.visit.packet])
    }

    /// Returns whether the neighbour at `port` would send the packet back here. The control plane fills this table,
    /// keyed by port and destination.
    pub fn returns(&self, port: PortId) -> bool {
        self.reach.tables.returns(&self.reach.outbox.packets[self.reach.visit.packet], port)
    }
}
