//! A switch but for its mechanisms: ports, buffer and the way of a packet that no mechanism acts on.

use hitless_engine::PacketHandle;
use hitless_wire::{Duration, Packet, PortId, QueueId, Time};

use crate::architecture::Architecture;
use crate::context::Context;
use crate::environment::{Environment, SwitchEvent};
use crate::forwarding::TwoChoices;
use crate::mechanism::DropReason;
use crate::port::{Backlog, Lane, Port, enter_switch};
use crate::queueing::fifo::Admission;
use crate::queueing::{Entry, ManagedLane, SharedBuffer};
use crate::register::Pass;
use crate::report::Report;

/// Everything of a switch but its mechanisms.
#[derive(Debug)]
pub(crate) struct Core {
    pub architecture: Architecture,
    pub ports: Vec<Port>,
    pub pass: Pass,
    pub packets_created: u64,
    pub buffer: SharedBuffer,
    pub drops: [u64; DropReason::COUNT],
    /// How long before a packet reaches a FIFO lane the lane is told of it.
    pub lead: Duration,
    /// Left out: packets go by their route alone.
    pub two_choices: Option<TwoChoices>,
}

impl Core {
    pub fn context<'a, E>(
        &'a mut self,
        number: usize,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        enqueued_at: Time,
        environment: &'a mut E,
    ) -> Context<'a, E> {
        let mechanism = number as u8;
        self.pass.enter(mechanism);
        Context { core: self, environment, now, mechanism, port, packet, enqueued_at, is_last_try: false }
    }

    /// Takes a plain packet from one line to another where nobody else has a say: no mechanism, no shims, a FIFO lane.
    /// False, and nothing was done, for any other.
    #[inline(always)]
    pub fn forward_straight<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) -> bool {
        let ports = self.ports.as_mut_slice();
        if !ports[usize::from(port.0)].receives_straight {
            return false;
        }
        let (descriptor, route) = environment.packet_and_route(packet);
        let Some(egress_port) = route else { return false };
        let towards = &ports[usize::from(egress_port.0)];
        if !towards.sends_straight || !descriptor.shims.is_empty() || descriptor.ttl <= 1 {
            return false;
        }
        let frame_bytes = descriptor.frame_bytes;
        enter_switch(descriptor, port);
        descriptor.ttl -= 1;
        ports[usize::from(port.0)].mac.count_received(frame_bytes);
        let towards = &mut ports[usize::from(egress_port.0)];
        let transmission = towards.transmission_time(frame_bytes);
        let Lane::Fifo(lane) = &mut towards.lane else { unreachable!("only FIFO lanes are reached straight") };
        match lane.offer(now + self.lead, frame_bytes, transmission) {
            Admission::Full => self.end(packet, DropReason::QueueFull, environment),
            Admission::Accepted { departs_at, mark } => {
                if mark {
                    descriptor.mark_congestion();
                }
                towards.mac.count_sent(frame_bytes);
                let last_bit_at = departs_at + self.architecture.egress_latency;
                environment.transmit_on(towards.config.line, egress_port, packet, last_bit_at);
            }
        }
        true
    }

    /// A packet on its way to the queue named in its descriptor, where it is after `latency`.
    #[inline]
    pub fn send_to_queue<E: Environment>(
        &mut self,
        now: Time,
        latency: Duration,
        packet: PacketHandle,
        environment: &mut E,
    ) {
        let &mut Packet { egress_port, queue, frame_bytes, .. } = &mut environment.packets()[packet];
        let port = &mut self.ports[usize::from(egress_port.0)];
        let delay = match port.lane {
            Lane::Fifo(_) if latency == self.lead => return self.offer_fifo(now, packet, environment),
            Lane::Fifo(_) => latency - self.lead,
            Lane::Managed(_) | Lane::Flow(_) => latency,
        };
        port.underway(queue).add(frame_bytes);
        self.buffer.announce(frame_bytes);
        environment.schedule(now + delay, SwitchEvent::Enqueue { packet, is_last_try: false });
    }

    /// Has the traffic manager try the queue named in the descriptor of a packet that another queue has refused: no time
    /// passes, but nothing else is interrupted. A FIFO lane takes it in its turn, as it does with packets from ingress.
    pub fn try_another_queue<E: Environment>(&mut self, now: Time, packet: PacketHandle, environment: &mut E) {
        let &mut Packet { egress_port, queue, frame_bytes, .. } = &mut environment.packets()[packet];
        let port = &mut self.ports[usize::from(egress_port.0)];
        if let Lane::Fifo(_) = port.lane {
            return self.offer_fifo(now, packet, environment);
        }
        port.underway(queue).add(frame_bytes);
        self.buffer.announce(frame_bytes);
        environment.schedule(now, SwitchEvent::Enqueue { packet, is_last_try: true });
    }

    /// A packet that [`Self::send_to_queue`] has sent on its way is there.
    #[inline]
    pub fn end_way_to_queue<E: Environment>(&mut self, packet: PacketHandle, environment: &mut E) {
        let &mut Packet { egress_port, queue, frame_bytes, .. } = &mut environment.packets()[packet];
        self.ports[usize::from(egress_port.0)].underway(queue).remove(frame_bytes);
        self.buffer.end_way(frame_bytes);
    }

    /// Bytes in a queue of any port.
    pub fn queue_bytes(&mut self, now: Time, port: PortId, queue: QueueId) -> u64 {
        match &mut self.ports[usize::from(port.0)].lane {
            Lane::Fifo(lane) => lane.depth_bytes(now),
            Lane::Managed(lane) => lane.depth_bytes(queue),
            Lane::Flow(lane) => lane.depth_bytes(),
        }
    }

    /// Whether nothing of a port's group of queues waits, is on its way there or is on the line.
    pub fn group_is_idle(&mut self, now: Time, port: PortId) -> bool {
        let state = &mut self.ports[usize::from(port.0)];
        let Lane::Managed(lane) = &state.lane else { return false };
        lane.group_is_idle(now) && !state.group_is_underway()
    }

    /// What a packet that leaves ingress now will find at a queue of any port, as far as it is decided: what is there, the
    /// frame in transmission and what is on its way.
    pub fn committed(&mut self, now: Time, port: PortId, queue: QueueId) -> Backlog {
        let ingress_latency = self.architecture.ingress_latency;
        let state = &mut self.ports[usize::from(port.0)];
        let underway = *state.underway(queue);
        let (packets, bytes) = match &mut state.lane {
            Lane::Fifo(lane) => lane.backlog(now + self.lead, now + ingress_latency),
            Lane::Managed(lane) => lane.backlog(queue, now),
            Lane::Flow(lane) => lane.backlog(now),
        };
        Backlog { packets: packets + underway.packets, bytes: bytes + underway.bytes }
    }

    /// Whether a frame that leaves ingress now will be taken by a queue of any port, as far as it is decided. Queueing by
    /// flow makes room for nearly every packet; there the question is whether another has to go.
    pub fn has_room(&mut self, now: Time, port: PortId, queue: QueueId, frame_bytes: u32) -> bool {
        let Backlog { packets, bytes } = self.committed(now, port, queue);
        let state = &mut self.ports[usize::from(port.0)];
        let underway_bytes = state.underway(queue).bytes;
        let (limit, waiting_bytes) = match &state.lane {
            Lane::Fifo(_) => return state.config.queues[0].limit.has_room(packets, bytes, frame_bytes),
            Lane::Managed(lane) => (lane.limit(queue), lane.depth_bytes(queue)),
            Lane::Flow(lane) => (state.config.queues[0].limit, lane.depth_bytes()),
        };
        limit.has_room(packets, bytes, frame_bytes)
            && self.buffer.has_room_behind(waiting_bytes + underway_bytes, frame_bytes)
    }

    /// Puts a packet into the queue named in its descriptor, at once but for nobody to see until `duration` is over.
    ///
    /// The way back to the traffic manager is part of the duration.
    ///
    /// # Errors
    /// Why the queue did not take it; the packet still exists.
    pub fn hold<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        duration: Duration,
        environment: &mut E,
    ) -> Result<(), DropReason> {
        let descriptor = environment.packets()[packet];
        let port = descriptor.egress_port;
        let entry = Entry { packet, frame_bytes: descriptor.frame_bytes, enqueued_at: now };
        let depth_bytes = self.managed(port).depth_bytes(descriptor.queue);
        if !self.buffer.has_room(depth_bytes, descriptor.frame_bytes) {
            return Err(DropReason::BufferFull);
        }
        if !self.managed(port).hold(descriptor.queue, entry) {
            return Err(DropReason::QueueFull);
        }
        self.buffer.take(descriptor.frame_bytes);
        environment.schedule(now + duration, SwitchEvent::Release { packet });
        Ok(())
    }

    /// Sees to it that a port with something to send is served when it falls free.
    #[inline]
    pub fn see_to_service<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        let lane = self.managed(port);
        if lane.has_ready() && !lane.service_is_due {
            lane.service_is_due = true;
            environment.schedule(lane.busy_until.max(now), SwitchEvent::Service { port });
        }
    }

    /// Offers a packet that will reach its FIFO lane in `lead`: calls come in the order in which packets do.
    #[inline]
    pub fn offer_fifo<E: Environment>(&mut self, now: Time, packet: PacketHandle, environment: &mut E) {
        let descriptor = &mut environment.packets()[packet];
        let frame_bytes = descriptor.frame_bytes;
        let port = descriptor.egress_port;
        let state = &mut self.ports[usize::from(port.0)];
        let transmission = state.transmission_time(frame_bytes);
        let Lane::Fifo(lane) = &mut state.lane else { unreachable!("only FIFO lanes are offered to") };
        match lane.offer(now + self.lead, frame_bytes, transmission) {
            Admission::Full => self.end(packet, DropReason::QueueFull, environment),
            Admission::Accepted { departs_at, mark } => {
                if mark {
                    descriptor.mark_congestion();
                }
                self.hand_over(port, packet, frame_bytes, departs_at, environment);
            }
        }
    }

    /// Starts the transmission of a packet from a managed lane; answers how long it takes.
    #[inline]
    pub fn transmit<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) -> Duration {
        let frame_bytes = environment.packets()[packet].frame_bytes;
        let transmission = self.ports[usize::from(port.0)].transmission_time(frame_bytes);
        self.hand_over(port, packet, frame_bytes, now + transmission, environment);
        transmission
    }

    #[inline]
    pub fn hand_over<E: Environment>(
        &mut self,
        port: PortId,
        packet: PacketHandle,
        frame_bytes: u32,
        departs_at: Time,
        environment: &mut E,
    ) {
        let state = &mut self.ports[usize::from(port.0)];
        state.mac.count_sent(frame_bytes);
        let last_bit_at = departs_at + self.architecture.egress_latency;
        if state.config.is_loopback {
            let back_at = last_bit_at + self.architecture.loopback_latency;
            return environment.schedule(back_at, SwitchEvent::Loopback { port, packet });
        }
        environment.transmit(port, packet, last_bit_at);
    }

    /// Adds what the group of queues of a port has counted to the report of the mechanism that asked for it.
    pub fn report_group(&self, port: PortId, report: &mut Report) {
        let Lane::Managed(lane) = &self.ports[usize::from(port.0)].lane else { return };
        let Some(counters) = lane.group_counters().filter(|counters| counters.queued + counters.refused > 0) else {
            return;
        };
        let scope = format!("port {}", port.0);
        for (name, value) in counters.named() {
            report.count(&scope, name, value);
        }
        let waiting = lane.group_packets() as u64;
        if counters.queued != counters.served + waiting {
            report.broken_promises.push(format!(
                "the queues of {scope} took {} packets, sent {} and have {waiting} left",
                counters.queued, counters.served
            ));
        }
    }

    /// A packet ends here.
    #[inline(always)]
    pub fn end<E: Environment>(&mut self, packet: PacketHandle, reason: DropReason, environment: &mut E) {
        self.drops[reason as usize] += 1;
        environment.ended(packet, reason);
    }

    /// The managed lane of a port that a mechanism asked queues or pauses of.
    ///
    /// # Panics
    /// When the port has a FIFO lane: the mechanism did not subscribe to it.
    #[inline]
    pub fn lane_mut(&mut self, port: PortId) -> &mut ManagedLane {
        self.managed(port)
    }

    #[inline]
    pub fn managed(&mut self, port: PortId) -> &mut ManagedLane {
        match &mut self.ports[usize::from(port.0)].lane {
            Lane::Managed(lane) => lane,
            Lane::Fifo(_) => panic!("port {} has a plain FIFO lane; its queues cannot be managed", port.0),
            Lane::Flow(_) => panic!("port {} queues by flow; its queues cannot be managed", port.0),
        }
    }
}
