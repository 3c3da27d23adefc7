//! A switch but for its mechanisms: ports, buffer and the way of a packet that no mechanism acts on.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, PortId, QueueId, Time};

use crate::architecture::Architecture;
use crate::canary::{Canary, sings};
use crate::drop_reason::DropReason;
use crate::forwarding::PathChoice;
use crate::outbox::Effects;
use crate::port::{Backlog, Port, Scheduler};
use crate::queueing::{FlowScheduler, QueuedScheduler, SharedBuffer};
use crate::register::Pass;
use crate::report::Report;

/// The whole switch except its mechanisms.
///
/// The fields that every packet needs come first, in one cache line.
#[derive(Debug, hitless_core::state::State)]
#[repr(C, align(64))]
pub(crate) struct Core {
    #[part]
    pub ports: Vec<Port>,
    /// Time between a packet's announcement to a FIFO scheduler and its arrival there.
    #[configured]
    pub lead: Duration,
    /// As in the architecture.
    #[configured]
    pub egress_latency: Duration,
    #[configured]
    pub architecture: Architecture,
    #[part]
    pub pass: Pass,
    pub packets_created: u64,
    #[part]
    pub buffer: SharedBuffer,
    pub drops: [u64; DropReason::COUNT],
    /// `None` means that packets follow their route.
    #[part]
    pub path_choice: Option<PathChoice>,
    /// A hook has stopped queues, or lets them go on, and the driver does not know it yet.
    pub has_new_stops: bool,
}

impl Core {
    /// Returns whether the queue exists.
    pub fn has_queue(&self, port: PortId, queue: QueueId) -> bool {
        self.ports.get(usize::from(port.0)).is_some_and(|port| usize::from(queue.0) < port.queue_count())
    }

    /// Bytes in a queue of any port.
    pub fn queue_bytes(&mut self, now: Time, port: PortId, queue: QueueId) -> u64 {
        match &mut self.ports[usize::from(port.0)].scheduler {
            Scheduler::Fifo(scheduler) => scheduler.depth_bytes(now),
            Scheduler::Queued(scheduler) => scheduler.depth_bytes(queue),
            Scheduler::Flow(scheduler) => scheduler.depth_bytes(),
        }
    }

    /// Returns whether a port's group of queues is idle: no packet waits, is under way to it or is on the line.
    pub fn group_is_idle(&self, now: Time, port: PortId) -> bool {
        let state = &self.ports[usize::from(port.0)];
        let Scheduler::Queued(scheduler) = &state.scheduler else { return false };
        scheduler.group_is_idle(now) && !state.group_is_underway()
    }

    /// Backlog that a packet leaving ingress now will find at a queue: waiting packets, the frame in transmission and
    /// packets under way.
    pub fn committed(&mut self, now: Time, port: PortId, queue: QueueId) -> Backlog {
        let ingress_latency = self.architecture.ingress_latency;
        let state = &mut self.ports[usize::from(port.0)];
        let underway = state.underway(queue);
        let (packets, bytes) = match &mut state.scheduler {
            Scheduler::Fifo(scheduler) => scheduler.backlog(now + self.lead, now + ingress_latency),
            Scheduler::Queued(scheduler) => scheduler.backlog(queue, now),
            Scheduler::Flow(scheduler) => scheduler.backlog(now),
        };
        Backlog { packets: packets + underway.packets, bytes: bytes + underway.bytes }
    }

    /// Brings the backlog up to now, and returns whether a queue will then accept a frame that leaves ingress now. With
    /// queueing by flow, nearly every packet is accepted; the result then says whether another must go.
    pub fn check_room(&mut self, now: Time, port: PortId, queue: QueueId, frame_bytes: u32) -> bool {
        let Backlog { packets, bytes } = self.committed(now, port, queue);
        let state = &self.ports[usize::from(port.0)];
        let (limit, waiting_bytes) = match &state.scheduler {
            Scheduler::Fifo(_) => return state.config.queues[0].limit.has_room(packets, bytes, frame_bytes),
            Scheduler::Queued(scheduler) => (scheduler.limit(queue), scheduler.depth_bytes(queue)),
            Scheduler::Flow(scheduler) => (state.config.queues[0].limit, scheduler.depth_bytes()),
        };
        limit.has_room(packets, bytes, frame_bytes)
            && self.buffer.has_room_behind(waiting_bytes + state.underway(queue).bytes, frame_bytes)
    }

    /// Adds the counters of a port's group of queues to the report of the mechanism that requested the group.
    pub fn report_group(&self, port: PortId, report: &mut Report) {
        let Scheduler::Queued(scheduler) = &self.ports[usize::from(port.0)].scheduler else { return };
        let Some(counters) = scheduler.group_counters().filter(|counters| counters.queued + counters.refused > 0)
        else {
            return;
        };
        let scope = format!("port {}", port.0);
        counters.report(&scope, report);
        let waiting = scheduler.group_packets() as u64;
        if counters.queued != counters.served + waiting {
            report.violated_invariants.push(format!(
                "the queues of {scope} took {} packets, sent {} and have {waiting} left",
                counters.queued, counters.served
            ));
        }
    }

    /// Ends a packet.
    #[inline(always)]
    pub fn end<E: Effects>(&mut self, packet: PacketHandle, reason: DropReason, effects: &mut E) {
        // A canary: the drop is counted as harmless.
        let is_unnamed = sings(Canary::UnnamedLoss) && reason == DropReason::QueueFull;
        let reason = if is_unnamed { DropReason::CopyRetired } else { reason };
        self.drops[reason as usize] += 1;
        effects.ended(packet, reason);
    }

    /// Returns the scheduler of a port with managed queues: a mechanism requested queues, pauses them, or subscribed to
    /// hooks after queueing.
    ///
    /// # Panics
    /// If the port has another scheduler because no mechanism subscribed to it.
    #[inline]
    pub fn queued(&mut self, port: PortId) -> &mut QueuedScheduler {
        match &mut self.ports[usize::from(port.0)].scheduler {
            Scheduler::Queued(scheduler) => scheduler,
            Scheduler::Fifo(_) => panic!("port {} has a plain FIFO queue, which cannot be managed", port.0),
            Scheduler::Flow(_) => panic!("port {} queues by flow; its queues cannot be managed", port.0),
        }
    }

    /// Returns the scheduler of a port that queues by flow.
    pub fn flow_scheduler(&mut self, port: PortId) -> &mut FlowScheduler {
        match &mut self.ports[usize::from(port.0)].scheduler {
            Scheduler::Flow(scheduler) => scheduler,
            _ => unreachable!("port {} does not queue by flow", port.0),
        }
    }
}
