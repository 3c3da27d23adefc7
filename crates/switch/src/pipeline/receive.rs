//! The first stage: the MAC that receives.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::{PortId, Time};

use crate::drop_reason::DropReason;
use crate::environment::Environment;
use crate::event::Event;
use crate::port::enter_switch;
use crate::switch::Switch;

impl Switch {
    /// The last bit of a good frame has arrived at `port`.
    #[inline(always)]
    pub fn receive<E: Environment>(&mut self, now: Time, port: PortId, packet: PacketHandle, environment: &mut E) {
        if !self.core.fast_path(now, port, packet, environment) {
            self.receive_on_slow_path(now, port, packet, environment);
        }
    }

    /// [`Self::receive`] for any packet at any port.
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
        // Here, so that a packet that goes round in this switch takes one hop. Control packets of a link have none.
        descriptor.ttl = descriptor.ttl.saturating_sub(1);
        if let Some(frame) = descriptor.shims.get::<PauseFrame>() {
            state.rare().pause_frames += 1;
            self.core.end(packet, DropReason::ControlAbsorbed, environment);
            return self.obey_pause(now, port, frame, environment);
        }
        self.ingress(now, port, packet, environment);
    }

    /// A frame with a bad check sequence has arrived at `port`: the MAC counts it, nothing more is known of it.
    pub fn receive_corrupted<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        self.core.ports[usize::from(port.0)].rare().frames_corrupted += 1;
        self.tell_all(now, Event::FcsError { port }, environment);
    }
}
