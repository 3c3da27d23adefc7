//! What a switch asks of whoever drives it, and what it schedules for itself.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{OrderedSet, Packet, PortId, QueueId, ServiceKey, Time};

use crate::drop_reason::DropReason;
use crate::half::Half;
use crate::verdict::Verdict;

/// Tables of the control plane's that few mechanisms look things up in.
pub trait Tables {
    /// The service that the packet's flow belongs to, as a parser reads it in ports and tags.
    fn service_key(&self, _packet: &Packet) -> ServiceKey {
        ServiceKey::default()
    }
    /// Whether the neighbour at `port` sends the packet back to this switch, whichever of its ways it chooses.
    fn returns(&self, _packet: &Packet, _port: PortId) -> bool {
        false
    }
}

/// Tables without an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoTables;

impl Tables for NoTables {}

/// What a switch asks of whoever drives it, under either clock.
pub trait Environment {
    /// The tables that hooks look things up in.
    type Tables<'a>: Tables
    where
        Self: 'a;
    /// The packet store.
    fn packets(&mut self) -> &mut PacketStore;
    /// The packet store and the tables: what of the environment a hook has at hand.
    fn parts(&mut self) -> (&mut PacketStore, Self::Tables<'_>);
    /// The egress port for a packet, or none when its destination cannot be reached.
    fn route(&mut self, packet: PacketHandle) -> Option<PortId>;
    /// The packet and its egress port; for whoever can find both at one look.
    #[inline]
    fn packet_and_route(&mut self, packet: PacketHandle) -> (&mut Packet, Option<PortId>) {
        let port = self.route(packet);
        (&mut self.packets()[packet], port)
    }
    /// All egress ports of equal cost for a packet, whichever [`Self::route`] gives.
    fn next_hops(&self, _packet: PacketHandle) -> &[PortId] {
        &[]
    }
    /// Calls [`crate::Switch::handle`] with `event` at `at`.
    fn schedule(&mut self, at: Time, event: SwitchEvent);
    /// The last bit of the packet leaves the MAC of `port` at `last_bit_at`.
    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time);
    /// The same with the line of the port, as [`crate::PortConfig::line`] names it: for whoever would have to look for
    /// it.
    #[inline(always)]
    fn transmit_on(&mut self, _line: u32, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        self.transmit(port, packet, last_bit_at);
    }
    /// A control ordered set leaves by `port`, its last bit at `last_bit_at`; at the other end it is to become a
    /// [`SwitchEvent::OrderedSet`]. Where links carry frames only, it ends here.
    fn send_ordered_set(&mut self, _port: PortId, _set: OrderedSet, _last_bit_at: Time) {}
    /// A mechanism has made a packet: a copy of one of a flow, or one of its own.
    fn created(&mut self, packet: PacketHandle);
    /// The packet has ended in the switch; its slot in the store is to be freed.
    fn ended(&mut self, packet: PacketHandle, reason: DropReason);
    /// A hook of that half has decided otherwise than that the packet goes on: for whoever keeps a trace of decisions.
    #[inline(always)]
    fn decided(&mut self, _packet: PacketHandle, _half: Half, _verdict: Verdict) {}
}

/// What a switch schedules for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum SwitchEvent {
    /// A packet enters ingress from within the switch: it is back from a recirculation port, or a
    /// mechanism has made it.
    Loopback {
        /// The port by which it enters.
        port: PortId,
        /// The packet.
        packet: PacketHandle,
    },
    /// A packet reaches the traffic manager.
    Enqueue {
        /// The packet; port and queue are in its descriptor.
        packet: PacketHandle,
        /// A queue of this switch has refused it before.
        is_last_try: bool,
    },
    /// The traffic manager has held a packet long enough.
    Release {
        /// The packet; port and queue are in its descriptor.
        packet: PacketHandle,
    },
    /// A port falls free.
    Service {
        /// The port.
        port: PortId,
    },
    /// The time that a pause frame gave a traffic class may be over.
    PauseEnds {
        /// The port that is paused.
        port: PortId,
        /// The class.
        class: u8,
    },
    /// A queue goes on.
    Resume {
        /// The port.
        port: PortId,
        /// The queue.
        queue: QueueId,
    },
    /// A control ordered set of the partner has arrived.
    OrderedSet {
        /// The port.
        port: PortId,
        /// What it says.
        set: OrderedSet,
    },
    /// A mechanism's timer.
    Timer {
        /// The mechanism's number.
        mechanism: u8,
        /// Its token.
        token: u32,
    },
}
