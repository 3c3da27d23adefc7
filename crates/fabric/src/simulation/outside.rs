//! What the medium does with packets that have a frame of their own: only in a live run.

use hitless_engine::PacketHandle;
use hitless_switch::{DropReason, Half, SwitchEvent, Verdict};
use hitless_wire::{HostId, PortId, QueueId, ServiceKey, Time};

use super::environment::Medium;
use super::event::{SimulationEvent, kind};
use crate::link::Fate;
use crate::outside::{Action, Decision, Departure, EVERYONE, Outside};

impl Medium {
    pub fn outside(&self) -> &Outside {
        self.outside.as_deref().expect("a live run has an outside")
    }

    pub fn outside_mut(&mut self) -> &mut Outside {
        self.outside.as_deref_mut().expect("a live run has an outside")
    }

    /// Has a packet arrive at the end of a link at `at`.
    pub fn land(&mut self, link: u32, packet: PacketHandle, at: Time) {
        if let Some((at, source)) = self.links[link as usize].land(packet, at) {
            self.queue.push_source(at, source);
        }
    }

    /// Puts a packet that arrives at the end of `link` into the outbox, when the outside is there.
    pub fn leave(&mut self, now: Time, link: u32, packet: PacketHandle) -> bool {
        let Some(point) = self.outside().behind(link) else { return false };
        let switch = self.outside().points[usize::from(point)].switch.0;
        self.decide(switch, packet, Action::Leave);
        let descriptor = self.packets[packet];
        let outside = self.outside_mut();
        outside.counts.left += u64::from(descriptor.frame != 0);
        outside.outbox.push(Departure { at: now, point, packet: descriptor });
        self.discard(packet);
        true
    }

    /// A link has lost a packet.
    pub fn spoil(&mut self, link: u32, packet: PacketHandle, fate: Fate) {
        // The switch is of no account: a link may begin outside.
        let action = if fate == Fate::Corrupted { Action::Corrupted } else { Action::LostDown };
        self.decide(link, packet, action);
        let frame = self.packets[packet].frame;
        if frame == 0 {
            return;
        }
        let outside = self.outside_mut();
        let count = if fate == Fate::Corrupted { &mut outside.counts.corrupted } else { &mut outside.counts.lost_down };
        *count += 1;
        outside.frames.release(frame);
    }

    /// A copy shares the frame of its original.
    pub fn note_copy(&mut self, packet: PacketHandle) {
        let frame = self.packets[packet].frame;
        if frame != 0 {
            let outside = self.outside_mut();
            outside.counts.copied += 1;
            outside.frames.share(frame);
        }
    }

    pub fn note_end(&mut self, packet: PacketHandle, reason: DropReason) {
        let frame = self.packets[packet].frame;
        if frame != 0 {
            let outside = self.outside_mut();
            outside.counts.ended[reason as usize] += 1;
            outside.frames.release(frame);
        }
    }

    pub fn service_of_frame(&self, packet: PacketHandle) -> ServiceKey {
        match self.packets[packet].frame {
            0 => ServiceKey::default(),
            frame => self.outside().frames.info(frame).service,
        }
    }

    /// Finds out where a packet for everyone goes: to one point itself, to all others copies of it, as if they had
    /// come by the same port. None: nowhere.
    pub fn resolve(&mut self, switch: u32, packet: PacketHandle) -> Option<()> {
        let descriptor = self.packets[packet];
        if descriptor.destination != EVERYONE {
            return Some(());
        }
        if descriptor.frame == 0 {
            return None;
        }
        let came_by = self.outside().frames.info(descriptor.frame).point;
        let others = (0..self.outside().points.len() as u16).filter(|&point| point != came_by);
        let hosts: Vec<HostId> = others.map(|point| self.outside().points[usize::from(point)].host).collect();
        let (&first, rest) = hosts.split_first()?;
        self.packets[packet].destination = first;
        for &destination in rest {
            let mut copy = self.packets[packet];
            copy.destination = destination;
            let handle = self.packets.insert(copy);
            self.control_packets += 1;
            self.note_copy(handle);
            self.decide(switch, handle, Action::Flood);
            let order = self.sequences.key(kind::SWITCH, self.hosts_count + switch);
            let event = SwitchEvent::Loopback { port: copy.ingress_port, packet: handle };
            self.queue.push(self.queue.now(), order, SimulationEvent::Switch { switch, event });
        }
        Some(())
    }

    pub fn decide_verdict(&mut self, switch: u32, packet: PacketHandle, half: Half, verdict: Verdict) {
        let Some(action) = Action::of(half, verdict) else { return };
        let (Verdict::Forward { port, queue } | Verdict::Hold { port, queue, .. }) = verdict else { return };
        self.tell_witness(switch, packet, action, port, queue);
    }

    pub fn decide(&mut self, switch: u32, packet: PacketHandle, action: Action) {
        let descriptor = &self.packets[packet];
        self.tell_witness(switch, packet, action, descriptor.egress_port, descriptor.queue);
    }

    #[inline]
    fn tell_witness(&mut self, switch: u32, packet: PacketHandle, action: Action, port: PortId, queue: QueueId) {
        let frame = self.packets[packet].frame;
        let outside = self.outside.as_deref_mut().expect("a live run has an outside");
        let at = outside.now;
        let Some(witness) = &mut outside.witness else { return };
        let number = if frame == 0 { 0 } else { outside.frames.info(frame).number };
        witness.decision(Decision { at, packet: number, switch, action, port, queue });
    }
}
