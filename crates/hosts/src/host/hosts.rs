//! The collection: who is meant by a packet or an event, and what becomes of flows.

use hitless_core::engine::{PacketHandle, RandomStreams, Stream};
use hitless_core::wire::{FlowId, HostId, Time};

use super::config::HostConfig;
use super::connection::Connection;
use super::environment::{HostDrop, HostEnvironment};
use super::event::{Direction, HostEvent, Side, Timer};
use super::flow_endpoints::Visit;
use super::flow_table::{FlowSlot, FlowTable};
use super::gro::{self, Segment};
use super::state::HostState;
use crate::application::{
    Application, FlowConfig, FlowOutcome, FlowProgress, PacketCounts, Request, SenderEnd, TransportId,
};
use crate::flow::TransportConfig;

/// What all hosts counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct HostTotals {
    /// Packets of all flows, strays counted as dropped.
    pub packets: PacketCounts,
    /// Packets that a network card had no room for.
    pub dropped_by_network_card: u64,
    /// Packets that arrived after their flow had ended, or were held back until then.
    pub strays: u64,
    /// Packets of which the reorder buffer held a copy.
    pub duplicates: u64,
    /// Packets that arrived at a host to which they are not addressed.
    pub misdelivered: u64,
    /// Flows that started.
    pub flows_started: u64,
    /// Flows that were completed.
    pub flows_completed: u64,
    /// Flows whose transport gave up.
    pub flows_failed: u64,
}

impl HostTotals {
    /// Adds what was counted in another partition.
    fn add(&mut self, other: &Self) {
        self.packets.add(other.packets);
        self.dropped_by_network_card += other.dropped_by_network_card;
        self.strays += other.strays;
        self.duplicates += other.duplicates;
        self.misdelivered += other.misdelivered;
        self.flows_started += other.flows_started;
        self.flows_completed += other.flows_completed;
        self.flows_failed += other.flows_failed;
    }
}

/// All hosts of a partition and the flows between them. How to drive it: see [the module](super).
#[derive(Clone, Debug)]
pub struct Hosts {
    hosts: Vec<HostState>,
    transports: Vec<TransportConfig>,
    flows: FlowTable,
    /// Where flows that draw have their streams from.
    streams: RandomStreams,
    /// Without what active flows and hosts keep themselves; see [`Self::totals`].
    totals: HostTotals,
}

hitless_core::state!(Hosts { values: flows, totals; parts: hosts; configured: transports, streams });

impl Hosts {
    /// No hosts; flows draw from `streams`, each from its own.
    pub fn new(streams: RandomStreams) -> Self {
        let totals = HostTotals::default();
        Self { hosts: Vec::new(), transports: Vec::new(), flows: FlowTable::default(), streams, totals }
    }

    /// Adds a host; they are numbered from 0. Its stack delays are drawn from `stream`.
    ///
    /// # Panics
    /// When a part of `config` cannot work (a queue for no packets, a percentile below its median).
    pub fn add_host(&mut self, config: &HostConfig, stream: Stream) -> HostId {
        let id = HostId(self.hosts.len() as u32);
        self.hosts.push(HostState::new(id, config, stream));
        id
    }

    /// Makes a transport known that flows can name.
    ///
    /// # Panics
    /// With more than 65,536 transports.
    pub fn add_transport(&mut self, config: TransportConfig) -> TransportId {
        let id = u16::try_from(self.transports.len()).expect("at most 65,536 transports");
        self.transports.push(config);
        TransportId(id)
    }

