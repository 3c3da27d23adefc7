//! Lost and trimmed packets, and the copies that replace them.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Packet, Time, Transport};
use hitless_hosts::Side;

use super::Autopsy;
use super::flows::{Lost, key};
use super::ledger::Ledger;
use super::parts::{Cause, Loss, Part, Place};

impl Autopsy {
    /// Keeps the ledger of a lost packet for its repetition.
    pub(super) fn lose(&mut self, packet: PacketHandle, packets: &PacketStore, loss: Loss) {
        let (now, descriptor) = (self.now, &packets[packet]);
        let Some(key) = key(descriptor) else { return };
        // Dropped from a queue, or at the end of a link.
        let part = if matches!(loss.place, Place::Link(_)) { Part::Propagation } else { Part::Queue };
        let (ledger, rares) = self.books(packet);
        let ledger = ledger.charged(now, part, rares);
        if let Some(flow) = self.flow(descriptor.flow) {
            // A mechanism's copy can be lost, too: the time counts from the loss of the original.
            flow.lost.entry(key).or_insert(Lost { ledger, loss });
        }
    }

    /// Keeps the ledger of a trimmed packet: the sender repeats it as a lost one.
    #[cold]
    #[inline(never)]
    pub(super) fn note_trim(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore) {
        if !self.ledger(packet).kind.is_trimmed() {
            let place = Place::Port(switch, packets[packet].egress_port);
            self.lose(packet, packets, Loss { place, cause: Cause::Trimmed });
            let ledger = self.ledger(packet);
            ledger.kind = ledger.kind.trimmed();
        }
    }

    /// Returns the ledger for a packet made by a mechanism: from the original, from its loss, or from its flow.
    pub(super) fn of_copy(&mut self, packet: &Packet, packets: &PacketStore) -> Option<Ledger> {
        let (now, hooked) = (self.now, self.hooked);
        if hooked.0 != u32::MAX && packets[hooked].flow == packet.flow && packets[hooked].transport != Transport::None {
            let (original, rares) = self.books(hooked);
            // The time of a kept copy counts until it is sent.
            return Some(if original.kind.is_copy() { *original } else { original.charged(now, Part::Queue, rares) });
        }
        let flow = self.flow(packet.flow)?;
        let lost = key(packet).and_then(|key| flow.lost.get(&key)).map(|lost| lost.ledger);
        lost.or_else(|| flow.end(Side::Sender).sent().copied()).or_else(|| flow.end(Side::Receiver).sent().copied())
    }

    /// Charges the way of a copy from its making to its line.
    pub(super) fn send_copy(&mut self, packet: &Packet, handle: PacketHandle, until: Time) {
        let flow = self.flow(packet.flow);
        let loss = key(packet).and_then(|key| Some(flow?.lost.get(&key)?.loss));
        let (ledger, rares) = self.books(handle);
        if packet.is_link_retransmission || loss.is_some() {
            ledger.recover(until, Part::LinkRecovery, loss, rares);
        } else {
            ledger.charge(until, Part::Mechanism, rares);
        }
    }
}
