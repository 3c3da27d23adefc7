//! What a mechanism may ask of its switch during a hook.
//!
//! A [`Context`] has what most mechanisms need. What is of a queue, a group of queues, a scheduler or a port stands
//! behind a handle for it.

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
use crate::outbox::{Effects, Outbox};
use crate::queueing::SharedBuffer;
use crate::register::Pass;

/// The hook's view of the switch: the time, the packet, and requests.
///
/// What a hook asks for at a queue or a port is done at once, and what follows from it outside of the switch as soon as
/// the hook has returned. Whatever enters the traffic manager does so by a later event, so a hook is never re-entered.
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

    /// The time.
    #[inline]
    pub fn now(&self) -> Time {
        self.reach.visit.now
    }

    /// The hardware's timestamp: nanoseconds, wrapped to the bits it has.
    #[inline]
    pub fn timestamp_ns(&self) -> u64 {
        let bits = self.reach.core.architecture.timestamp_bits;
        (self.now().as_ps() / 1_000) & (u64::MAX >> (64 - bits))
    }

    /// In ingress the port by which the packet came, in egress the port by which it leaves.
    #[inline]
    pub fn port(&self) -> PortId {
        self.reach.visit.port
    }

    /// In egress: when the packet came to its queue, and how many packets waited there before it. A port that queues by
    /// flow does not count them.
    #[inline]
    pub fn queued(&self) -> (Time, u32) {
        self.reach.visit.queued
    }

    /// The packet.
    ///
    /// # Panics
    /// In [`Mechanism::on`](crate::Mechanism::on), which is called for no packet.
    #[inline]
    pub fn packet(&mut self) -> &mut Packet {
        self.reach.packet()
    }

    /// Of a packet that the traffic manager drops: whether it ends whatever the hook returns. So it is with a packet
    /// that another queue of this switch has refused before, and with one that was evicted for such a packet.
    pub fn is_last_try(&self) -> bool {
        self.reach.visit.is_last_try
    }

    /// Whether the packet belongs to the mechanism that asks.
    #[inline]
    pub fn is_mine(&mut self) -> bool {
        let owner = self.reach.mechanism + 1;
        self.packet().owner == owner
    }

    /// Takes the packet: from now on only the owner's hooks see it.
    #[inline]
    pub fn adopt(&mut self, role: u8) {
        let owner = self.reach.mechanism + 1;
        let packet = self.packet();
        debug_assert!(packet.owner == 0 || packet.owner == owner, "the packet is another mechanism's");
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
        &mut self.reach.core.pass
    }

    /// Calls [`Mechanism::on`](crate::Mechanism::on) with [`Event::Timer`](crate::Event::Timer) and `token` at `at`.
    pub fn wake_at(&mut self, at: Time, token: u32) {
        let mechanism = self.reach.mechanism;
        self.reach.outbox.schedule(at, SwitchEvent::Timer { mechanism, token });
    }

    /// A queue of a port.
    #[inline]
    pub fn queue(&mut self, port: PortId, queue: QueueId) -> QueueAccess<'_, 'a> {
        QueueAccess { reach: &mut self.reach, port, queue }
    }

    /// The group of queues of a port.
    #[inline]
    pub fn group(&mut self, port: PortId) -> GroupAccess<'_, 'a> {
        GroupAccess { reach: &mut self.reach, port }
    }

    /// The scheduler of a port.
    #[inline]
    pub fn scheduler(&mut self, port: PortId) -> SchedulerAccess<'_, 'a> {
        SchedulerAccess { reach: &mut self.reach, port }
    }

    /// The MAC of a port.
    #[inline]
    pub fn mac(&mut self, port: PortId) -> MacAccess<'_, 'a> {
        MacAccess { reach: &mut self.reach, port }
    }

    /// The ports, as they are configured.
    #[inline]
    pub fn ports(&self) -> Ports<'_> {
        Ports { core: self.reach.core }
    }

    /// The packet buffer, which all queues share but those of ports with nothing but a FIFO queue.
    #[inline]
    pub fn buffer(&self) -> &SharedBuffer {
        &self.reach.core.buffer
    }

    /// From the MAC to the traffic manager.
    #[inline]
    pub fn ingress_latency(&self) -> Duration {
        self.reach.core.architecture.ingress_latency
    }

    /// The service that the packet's flow belongs to.
    pub fn service_key(&self) -> ServiceKey {
        self.reach.tables.service_key(&self.reach.outbox.packets[self.reach.visit.packet])
    }

    /// Whether the neighbour at `port` sends the packet back here: a table by port and destination of the control
    /// plane's.
    pub fn returns(&self, port: PortId) -> bool {
        self.reach.tables.returns(&self.reach.outbox.packets[self.reach.visit.packet], port)
    }
}
