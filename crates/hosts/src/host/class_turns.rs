//! The events of cards with flow control: frames by class, pauses, and turns of waiting flows.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::mac_control::{CreditMessage, PauseFrame};
use hitless_core::wire::{FlowId, HostId, PauseEnd, Time};

use super::class_queues::ClassQueues;
use super::connection::Connection;
use super::environment::{HostDrop, HostEnvironment};
use super::event::{HostEvent, HostStep};
use super::flow_table::FlowSlot;
use super::hosts::Hosts;
use super::state::HostState;

impl HostState {
    pub(super) fn queues(&mut self) -> &mut ClassQueues {
        self.class_queues.as_mut().expect("a card without queues by class has no such event")
    }

    /// Returns whether a flow must wait for the queue of its class, and adds it to the line if so.
    #[cold]
    pub fn waits_for_class<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, class: u8, env: &mut E) -> bool {
        let queues = self.queues();
        let waits = !queues.may_send(now, class);
        if waits {
            queues.hold_back(class, flow);
            self.arm_class_turns(now, env);
        }
        waits
    }

    /// Schedules the next turns of flows that wait for frames in the stack. Other flows wait until a frame has left.
    fn arm_class_turns<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        if let Some(at) = self.queues().stack_drained_at(now)
            && self.begin_drain()
        {
            env.schedule(at, self.id, HostEvent::ClassTurns(self.id));
        }
    }

    /// Queues a packet from the stack by its class, or drops it.
    pub fn queue_by_class<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, env: &mut E) {
        let descriptor = &env.packets()[packet];
        let (class, frame_bytes) = (descriptor.class, descriptor.frame_bytes);
        if E::OBSERVES {
            env.observe(HostStep::Queued(packet));
        }
        if self.queues().push(now, class, packet, frame_bytes) {
            self.note_credit(now, class, env);
            self.send_next(now, false, env);
        } else {
            self.drop(packet, env);
        }
    }

    pub fn frame_sent<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        self.queues().is_sending = false;
        self.send_next(now, true, env);
    }

    /// Sends the next frame if the line is free; `follows` means that another has just left.
    pub(super) fn send_next<E: HostEnvironment>(&mut self, now: Time, follows: bool, env: &mut E) {
        let queues = self.queues();
        if queues.is_sending {
            return;
        }
        if self.send_signal(now, env) {
            return;
        }
        let queues = self.queues();
        let Some(frame) = queues.pop() else { return };
        queues.is_sending = true;
        if E::OBSERVES {
            env.observe(HostStep::Dequeued(frame.packet));
        }
        let last_bit_at = self.card.send_queued(now, frame.queued_at, frame.frame_bytes, follows);
        env.transmit(self.id, frame.packet, last_bit_at);
        env.schedule(self.card.line_free_at(), self.id, HostEvent::FrameSent(self.id));
        self.arm_credit_sync(now, frame.packet, env);
        // The frame that is first now can lack credit.
        let class = env.packets()[frame.packet].class;
        self.note_credit(now, class, env);
    }

    /// Notes the start or the end of a wait for credit.
    pub(super) fn note_credit<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        let Some(is_paused) = self.queues().note_credit(now, class) else { return };
        if E::OBSERVES {
            env.observe(HostStep::CardPaused { host: self.id, class: class & 7, is_paused });
        }
    }

    /// Takes a pause frame of the switch; a card that does not obey them ignores it.
    pub fn obey_pause<E: HostEnvironment>(&mut self, now: Time, frame: PauseFrame, env: &mut E) {
        // A quantum is 512 bit times (IEEE 802.3, annex 31B.2).
        let (id, pause_time) = (self.id, self.card.rate().time_for(u64::from(frame.quanta) * 64));
        let Some(queues) = &mut self.class_queues else { return };
        let class = frame.class & 7;
        if frame.is_resume() {
            queues.pauses.take_back(class);
            return self.resume_class(now, class, env);
        }
        let (begins_at, ends_at) = (now + queues.response, now + pause_time);
        if queues.pauses.is_active(now, 1 << class) {
            return self.pause_class(now, class, ends_at, env);
        }
        if queues.pauses.announce(class, begins_at, ends_at) {
            env.schedule(begins_at, id, HostEvent::PauseBegins(id, class));
        }
    }

    /// Starts a pause after the response time of the card.
    pub fn begin_pause<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        if let Some(ends_at) = self.queues().pauses.take_announced(class, now) {
            self.pause_class(now, class, ends_at, env);
        }
    }

    fn pause_class<E: HostEnvironment>(&mut self, now: Time, class: u8, ends_at: Time, env: &mut E) {
        let queues = self.queues();
        queues.queues[usize::from(class)].is_paused = true;
        if queues.pauses.begin(class, now, ends_at) {
            env.schedule(ends_at, self.id, HostEvent::PauseEnds(self.id, class));
        }
        if E::OBSERVES {
            env.observe(HostStep::CardPaused { host: self.id, class, is_paused: true });
        }
    }

    fn resume_class<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        let queues = self.queues();
        queues.pauses.note_resumed(class, now);
        queues.queues[usize::from(class)].is_paused = false;
        if E::OBSERVES {
            env.observe(HostStep::CardPaused { host: self.id, class, is_paused: false });
        }
        self.send_next(now, false, env);
    }

    /// Ends a pause at its time, because a resume frame can be lost.
    pub fn end_pause<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        match self.queues().pauses.look(class, now) {
            PauseEnd::Over => self.resume_class(now, class, env),
            PauseEnd::Later(at) => env.schedule(at, self.id, HostEvent::PauseEnds(self.id, class)),
            PauseEnd::Nothing => {}
        }
    }

    /// Takes a packet from the link that is addressed to no transport of this host; returns whether it was a signal of
    /// flow control.
    pub fn take_signal<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, env: &mut E) -> bool {
        let Some(frame) = env.packets()[packet].shims.get::<PauseFrame>() else { return false };
        match env.packets()[packet].shims.get::<CreditMessage>() {
            Some(message) => self.hear_of_credits(now, message, env),
            None => self.obey_pause(now, frame, env),
        }
        env.drop_packet(self.id, packet, HostDrop::Signal);
        true
    }
}