    /// Adds a flow and schedules its start. Flows are numbered from 0; a number is never used again.
    ///
    /// # Panics
    /// When the flow makes no sense: unknown hosts or transport, both ends at one host, no messages, empty messages,
    /// more than one message of datagrams, more than one answer to a request.
    pub fn add_flow<E: HostEnvironment>(&mut self, config: FlowConfig, env: &mut E) -> FlowId {
        self.check(&config);
        let flow = FlowId(u32::try_from(self.flows.len()).expect("fewer than 2^32 flows"));
        let [source_is_here, destination_is_here] =
            [config.source, config.destination].map(|host| self.hosts[host.0 as usize].is_here);
        if !source_is_here && !destination_is_here {
            self.flows.push(FlowSlot::Ended);
            return flow;
        }
        self.flows.push(FlowSlot::Waiting(Box::new(config)));
        let (opener, is_here) = match config.request {
            Some(_) => (config.destination, destination_is_here),
            None => (config.source, source_is_here),
        };
        if is_here {
            env.schedule(config.start, opener, HostEvent::FlowStart(flow));
        }
        flow
    }

    /// What happens at a host happens in another partition, which has the same hosts and flows.
    pub fn set_elsewhere(&mut self, host: HostId) {
        self.hosts[host.0 as usize].is_here = false;
    }

    /// Opens a connection for messages to be appended, now.
    ///
    /// # Panics
    /// As [`Self::add_flow`]; when the application is not [`Application::Appended`], or it starts at another time.
    pub fn open<E: HostEnvironment>(&mut self, now: Time, config: FlowConfig, env: &mut E) -> FlowId {
        assert!(config.application == Application::Appended && config.start == now, "a connection to be opened now");
        self.check(&config);
        let flow = FlowId(u32::try_from(self.flows.len()).expect("fewer than 2^32 flows"));
        self.flows.push(FlowSlot::Waiting(Box::new(config)));
        self.start(now, flow, env);
        flow
    }

