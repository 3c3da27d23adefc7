//! The edge of a live run: handles packets that carry a real frame.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::capture::FrameBytes;
use hitless_core::wire::link::LinkHeaderSet;
use hitless_core::wire::{HostId, Packet, PortId, QueueId, ServiceKey, Time};
use hitless_simulation::link::Fate;
use hitless_simulation::run::{Edge, RealFrame};
use hitless_switch::{DropReason, Half, Verdict};

use super::decision::{Action, Decision};
use super::external::{Departure, EVERYONE, External};

impl Edge for External {
    fn set_time(&mut self, now: Time) {
        assert!(now >= self.now, "time runs backwards");
        self.now = now;
    }

    fn service_key(&self, packet: &Packet) -> Option<ServiceKey> {
        let has_frame = packet.frame != 0;
        Some(if has_frame { self.frames.info(packet.frame).service } else { ServiceKey::default() })
    }

    #[inline]
    fn is_for_everyone(&self, packet: &Packet) -> bool {
        packet.destination == EVERYONE
    }

    /// Keeps a packet for one point, and makes copies for all other points.
    fn resolve(&mut self, switch: u32, packet: PacketHandle, packets: &mut PacketStore) -> Option<Vec<PacketHandle>> {
        let descriptor = packets[packet];
        if descriptor.destination != EVERYONE {
            return Some(Vec::new());
        }
        if descriptor.frame == 0 {
            return None;
        }
        let came_by = self.frames.info(descriptor.frame).point;
        let others = (0..self.points.len() as u16).filter(|&point| point != came_by);
        let hosts: Vec<HostId> = others.map(|point| self.points[usize::from(point)].host).collect();
        let (&first, rest) = hosts.split_first()?;
        packets[packet].destination = first;
        let mut copies = Vec::with_capacity(rest.len());
        for &destination in rest {
            let copy = packets.insert(Packet { destination, ..descriptor });
            self.note_copy(&packets[copy]);
            self.decide(switch, &packets[copy], Action::Flood);
            copies.push(copy);
        }
        Some(copies)
    }

    fn takes(&mut self, now: Time, link: u32, packet: PacketHandle, packets: &PacketStore) -> bool {
        let Some(point) = self.behind(link) else { return false };
        let switch = self.points[usize::from(point)].switch.0;
        let packet = packets[packet];
        self.tell_witness(switch, packet.frame, Action::Leave, PortId(point), packet.queue);
        self.counts.left += u64::from(packet.frame != 0);
        self.outbox.push(Departure { at: now, point, packet });
        true
    }

    fn real_frame(&self, packet: &Packet) -> Option<RealFrame> {
        let frame = (packet.frame != 0).then_some(packet.frame)?;
        Some(RealFrame { protocol: self.protocol_of(frame), identity: self.frames.info(frame).number })
    }

    fn frame_bytes(
        &self,
        link: Option<u32>,
        packet: &Packet,
        spoken: &LinkHeaderSet,
        is_whole: bool,
    ) -> Option<FrameBytes> {
        self.captured(link, packet, spoken, is_whole)
    }

    fn lost(&mut self, link: u32, packet: PacketHandle, packets: &PacketStore, fate: Fate) {
        // The decision names the link in place of a switch, because the link can begin at a real node.
        let action = if fate == Fate::Corrupted { Action::Corrupted } else { Action::LostDown };
        self.decide(link, &packets[packet], action);
        let frame = packets[packet].frame;
        if frame == 0 {
            return;
        }
        let count = if fate == Fate::Corrupted { &mut self.counts.corrupted } else { &mut self.counts.lost_down };
        *count += 1;
        self.frames.release(frame);
    }

    fn transmitted(
        &mut self,
        switch: u32,
        _port: PortId,
        packet: PacketHandle,
        packets: &PacketStore,
        _last_bit_at: Time,
    ) {
        self.decide(switch, &packets[packet], Action::Transmit);
    }

    fn created(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore) {
        self.note_copy(&packets[packet]);
        self.decide(switch, &packets[packet], Action::Create);
    }

    fn ended(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore, reason: DropReason) {
        self.decide(switch, &packets[packet], Action::End(reason));
        let frame = packets[packet].frame;
        if frame != 0 {
            self.counts.ended[reason as usize] += 1;
            self.frames.release(frame);
        }
    }

    fn decided(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore, half: Half, verdict: Verdict) {
        let Some(action) = Action::of(half, verdict) else { return };
        let (Verdict::Forward { port, queue } | Verdict::Hold { port, queue, .. }) = verdict else { return };
        self.tell_witness(switch, packets[packet].frame, action, port, queue);
    }
}

impl External {
    /// Lets a copy share the frame of its original.
    fn note_copy(&mut self, packet: &Packet) {
        if packet.frame != 0 {
            self.counts.copied += 1;
            self.frames.share(packet.frame);
        }
    }

    #[inline]
    fn decide(&mut self, switch: u32, packet: &Packet, action: Action) {
        self.tell_witness(switch, packet.frame, action, packet.egress_port, packet.queue);
    }

    #[inline]
    fn tell_witness(&mut self, switch: u32, frame: u32, action: Action, port: PortId, queue: QueueId) {
        let at = self.now;
        let Some(witness) = &mut self.witness else { return };
        let packet = if frame == 0 { 0 } else { self.frames.info(frame).number };
        witness.decision(Decision { at, packet, switch, action, port, queue });
    }
}
