//! Ports with a line that changes its rate or delay during the run. Frames wait in a queue, because their departure is
//! known only when they begin.

use hitless_core::wire::{BitRate, Duration, HostId, PortId, Time};

use super::environment::HostEnvironment;
use super::event::{HostEvent, Lane};
use super::hosts::Hosts;
use super::state::HostState;

impl Hosts {
    /// Changes the rate of a host's line for the frames that begin later.
    ///
    /// # Panics
    /// If the port was built for a constant line.
    pub fn set_line_rate(&mut self, now: Time, host: HostId, port: PortId, rate: BitRate) {
        let ports = self.hosts[host.0 as usize].ports.as_mut();
        ports.expect("a host with a changing line has ports").set_rate(now, port, rate);
    }

    /// Keeps a host's line idle for `longer` after its last frame.
    ///
    /// # Panics
    /// If the port was built for a constant line.
    pub fn hold_line(&mut self, host: HostId, port: PortId, longer: Duration) {
        let line = self.hosts[host.0 as usize].ports.as_mut().and_then(|ports| ports.changing_line(port));
        line.expect("a line is held that was built for a constant delay").0.hold_line(longer);
    }

    /// Sends the next frame of a changing line, and gives waiting flows their turns. A line that becomes faster drains
    /// before the event of its lane.
    pub(super) fn line_free<E: HostEnvironment>(&mut self, now: Time, host: HostId, port: PortId, env: &mut E) {
        let place = host.0 as usize;
        self.hosts[place].begin_next(now, port, true, env);
        for lane in [Lane(port.0), Lane::ALL] {
            let drained_at = self.hosts[place].ports.as_ref().and_then(|ports| ports.drained_at(lane, now));
            if drained_at.is_some_and(|drained_at| drained_at <= now) {
                self.give_turns(now, host, lane, env);
            }
        }
    }
}

impl HostState {
    /// Sends the next frame of a port with a changing line, if the line is free. `follows` tells that the event of the
    /// previous frame has come.
    pub fn begin_next<E: HostEnvironment>(&mut self, now: Time, port: PortId, follows: bool, env: &mut E) {
        let line = self.ports.as_mut().and_then(|ports| ports.changing_line(port));
        let (card, queue) = line.expect("only a port with a changing line has a queue");
        if follows {
            queue.is_sending = false;
        }
        if queue.is_sending {
            return;
        }
        // A line with a delay that has shrunk is held, and the next frame begins with the rate at the end of the hold.
        if card.line_free_at() > now {
            queue.is_sending = true;
            return env.schedule(card.line_free_at(), self.id, HostEvent::LineFree(self.id, port));
        }
        let Some(frame) = queue.pop() else { return };
        queue.is_sending = true;
        let last_bit_at = card.send_queued(now, frame.queued_at, frame.frame_bytes, follows);
        let free_at = card.line_free_at();
        env.transmit_by_port(self.id, port, frame.packet, last_bit_at);
        env.schedule(free_at, self.id, HostEvent::LineFree(self.id, port));
    }
}