    /// Sends one more message on an open connection. It is reported when it is complete, as any other.
    ///
    /// # Panics
    /// When the connection is closed, or was never open.
    pub fn append_message<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, bytes: u64, env: &mut E) {
        self.visit(now, flow, Side::Sender, env, |connection, visit| connection.flow.append_message(bytes, visit));
    }

    /// Ends an open connection when all its messages are complete.
    pub fn close<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        self.visit(now, flow, Side::Sender, env, |connection, _| connection.flow.close());
    }

    fn check(&self, config: &FlowConfig) {
        let FlowConfig { source, destination, transport, .. } = *config;
        let hosts = self.hosts.len();
        assert!(source != destination, "a flow from {source:?} to itself");
        assert!((source.0.max(destination.0) as usize) < hosts, "a flow {source:?}-{destination:?} of {hosts} hosts");
        let transport = self.transports.get(usize::from(transport.0)).expect("a flow's transport is known");
        if let Application::Messages { count, bytes, .. } = config.application {
            assert!(count > 0 && bytes > 0, "a flow needs messages, and messages bytes");
            assert!(
                count == 1 || transport.is_reliable(),
                "a second message would wait for datagrams that may be lost"
            );
        }
        if let Some(Request { bytes, .. }) = config.request {
            assert!(bytes > 0 && transport.is_reliable(), "a request that may never arrive");
            let answer = matches!(config.application, Application::Messages { count: 1, .. });
            assert!(answer, "a request has one answer");
        }
        let appends = config.application == Application::Appended;
        assert!(!appends || transport.is_reliable(), "a message of datagrams may never be complete");
    }

    /// Looks at what `host` and `flow` need when a packet arrives; the answer means nothing. To be followed by
    /// [`Self::read_flow_ahead`], when what is looked at here has come.
    pub fn read_ahead(&self, host: u32, flow: u32) -> u64 {
        let of_flow = match self.flows.latest(flow as usize) {
            Some(FlowSlot::Active(connection)) => connection.read_ahead(),
            Some(FlowSlot::Waiting(_) | FlowSlot::Ended) | None => 0,
        };
        of_flow ^ self.hosts[host as usize].read_ahead()
    }

    /// Looks at the transports of `flow`.
    pub fn read_flow_ahead(&self, flow: u32) -> u64 {
        match self.flows.latest(flow as usize) {
            Some(FlowSlot::Active(connection)) => connection.flow.read_ahead(),
            Some(FlowSlot::Waiting(_) | FlowSlot::Ended) | None => 0,
        }
    }

    /// The last bit of a packet has arrived at `host`; its destination and its flow are known to whoever has it at
    /// hand. Returns whether its flow has ended by that. A packet for another host is dropped, as a network card does.
    #[inline(always)]
    pub fn receive<E: HostEnvironment>(
        &mut self,
        now: Time,
        host: HostId,
        packet: PacketHandle,
        (destination, flow): (HostId, FlowId),
        env: &mut E,
    ) -> bool {
        if destination != host {
            self.drop_misdelivered(host, packet, env);
            return false;
        }
        let Some(FlowSlot::Active(connection)) = self.flows.latest_mut(flow.0 as usize) else {
            return self.receive_first(now, host, flow, packet, env);
        };
        let side = connection.addressee(destination);
        if !connection.is_here(side) {
            self.drop_stray(host, packet, env);
            return false;
        }
        if connection.flow.endpoints.delays_receive {
            return self.receive_delayed(now, flow, side, packet, env);
        }
        connection.deliver(now, side, packet.into(), &mut self.hosts[host.0 as usize], env);
        let has_ended = connection.flow.endpoints.outcome.is_some();
        if has_ended {
            self.finish(now, flow, env);
        }
        has_ended
    }

    /// A packet of a flow that is not an active one of the latest: the first of one whose sender is in another
    /// partition, of one that began long ago, or a stray.
    #[cold]
    #[inline(never)]
    fn receive_first<E: HostEnvironment>(
        &mut self,
        now: Time,
        host: HostId,
        flow: FlowId,
        packet: PacketHandle,
        env: &mut E,
    ) -> bool {
        self.activate(now, flow);
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else {
            self.drop_stray(host, packet, env);
            return false;
        };
        let side = connection.addressee(env.packets()[packet].destination);
        if connection.is_here(side) && connection.flow.endpoints.delays_receive {
            return self.receive_delayed(now, flow, side, packet, env);
        }
        self.deliver(now, packet.into(), env)
    }

    /// A flow that was waiting is active from now on.
    fn activate(&mut self, now: Time, flow: FlowId) {
        let Some(slot) = self.flows.get_mut(flow.0 as usize) else { return };
        let FlowSlot::Waiting(config) = slot else { return };
        let transport = &self.transports[usize::from(config.transport.0)];
        let connection = Connection::new(flow, now, config, transport, &self.hosts, &self.streams);
        *slot = FlowSlot::Active(Box::new(connection));
    }

    /// [`Self::receive`] by a host whose stack, or whose card, makes a packet wait.
    #[inline(never)]
    fn receive_delayed<E: HostEnvironment>(
        &mut self,
        now: Time,
        flow: FlowId,
        side: Side,
        packet: PacketHandle,
        env: &mut E,
    ) -> bool {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return false };
        let endpoints = &mut connection.flow.endpoints;
        let (host, on_network_card) = (endpoints.host(side), endpoints.on_network_card);
        let state = &mut self.hosts[host.0 as usize];
        if let Some(ring) = endpoints.ring(side) {
            env.packets()[packet].transport.note_arrival(now);
            let poll = ring.arrive(now, packet, || state.draw_receive_delay(on_network_card));
            if let Some(at) = poll {
                env.schedule(at, host, HostEvent::Poll(flow, side));
            }
            return false;
        }
        let Some(at) = endpoints.delivery_time(now, side, state) else {
            return self.deliver(now, packet.into(), env);
        };
        env.packets()[packet].transport.note_arrival(now);
        env.schedule(at, host, HostEvent::Deliver(packet));
        false
    }

    /// The kernel polls the ring of one end of a flow.
    fn poll<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, side: Side, env: &mut E) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        let packets = connection.flow.endpoints.ring(side).map(|ring| ring.poll(now)).unwrap_or_default();
        let mut rest = packets.as_slice();
        while !rest.is_empty() {
            // A flow that ends meanwhile leaves strays, each a packet of its own.
            let slot = self.flows.get(flow.0 as usize);
            let is_active = matches!(slot, Some(FlowSlot::Active(connection)) if connection.is_here(side));
            let count = if is_active { gro::mergeable(rest, env.packets()) } else { 1 };
            let (segment, others) = rest.split_at(count);
            self.deliver(now, gro::merge(segment, env.packets()), env);
            rest = others;
        }
        if let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize)
            && let Some(ring) = connection.flow.endpoints.ring(side)
        {
            ring.reuse(packets);
        }
    }

    /// An event has come that was scheduled through the environment.
    pub fn handle<E: HostEnvironment>(&mut self, now: Time, event: HostEvent, env: &mut E) {
        use HostEvent as Event;
        match event {
            Event::Deliver(packet) => drop(self.deliver(now, packet.into(), env)),
            Event::Poll(flow, side) => self.poll(now, flow, side, env),
            Event::Emit(packet) => self.emit(now, packet, env),
            Event::CardDrained(host) => self.card_drained(now, host, env),
            Event::Timer(flow, direction, timer) => {
                let of_flow = if timer == Timer::Sender { Side::Sender } else { Side::Receiver };
                // A request goes from the receiver of the flow to its sender.
                let side = if direction == Direction::Flow { of_flow } else { of_flow.other() };
                self.visit(now, flow, side, env, |connection, visit| connection.timer(direction, timer, visit));
            }
            Event::Answer(flow) => self.answer(now, flow, env),
            Event::FlowStart(flow) => self.start(now, flow, env),
            Event::NextMessage(flow) => {
                self.visit(now, flow, Side::Sender, env, |connection, visit| connection.flow.next_message(visit));
            }
            Event::FlowStop(flow) => {
                self.visit(now, flow, Side::Sender, env, |connection, visit| connection.flow.stop(visit));
            }
            Event::SenderEnded(flow) => self.hear_of_sender_end(now, flow, env),
            Event::FlowEnd(flow) => self.finish_receiver(flow, env),
        }
    }

    /// Lets an active flow do something at the host of one of its ends; ends it if that was the last thing to do.
    #[inline]
    fn visit<E: HostEnvironment>(
        &mut self,
        now: Time,
        flow: FlowId,
        side: Side,
        env: &mut E,
        act: impl FnOnce(&mut Connection, &mut Visit<E>),
    ) {
        // An event of a flow that has ended since it was scheduled means nothing.
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        let host = connection.flow.endpoints.host(side);
        self.visit_at(now, flow, host, env, act);
    }

    /// [`Self::visit`] to the end that is at `host`.
    #[inline]
    fn visit_at<E: HostEnvironment>(
        &mut self,
        now: Time,
        flow: FlowId,
        host: HostId,
        env: &mut E,
        act: impl FnOnce(&mut Connection, &mut Visit<E>),
    ) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        let side = if connection.flow.endpoints.host(Side::Sender) == host { Side::Sender } else { Side::Receiver };
        if !connection.is_here(side) {
            return;
        }
        act(connection, &mut Visit::new(now, &mut self.hosts[host.0 as usize], env));
        if connection.flow.endpoints.outcome.is_some() {
            self.finish(now, flow, env);
        }
    }

    /// A server has thought, and answers.
    fn answer<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        let Self { flows, transports, hosts, streams, .. } = self;
        let Some(FlowSlot::Active(connection)) = flows.get_mut(flow.0 as usize) else { return };
        connection.learn_from_request(transports, hosts, streams);
        self.visit(now, flow, Side::Sender, env, Connection::answer);
    }

    fn start<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        let Some(FlowSlot::Waiting(config)) = self.flows.get(flow.0 as usize) else { panic!("{flow:?} starts twice") };
        let opener = if config.request.is_some() { config.destination } else { config.source };
        self.activate(now, flow);
        self.totals.flows_started += 1;
        self.visit_at(now, flow, opener, env, Connection::start);
    }

    /// A packet has passed the receive delay; returns whether its flow has ended by that.
    fn deliver<E: HostEnvironment>(&mut self, now: Time, segment: Segment, env: &mut E) -> bool {
        let packet = segment.packet;
        let descriptor = &env.packets()[packet];
        let (host, flow) = (descriptor.destination, descriptor.flow);
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else {
            self.drop_stray(host, packet, env);
            return false;
        };
        let side = connection.addressee(descriptor.destination);
        if !connection.is_here(side) {
            self.drop_stray(host, packet, env);
            return false;
        }
        connection.deliver(now, side, segment, &mut self.hosts[host.0 as usize], env);
        let has_ended = connection.flow.endpoints.outcome.is_some();
        if has_ended {
            self.finish(now, flow, env);
        }
        has_ended
    }

    #[cold]
    fn drop_stray<E: HostEnvironment>(&mut self, host: HostId, packet: PacketHandle, env: &mut E) {
        self.totals.strays += 1;
        self.hosts[host.0 as usize].counts.dropped += 1;
        env.drop_packet(host, packet, HostDrop::FlowEnded);
    }

    #[cold]
    fn drop_misdelivered<E: HostEnvironment>(&mut self, host: HostId, packet: PacketHandle, env: &mut E) {
        self.totals.misdelivered += 1;
        self.hosts[host.0 as usize].counts.dropped += 1;
        env.drop_packet(host, packet, HostDrop::Misdelivered);
    }

    /// A packet has passed the send delay.
    fn emit<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, env: &mut E) {
        let descriptor = &env.packets()[packet];
        let (host, frame_bytes) = (descriptor.source, descriptor.frame_bytes);
        self.hosts[host.0 as usize].send(now, packet, frame_bytes, env);
    }

    fn card_drained<E: HostEnvironment>(&mut self, now: Time, host: HostId, env: &mut E) {
        self.hosts[host.0 as usize].drain_fired();
        while let Some(flow) = self.hosts[host.0 as usize].next_turn(now) {
            self.visit_at(now, flow, host, env, Connection::take_turn);
        }
        self.hosts[host.0 as usize].arm_drain(now, env);
    }

    /// One end of a flow has come to its end: the sending one, unless that has ended before.
    #[inline(never)]
    fn finish<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        if !connection.is_here(Side::Sender) {
            return self.finish_receiver(flow, env);
        }
        let Some(outcome) = connection.flow.endpoints.outcome.take() else { return };
        self.totals.strays += connection.drop_held(Side::Sender, &mut self.hosts, env);
        env.records().unfinished.extend(connection.messages_under_way());
        env.flow_finished(&connection.record(now, outcome));
        match outcome {
            FlowOutcome::Completed => self.totals.flows_completed += u64::from(connection.flow.reliable),
            FlowOutcome::Failed => self.totals.flows_failed += 1,
            FlowOutcome::Unfinished => {}
        }
        let receiver_is_here = connection.end(Side::Sender);
        if connection.is_one() {
            return self.finish_receiver(flow, env);
        }
        let end = connection.flow.sender_end(now);
        env.sender_ended(connection.flow.endpoints.host(Side::Receiver), end, !receiver_is_here);
        if receiver_is_here {
            connection.flow.endpoints.deliveries.note_sender_end(end);
        } else {
            self.flows.end(flow.0 as usize);
        }
    }

    /// The sending end of a flow, in another partition, has ended; [`HostEvent::SenderEnded`] will follow.
    pub fn note_sender_end(&mut self, now: Time, end: SenderEnd) {
        self.activate(now, end.flow);
        if let Some(FlowSlot::Active(connection)) = self.flows.get_mut(end.flow.0 as usize) {
            connection.flow.endpoints.deliveries.note_sender_end(end);
        }
    }

    /// The receiving end learns that the sending end has ended. It goes on only if datagrams may come.
    fn hear_of_sender_end<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        let waits = !connection.flow.reliable && connection.flow.all_arrived().is_none();
        let until = connection.flow.endpoints.deliveries.lingers_until();
        if !waits || until <= now {
            return self.finish_receiver(flow, env);
        }
        env.schedule(until, connection.flow.endpoints.host(Side::Receiver), HostEvent::FlowEnd(flow));
    }

    /// The receiving end of a flow ends, after the sending end.
    fn finish_receiver<E: HostEnvironment>(&mut self, flow: FlowId, env: &mut E) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        self.totals.strays += connection.drop_held(Side::Receiver, &mut self.hosts, env);
        let lingers_until = connection.flow.endpoints.deliveries.lingers_until();
        let finished = (!connection.flow.reliable).then(|| connection.flow.all_arrived().unwrap_or(lingers_until));
        self.totals.flows_completed += u64::from(finished.is_some());
        env.receiver_finished(&connection.receiver_record(finished));
        self.totals.duplicates += connection.duplicates();
        self.flows.end(flow.0 as usize);
    }

    /// The run ends: reports all flows that have started and not ended.
    pub fn end_run<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        for slot in self.flows.iter_mut() {
            let FlowSlot::Active(connection) = slot else { continue };
            if connection.is_here(Side::Sender) {
                let outcome = connection.outcome_of_run();
                env.records().unfinished.extend(connection.messages_under_way());
                env.flow_finished(&connection.record(now, outcome));
                self.totals.flows_completed += u64::from(outcome == FlowOutcome::Completed);
            }
            if connection.is_here(Side::Receiver) {
                env.receiver_finished(&connection.receiver_record(None));
                self.totals.duplicates += connection.duplicates();
            }
            *slot = FlowSlot::Ended;
        }
    }

    /// Takes over what the hosts of another partition have counted; those that are here are added to ours.
    pub fn merge(&mut self, other: Self) {
        let Self { hosts, totals, .. } = other;
        for (own, other) in self.hosts.iter_mut().zip(hosts) {
            if other.is_here {
                *own = other;
            }
        }
        self.totals.add(&totals);
    }
}

