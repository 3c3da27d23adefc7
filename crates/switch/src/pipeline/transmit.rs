//! The last stage: the sending MAC.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, PortId, Time};

use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::SwitchEvent;
use crate::outbox::Effects;
use crate::port::Scheduler;

impl Core {
    /// Offers a packet that will reach its FIFO scheduler after `lead`. Calls must come in the order of arrival.
    #[inline]
    pub fn offer_fifo<E: Effects>(&mut self, now: Time, packet: PacketHandle, effects: &mut E) {
        let descriptor = &mut effects.packets()[packet];
        let frame_bytes = descriptor.frame_bytes;
        let port = descriptor.egress_port;
        let state = &mut self.ports[usize::from(port.0)];
        let transmission = state.transmission_time(frame_bytes);
        let Scheduler::Fifo(scheduler) = &mut state.scheduler else {
            unreachable!("only FIFO schedulers are offered to")
        };
        let mark = || _ = descriptor.mark_congestion();
        match scheduler.offer(now + self.lead, frame_bytes, transmission, mark) {
            Some(departs_at) => self.hand_over(port, packet, frame_bytes, departs_at, effects),
            None => self.end(packet, DropReason::QueueFull, effects),
        }
    }

    /// Starts the transmission of a packet from a queue; returns its duration.
    #[inline]
    pub fn transmit<E: Effects>(&mut self, now: Time, port: PortId, packet: PacketHandle, effects: &mut E) -> Duration {
        let frame_bytes = effects.packets()[packet].frame_bytes;
        let transmission = self.ports[usize::from(port.0)].transmission_time(frame_bytes);
        self.hand_over(port, packet, frame_bytes, now + transmission, effects);
        transmission
    }

    #[inline]
    pub fn hand_over<E: Effects>(
        &mut self,
        port: PortId,
        packet: PacketHandle,
        frame_bytes: u32,
        departs_at: Time,
        effects: &mut E,
    ) {
        let state = &mut self.ports[usize::from(port.0)];
        state.frames.count_sent(frame_bytes);
        let last_bit_at = departs_at + self.egress_latency;
        if state.config.is_loopback {
            let back_at = last_bit_at + self.architecture.loopback_latency;
            return effects.schedule(back_at, SwitchEvent::Loopback { port, packet });
        }
        effects.transmit(port, packet, last_bit_at);
    }
}
