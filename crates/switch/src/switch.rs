//! The switch itself: the way of a packet from MAC to MAC.

use hitless_engine::{PacketHandle, Stream};
use hitless_wire::pause::PauseFrame;
use hitless_wire::{Duration, Packet, PortId, QueueId, Time};

use crate::architecture::Architecture;
use crate::context::Context;
use crate::core::Core;
use crate::environment::{Environment, SwitchEvent};
use crate::forwarding::TwoChoices;
use crate::mechanism::{DropReason, Mechanism, PortState, Verdict};
use crate::port::{Lane, Port, PortConfig, PortHooks, enter_switch};
use crate::queueing::managed::Offer;
use crate::queueing::{BufferPolicy, Entry, SharedBuffer, Taken};
use crate::register::{Half, Pass};
use crate::resources::Resources;

/// A switch that runs the mechanisms of the list `M`.
pub struct Switch<M> {
    pub(crate) core: Core,
    pub(crate) mechanisms: Vec<M>,
    /// Ports with a group of queues, and the mechanism that asked for it.
    pub(crate) group_owners: Vec<(PortId, u8)>,
    /// By mechanism.
    pub(crate) resources: Vec<Resources>,
}

impl<M: Mechanism> Switch<M> {
    /// Builds a switch. Mechanisms run in the order of the list; at most eight.
    ///
    /// # Panics
    /// With more than eight mechanisms, a port with no queue or more than 64, or two groups of queues at one port.
    pub fn new(
        architecture: Architecture,
        mut ports: Vec<PortConfig>,
        buffer: BufferPolicy,
        mut mechanisms: Vec<M>,
    ) -> Self {
        assert!(mechanisms.len() <= 8, "a switch runs at most eight mechanisms");
        let mut hooks = vec![PortHooks::default(); ports.len()];
        let mut group_owners = Vec::new();
        let mut resources = Vec::new();
        let own_queues: Vec<usize> = ports.iter().map(|port| port.queues.len()).collect();
        for (number, mechanism) in mechanisms.iter_mut().enumerate() {
            let queue_counts: Vec<usize> = ports.iter().map(|port| port.queues.len()).collect();
            let wanted = mechanism.subscriptions(&queue_counts);
            for &(port, order) in &wanted.orders {
                ports[usize::from(port.0)].queues[..own_queues[usize::from(port.0)]]
                    .iter_mut()
                    .for_each(|queue| queue.order = order);
            }
            wanted.hooks.iter().for_each(|&(port, set)| hooks[usize::from(port.0)].subscribe(number as u8, set));
            wanted.queues.iter().for_each(|&(port, queue)| ports[usize::from(port.0)].queues.push(queue));
            for &(port, group) in &wanted.groups {
                let earlier = ports[usize::from(port.0)].group.replace(group);
                assert!(earlier.is_none(), "port {} has a group of queues already", port.0);
                group_owners.push((port, number as u8));
            }
            resources.push(mechanism.resources().asking_for(&wanted));
        }
        let buffer = SharedBuffer::new(buffer);
        let lead = architecture.ingress_latency.min(architecture.mirror_latency);
        let build = |(config, hooks): (PortConfig, PortHooks)| {
            let lane = Lane::new(&config, hooks, buffer.is_shared());
            let mut port = Port::new(config, hooks, lane, architecture.ingress_latency == lead);
            port.queues_at_once = architecture.ingress_latency == Duration::ZERO && port.config.group.is_some();
            port
        };
        let ports = ports.into_iter().zip(hooks).map(build).collect();
        let pass = Pass::new(architecture.checked);
        let drops = Default::default();
        let core = Core { architecture, ports, pass, packets_created: 0, buffer, drops, lead, two_choices: None };
        let mut switch = Self { core, mechanisms, group_owners, resources };
        let arrays = switch.resources.iter().flat_map(|of| of.registers.iter().map(|register| register.name));
        let arrays = arrays.collect();
        let footprint = switch.footprint();
        switch.core.pass.hold_to(arrays, footprint);
        switch
    }

    /// From now on each packet goes to the less loaded of two next hops, drawn from `stream`, and not by its route alone;
    /// needs [`Environment::next_hops`].
    pub fn choose_of_two(&mut self, stream: Stream) {
        self.core.two_choices = Some(TwoChoices::new(stream));
        self.core.ports.iter_mut().for_each(|port| port.receives_straight = false);
    }