/// Counters, and how flows get on.
impl Hosts {
    /// How far the sending end of `flow` has got; `None` before its start and after its end, or if it is elsewhere.
    /// What is delivered, the receiving end knows.
    pub fn progress(&self, flow: FlowId) -> Option<FlowProgress> {
        match self.flows.get(flow.0 as usize)? {
            FlowSlot::Active(connection) if connection.is_here(Side::Sender) => Some(connection.flow.progress()),
            FlowSlot::Active(_) | FlowSlot::Waiting(_) | FlowSlot::Ended => None,
        }
    }

    /// Bytes handed to the receiving application of `flow`; `None` before its start and after the end of the receiving
    /// end, or if that is elsewhere.
    pub fn delivered_bytes(&self, flow: FlowId) -> Option<u64> {
        match self.flows.get(flow.0 as usize)? {
            FlowSlot::Active(connection) if connection.is_here(Side::Receiver) => {
                Some(connection.flow.delivered_bytes())
            }
            FlowSlot::Active(_) | FlowSlot::Waiting(_) | FlowSlot::Ended => None,
        }
    }

    /// Whether those ends of `flow` have ended that are here.
    pub fn has_ended(&self, flow: FlowId) -> bool {
        matches!(self.flows.get(flow.0 as usize), Some(FlowSlot::Ended) | None)
    }

    /// Number of flows added so far.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// What all hosts counted together. Adds up all hosts and active flows: not for every packet.
    pub fn totals(&self) -> HostTotals {
        let mut totals = self.totals;
        for slot in self.flows.iter() {
            if let FlowSlot::Active(connection) = slot {
                totals.duplicates += connection.duplicates();
            }
        }
        for host in &self.hosts {
            totals.packets.add(host.counts);
            totals.dropped_by_network_card += host.dropped_packets;
        }
        totals
    }
}
