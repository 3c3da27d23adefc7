//! Credit-based flow control: a frame of a lossless class starts when the link partner has room for it.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::mac_control::{CreditCount, CreditMessage};
use hitless_core::wire::{Packet, PortId, QueueId, Time};

use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::{Environment, SwitchEvent};
use crate::flow_control::PortCredits;
use crate::outbox::Effects;
use crate::switch::Switch;

impl Core {
    fn credits(&self, port: PortId) -> Option<PortCredits> {
        self.ports[usize::from(port.0)].config.flow_control.and_then(|control| control.credits())
    }

    /// Frees the credits of a packet that leaves its queue, or ends before.
    pub fn free_credits<E: Effects>(&mut self, now: Time, packet: PacketHandle, effects: &mut E) {
        let descriptor = &effects.packets()[packet];
        let Packet { ingress_port: port, class, frame_bytes, .. } = *descriptor;
        let state = &mut self.ports[usize::from(port.0)];
        let Some(PortCredits { rules, .. }) = state.credits_of(descriptor) else { return };
        if let Some(at) = state.rare().group(class).credits.free(now, rules.credits(frame_bytes), &rules) {
            effects.schedule(at, SwitchEvent::UpdateCredits { port, class: class & 7 });
        }
    }

    /// Ends a packet that has not left a queue; its credits return.
    #[cold]
    #[inline(never)]
    pub fn end_inside<E: Effects>(&mut self, now: Time, packet: PacketHandle, reason: DropReason, effects: &mut E) {
        self.free_credits(now, packet, effects);
        self.end(packet, reason, effects);
    }

    /// Sends a count of credits as soon as the line is free.
    fn tell_credits<E: Environment>(&mut self, now: Time, port: PortId, message: CreditMessage, environment: &mut E) {
        let state = &self.ports[usize::from(port.0)];
        let transmission = state.line_time(message.line_bytes(state.config.overhead_bytes));
        let mut packet = Packet { frame_bytes: message.frame_bytes(), ..Packet::default() };
        message.put(&mut packet.shims);
        self.send_signal(now, port, packet, transmission, environment);
    }
}

impl Switch {
    /// Spends the credits of a packet that leaves its queue.
    pub(super) fn spend_credits<E: Environment>(&mut self, now: Time, packet: PacketHandle, environment: &mut E) {
        let descriptor = &environment.packets()[packet];
        let Packet { egress_port: port, queue, class, frame_bytes, .. } = *descriptor;
        let state = &mut self.core.ports[usize::from(port.0)];
        if let Some(PortCredits { rules, limit }) = state.credits_of(descriptor) {
            let sender = state.rare().sender(class);
            sender.consume(rules.credits(frame_bytes), limit);
            if let Some(interval) = sender.arm_sync(&rules) {
                environment.schedule(now + interval, SwitchEvent::SyncCredits { port, class: class & 7 });
            }
        }
        self.wait_for_credit(now, port, queue, environment);
    }

    /// Pauses a queue while its first packet lacks credit.
    pub(super) fn wait_for_credit<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        queue: QueueId,
        environment: &mut E,
    ) {
        if self.core.credits(port).is_none() {
            return;
        }
        let scheduler = self.core.queued(port);
        let (first, was_paused) = (scheduler.first(queue), scheduler.is_paused(queue));
        let first = first.map(|first| environment.packets()[first.packet]);
        let state = &mut self.core.ports[usize::from(port.0)];
        let lacking = first.filter(|packet| {
            state.credits_of(packet).is_some_and(|PortCredits { rules, limit }| {
                !state.rare().sender(packet.class).allows(rules.credits(packet.frame_bytes), limit)
            })
        });
        match (lacking, was_paused) {
            (Some(Packet { class, .. }), false) => {
                let class = class & 7;
                state.rare().pauses.note_paused(class, now);
                if let Some(watchdog) = state.config.flow_control.and_then(|control| control.watchdog) {
                    environment.schedule(now + watchdog.detection, SwitchEvent::PauseWatchdog { port, class });
                }
                self.core.queued(port).pause(queue);
            }
            (None, true) => {
                let in_queue = |class: &u8| state.config.class_queue[usize::from(*class)] == queue;
                let classes: Vec<u8> = (0..8).filter(in_queue).collect();
                classes.into_iter().for_each(|class| state.rare().pauses.note_resumed(class, now));
                self.core.queued(port).resume(queue);
            }
            (Some(_), true) | (None, false) => return,
        }
        self.report_stops(port, environment);
    }

    /// Takes a message of the partner: a count of freed credits takes effect after the response time. A count of
    /// consumed credits covers the frames received before it.
    pub(super) fn hear_of_credits<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        message: CreditMessage,
        environment: &mut E,
    ) {
        let Some(PortCredits { rules, .. }) = self.core.credits(port) else { return };
        let CreditMessage { class, kind, count } = message;
        match kind {
            CreditCount::Freed => {
                environment.schedule(now + rules.response, SwitchEvent::CreditsFreed { port, class, count });
            }
            CreditCount::Consumed => {
                let group = self.core.ports[usize::from(port.0)].rare().group(class);
                if let Some(at) = group.credits.reconcile(now, count, &rules) {
                    environment.schedule(at, SwitchEvent::UpdateCredits { port, class });
                }
            }
        }
    }

    pub(crate) fn handle_credits<E: Environment>(&mut self, now: Time, event: SwitchEvent, environment: &mut E) {
        match event {
            SwitchEvent::UpdateCredits { port, class } => {
                let count = self.core.ports[usize::from(port.0)].rare().group(class).credits.take_update(now);
                let message = CreditMessage { class, kind: CreditCount::Freed, count };
                self.core.tell_credits(now, port, message, environment);
            }
            SwitchEvent::SyncCredits { port, class } => self.sync_credits(now, port, class, environment),
            SwitchEvent::CreditsFreed { port, class, count } => {
                let state = &mut self.core.ports[usize::from(port.0)];
                // Updates keep coming from a partner that frees nothing, in answer to counts of consumed credits.
                if state.rare().sender(class).update(count) == 0 {
                    return;
                }
                state.rare().storms[usize::from(class)] = None;
                let queue = state.config.class_queue[usize::from(class)];
                self.wait_for_credit(now, port, queue, environment);
                self.serve_when_free(now, port, environment);
            }
            other => unreachable!("{other:?} is no event of credits"),
        }
    }

    /// Sends the count of consumed credits while credits are in use: frames or messages can have been lost.
    fn sync_credits<E: Environment>(&mut self, now: Time, port: PortId, class: u8, environment: &mut E) {
        let Some(PortCredits { rules, .. }) = self.core.credits(port) else { return };
        let sender = self.core.ports[usize::from(port.0)].rare().sender(class);
        let Some(count) = sender.take_sync() else { return };
        if let Some(interval) = sender.arm_sync(&rules) {
            environment.schedule(now + interval, SwitchEvent::SyncCredits { port, class });
        }
        let message = CreditMessage { class, kind: CreditCount::Consumed, count };
        self.core.tell_credits(now, port, message, environment);
    }
}
