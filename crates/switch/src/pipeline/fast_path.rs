//! The whole path, in one step, of a packet that only a queue decides about.
//!
//! Most packets of most runs take it: no mechanism, no shim, a FIFO scheduler. The slow path would give the same
//! result.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, Packet, PortId, QueueId, Time};

use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::Environment;
use crate::port::{Scheduler, enter_switch};
use crate::switch::Switch;

/// The result of offering a packet to the short path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortcut {
    /// The packet cannot take the short path; nothing was changed.
    Refused,
    /// Its queue is full, and the packet ends: call [`Switch::end_at_full_queue`].
    Full,
    /// The packet must be put on a line.
    Sent {
        /// The port that sends it.
        port: PortId,
        /// As [`crate::PortConfig::line`].
        line: u32,
        /// Time of the frame on the line.
        transmission: Duration,
        /// When its last bit leaves the MAC.
        last_bit_at: Time,
    },
}

impl Switch {
    /// Returns whether arrivals at `port` may use [`Self::receive_on_shortcut`].
    #[inline(always)]
    pub fn has_shortcut(&self, port: PortId) -> bool {
        self.core.ports[usize::from(port.0)].enters_fast_path
    }

    /// Handles a good frame that has fully arrived at `port`, which has a shortcut: takes it all the way to port
    /// `towards` of its route if only the queue decides about it. For callers that have the packet at hand; others call
    /// [`Self::receive`].
    #[inline(always)]
    pub fn receive_on_shortcut(&mut self, now: Time, port: PortId, packet: &mut Packet, towards: PortId) -> Shortcut {
        self.core.shortcut(now, port, packet, towards)
    }

    /// Ends a packet that found no room in [`Self::receive_on_shortcut`].
    #[cold]
    #[inline(never)]
    pub fn end_at_full_queue<E: Environment>(&mut self, packet: PacketHandle, environment: &mut E) {
        self.core.end(packet, DropReason::QueueFull, environment);
    }

    /// Returns the number of ports.
    #[inline(always)]
    pub fn ports_count(&self) -> usize {
        self.core.ports.as_slice().len()
    }

    /// Prefetches the ports of a packet that goes from one to the other on the fast path. Returns the second port's
    /// line; the other number only keeps the loads alive. Call [`Self::read_queue_ahead`] once these loads have
    /// completed.
    #[inline(always)]
    pub fn read_ports_ahead(&self, from: PortId, towards: PortId) -> (u32, u64) {
        let ports = self.core.ports.as_slice();
        let (from, towards) = (&ports[usize::from(from.0)], &ports[usize::from(towards.0)]);
        let is_queued = matches!(towards.scheduler, Scheduler::Queued(_));
        (towards.line, u64::from(is_queued) ^ u64::from(from.enters_fast_path))
    }

    /// Prefetches the end of the queue where a packet for this port will wait; the result only keeps the loads alive.
    #[inline(always)]
    pub fn read_queue_ahead(&self, towards: PortId) -> u64 {
        match &self.core.ports.as_slice()[usize::from(towards.0)].scheduler {
            Scheduler::Fifo(scheduler) => scheduler.read_ahead(),
            Scheduler::Queued(_) | Scheduler::Flow(_) => 0,
        }
    }
}

impl Core {
    /// Takes a plain packet from one line to another if nothing else is involved: no mechanism, no shims, a FIFO
    /// scheduler. Otherwise returns false and changes nothing.
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
            Shortcut::Sent { port, line, last_bit_at, .. } => environment.transmit_on(line, port, packet, last_bit_at),
        }
        true
    }

    /// The part of [`Self::fast_path`] that changes packet, ports and queue.
    #[inline(always)]
    fn shortcut(&mut self, now: Time, port: PortId, descriptor: &mut Packet, egress_port: PortId) -> Shortcut {
        let ports = self.ports.as_mut_slice();
        let towards = &ports[usize::from(egress_port.0)];
        // Shims belong to mechanisms or to the link, and a packet with a TTL of 1 ends here: the slow path handles
        // both.
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
        let mark = || _ = descriptor.mark_congestion();
        // Nothing can delay the packet between here and its queue, so the departure is final.
        let Some(departs_at) = scheduler.offer(now + self.lead, frame_bytes, transmission, mark) else {
            (descriptor.egress_port, descriptor.queue) = (egress_port, QueueId(0));
            return Shortcut::Full;
        };
        towards.frames.count_sent(frame_bytes);
        let last_bit_at = departs_at + self.egress_latency;
        Shortcut::Sent { port: egress_port, line: towards.line, transmission, last_bit_at }
    }
}
