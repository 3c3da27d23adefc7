//! The collection of hosts and flows: it routes packets and events to flows, and starts and ends them.

use hitless_core::engine::{PacketHandle, RandomStreams, Stream};
use hitless_core::wire::{FlowId, HostId, LineTiming, Time};

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

/// The counters of all hosts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct HostTotals {
    /// Packets of all flows; strays count as dropped.
    pub packets: PacketCounts,
    pub dropped_by_network_card: u64,
    /// Packets that arrived after their flow had ended, or were held until then.
    pub strays: u64,
    /// Packets dropped as copies by the reorder buffer.
    pub duplicates: u64,
    /// Packets that arrived at a host they are not addressed to.
    pub misdelivered: u64,
    pub flows_started: u64,
    pub flows_completed: u64,
    /// Flows with a transport that gave up.
    pub flows_failed: u64,
}

impl HostTotals {
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

/// All hosts of a partition and the flows between them. See [the module](super) for the calls of the driver.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Hosts {
    #[part]
    pub(super) hosts: Vec<HostState>,
    #[configured]
    transports: Vec<TransportConfig>,
    pub(super) flows: FlowTable,
    /// Source of the flows' random streams.
    #[configured]
    streams: RandomStreams,
    /// Totals without the counters in active flows and hosts; see [`Self::totals`].
    pub(super) totals: HostTotals,
}

impl Hosts {
    /// Creates an empty collection. Each flow draws from a separate stream of `streams`.
    pub fn new(streams: RandomStreams) -> Self {
        let totals = HostTotals::default();
        Self { hosts: Vec::new(), transports: Vec::new(), flows: FlowTable::default(), streams, totals }
    }

    /// Adds a host; numbers start at 0. Its stack delays are drawn from `stream`.
    ///
    /// # Panics
    /// If `config` is invalid (a queue for no packets, a percentile below its median).
    pub fn add_host(&mut self, config: &HostConfig, stream: Stream) -> HostId {
        let id = HostId(self.hosts.len() as u32);
        self.hosts.push(HostState::new(id, config, stream));
        id
    }

    /// Registers a transport for flows.
    pub fn add_transport(&mut self, config: TransportConfig) -> TransportId {
        let id = u16::try_from(self.transports.len()).expect("at most 65,536 transports");
        self.transports.push(config);
        TransportId(id)
    }

    /// Adds a flow and schedules its start. Numbers start at 0 and are never reused.
    ///
    /// # Panics
    /// If the flow is invalid: unknown hosts or transport, both ends at one host, no messages, empty messages, more
    /// than one message of datagrams, more than one response to a request.
    pub fn add_flow<E: HostEnvironment>(&mut self, config: FlowConfig, env: &mut E) -> FlowId {
        self.check(&config);
        let flow = FlowId(u32::try_from(self.flows.len()).expect("fewer than 2^32 flows"));
        let [source_is_here, destination_is_here] =
            [config.source, config.destination].map(|host| self.hosts[host.0 as usize].is_here);
        if !source_is_here && !destination_is_here {
            // The slot stays, so that flows have the same numbers in all partitions.
            self.flows.push(FlowSlot::Ended);
            return flow;
        }
        self.flows.push(FlowSlot::Waiting(Box::new(config)));
        let opener = config.opener();
        if self.hosts[opener.0 as usize].is_here {
            env.schedule(config.start, opener, HostEvent::FlowStart(flow));
        }
        flow
    }

    /// Marks a host as belonging to another partition, which has the same hosts and flows.
    pub fn set_elsewhere(&mut self, host: HostId) {
        self.hosts[host.0 as usize].is_here = false;
    }

    /// Opens a connection for appended messages now.
    ///
    /// # Panics
    /// As [`Self::add_flow`]; or if the application is not [`Application::Appended`] or starts at another time.
    pub fn open<E: HostEnvironment>(&mut self, now: Time, config: FlowConfig, env: &mut E) -> FlowId {
        assert!(config.application == Application::Appended && config.start == now, "a connection to be opened now");
        self.check(&config);
        let flow = FlowId(u32::try_from(self.flows.len()).expect("fewer than 2^32 flows"));
        self.flows.push(FlowSlot::Waiting(Box::new(config)));
        self.start(now, flow, env);
        flow
    }