    /// Lets the mechanisms start; call once, before anything else.
    pub fn start<E: Environment>(&mut self, now: Time, environment: &mut E) {
        for number in 0..self.mechanisms.len() {
            self.tell(number, now, environment, |mechanism, context| mechanism.start(context));
        }
    }

    /// The last bit of a good frame has arrived at `port`.
    #[inline(always)]
    pub fn receive<E: Environment>(&mut self, now: Time, port: PortId, packet: PacketHandle, environment: &mut E) {
        if !self.receive_straight(now, port, packet, environment) {
            self.receive_with_care(now, port, packet, environment);
        }
    }

    /// [`Self::receive`] for a packet that nobody here but the queue has a say in. False, and nothing was done, for
    /// any other.
    #[inline(always)]
    pub fn receive_straight<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) -> bool {
        self.core.forward_straight(now, port, packet, environment)
    }

    /// [`Self::receive`] for any packet at any port.
    #[inline(never)]
    pub fn receive_with_care<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) {
        let state = &mut self.core.ports[usize::from(port.0)];
        let descriptor = &mut environment.packets()[packet];
        state.mac.count_received(descriptor.frame_bytes);
        enter_switch(descriptor, port);
        // Here, so that a packet that goes round in this switch takes one hop. Control packets of a link have none.
        descriptor.ttl = descriptor.ttl.saturating_sub(1);
        if let Some(frame) = descriptor.shims.get::<PauseFrame>() {
            state.mac.pause_frames_received += 1;
            self.core.end(packet, DropReason::ControlAbsorbed, environment);
            return self.obey_pause(now, port, frame, environment);
        }
        self.ingress(now, port, packet, environment);
    }

    /// A frame with a bad check sequence has arrived at `port`: the MAC counts it, nothing more is known of it.
    pub fn receive_corrupted<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        self.core.ports[usize::from(port.0)].mac.frames_received_all += 1;
        for number in 0..self.mechanisms.len() {
            self.tell(number, now, environment, |mechanism, context| mechanism.corrupted(port, context));
        }
    }

    /// An event that the switch scheduled.
    #[inline]
    pub fn handle<E: Environment>(&mut self, now: Time, event: SwitchEvent, environment: &mut E) {
        match event {
            SwitchEvent::Loopback { port, packet } => self.ingress(now, port, packet, environment),
            SwitchEvent::Enqueue { packet, is_last_try } => {
                self.core.end_way_to_queue(packet, environment);
                self.enqueue(now, packet, is_last_try, environment);
            }
            SwitchEvent::Release { packet } => self.release(now, packet, environment),
            SwitchEvent::Service { port } => match &mut self.core.ports[usize::from(port.0)].lane {
                Lane::Managed(lane) => {
                    lane.service_is_due = false;
                    self.serve(now, port, environment);
                }
                Lane::Flow(lane) => {
                    lane.service_is_due = false;
                    self.serve_flows(now, port, environment);
                }
                Lane::Fifo(_) => unreachable!("a FIFO lane knows its departures at arrival"),
            },
            SwitchEvent::PauseEnds { port, class } => self.end_pause(now, port, class, environment),
            SwitchEvent::Resume { port, queue } => {
                self.core.managed(port).resume(queue);
                self.serve_when_free(now, port, environment);
            }
            SwitchEvent::OrderedSet { port, set } => {
                for number in 0..self.mechanisms.len() {
                    self.tell(number, now, environment, |mechanism, context| mechanism.ordered_set(port, set, context));
                }
            }
            SwitchEvent::Timer { mechanism, token } => {
                self.tell(usize::from(mechanism), now, environment, |mechanism, context| {
                    mechanism.timer(token, context);
                });
            }
        }
    }

    /// The state of a port, as detected, has changed.
    pub fn port_state<E: Environment>(&mut self, now: Time, port: PortId, state: PortState, environment: &mut E) {
        for number in 0..self.mechanisms.len() {
            self.tell(number, now, environment, |mechanism, context| mechanism.port_state(port, state, context));
        }
    }

    /// A command of the control plane for the mechanism of that number.
    pub fn command<E: Environment>(&mut self, now: Time, mechanism: usize, command: u32, environment: &mut E) {
        self.tell(mechanism, now, environment, |mechanism, context| mechanism.command(command, context));
    }

    #[inline]
    fn ingress<E: Environment>(&mut self, now: Time, port: PortId, packet: PacketHandle, environment: &mut E) {
        let hooks = self.core.ports[usize::from(port.0)].hooks;
        let owner = environment.packets()[packet].owner;
        self.core.pass.begin(Half::Ingress);
        if owner == 0 && hooks.link_receive != 0 {
            let verdict = self.run(hooks.link_receive, now, port, packet, environment, M::link_receive);
            if verdict != Verdict::Continue {
                return self.follow(now, packet, verdict, environment);
            }
        }
        self.ingress_after_receive(now, port, packet, environment);
    }

    #[inline]
    fn ingress_after_receive<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
    ) {
        let owner = environment.packets()[packet].owner;
        if owner != 0 {
            let verdict = self.run(1 << (owner - 1), now, port, packet, environment, M::ingress);
            if verdict != Verdict::Continue || environment.packets()[packet].owner != 0 {
                return self.follow(now, packet, verdict, environment);
            }
        }
        let Some(egress_port) = environment.route(packet) else {
            return self.core.end(packet, DropReason::NoRoute, environment);
        };
        let egress_port = self.core.next_hop(now, packet, egress_port, environment);
        let towards = &self.core.ports[usize::from(egress_port.0)];
        let subscribed = self.core.ports[usize::from(port.0)].hooks.ingress_from | towards.hooks.ingress_towards;
        let descriptor = &mut environment.packets()[packet];
        if descriptor.ttl == 0 {
            return self.core.end(packet, DropReason::TimeToLive, environment);
        }
        descriptor.egress_port = egress_port;
        descriptor.queue = towards.config.class_queue[usize::from(descriptor.class & 7)];
        if subscribed != 0 {
            let verdict = self.run(subscribed, now, port, packet, environment, M::ingress);
            return self.follow(now, packet, verdict, environment);
        }
        self.leave_ingress(now, packet, environment);
    }

    /// Sends a packet from ingress to its queue. Where that takes no time a packet of a group of queues is in its queue
    /// before the next packet is looked at: the round by which the queue was chosen is still that of the scheduler.
    #[inline]
    fn leave_ingress<E: Environment>(&mut self, now: Time, packet: PacketHandle, environment: &mut E) {
        let port = environment.packets()[packet].egress_port;
        if self.core.ports[usize::from(port.0)].queues_at_once {
            return self.enqueue(now, packet, false, environment);
        }
        self.core.send_to_queue(now, self.core.architecture.ingress_latency, packet, environment);
    }

    fn follow<E: Environment>(&mut self, now: Time, packet: PacketHandle, verdict: Verdict, environment: &mut E) {
        environment.decided(packet, Half::Ingress, verdict);
        match verdict {
            Verdict::Continue => {}
            Verdict::Forward { port, queue } => {
                let descriptor = &mut environment.packets()[packet];
                descriptor.egress_port = port;
                descriptor.queue = queue;
            }
            Verdict::Drop(reason) => return self.core.end(packet, reason, environment),
            Verdict::Hold { .. } => unreachable!("a packet can be held from egress only"),
        }
        self.leave_ingress(now, packet, environment);
    }

    /// Runs a hook of the mechanisms in `subscribed` until one does not let the packet go on, or takes it.
    #[inline]
    fn run<E: Environment>(
        &mut self,
        mut subscribed: u8,
        now: Time,
        port: PortId,
        packet: PacketHandle,
        environment: &mut E,
        hook: impl Fn(&mut M, &mut Context<'_, E>) -> Verdict,
    ) -> Verdict {
        while subscribed != 0 {
            let number = subscribed.trailing_zeros() as usize;
            subscribed &= subscribed - 1;
            let mut context = self.core.context(number, now, port, packet, now, environment);
            let verdict = hook(&mut self.mechanisms[number], &mut context);
            if verdict != Verdict::Continue {
                return verdict;
            }
        }
        Verdict::Continue
    }

    /// Calls a mechanism outside of any packet's way: a pass of its own.
    fn tell<E: Environment>(
        &mut self,
        number: usize,
        now: Time,
        environment: &mut E,
        call: impl FnOnce(&mut M, &mut Context<'_, E>),
    ) {
        self.core.pass.begin(Half::Ingress);
        let nobody = PacketHandle(u32::MAX);
        let mut context = self.core.context(number, now, PortId(0), nobody, now, environment);
        call(&mut self.mechanisms[number], &mut context);
    }

    #[inline]
    fn enqueue<E: Environment>(&mut self, now: Time, packet: PacketHandle, is_last_try: bool, environment: &mut E) {
        // Not the whole descriptor, which would be a copy of several cache lines.
        let &mut Packet { egress_port: port, queue, round, frame_bytes, .. } = &mut environment.packets()[packet];
        let state = &mut self.core.ports[usize::from(port.0)];
        let lane = match &mut state.lane {
            Lane::Managed(lane) => lane,
            Lane::Fifo(_) => return self.core.offer_fifo(now, packet, environment),
            Lane::Flow(_) => return self.enqueue_by_flow(now, packet, is_last_try, environment),
        };
        if lane.is_by_rank(queue) {
            return self.enqueue_by_rank(now, packet, is_last_try, environment);
        }
        let depth_bytes = lane.depth_bytes(queue);
        if !self.core.buffer.has_room(depth_bytes, frame_bytes) {
            return self.refuse(now, packet, DropReason::BufferFull, is_last_try, environment);
        }
        let entry = Entry { packet, frame_bytes, enqueued_at: now };
        match lane.offer(queue, round, entry) {
            Offer::Full => return self.refuse(now, packet, DropReason::QueueFull, is_last_try, environment),
            Offer::GroupFull => return self.refuse(now, packet, DropReason::BufferFull, is_last_try, environment),
            Offer::Queued { mark: true } => {
                environment.packets()[packet].mark_congestion();
            }
            Offer::Queued { mark: false } => {}
        }
        self.core.buffer.take(frame_bytes);
        self.serve_when_free(now, port, environment);
    }

    /// Asks what becomes of a packet for which the traffic manager has no room; with nobody to say it ends.
    #[cold]
    pub(crate) fn refuse<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        reason: DropReason,
        is_last_try: bool,
        environment: &mut E,
    ) {
        match self.run_refused(now, packet, reason, is_last_try, environment) {
            Verdict::Forward { port, queue } if !is_last_try => {
                environment.decided(packet, Half::Egress, Verdict::Forward { port, queue });
                let descriptor = &mut environment.packets()[packet];
                descriptor.egress_port = port;
                descriptor.queue = queue;
                self.core.try_another_queue(now, packet, environment);
            }
            Verdict::Drop(reason) => self.core.end(packet, reason, environment),
            Verdict::Continue | Verdict::Forward { .. } => self.core.end(packet, reason, environment),
            Verdict::Hold { .. } => unreachable!("a queue that holds packets back is no place for a refused one"),
        }
    }

    /// Tells a packet's owner, or who subscribed to it, that it was refused; answers the first decision.
    fn run_refused<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        reason: DropReason,
        is_last_try: bool,
        environment: &mut E,
    ) -> Verdict {
        let &mut Packet { egress_port, owner, .. } = &mut environment.packets()[packet];
        let hooks = self.core.ports[usize::from(egress_port.0)].hooks;
        let mut told = if owner == 0 { hooks.refused } else { 1 << (owner - 1) };
        let mut decided = Verdict::Continue;
        while told != 0 {
            let number = told.trailing_zeros() as usize;
            told &= told - 1;
            self.core.pass.begin(Half::Egress);
            let context = self.core.context(number, now, egress_port, packet, now, environment);
            let verdict = self.mechanisms[number].refused(reason, &mut Context { is_last_try, ..context });
            if decided == Verdict::Continue {
                decided = verdict;
            }
        }
        decided
    }

    fn release<E: Environment>(&mut self, now: Time, packet: PacketHandle, environment: &mut E) {
        let descriptor = environment.packets()[packet];
        let entry = Entry { packet, frame_bytes: descriptor.frame_bytes, enqueued_at: now };
        self.core.managed(descriptor.egress_port).release(descriptor.queue, descriptor.urgency(), entry);
        self.serve_when_free(now, descriptor.egress_port, environment);
    }

    /// Serves the port now if it is free, else sees to it that it is served when it falls free.
    #[inline]
    pub(crate) fn serve_when_free<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        if self.core.managed(port).busy_until <= now {
            self.serve(now, port, environment);
        } else {
            self.core.see_to_service(now, port, environment);
        }
    }

    fn serve<E: Environment>(&mut self, now: Time, port: PortId, environment: &mut E) {
        let is_watched = self.core.ports[usize::from(port.0)].hooks.drained != 0;
        let lane = self.core.managed(port);
        if lane.busy_until > now {
            return self.core.see_to_service(now, port, environment);
        }
        let (queue, entry) = match lane.take() {
            Taken::Packet(queue, entry) => (queue, entry),
            Taken::Rotating(step) => {
                lane.busy_until = now + step;
                return self.core.see_to_service(now, port, environment);
            }
            Taken::Nothing => return,
        };
        let is_drained = is_watched && lane.depth_bytes(queue) == 0;
        self.core.buffer.give_back(entry.frame_bytes);
        let held_for = self.leave(now, port, entry, environment);
        if is_drained {
            self.signal_drained(now, port, queue, environment);
        }
        self.core.managed(port).busy_until = now + held_for;
        self.core.see_to_service(now, port, environment);
    }

    /// Takes a packet through egress and to the MAC; answers how long it holds the port.
    #[inline]
    pub(crate) fn leave<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        entry: Entry,
        environment: &mut E,
    ) -> Duration {
        let hooks = self.core.ports[usize::from(port.0)].hooks;
        if hooks.egress | hooks.link_transmit | environment.packets()[entry.packet].owner == 0 {
            return self.core.transmit(now, port, entry.packet, environment);
        }
        self.leave_with_care(now, port, entry, environment)
    }

    /// [`Self::leave`] for a packet that a mechanism looks at.
    fn leave_with_care<E: Environment>(
        &mut self,
        now: Time,
        port: PortId,
        entry: Entry,
        environment: &mut E,
    ) -> Duration {
        let packet = entry.packet;
        let hooks = self.core.ports[usize::from(port.0)].hooks;
        self.core.pass.begin(Half::Egress);
        let mut verdict = self.run_egress(hooks.egress, now, port, entry, environment, M::egress);
        if verdict == Verdict::Continue {
            verdict = self.run_egress(hooks.link_transmit, now, port, entry, environment, M::link_transmit);
        }
        if verdict == Verdict::Continue {
            return self.core.transmit(now, port, packet, environment);
        }
        self.take_back(now, packet, verdict, environment);
        let channel_rate =
            self.core.architecture.buffer_read_rate.max(self.core.ports[usize::from(port.0)].config.rate);
        channel_rate.time_for(u64::from(entry.frame_bytes))
    }

    /// Does with a packet what an egress hook wants instead of sending it.
    fn take_back<E: Environment>(&mut self, now: Time, packet: PacketHandle, verdict: Verdict, environment: &mut E) {
        environment.decided(packet, Half::Egress, verdict);
        let (port, queue) = match verdict {
            Verdict::Forward { port, queue } | Verdict::Hold { port, queue, .. } => (port, queue),
            Verdict::Drop(reason) => return self.core.end(packet, reason, environment),
            Verdict::Continue => unreachable!("a packet that goes on is sent"),
        };
        self.core.pass.mirror(port, queue);
        let descriptor = &mut environment.packets()[packet];
        descriptor.egress_port = port;
        descriptor.queue = queue;
        let Verdict::Hold { duration, .. } = verdict else {
            return self.core.send_to_queue(now, self.core.architecture.mirror_latency, packet, environment);
        };
        if let Err(reason) = self.core.hold(now, packet, duration, environment) {
            self.refuse(now, packet, reason, false, environment);
        }
    }

    #[inline]
    fn run_egress<E: Environment>(
        &mut self,
        subscribed: u8,
        now: Time,
        port: PortId,
        entry: Entry,
        environment: &mut E,
        hook: impl Fn(&mut M, &mut Context<'_, E>) -> Verdict,
    ) -> Verdict {
        let owner = environment.packets()[entry.packet].owner;
        let mut subscribed = if owner == 0 { subscribed } else { 1 << (owner - 1) };
        while subscribed != 0 {
            let number = subscribed.trailing_zeros() as usize;
            subscribed &= subscribed - 1;
            let mut context = self.core.context(number, now, port, entry.packet, entry.enqueued_at, environment);
            let verdict = hook(&mut self.mechanisms[number], &mut context);
            if verdict != Verdict::Continue {
                return verdict;
            }
        }
        Verdict::Continue
    }

    fn signal_drained<E: Environment>(&mut self, now: Time, port: PortId, queue: QueueId, environment: &mut E) {
        let mut subscribed = self.core.ports[usize::from(port.0)].hooks.drained;
        while subscribed != 0 {
            let number = subscribed.trailing_zeros() as usize;
            subscribed &= subscribed - 1;
            self.tell(number, now, environment, |mechanism, context| mechanism.drained(port, queue, context));
        }
    }
}