impl Hosts {
    pub(super) fn handle_class_queues<E: HostEnvironment>(&mut self, now: Time, event: HostEvent, env: &mut E) {
        match event {
            HostEvent::QueueByClass(packet) => {
                let host = env.packets()[packet].source;
                self.hosts[host.0 as usize].queue_by_class(now, packet, env);
            }
            HostEvent::ClassTurns(host) => {
                self.hosts[host.0 as usize].drain_fired();
                self.class_turns(now, host, env);
            }
            HostEvent::FrameSent(host) => {
                self.hosts[host.0 as usize].frame_sent(now, env);
                self.class_turns(now, host, env);
            }
            HostEvent::PauseBegins(host, class) => self.hosts[host.0 as usize].begin_pause(now, class, env),
            HostEvent::PauseEnds(host, class) => self.hosts[host.0 as usize].end_pause(now, class, env),
            HostEvent::UpdateCredits(host, class) => self.hosts[host.0 as usize].update_credits(now, class, env),
            HostEvent::SyncCredits(host, class) => self.hosts[host.0 as usize].sync_credits(now, class, env),
            HostEvent::CreditsFreed(host) => self.hosts[host.0 as usize].take_freed_credits(now, env),
            other => unreachable!("{other:?} is no event of a card"),
        }
    }

    /// Gives waiting flows their turns once a class has drained to half of its limit.
    fn class_turns<E: HostEnvironment>(&mut self, now: Time, host: HostId, env: &mut E) {
        if !self.hosts[host.0 as usize].queues().has_drained(now) {
            return;
        }
        while let Some(flow) = self.hosts[host.0 as usize].queues().next_turn(now) {
            self.visit_at(now, flow, host, env, Connection::take_turn);
            let Self { hosts, flows, .. } = &mut *self;
            let state = &mut hosts[host.0 as usize];
            while let Some(flow) = state.take_waiting() {
                // A flow that has ended here sends nothing. Its other end can be open, and known in this partition.
                if let Some(FlowSlot::Active(connection)) = flows.get_mut(flow.0 as usize)
                    && connection.is_open_at(host)
                {
                    state.queues().hold_back(connection.class_from(host), flow);
                }
            }
        }
        self.hosts[host.0 as usize].arm_class_turns(now, env);
    }
}
