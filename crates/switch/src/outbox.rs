//! What a hook causes: it is written down, and happens in that order as soon as the hook has returned.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{OrderedSet, PortId, Time};

use crate::drop_reason::DropReason;
use crate::environment::{Environment, SwitchEvent};

/// Something that a hook has caused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// [`Environment::schedule`].
    Schedule(Time, SwitchEvent),
    /// [`Environment::transmit`].
    Transmit {
        /// The port that sends.
        port: PortId,
        /// The packet.
        packet: PacketHandle,
        /// When its last bit leaves the MAC.
        last_bit_at: Time,
    },
    /// [`Environment::created`].
    Created(PacketHandle),
    /// [`Environment::ended`].
    Ended(PacketHandle, DropReason),
    /// [`Environment::send_ordered_set`].
    OrderedSet {
        /// The port that sends.
        port: PortId,
        /// What it says.
        set: OrderedSet,
        /// When its last bit leaves the MAC.
        last_bit_at: Time,
    },
}

impl Output {
    /// Makes it happen.
    #[inline]
    pub(crate) fn apply<E: Environment>(self, environment: &mut E) {
        match self {
            Output::Schedule(at, event) => environment.schedule(at, event),
            Output::Transmit { port, packet, last_bit_at } => environment.transmit(port, packet, last_bit_at),
            Output::Created(packet) => environment.created(packet),
            Output::Ended(packet, reason) => environment.ended(packet, reason),
            Output::OrderedSet { port, set, last_bit_at } => environment.send_ordered_set(port, set, last_bit_at),
        }
    }
}

/// Whom a step of the pipeline tells what it causes: the environment at once or, from within a hook, the outbox.
pub(crate) trait Effects {
    fn packets(&mut self) -> &mut PacketStore;
    fn schedule(&mut self, at: Time, event: SwitchEvent);
    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time);
    fn ended(&mut self, packet: PacketHandle, reason: DropReason);
}

impl<E: Environment> Effects for E {
    #[inline(always)]
    fn packets(&mut self) -> &mut PacketStore {
        Environment::packets(self)
    }

    #[inline(always)]
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        Environment::schedule(self, at, event);
    }

    #[inline(always)]
    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        Environment::transmit(self, port, packet, last_bit_at);
    }

    #[inline(always)]
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        Environment::ended(self, packet, reason);
    }
}

/// The effects of a hook.
pub(crate) struct Outbox<'a> {
    pub packets: &'a mut PacketStore,
    pub outputs: &'a mut Vec<Output>,
}

impl Effects for Outbox<'_> {
    #[inline(always)]
    fn packets(&mut self) -> &mut PacketStore {
        self.packets
    }

    #[inline]
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        self.outputs.push(Output::Schedule(at, event));
    }

    #[inline]
    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        self.outputs.push(Output::Transmit { port, packet, last_bit_at });
    }

    #[inline]
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.outputs.push(Output::Ended(packet, reason));
    }
}