    /// Appends a message on an open connection. Its completion is reported like any other.
    ///
    /// # Panics
    /// If the connection is closed or was never open.
    pub fn append_message<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, bytes: u64, env: &mut E) {
        self.visit(now, flow, Side::Sender, env, |connection, visit| connection.flow.append_message(bytes, visit));
    }

    /// Closes an open connection once all its messages are complete.
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

    /// Prefetches the state of `host` and `flow` for an arriving packet; the result only keeps the loads alive. Call
    /// [`Self::read_flow_ahead`] once these loads have completed.
    pub fn read_ahead(&self, host: u32, flow: u32) -> u64 {
        let of_flow = match self.flows.latest(flow as usize) {
            Some(FlowSlot::Active(connection)) => connection.read_ahead(),
            Some(FlowSlot::Waiting(_) | FlowSlot::Ended) | None => 0,
        };
        of_flow ^ self.hosts[host as usize].read_ahead()
    }

    /// Prefetches the transports of `flow`.
    pub fn read_flow_ahead(&self, flow: u32) -> u64 {
        match self.flows.latest(flow as usize) {
            Some(FlowSlot::Active(connection)) => connection.flow.read_ahead(),
            Some(FlowSlot::Waiting(_) | FlowSlot::Ended) | None => 0,
        }
    }

    /// Handles a packet that has fully arrived at `host`. The caller passes its destination and flow. Returns whether
    /// this ended the flow. A packet for another host is dropped, as a network card does.
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
            self.take_other(now, host, packet, env);
            return false;
        }
        let Some(FlowSlot::Active(connection)) = self.flows.latest_mut(flow.0 as usize) else {
            return self.receive_first(now, host, flow, packet, env);
        };
        let side = connection.addressee(destination);
        // This end has closed, or is in another partition: a late packet.
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

    /// Handles a packet of a flow that is not active among the latest: the first packet from another partition, a
    /// packet of an old flow, or a stray.
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

    pub(super) fn activate(&mut self, now: Time, flow: FlowId) {
        let Some(slot) = self.flows.get_mut(flow.0 as usize) else { return };
        let FlowSlot::Waiting(config) = slot else { return };
        let transport = &self.transports[usize::from(config.transport.0)];
        let connection = Connection::new(flow, now, config, transport, &self.hosts, &self.streams);
        *slot = FlowSlot::Active(Box::new(connection));
    }

    /// Handles a packet that the host's stack or card delays.
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

    fn poll<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, side: Side, env: &mut E) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        let packets = connection.flow.endpoints.ring(side).map(|ring| ring.poll(now)).unwrap_or_default();
        let mut rest = packets.as_slice();
        while !rest.is_empty() {
            // A packet can end the flow; the rest of the ring are then strays, each a separate packet.
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

    /// Handles an event that was scheduled through the environment.
    pub fn handle<E: HostEnvironment>(&mut self, now: Time, event: HostEvent, env: &mut E) {
        use HostEvent as Event;
        match event {
            Event::Deliver(packet) => drop(self.deliver(now, packet.into(), env)),
            Event::Poll(flow, side) => self.poll(now, flow, side, env),
            Event::Emit(packet) => self.emit(now, packet, env),
            Event::CardDrained(host) => self.card_drained(now, host, env),
            Event::EmitByPort(packet, port) => self.emit_by_port(now, packet, port, env),
            Event::PortDrained(host, lane) => self.port_drained(now, host, lane, env),
            Event::LineFree(host, port) => self.line_free(now, host, port, env),
            Event::QueueByClass(_)
            | Event::ClassTurns(_)
            | Event::FrameSent(_)
            | Event::PauseBegins(..)
            | Event::PauseEnds(..)
            | Event::UpdateCredits(..)
            | Event::SyncCredits(..)
            | Event::CreditsFreed(_) => self.handle_class_queues(now, event, env),
            Event::Credit(host) => self.grant_credit(now, host, env),
            Event::Timer(flow, direction, timer) => {
                let of_flow = if timer == Timer::Sender { Side::Sender } else { Side::Receiver };
                // A request goes from the flow's receiver to its sender.
                let side = if direction == Direction::Flow { of_flow } else { of_flow.other() };
                self.visit(now, flow, side, env, |connection, visit| connection.timer(direction, timer, visit));
            }
            Event::Answer(flow) => self.answer(now, flow, env),
            Event::FlowStart(flow) => self.collect_start(now, flow, env),
            Event::StartFlows(host) => self.start_flows(now, host, env),
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

    /// Runs an action of an active flow at the host of one end; ends the flow if nothing remains to do.
    #[inline]
    fn visit<E: HostEnvironment>(
        &mut self,
        now: Time,
        flow: FlowId,
        side: Side,
        env: &mut E,
        act: impl FnOnce(&mut Connection, &mut Visit<E>),
    ) {
        // Ignores an event of a flow that has ended since the event was scheduled.
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        let host = connection.flow.endpoints.host(side);
        self.visit_at(now, flow, host, env, act);
    }

    /// Like [`Self::visit`], for the end at `host`.
    #[inline]
    pub(super) fn visit_at<E: HostEnvironment>(
        &mut self,
        now: Time,
        flow: FlowId,
        host: HostId,
        env: &mut E,
        act: impl FnOnce(&mut Connection, &mut Visit<E>),
    ) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        if !connection.is_open_at(host) {
            return;
        }
        act(connection, &mut Visit::new(now, &mut self.hosts[host.0 as usize], env));
        if connection.flow.endpoints.outcome.is_some() {
            self.finish(now, flow, env);
        }
    }

    fn answer<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        let Self { flows, transports, hosts, streams, .. } = self;
        let Some(FlowSlot::Active(connection)) = flows.get_mut(flow.0 as usize) else { return };
        connection.learn_from_request(transports, hosts, streams);
        self.visit(now, flow, Side::Sender, env, Connection::answer);
    }

    /// Delivers a packet after the receive delay; returns whether this ended its flow.
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

    /// Takes a packet that is not addressed to this host: a signal of flow control, or a misdelivered packet.
    #[cold]
    fn take_other<E: HostEnvironment>(&mut self, now: Time, host: HostId, packet: PacketHandle, env: &mut E) {
        if self.hosts[host.0 as usize].take_signal(now, packet, env) {
            return;
        }
        self.totals.misdelivered += 1;
        self.hosts[host.0 as usize].counts.dropped += 1;
        env.drop_packet(host, packet, HostDrop::Misdelivered);
    }

    /// Passes a packet to the card after the send delay.
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

    /// Closes an end of a flow: the sending end, if it is still open.
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
        // The receiver stays open: a connection in two partitions must behave like one, so it learns of the end only
        // from `SenderEnd`.
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

    /// Records that the sending end of a flow in another partition has ended; [`HostEvent::SenderEnded`] follows.
    pub fn note_sender_end(&mut self, now: Time, end: SenderEnd) {
        self.activate(now, end.flow);
        if let Some(FlowSlot::Active(connection)) = self.flows.get_mut(end.flow.0 as usize) {
            connection.flow.endpoints.deliveries.note_sender_end(end);
        }
    }

    /// Tells the receiving end that the sending end has ended. It stays open only to wait for datagrams.
    fn hear_of_sender_end<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        let waits = !connection.flow.reliable && connection.flow.all_arrived().is_none();
        let until = connection.flow.endpoints.deliveries.lingers_until();
        if !waits || until <= now {
            return self.finish_receiver(flow, env);
        }
        env.schedule(until, connection.flow.endpoints.host(Side::Receiver), HostEvent::FlowEnd(flow));
    }

    /// Closes the receiving end of a flow, after the sending end.
    fn finish_receiver<E: HostEnvironment>(&mut self, flow: FlowId, env: &mut E) {
        let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { return };
        self.totals.strays += connection.drop_held(Side::Receiver, &mut self.hosts, env);
        let lingers_until = connection.flow.endpoints.deliveries.lingers_until();
        // With a reliable transport, the flow ended when its sender did; datagrams end with the last arrival or the
        // wait.
        let finished = (!connection.flow.reliable).then(|| connection.flow.all_arrived().unwrap_or(lingers_until));
        self.totals.flows_completed += u64::from(finished.is_some());
        env.receiver_finished(&connection.receiver_record(finished));
        self.totals.duplicates += connection.duplicates();
        self.flows.end(flow.0 as usize);
    }

    /// Ends the run: reports all flows that have started and not ended.
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

    /// Adds another partition's hosts and counters to this one.
    pub fn merge(&mut self, other: Self) {
        let Self { hosts, totals, .. } = other;
        for (own, other) in self.hosts.iter_mut().zip(hosts) {
            if other.is_here {
                // A host's counters and stack belong to the partition that simulated it.
                *own = other;
            }
        }
        self.totals.add(&totals);
    }
}

