//! The messages of a card about credits, and its answers to those of the switch.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::mac_control::{CreditCount, CreditMessage, PauseFrame};
use hitless_core::wire::{HostId, Packet, Time};

use super::card_credits::CardCredits;
use super::environment::HostEnvironment;
use super::event::HostEvent;
use super::hosts::Hosts;
use super::state::HostState;

impl HostState {
    /// Returns the credits of the card; none if the card has another flow control.
    fn card_credits(&mut self) -> Option<&mut CardCredits> {
        self.class_queues.as_mut()?.credits.as_mut()
    }

    /// Sends the first waiting signal; returns whether there was one. The line is free.
    pub(super) fn send_signal<E: HostEnvironment>(&mut self, now: Time, env: &mut E) -> bool {
        let Some((packet, line_bytes)) = self.card_credits().and_then(|credits| credits.signals.pop_front()) else {
            return false;
        };
        self.queues().is_sending = true;
        let last_bit_at = self.card.send_signal(now, line_bytes);
        env.transmit(self.id, packet, last_bit_at);
        env.schedule(self.card.line_free_at(), self.id, HostEvent::FrameSent(self.id));
        true
    }

    /// Puts a message ahead of all frames that wait.
    fn tell_credits<E: HostEnvironment>(&mut self, now: Time, message: CreditMessage, env: &mut E) {
        let overhead_bytes = self.card.line().overhead_bytes;
        let Some(credits) = self.card_credits() else { return };
        let mut packet = Packet { frame_bytes: message.frame_bytes(), ..Packet::default() };
        message.put(&mut packet.shims);
        let packet = env.packets().insert(packet);
        env.created(packet);
        credits.signals.push_back((packet, message.line_bytes(overhead_bytes)));
        self.send_next(now, false, env);
    }

    /// Counts a frame from the switch, and frees its credits at once: the memory of a host is unlimited.
    fn return_credits<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, env: &mut E) {
        let descriptor = &env.packets()[packet];
        let (class, frame_bytes) = (descriptor.class & 7, descriptor.frame_bytes);
        let (id, is_signal) = (self.id, descriptor.shims.contains::<PauseFrame>());
        let Some(credits) = self.card_credits().filter(|credits| !is_signal && credits.is_lossless(class)) else {
            return;
        };
        let (rules, receiver) = (credits.config.rules, &mut credits.receivers[usize::from(class)]);
        receiver.admit(rules.credits(frame_bytes));
        if let Some(at) = receiver.free(now, rules.credits(frame_bytes), &rules) {
            env.schedule(at, id, HostEvent::UpdateCredits(id, class));
        }
    }

    pub(super) fn update_credits<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        let Some(credits) = self.card_credits() else { return };
        let count = credits.receivers[usize::from(class)].take_update(now);
        self.tell_credits(now, CreditMessage { class, kind: CreditCount::Freed, count }, env);
    }

    /// Takes a message of the switch: its count of freed credits takes effect after the response time.
    pub(super) fn hear_of_credits<E: HostEnvironment>(&mut self, now: Time, message: CreditMessage, env: &mut E) {
        let id = self.id;
        let Some(credits) = self.card_credits() else { return };
        let CreditMessage { class, kind, count } = message;
        let rules = credits.config.rules;
        match kind {
            CreditCount::Freed => {
                credits.announced.push_back((class, count));
                env.schedule(now + rules.response, id, HostEvent::CreditsFreed(id));
            }
            CreditCount::Consumed => {
                if let Some(at) = credits.receivers[usize::from(class)].reconcile(now, count, &rules) {
                    env.schedule(at, id, HostEvent::UpdateCredits(id, class));
                }
            }
        }
    }

    pub(super) fn take_freed_credits<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        let Some(credits) = self.card_credits() else { return };
        let Some((class, count)) = credits.announced.pop_front() else { return };
        credits.senders[usize::from(class)].update(count);
        self.note_credit(now, class, env);
        self.send_next(now, false, env);
    }

    /// Schedules the report of consumed credits after a frame, unless it is scheduled.
    pub(super) fn arm_credit_sync<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, env: &mut E) {
        let (id, class) = (self.id, env.packets()[packet].class & 7);
        let Some(credits) = self.card_credits().filter(|credits| credits.is_lossless(class)) else { return };
        if let Some(interval) = credits.senders[usize::from(class)].arm_sync(&credits.config.rules) {
            env.schedule(now + interval, id, HostEvent::SyncCredits(id, class));
        }
    }

    /// Sends the count of consumed credits while credits are in use: frames or messages can have been lost.
    pub(super) fn sync_credits<E: HostEnvironment>(&mut self, now: Time, class: u8, env: &mut E) {
        let id = self.id;
        let Some(credits) = self.card_credits() else { return };
        let sender = &mut credits.senders[usize::from(class)];
        let Some(count) = sender.take_sync() else { return };
        if let Some(interval) = sender.arm_sync(&credits.config.rules) {
            env.schedule(now + interval, id, HostEvent::SyncCredits(id, class));
        }
        self.tell_credits(now, CreditMessage { class, kind: CreditCount::Consumed, count }, env);
    }
}

impl Hosts {
    /// Returns the credits of a frame that has arrived at `host`.
    #[cold]
    pub fn return_credits<E: HostEnvironment>(&mut self, now: Time, host: HostId, packet: PacketHandle, env: &mut E) {
        self.hosts[host.0 as usize].return_credits(now, packet, env);
    }
}
