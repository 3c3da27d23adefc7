//! The third stage: the traffic manager, which puts packets into queues and takes them out.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, Packet, PortId, Time};

use crate::canary::{Canary, sings};
use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::{Environment, SwitchEvent};
use crate::event::Event;
use crate::outbox::Effects;
use crate::port::Scheduler;
use crate::queueing::queued::Offer;
use crate::queueing::{Dequeued, Entry};
use crate::switch::Switch;

impl Core {
    /// Sends a packet to the queue in its descriptor; it arrives after `latency`.
    #[inline]
    pub fn send_to_queue<E: Effects>(&mut self, now: Time, latency: Duration, packet: PacketHandle, effects: &mut E) {
        let &mut Packet { egress_port, queue, frame_bytes, .. } = &mut effects.packets()[packet];
        let port = &mut self.ports[usize::from(egress_port.0)];
        let delay = match port.scheduler {
            // A FIFO scheduler must see packets in order of arrival. A packet with a longer way is announced when only
            // `lead` is left of it; until then other packets can be announced that arrive earlier.
            Scheduler::Fifo(_) if latency == self.lead => return self.offer_fifo(now, packet, effects),
            Scheduler::Fifo(_) => latency - self.lead,
            Scheduler::Queued(_) | Scheduler::Flow(_) => latency,
        };
        // Ingress decisions count packets under way, so that a burst does not find the same room twice.
        port.underway_mut(queue).add(frame_bytes);
        self.buffer.announce(frame_bytes);
        effects.schedule(now + delay, SwitchEvent::Enqueue { packet, is_last_try: false });
    }

    /// Ends the way of a packet that [`Self::send_to_queue`] has sent.
    #[inline]
    pub fn end_way_to_queue<E: Effects>(&mut self, packet: PacketHandle, effects: &mut E) {
        let &mut Packet { egress_port, queue, frame_bytes, .. } = &mut effects.packets()[packet];
        self.ports[usize::from(egress_port.0)].underway_mut(queue).remove(frame_bytes);
        self.buffer.end_way(frame_bytes);
    }

    /// Puts a packet into the queue in its descriptor at once, but hides it from the scheduler for `duration`.
    ///
    /// The duration includes the way back to the traffic manager.
    ///
    /// # Errors
    /// The reason why the queue refused it; the packet still exists.
    pub fn hold<E: Effects>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        duration: Duration,
        effects: &mut E,
    ) -> Result<(), DropReason> {
        let descriptor = effects.packets()[packet];
        let port = descriptor.egress_port;
        let entry = Entry::new(packet, descriptor.frame_bytes, now);
        let has_groups = self.ports[usize::from(descriptor.ingress_port.0)].config.flow_control.is_some();
        assert!(!has_groups, "a mechanism that holds packets does not run with flow control");
        let depth_bytes = self.queued(port).depth_bytes(descriptor.queue);
        if !self.buffer.has_room(depth_bytes, descriptor.frame_bytes) {
            return Err(DropReason::BufferFull);
        }
        if !self.queued(port).hold(descriptor.queue, entry) {
            return Err(DropReason::QueueFull);
        }
        // A held packet occupies buffer space like a waiting one.
        self.buffer.take(descriptor.frame_bytes);
        effects.schedule(now + duration, SwitchEvent::Release { packet });
        Ok(())
    }

    /// Schedules the port's service, for when the line is free, if it has a packet ready.
    #[inline]
    pub fn see_to_service<E: Effects>(&mut self, now: Time, port: PortId, effects: &mut E) {
        let scheduler = self.queued(port);
        if scheduler.has_ready() && !scheduler.service_is_due {
            scheduler.service_is_due = true;
            effects.schedule(scheduler.busy_until.max(now), SwitchEvent::Service { port });
        }
    }
}

