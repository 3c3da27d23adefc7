//! The interface between a switch and its driver, and the events that a switch schedules for itself.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{OrderedSet, Packet, PortId, QueueId, ServiceKey, Time};

use crate::drop_reason::DropReason;
use crate::verdict::Half;
use crate::verdict::Verdict;

/// Reason for not serving a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is served.
    No,
    /// The link partner has paused it, or grants it no credit.
    Partner,
    /// A mechanism has paused or closed it.
    Mechanism,
}

/// Control-plane tables that a few mechanisms use.
pub trait Tables {
    /// Returns the service that the packet's flow belongs to, as a parser reads it from ports and tags.
    fn service_key(&self, _packet: &Packet) -> ServiceKey {
        ServiceKey::default()
    }
    /// Returns whether the neighbour at `port` would send the packet back to this switch on each of its paths.
    fn returns(&self, _packet: &Packet, _port: PortId) -> bool {
        false
    }
}

/// Tables without an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoTables;

impl Tables for NoTables {}

/// The operations that a switch needs from its driver, under either clock.
pub trait Environment {
    /// Whether the driver follows the time of packets: [`Self::hook_ran`] and [`Self::stopped`] then do something.
    const OBSERVES: bool = false;
    /// The tables available to hooks.
    type Tables<'a>: Tables
    where
        Self: 'a;
    /// The packet store.
    fn packets(&mut self) -> &mut PacketStore;
    /// The packet store and the tables: the part of the environment that a hook can use.
    fn parts(&mut self) -> (&mut PacketStore, Self::Tables<'_>);
    /// The egress port for a packet, or `None` if its destination is unreachable.
    fn route(&mut self, packet: PacketHandle) -> Option<PortId>;
    /// The packet and its egress port, for environments that find both with one access.
    #[inline]
    fn packet_and_route(&mut self, packet: PacketHandle) -> (&mut Packet, Option<PortId>) {
        let port = self.route(packet);
        (&mut self.packets()[packet], port)
    }
    /// All egress ports of equal cost for a packet, whichever of them [`Self::route`] returns.
    fn next_hops(&self, _packet: PacketHandle) -> &[PortId] {
        &[]
    }
    /// Calls [`crate::Switch::handle`] with `event` at `at`.
    fn schedule(&mut self, at: Time, event: SwitchEvent);
    /// Returns whether an event of the switch for `now` would be the next one. It then counts as begun, and the switch
    /// handles it at once. Called at the end of an event. The default schedules all events.
    #[inline]
    fn begins_at_once(&mut self, _now: Time) -> bool {
        false
    }
    /// Transmits a packet; its last bit leaves the MAC of `port` at `last_bit_at`.
    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time);
    /// Like [`Self::transmit`], with the port's line as [`crate::PortConfig::line`] names it, for environments that
    /// would have to look it up.
    #[inline(always)]
    fn transmit_on(&mut self, _line: u32, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        self.transmit(port, packet, last_bit_at);
    }
    /// Sends a control ordered set on `port`; its last bit leaves at `last_bit_at`. At the other end it must become a
    /// [`SwitchEvent::OrderedSet`]. The default drops it, for links that carry frames only.
    fn send_ordered_set(&mut self, _port: PortId, _set: OrderedSet, _last_bit_at: Time) {}
    /// Records that a mechanism has made a packet: a copy of a flow's packet, or a new packet.
    fn created(&mut self, packet: PacketHandle);
    /// Records that the packet has ended in the switch, and frees its slot in the store.
    fn ended(&mut self, packet: PacketHandle, reason: DropReason);
    /// Reports that hooks have run for a packet, before their effects on other packets: these are copies of it, or
    /// follow from it. The handle is invalid after an event without a packet.
    #[inline(always)]
    fn hook_ran(&mut self, _packet: PacketHandle) {}
    /// Reports who stops a queue now.
    #[inline(always)]
    fn stopped(&mut self, _port: PortId, _queue: QueueId, _by: Stop) {}
    /// Records a decision other than [`Verdict::Continue`] by a hook of that half, for traces of decisions.
    #[inline(always)]
    fn decided(&mut self, _packet: PacketHandle, _half: Half, _verdict: Verdict) {}
}

/// An event that a switch schedules for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
#[allow(missing_docs, reason = "ports, queues and packets are named so")]
pub enum SwitchEvent {
    /// A packet enters ingress from within the switch: it returns from a recirculation port, or a mechanism has made
    /// it.
    Loopback {
        /// The port that it enters through.
        port: PortId,
        packet: PacketHandle,
    },
    /// A packet reaches the traffic manager.
    Enqueue {
        /// The packet; port and queue are in its descriptor.
        packet: PacketHandle,
        /// Whether a queue of this switch has refused it before.
        is_last_try: bool,
    },
    /// The holding time of a packet is over.
    Release {
        /// The packet; port and queue are in its descriptor.
        packet: PacketHandle,
    },
    /// A port becomes free.
    Service { port: PortId },
    /// The pause of a traffic class by a pause frame may be over.
    PauseEnds { port: PortId, class: u8 },
    /// A pause that a frame has requested begins.
    PauseBegins { port: PortId, class: u8 },
    /// The link partner must be told whether a class is paused.
    TellPause {
        /// The port that sends the pause frame.
        port: PortId,
        class: u8,
    },
    /// The count of freed credits of a class is due at the link partner.
    UpdateCredits { port: PortId, class: u8 },
    /// The count of consumed credits of a class is due at the link partner.
    SyncCredits { port: PortId, class: u8 },
    /// The partner's count of freed credits takes effect.
    CreditsFreed { port: PortId, class: u8, count: u32 },
    /// A pause, or a wait for credit, may have lasted too long.
    PauseWatchdog { port: PortId, class: u8 },
    /// A paused queue may be served again.
    Resume { port: PortId, queue: QueueId },
    /// A control ordered set of the partner has arrived.
    OrderedSet { port: PortId, set: OrderedSet },
    /// A mechanism's timer.
    Timer { mechanism: u8, token: u32 },
}
