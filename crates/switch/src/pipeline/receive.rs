//! The first stage: the receiving MAC.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::mac_control::{CreditMessage, PauseFrame};
use hitless_core::wire::{PortId, Time};

use crate::drop_reason::DropReason;
use crate::environment::Environment;
use crate::event::Event;
use crate::port::enter_switch;
use crate::switch::Switch;

impl Switch {
    /// Handles a good frame; its last bit has just arrived at `port`.
    #[inline(always)]
    pub fn receive<E: Environment>(&mut self, now: Time, port: PortId, packet: PacketHandle, environment: &mut E) {
        if !self.core.fast_path(now, port, packet, environment) {
            self.receive_on_slow_path(now, port, packet, environment);
        }
    }

    /// Like [`Self::receive`], for any packet at any port.
    #[inline(never)]
    pub fn receive_on_slow_path<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) {
        let state = &mut self.core.ports[usize::from(port.0)];
        let descriptor = &mut environment.packets()[packet];
        state.frames.count_received(descriptor.frame_bytes);
        enter_switch(descriptor, port);
        // Decremented here, so that a packet recirculated in this switch counts as one hop. Control packets of a link
        // have a TTL of 0.
        descriptor.ttl = descriptor.ttl.saturating_sub(1);
        if let Some(frame) = descriptor.shims.get::<PauseFrame>() {
            state.rare().pause_frames += 1;
            let credits = descriptor.shims.get::<CreditMessage>();
            self.core.end(packet, DropReason::ControlAbsorbed, environment);
            return match credits {
                Some(message) => self.hear_of_credits(now, port, message, environment),
                None => self.obey_pause(now, port, frame, environment),
            };
        }
        if state.config.flow_control.is_some() {
            state.count_credits(descriptor);
        }
        self.ingress(now, port, packet, environment);
    }

    /// Handles a frame with a bad check sequence: the MAC counts it; nothing else is known about it.
    pub fn receive_corrupted<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        self.core.ports[usize::from(port.0)].rare().frames_corrupted += 1;
        self.tell_all(now, Event::FcsError { port }, environment);
    }
}