impl Hosts {
    /// Returns the progress of the sending end of `flow`; `None` before its start, after its end, or in another
    /// partition. Deliveries are known to the receiving end only.
    pub fn progress(&self, flow: FlowId) -> Option<FlowProgress> {
        match self.flows.get(flow.0 as usize)? {
            FlowSlot::Active(connection) if connection.is_here(Side::Sender) => Some(connection.flow.progress()),
            FlowSlot::Active(_) | FlowSlot::Waiting(_) | FlowSlot::Ended => None,
        }
    }

    /// Returns the bytes handed to the receiving application of `flow`; `None` before its start, after the end of the
    /// receiving end, or in another partition.
    pub fn delivered_bytes(&self, flow: FlowId) -> Option<u64> {
        match self.flows.get(flow.0 as usize)? {
            FlowSlot::Active(connection) if connection.is_here(Side::Receiver) => {
                Some(connection.flow.delivered_bytes())
            }
            FlowSlot::Active(_) | FlowSlot::Waiting(_) | FlowSlot::Ended => None,
        }
    }

    /// Returns whether the ends of `flow` in this partition have ended.
    pub fn has_ended(&self, flow: FlowId) -> bool {
        matches!(self.flows.get(flow.0 as usize), Some(FlowSlot::Ended) | None)
    }

    pub fn lines(&self) -> impl Iterator<Item = LineTiming> + '_ {
        self.hosts.iter().map(|host| host.card.line())
    }

    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// Returns the counters of all hosts together. It adds up all hosts and active flows, so do not call it per packet.
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
