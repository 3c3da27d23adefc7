//! Where a fabric ends: nowhere in a simulation, at real nodes in a live run.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Packet, ServiceKey, Time};
use hitless_switch::{DropReason, Half, Verdict};

use crate::link::Fate;

/// What a run asks and tells whoever knows of the nodes that are not simulated.
///
/// A parameter of the run's type, and every default does nothing: a simulation pays nothing for what only a live run
/// needs.
pub trait Edge: Send {
    /// Whether there is none, so that it need not be asked what becomes of an arriving packet.
    const IS_CLOSED: bool = false;

    /// It is `now`: what follows happens then.
    #[inline(always)]
    fn set_time(&mut self, _now: Time) {}

    /// The service of a packet whose flow is not one of the scenario; `None`: that of its flow.
    #[inline(always)]
    fn service_key(&self, _packet: &Packet) -> Option<ServiceKey> {
        None
    }

    /// Whether a packet is addressed to all nodes, so that no route leads to its destination.
    #[inline(always)]
    fn is_for_everyone(&self, _packet: &Packet) -> bool {
        false
    }

    /// Gives a packet that is addressed to all nodes a destination, and returns the copies that go to the other nodes,
    /// which are in the store and have come by the same port. `None`: it goes nowhere.
    #[inline(always)]
    fn resolve(
        &mut self,
        _switch: u32,
        _packet: PacketHandle,
        _packets: &mut PacketStore,
    ) -> Option<Vec<PacketHandle>> {
        Some(Vec::new())
    }

    /// Takes a packet that has come whole to the end of a link, when a node that is not simulated is there. It then
    /// leaves the run.
    #[inline(always)]
    fn takes(&mut self, _now: Time, _link: u32, _packet: PacketHandle, _packets: &PacketStore) -> bool {
        false
    }

    /// A link has lost a packet, which leaves the run.
    #[inline(always)]
    fn lost(&mut self, _link: u32, _packet: PacketHandle, _packets: &PacketStore, _fate: Fate) {}

    /// A switch sends a packet.
    #[inline(always)]
    fn transmitted(&mut self, _switch: u32, _packet: PacketHandle, _packets: &PacketStore) {}

    /// A mechanism of a switch has made a packet: a copy of another, or one of its own.
    #[inline(always)]
    fn created(&mut self, _switch: u32, _packet: PacketHandle, _packets: &PacketStore) {}

    /// A packet has ended in a switch and leaves the run.
    #[inline(always)]
    fn ended(&mut self, _switch: u32, _packet: PacketHandle, _packets: &PacketStore, _reason: DropReason) {}

    /// A hook of a switch has decided otherwise than that the packet goes on.
    #[inline(always)]
    fn decided(&mut self, _switch: u32, _packet: PacketHandle, _packets: &PacketStore, _half: Half, _verdict: Verdict) {
    }
}

/// No edge: every node is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closed;

impl Edge for Closed {
    const IS_CLOSED: bool = true;
}
