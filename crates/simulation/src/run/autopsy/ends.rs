//! The steps of a flow at its two ends: each packet sent continues the ledger of its reason.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{HostId, Packet};
use hitless_hosts::{FlowEnd, Side, TimeoutPurpose, Wake};

use super::flows::{Lost, key};
use super::kind::Kind;
use super::ledger::Ledger;
use super::parts::{Part, Recovery};
use super::{Autopsy, OfPacket, class_of_card};

impl Autopsy {
    /// The ledger of the reason of the packets that a transport sends now.
    pub(super) fn reason(&mut self) -> Ledger {
        let of_packet = self.received_at.and_then(|at| self.flow(at.flow)?.end(at.side).received().copied());
        of_packet.unwrap_or(self.woken)
    }

    fn set_reason(&mut self, ledger: Ledger, wake: Wake) {
        (self.received_at, self.woken) = (None, ledger);
        (self.has_turn, self.is_recovering) = (wake == Wake::Card, is_recovery(wake));
    }

    /// A transport handles a packet.
    #[inline(always)]
    pub(super) fn received(&mut self, end: FlowEnd, packet: PacketHandle, packets: &PacketStore) {
        if self.rares.are_due() | self.departures.are_due() {
            self.collect(packets);
        }
        let (now, slot) = (self.now, self.begin(end.flow));
        self.ledger(packet);
        let Some(flow) = &mut self.flows[slot] else { return };
        let ledger = &mut self.ledgers[packet.0 as usize].ledger;
        ledger.charge(now, Part::ReorderBuffer, &mut self.rares);
        if end.side == Side::Sender {
            (ledger.round_trips, ledger.round_began) = (ledger.round_trips + 1, now);
        }
        if !flow.lost.is_empty() && !ledger.kind.is_trimmed() {
            flow.found(&packets[packet]);
        }
        let of_end = flow.end(end.side);
        of_end.keep_received(ledger);
        of_end.recovery = Part::FastRecovery;
        // The packet has ended: its wait need not be kept.
        ledger.longest_wait = 0;
        (self.received_at, self.has_turn, self.is_recovering) = (Some(end), false, false);
    }

    pub(super) fn woken(&mut self, end: FlowEnd, wake: Wake, packets: &PacketStore) {
        if self.rares.are_due() | self.departures.are_due() {
            self.collect(packets);
        }
        let (now, slot) = (self.now, self.begin(end.flow));
        let Some(flow) = &mut self.flows[slot] else { return };
        let ledger = flow.woken(now, (end.side, wake), &self.card_pauses, &mut self.rares);
        self.set_reason(ledger, wake);
    }

    /// The next message begins.
    pub(super) fn wrote(&mut self, end: FlowEnd) {
        self.set_reason(Ledger::new(self.now), Wake::Application);
        let (now, slot) = (self.now, self.begin(end.flow));
        self.flows[slot].iter_mut().for_each(|flow| flow.started = now);
    }

    /// A transport has sent a packet: its ledger continues the cause's or the lost packet's.
    #[inline(always)]
    pub(super) fn sent(&mut self, end: FlowEnd, packet: PacketHandle, packets: &PacketStore) {
        if self.received_at == Some(end)
            && let Some(Some(flow)) = self.flows.get_mut(end.flow.0 as usize)
            && flow.lost.is_empty()
            && let started = flow.started
            && let of_end = flow.end(end.side)
            && let Some(received) = of_end.received()
            && received.origin >= started
            && let Some(OfPacket { ledger, .. }) = self.ledgers.get_mut(packet.0 as usize)
        {
            *ledger = Ledger { kind: Kind::sent(end.side == Side::Receiver), ..*received };
            of_end.send_in_return();
        } else {
            self.sent_slowly(end, packet, packets);
        }
    }

    /// A transport has sent a packet without another, for a new message, or after losses.
    #[inline(never)]
    fn sent_slowly(&mut self, at: FlowEnd, packet: PacketHandle, packets: &PacketStore) {
        let (mut ledger, slot) = (self.reason(), self.begin(at.flow));
        let Some(flow) = &self.flows[slot] else { return };
        if ledger.origin < flow.started || self.is_recovering || !flow.lost.is_empty() {
            ledger = self.repeated(ledger, at, &packets[packet]);
        }
        *self.ledger(packet) = Ledger { kind: Kind::sent(at.side == Side::Receiver), ..ledger };
        let Some(flow) = &mut self.flows[slot] else { return };
        let end = flow.end(at.side);
        end.keep_sent(ledger);
        if self.has_turn {
            end.wait_again();
        }
    }

    /// Returns the ledger of a packet for a new message, or of one that could repeat a lost one; `reason` is its
    /// cause's.
    #[cold]
    #[inline(never)]
    fn repeated(&mut self, reason: Ledger, end: FlowEnd, packet: &Packet) -> Ledger {
        let (now, is_recovering) = (self.now, self.is_recovering);
        let recovered_at = self.rares.of(reason.rare).recovered_at;
        let Some(Some(flow)) = self.flows.get_mut(end.flow.0 as usize) else { return reason };
        let mut ledger = flow.of_message(reason, &mut self.rares);
        let lost = key(packet).and_then(|key| flow.lost.remove(&key));
        let part = flow.end(end.side).recovery;
        // After an earlier recovery on the path of the cause, the loss did not delay this packet: that recovery did.
        let lost = lost.filter(|lost| lost.ledger.at >= recovered_at || is_recovering);
        if let Some(Lost { ledger: until_loss, loss }) = lost {
            ledger = flow.of_message(until_loss, &mut self.rares);
            ledger.recover(now, part, Some(loss), &mut self.rares);
        } else if is_recovering {
            let time_ps = now.saturating_since(flow.end(end.side).sent().map_or(now, |sent| sent.at)).as_ps();
            ledger.note_recovery(Recovery { time_ps, part, loss: None }, &mut self.rares);
        }
        ledger
    }

    pub(super) fn held_back(&mut self, end: FlowEnd, (host, class): (HostId, u8)) {
        let (reason, slot) = (self.reason(), self.begin(end.flow));
        let Some(flow) = &mut self.flows[slot] else { return };
        let ledger = flow.of_message(reason, &mut self.rares);
        flow.end(end.side).hold_back(ledger, class_of_card(host, class));
    }
}

/// Whether a visit for this reason repeats packets.
fn is_recovery(wake: Wake) -> bool {
    matches!(wake, Wake::Sender(purpose) if purpose != TimeoutPurpose::Pacing)
}
