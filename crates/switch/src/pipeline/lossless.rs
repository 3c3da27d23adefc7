//! The traffic manager of lossless classes: packets are charged to their port of arrival.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::mac_control::{PAUSE_FRAME_BYTES, PauseFrame};
use hitless_core::wire::{Duration, HostId, Packet, PortId, Time};

use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::{Environment, SwitchEvent};
use crate::flow_control::{Charge, FlowControl};
use crate::outbox::Effects;
use crate::port::Scheduler;
use crate::queueing::Entry;
use crate::queueing::queued::{Offer, RELEASES};
use crate::switch::Switch;

impl Core {
    /// Charges a packet to its priority group. A mechanism accounts for its own packets.
    pub fn charge(&mut self, packet: &Packet) -> Charge {
        let &Packet { ingress_port, egress_port, class, owner, frame_bytes, .. } = packet;
        let port = &mut self.ports[usize::from(ingress_port.0)];
        let is_ours = |control: &FlowControl| owner == 0 && control.is_lossless(class);
        let Some(control) = port.config.flow_control.filter(is_ours) else {
            return Charge::Lossy;
        };
        let group = port.rare().group(class);
        let charge = group.charge(&control, self.buffer.free_bytes(), frame_bytes);
        if charge != Charge::Refused {
            group.wait_at(egress_port, frame_bytes);
        }
        if charge == Charge::Headroom {
            self.buffer.take_headroom(frame_bytes);
        }
        charge
    }

    /// Refunds a packet that leaves its queue, or that found no room there after all. Schedules the resume frame if it
    /// is due.
    pub fn refund<E: Effects>(&mut self, now: Time, packet: PacketHandle, effects: &mut E) {
        let &mut Packet { ingress_port, egress_port, class, owner, frame_bytes, .. } = &mut effects.packets()[packet];
        let port = &mut self.ports[usize::from(ingress_port.0)];
        let is_ours = |control: &FlowControl| owner == 0 && control.is_lossless(class);
        let Some(control) = port.config.flow_control.filter(is_ours) else { return };
        let group = port.rare().group(class);
        group.leave(egress_port, frame_bytes);
        let of_headroom = group.refund(control.memory_bytes(frame_bytes));
        if control.credits().is_some() {
            return self.buffer.leave_headroom(frame_bytes.into());
        }
        self.buffer.leave_headroom(of_headroom);
        if group.is_over && group.may_resume(&control, self.buffer.free_bytes()) {
            group.is_over = false;
            group.tells_at = now;
            effects.schedule(now, SwitchEvent::TellPause { port: ingress_port, class: class & 7 });
        }
    }

    /// Schedules a pause frame to the partner, unless it has been told, or has credits.
    pub fn pause_partner<E: Effects>(&mut self, now: Time, port: PortId, class: u8, effects: &mut E) {
        let state = &mut self.ports[usize::from(port.0)];
        let has_credits = state.config.flow_control.is_some_and(|control| control.credits().is_some());
        let group = state.rare().group(class);
        if !group.is_over && !has_credits {
            group.is_over = true;
            group.tells_at = now;
            effects.schedule(now, SwitchEvent::TellPause { port, class: class & 7 });
        }
    }
}

