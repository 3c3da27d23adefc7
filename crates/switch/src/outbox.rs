//! Effects of a hook. They are recorded, and applied in that order as soon as the hook has returned.
//!
//! A hook does not know the type of the environment, so that [`crate::Mechanism`] can be a trait object. Its effects
//! therefore reach the environment as data.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{OrderedSet, PortId, Time};

use crate::drop_reason::DropReason;
use crate::environment::{Environment, SwitchEvent};

/// An effect of a hook outside the switch: a call of the function of [`Environment`] with this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "`Environment` explains the arguments")]
pub enum Output {
    Schedule(Time, SwitchEvent),
    Transmit { port: PortId, packet: PacketHandle, last_bit_at: Time },
    Created(PacketHandle),
    Ended(PacketHandle, DropReason),
    OrderedSet { port: PortId, set: OrderedSet, last_bit_at: Time },
}

impl Output {
    /// Applies the effect.
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

/// Receiver of the effects of a pipeline step: the environment directly or, inside a hook, the outbox.
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

/// Recorded effects of a hook.
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