impl Switch {
    #[inline]
    pub(crate) fn enqueue<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        is_last_try: bool,
        environment: &mut E,
    ) {
        // Not the whole descriptor: that would copy several cache lines.
        let &mut Packet { egress_port: port, queue, round, frame_bytes, owner, .. } =
            &mut environment.packets()[packet];
        let state = &mut self.core.ports[usize::from(port.0)];
        let scheduler = match &mut state.scheduler {
            Scheduler::Queued(scheduler) => scheduler,
            Scheduler::Fifo(_) => return self.core.offer_fifo(now, packet, environment),
            Scheduler::Flow(_) => return self.enqueue_by_flow(now, packet, is_last_try, environment),
        };
        if scheduler.lets_pass(now, queue, frame_bytes)
            && state.hooks.egress | state.hooks.tx | state.hooks.queue_empty | owner == 0
            && self.core.buffer.has_room(0, frame_bytes)
            // A frame of a higher level can arrive in this same picosecond.
            && (scheduler.is_of_highest_level(queue) || environment.begins_at_once(now))
        {
            return self.pass(now, packet, environment);
        }
        if scheduler.is_apart(queue) {
            return self.enqueue_apart(now, packet, is_last_try, environment);
        }
        let depth_bytes = scheduler.depth_bytes(queue);
        if !self.core.buffer.has_room(depth_bytes, frame_bytes) {
            return self.tm_drop(now, packet, DropReason::BufferFull, is_last_try, environment);
        }
        let entry = Entry::new(packet, frame_bytes, now);
        match scheduler.offer(queue, round, entry) {
            Offer::Full => return self.tm_drop(now, packet, DropReason::QueueFull, is_last_try, environment),
            Offer::GroupFull => return self.tm_drop(now, packet, DropReason::BufferFull, is_last_try, environment),
            Offer::Queued { mark: true } => {
                environment.packets()[packet].mark_congestion();
            }
            Offer::Queued { mark: false } => {}
        }
        let may_be_overtaken = !scheduler.is_of_highest_level(queue);
        self.core.buffer.take(frame_bytes);
        if may_be_overtaken {
            // A frame of a higher level can arrive in this same picosecond, and would win at a busy port too.
            self.core.see_to_service(now, port, environment);
        } else {
            self.serve_when_free(now, port, environment);
        }
    }

    /// Takes a packet straight through an idle port.
    #[inline]
    fn pass<E: Environment>(&mut self, now: Time, packet: PacketHandle, environment: &mut E) {
        let &mut Packet { egress_port: port, queue, round, frame_bytes, .. } = &mut environment.packets()[packet];
        let state = &mut self.core.ports[usize::from(port.0)];
        let transmission = state.transmission_time(frame_bytes);
        let Scheduler::Queued(scheduler) = &mut state.scheduler else { unreachable!("only queues are passed") };
        scheduler.pass(queue, round, frame_bytes);
        scheduler.busy_until = now + transmission;
        self.core.buffer.pass(frame_bytes);
        self.core.hand_over(port, packet, frame_bytes, now + transmission, environment);
    }

    pub(crate) fn release<E: Environment>(&mut self, now: Time, packet: PacketHandle, environment: &mut E) {
        let descriptor = environment.packets()[packet];
        let entry = Entry::new(packet, descriptor.frame_bytes, now);
        self.core.queued(descriptor.egress_port).release(descriptor.queue, descriptor.urgency(), entry);
        self.serve_when_free(now, descriptor.egress_port, environment);
    }

    /// Serves the port now if it is free, or else when it becomes free.
    #[inline]
    pub(crate) fn serve_when_free<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        if self.core.queued(port).busy_until <= now {
            self.serve(now, port, environment);
        } else {
            self.core.see_to_service(now, port, environment);
        }
    }

    pub(crate) fn serve<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        let watchers = self.core.ports[usize::from(port.0)].hooks.queue_empty;
        let scheduler = self.core.queued(port);
        if scheduler.busy_until > now {
            return self.core.see_to_service(now, port, environment);
        }
        let (queue, entry) = match scheduler.take() {
            Dequeued::Packet(queue, entry) => (queue, entry),
            Dequeued::Rotating(step) => {
                // The change of queues occupies the port like a frame.
                scheduler.busy_until = now + step;
                return self.core.see_to_service(now, port, environment);
            }
            Dequeued::Nothing => return,
        };
        if scheduler.duties != 0 {
            let duties = scheduler.duties;
            self.do_duties(now, entry.packet, duties, environment);
        }
        let scheduler = self.core.queued(port);
        // Recorded before the packet's hooks run, because they can refill the queue.
        let is_emptied = watchers != 0 && scheduler.depth_bytes(queue) == 0;
        self.core.buffer.give_back(entry.frame_bytes);
        let held_for = self.leave(now, port, entry, environment);
        if is_emptied {
            self.tell(watchers, now, Event::QueueEmpty { port, queue }, environment);
        }
        self.core.queued(port).busy_until = now + held_for;
        if !sings(Canary::IdlePort) || queue.0 == 0 {
            self.core.see_to_service(now, port, environment);
        }
    }
}