impl Switch {
    /// Puts a packet into a queue that is served by rank or can hold lossless packets.
    #[inline(never)]
    pub(crate) fn enqueue_apart<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        is_last_try: bool,
        environment: &mut E,
    ) {
        let Packet { egress_port, ingress_port, queue, class, round, frame_bytes, .. } = environment.packets()[packet];
        if self.core.queued(egress_port).is_by_rank(queue) {
            return self.enqueue_by_rank(now, packet, is_last_try, environment);
        }
        if self.core.is_in_dropping_storm(egress_port, class) {
            return self.core.end_inside(now, packet, DropReason::PauseWatchdog, environment);
        }
        let charge = self.core.charge(&environment.packets()[packet]);
        let depth_bytes = self.core.queued(egress_port).depth_bytes(queue);
        let has_room = charge != Charge::Lossy || self.core.buffer.has_room(depth_bytes, frame_bytes);
        if charge == Charge::Refused || !has_room {
            return self.tm_drop(now, packet, DropReason::BufferFull, is_last_try, environment);
        }
        if charge != Charge::Headroom {
            self.core.buffer.take(frame_bytes);
        }
        let scheduler = self.core.queued(egress_port);
        match scheduler.offer(queue, round, Entry::new(packet, frame_bytes, now)) {
            refused @ (Offer::Full | Offer::GroupFull) => {
                let is_full = refused == Offer::Full;
                let reason = if is_full { DropReason::QueueFull } else { DropReason::BufferFull };
                // Only a queue of a mechanism has a limit for lossless packets.
                self.core.refund(now, packet, environment);
                self.core.buffer.give_back(frame_bytes);
                return self.tm_drop(now, packet, reason, is_last_try, environment);
            }
            Offer::Queued { mark: true } => drop(environment.packets()[packet].mark_congestion()),
            Offer::Queued { mark: false } => {}
        }
        let may_be_overtaken = !scheduler.is_of_highest_level(queue);
        if charge == Charge::Headroom {
            self.core.pause_partner(now, ingress_port, class, environment);
        }
        self.wait_for_credit(now, egress_port, queue, environment);
        if may_be_overtaken {
            self.core.see_to_service(now, egress_port, environment);
        } else {
            self.serve_when_free(now, egress_port, environment);
        }
    }

    /// Performs the duties for a packet from a queue.
    #[cold]
    #[inline(never)]
    pub(super) fn do_duties<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        duties: u8,
        environment: &mut E,
    ) {
        if duties & RELEASES != 0 {
            self.core.refund(now, packet, environment);
            self.core.free_credits(now, packet, environment);
            self.spend_credits(now, packet, environment);
        }
        if duties & !RELEASES != 0 {
            environment.packets()[packet].mark_congestion();
        }
    }

    /// Sends the partner of `port` a frame that pauses or resumes `class`. A pause is repeated after half of its time.
    pub(crate) fn tell_partner<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        let state = &mut self.core.ports[usize::from(port.0)];
        let repeats_at = now + state.pause_time(u16::MAX / 2);
        let group = state.rare().group(class);
        // A later change has scheduled another frame.
        if group.tells_at != now {
            return;
        }
        let frame = if group.is_over { PauseFrame::pause(class) } else { PauseFrame::resume(class) };
        group.tells_at = if group.is_over { repeats_at } else { Time::NEVER };
        if group.is_over {
            environment.schedule(repeats_at, SwitchEvent::TellPause { port, class });
        }
        let mut packet = Packet { frame_bytes: PAUSE_FRAME_BYTES, ..Packet::default() };
        packet.push_shim(frame).expect("a pause frame carries no other shim");
        let transmission = state.transmission_time(PAUSE_FRAME_BYTES);
        self.core.send_signal(now, port, packet, transmission, environment);
    }
}

impl Core {
    /// Sends a signal of the MAC as soon as the line is free.
    pub(super) fn send_signal<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: Packet,
        transmission: Duration,
        environment: &mut E,
    ) {
        let state = &mut self.ports[usize::from(port.0)];
        // No host has this number: the card finds that the frame is not for its transports.
        let destination = if state.config.faces_switch { HostId::default() } else { HostId(u32::MAX) };
        let (packet, frame_bytes) = (Packet { destination, ..packet }, packet.frame_bytes);
        state.rare().pause_frames_sent += 1;
        let Scheduler::Queued(scheduler) = &mut state.scheduler else {
            unreachable!("a port with flow control has queues that can be paused")
        };
        let departs_at = scheduler.busy_until.max(now) + transmission;
        scheduler.busy_until = departs_at;
        self.packets_created += 1;
        let packet = environment.packets().insert(packet);
        environment.created(packet);
        self.hand_over(port, packet, frame_bytes, departs_at, environment);
    }
}
