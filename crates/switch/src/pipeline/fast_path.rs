//! The whole way of a packet that nobody but the queue has a say in, in one step.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Packet, PortId, Time};

use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::Environment;
use crate::port::{Scheduler, enter_switch};
use crate::switch::Switch;

/// What became of a packet that was offered the short way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortcut {
    /// It may not go that way, and nothing was done.
    Refused,
    /// Its queue is full: it ends here, as [`Switch::end_at_full_queue`] is to be told.
    Full,
    /// It is to be put on a line.
    Sent {
        /// The port that it leaves by.
        port: PortId,
        /// As [`crate::PortConfig::line`].
        line: u32,
        /// When its last bit leaves the MAC.
        last_bit_at: Time,
    },
}

impl Switch {
    /// Whether what arrives at `port` may take [`Self::receive_on_shortcut`].
    #[inline(always)]
    pub fn has_shortcut(&self, port: PortId) -> bool {
        self.core.ports[usize::from(port.0)].enters_fast_path
    }

    /// The last bit of a good frame has arrived at `port`, which has a shortcut: takes it the whole way `towards` the
    /// port of its route, if nobody but the queue has a say in it. For whoever has the packet at hand; others call
    /// [`Self::receive`].
    #[inline(always)]
    pub fn receive_on_shortcut(&mut self, now: Time, port: PortId, packet: &mut Packet, towards: PortId) -> Shortcut {
        self.core.shortcut(now, port, packet, towards)
    }

    /// A packet that [`Self::receive_on_shortcut`] found no room for ends.
    #[cold]
    #[inline(never)]
    pub fn end_at_full_queue<E: Environment>(&mut self, packet: PacketHandle, environment: &mut E) {
        self.core.end(packet, DropReason::QueueFull, environment);
    }

    /// How many ports it has.
    #[inline(always)]
    pub fn ports_count(&self) -> usize {
        self.core.ports.as_slice().len()
    }

    /// Looks at the ports of a packet that goes from one to the other on the fast path. Answers the line of the second;
    /// the other number means nothing. To be followed by [`Self::read_queue_ahead`], when what is looked at here has
    /// come.
    #[inline(always)]
    pub fn read_ports_ahead(&self, from: PortId, towards: PortId) -> (u32, u64) {
        let ports = self.core.ports.as_slice();
        let (from, towards) = (&ports[usize::from(from.0)], &ports[usize::from(towards.0)]);
        let is_queued = matches!(towards.scheduler, Scheduler::Queued(_));
        (towards.line, u64::from(is_queued) ^ u64::from(from.enters_fast_path))
    }

    /// Looks at where a packet will wait that leaves by a port.
    #[inline(always)]
    pub fn read_queue_ahead(&self, towards: PortId) -> u64 {
        match &self.core.ports.as_slice()[usize::from(towards.0)].scheduler {
            Scheduler::Fifo(scheduler) => scheduler.read_ahead(),
            Scheduler::Queued(_) | Scheduler::Flow(_) => 0,
        }
    }
}

/// Out of the way, so that it is not made part of what every packet needs.
#[inline(never)]
pub(super) fn mark_congestion(packet: &mut Packet) {
    packet.mark_congestion();
}

impl Core {
    /// Takes a plain packet from one line to another where nobody else has a say: no mechanism, no shims, a FIFO
    /// scheduler. False, and nothing was done, for any other.
    #[inline(always)]
    pub fn fast_path<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) -> bool {
        if !self.ports[usize::from(port.0)].enters_fast_path {
            return false;
        }
        let (descriptor, route) = environment.packet_and_route(packet);
        let Some(towards) = route else { return false };
        match self.shortcut(now, port, descriptor, towards) {
            Shortcut::Refused => return false,
            Shortcut::Full => self.end(packet, DropReason::QueueFull, environment),
            Shortcut::Sent { port, line, last_bit_at } => environment.transmit_on(line, port, packet, last_bit_at),
        }
        true
    }

    /// What [`Self::fast_path`] does to packet, ports and queue.
    #[inline(always)]
    fn shortcut(&mut self, now: Time, port: PortId, descriptor: &mut Packet, egress_port: PortId) -> Shortcut {
        let ports = self.ports.as_mut_slice();
        let towards = &ports[usize::from(egress_port.0)];
        if !towards.leaves_on_fast_path || !descriptor.shims.is_empty() || descriptor.ttl <= 1 {
            return Shortcut::Refused;
        }
        let frame_bytes = descriptor.frame_bytes;
        enter_switch(descriptor, port);
        descriptor.ttl -= 1;
        ports[usize::from(port.0)].frames.count_received(frame_bytes);
        let towards = &mut ports[usize::from(egress_port.0)];
        let transmission = towards.transmission_time(frame_bytes);
        let Scheduler::Fifo(scheduler) = &mut towards.scheduler else {
            unreachable!("only FIFO schedulers are reached straight")
        };
        let mark = || mark_congestion(descriptor);
        let Some(departs_at) = scheduler.offer(now + self.lead, frame_bytes, transmission, mark) else {
            return Shortcut::Full;
        };
        towards.frames.count_sent(frame_bytes);
        Shortcut::Sent { port: egress_port, line: towards.line, last_bit_at: departs_at + self.egress_latency }
    }
}
