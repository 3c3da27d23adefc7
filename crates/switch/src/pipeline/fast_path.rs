//! The whole way of a packet that nobody but the queue has a say in, in one step.

use hitless_engine::PacketHandle;
use hitless_wire::{PortId, Time};

use crate::core::Core;
use crate::drop_reason::DropReason;
use crate::environment::Environment;
use crate::port::{Scheduler, enter_switch};
use crate::queueing::fifo::Admission;
use crate::switch::Switch;

impl Switch {
    /// Looks at what a packet needs that goes from one port to another on the fast path. Answers the line of the
    /// second; the other number means nothing.
    #[inline(always)]
    pub fn read_ahead(&self, from: PortId, towards: PortId) -> (u32, u64) {
        let ports = self.core.ports.as_slice();
        let towards = &ports[usize::from(towards.0)];
        let queue = match &towards.scheduler {
            Scheduler::Fifo(scheduler) => scheduler.read_ahead(),
            Scheduler::Queued(_) | Scheduler::Flow(_) => 0,
        };
        (towards.line, queue ^ u64::from(ports[usize::from(from.0)].enters_fast_path))
    }
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
        let ports = self.ports.as_mut_slice();
        if !ports[usize::from(port.0)].enters_fast_path {
            return false;
        }
        let (descriptor, route) = environment.packet_and_route(packet);
        let Some(egress_port) = route else { return false };
        let towards = &ports[usize::from(egress_port.0)];
        if !towards.leaves_on_fast_path || !descriptor.shims.is_empty() || descriptor.ttl <= 1 {
            return false;
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
        match scheduler.offer(now + self.lead, frame_bytes, transmission) {
            Admission::Full => self.end(packet, DropReason::QueueFull, environment),
            Admission::Accepted { departs_at, mark } => {
                if mark {
                    descriptor.mark_congestion();
                }
                towards.frames.count_sent(frame_bytes);
                let last_bit_at = departs_at + self.egress_latency;
                environment.transmit_on(towards.line, egress_port, packet, last_bit_at);
            }
        }
        true
    }
}
