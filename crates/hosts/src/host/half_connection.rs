//! One direction of an active connection: both transports, their timers, and the application.

use hitless_core::engine::{FlowIdentity, RandomStreams, Stream};
use hitless_core::wire::{Duration, FlowId, Packet, Time};

use super::deliveries::Deliveries;
use super::environment::{HostDrop, HostEnvironment};
use super::event::{Direction, HostEvent, HostStep, Side, Timer, Wake};
use super::flow_endpoints::{Endpoint, FlowEndpoints, Visit};
use super::gro::Segment;
use super::ports::Way;
use super::priority_tagger::PriorityTagger;
use super::progress::Progress;
use super::reorder_buffer::{Arrival, ReorderBuffer};
use super::state::HostState;
use crate::application::{FlowConfig, FlowOutcome, FlowProgress, ReorderBufferStatistics, SenderEnd, TransportId};
use crate::flow::{ReceiverState, SenderState, TransportConfig, dispatch};
use crate::transport::uet::Grant;
use crate::transport::{Receiver, ReceiverStatistics, Sender, SenderStatistics};

/// Returns the random stream of one direction, for its transport or its application.
fn connection_stream(flow: FlowIdentity, direction: Direction, streams: &RandomStreams, of: &str) -> Stream {
    let way = if direction == Direction::Flow { "" } else { "request " };
    streams.stream(&format!("flow {flow} {way}{of}"))
}

/// One direction of a connection: data goes from the sender to the receiver.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub struct HalfConnection {
    sender: SenderState,
    receiver: ReceiverState,
    pub endpoints: FlowEndpoints,
    pub started: Time,
    pub reliable: bool,
    /// Time that the receiver waits for late datagrams.
    linger: Duration,
    transport: TransportId,
    identity: FlowIdentity,
}

impl HalfConnection {
    pub fn new(
        id: FlowId,
        direction: Direction,
        now: Time,
        config: &FlowConfig,
        transport: &TransportConfig,
        hosts: &[HostState],
        streams: &RandomStreams,
    ) -> Self {
        let FlowConfig { source: from, destination: to, identity, .. } = *config;
        let (source, destination) = (&hosts[from.0 as usize], &hosts[to.0 as usize]);
        let stream = |of: &str| connection_stream(identity, direction, streams, of);
        // Packets in the same direction have the same 5-tuple.
        let is_reverse = direction != Direction::Flow;
        let spreads = transport.spreads();
        let uplink = source.uplink(Way { destination: to, flow_hash: identity.flow_hash(is_reverse), spreads });
        let (phases, time_to_live) = ((source.timer_phase, destination.timer_phase), source.time_to_live);
        let (sender, receiver) = transport.connect(uplink, phases.0, phases.1, time_to_live, stream);
        let on_network_card = transport.is_on_network_card();
        let data = Packet {
            flow: id,
            source: from,
            destination: to,
            flow_hash: identity.flow_hash(is_reverse),
            class: config.class,
            ttl: source.time_to_live,
            ..Packet::default()
        };
        let answer = Packet {
            source: to,
            destination: from,
            flow_hash: identity.flow_hash(!is_reverse),
            ttl: destination.time_to_live,
            class: config.acknowledgement_class,
            ..data
        };
        let ends = (Endpoint::new(data, source, on_network_card), Endpoint::new(answer, destination, on_network_card));
        let delays_receive =
            ends.0.delays_receive(source, on_network_card) || ends.1.delays_receive(destination, on_network_card);
        let application = config.application;
        let tagger = |tagging| Box::new(PriorityTagger::new(tagging, application, transport.counted_packet_bytes()));
        let reorder_buffer = |(timeout, tagging)| Box::new(ReorderBuffer::new(timeout, tagging, application));
        let endpoints = FlowEndpoints {
            id,
            direction,
            asked: None,
            tag: config.tag,
            on_network_card,
            limited_by_card: source.tcp_small_queues || !transport.is_tcp(),
            waiting: false,
            delays_receive,
            spreads,
            outcome: None,
            receiver_host: to,
            progress: Progress::new(config.application),
            deliveries: Deliveries::new(config.application, transport.is_reliable()),
            tagger: config.tagging.map(tagger),
            reorder_buffer: destination.reorder_timeout.zip(config.tagging).map(reorder_buffer),
            sender_end: ends.0,
            receiver_end: ends.1,
        };
        let (reliable, linger, transport) = (transport.is_reliable(), transport.linger(), config.transport);
        Self { endpoints, sender, receiver, started: now, reliable, linger, transport, identity }
    }

    /// Replaces the transports by a new pair with a known round-trip time. Nothing may have been sent yet.
    pub fn reconnect(
        &mut self,
        known_rtt: Duration,
        transports: &[TransportConfig],
        hosts: &[HostState],
        streams: &RandomStreams,
    ) {
        let [source, destination] =
            [Side::Sender, Side::Receiver].map(|side| &hosts[self.endpoints.host(side).0 as usize]);
        let transport = transports[usize::from(self.transport.0)].opened(Some(known_rtt));
        let stream = |of: &str| connection_stream(self.identity, self.endpoints.direction, streams, of);
        let (uplink, phases) = (source.uplink(self.endpoints.way()), (source.timer_phase, destination.timer_phase));
        (self.sender, _) = transport.connect(uplink, phases.0, phases.1, source.time_to_live, stream);
    }

    #[inline(always)]
    pub fn read_ahead(&self) -> u64 {
        let of_receiver = match &self.receiver {
            ReceiverState::Tcp(receiver) => receiver.read_ahead(),
            _ => 0,
        };
        match &self.sender {
            SenderState::Tcp(sender) => sender.read_ahead() ^ of_receiver,
            _ => of_receiver,
        }
    }

    pub fn statistics(&self) -> (SenderStatistics, ReceiverStatistics) {
        (self.sender.statistics(), self.receiver.statistics())
    }

    pub fn sender(&self) -> &SenderState {
        &self.sender
    }

    pub fn receiver(&self) -> &ReceiverState {
        &self.receiver
    }

    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.sender.smoothed_rtt()
    }

    pub fn opened_at(&self) -> Option<Time> {
        self.sender.opened_at().map(|at| at.max(self.started))
    }

    pub fn start<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if let Some(stop) = self.endpoints.progress.start(visit.now) {
            visit.env.schedule(stop, visit.host.id, HostEvent::FlowStop(self.endpoints.id));
        }
        self.continue_application(visit);
    }

    pub fn stop<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        let withdrawn = self.sender.withdraw_unsent();
        self.endpoints.progress.stop_writing(withdrawn);
        self.continue_application(visit);
    }

    pub fn next_message<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.endpoints.progress.next_message();
        self.continue_application(visit);
    }

    pub fn append_message<E: HostEnvironment>(&mut self, bytes: u64, visit: &mut Visit<E>) {
        self.endpoints.progress.append(visit.now, bytes);
        self.continue_application(visit);
    }

    pub fn close(&mut self) {
        self.endpoints.progress.close();
        if self.endpoints.progress.is_done() {
            self.endpoints.outcome = Some(FlowOutcome::Completed);
        }
    }

    /// Returns the notification that the sending end, which ends now, sends to the other.
    pub fn sender_end(&self, now: Time) -> SenderEnd {
        let written_bytes = self.endpoints.progress.written_bytes();
        SenderEnd { flow: self.endpoints.id, at: now, written_bytes, lingers_until: now + self.linger }
    }

    /// Returns when all datagrams had arrived, once the sending end has ended and they have.
    pub fn all_arrived(&mut self) -> Option<Time> {
        self.endpoints.deliveries.all_arrived(self.receiver.delivered_bytes())
    }

    pub fn timer<E: HostEnvironment>(&mut self, timer: Timer, visit: &mut Visit<E>) {
        match timer {
            Timer::Sender => self.sender_timer(visit),
            Timer::Receiver => self.receiver_timer(visit),
            Timer::Reorder => self.reorder_timer(visit),
        }
    }

    fn sender_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if self.endpoints.fire_timer(visit.now, Side::Sender) {
            if E::OBSERVES {
                self.endpoints.wake(Side::Sender, Wake::Sender(self.sender.timeout_purpose()), visit.env);
            }
            self.sender.handle_timeout(visit.now);
            if self.sender.has_failed() {
                self.endpoints.outcome = Some(FlowOutcome::Failed);
            }
            self.serve_sender(visit);
        }
    }

    fn receiver_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if self.endpoints.fire_timer(visit.now, Side::Receiver) {
            self.endpoints.wake(Side::Receiver, Wake::Receiver, visit.env);
            self.receiver.handle_timeout(visit.now);
            if self.endpoints.serve_receiver(&mut self.receiver, visit) {
                self.received_enough(visit.now, visit.env);
            }
        }
    }

    pub fn grant_credit<E: HostEnvironment>(&mut self, in_advance: bool, visit: &mut Visit<E>) -> Option<Grant> {
        let grant = self.receiver.grant_credit(in_advance)?;
        self.endpoints.wake(Side::Receiver, Wake::Credit, visit.env);
        self.endpoints.serve_receiver(&mut self.receiver, visit);
        Some(grant)
    }

    /// Delivers a packet to the transport or its reorder buffer; the slot is freed or reused for a packet in return.
    #[inline(always)]
    pub fn deliver<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        if E::OBSERVES {
            env.observe(HostStep::Reached(segment.packet));
        }
        match side {
            Side::Sender => self.deliver_to_sender(now, segment, host, env),
            Side::Receiver if self.endpoints.reorder_buffer.is_some() => self.deliver_in_order(now, segment, host, env),
            Side::Receiver => self.deliver_to_receiver(now, segment, host, env),
        }
    }

    #[inline(never)]
    fn deliver_in_order<E: HostEnvironment>(&mut self, now: Time, segment: Segment, host: &mut HostState, env: &mut E) {
        let Some(buffer) = &mut self.endpoints.reorder_buffer else { return };
        env.packets()[segment.packet].transport.note_arrival(now);
        match buffer.arrive(now, segment.packet, &env.packets()[segment.packet]) {
            Arrival::Passes => return self.deliver_to_receiver(now, segment, host, env),
            Arrival::IsHeld => {}
            Arrival::Releases => self.deliver_ready(now, host, env),
            Arrival::Duplicates(copy) => {
                host.counts.dropped += 1;
                env.drop_packet(host.id, copy, HostDrop::Duplicate);
            }
        }
        self.arm_reorder_buffer(now, host, env);
    }

    fn deliver_ready<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        let ready = |endpoints: &mut FlowEndpoints| {
            endpoints.reorder_buffer.as_mut().map(|buffer| std::mem::take(&mut buffer.ready))
        };
        let mut packets = ready(&mut self.endpoints).unwrap_or_default();
        for packet in packets.drain(..) {
            self.deliver_to_receiver(now, packet.into(), host, env);
        }
        if let Some(buffer) = &mut self.endpoints.reorder_buffer {
            // Reuses its memory.
            buffer.ready = packets;
        }
    }

    fn arm_reorder_buffer<E: HostEnvironment>(&mut self, now: Time, host: &HostState, env: &mut E) {
        if let Some(at) = self.endpoints.reorder_buffer.as_mut().and_then(|buffer| buffer.arm(now)) {
            env.schedule(at, host.id, HostEvent::Timer(self.endpoints.id, self.endpoints.direction, Timer::Reorder));
        }
    }

    fn reorder_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        let Some(buffer) = &mut self.endpoints.reorder_buffer else { return };
        buffer.expire(visit.now);
        self.deliver_ready(visit.now, visit.host, visit.env);
        self.arm_reorder_buffer(visit.now, visit.host, visit.env);
    }

    pub fn reorder_buffer(&self) -> Option<ReorderBufferStatistics> {
        Some(self.endpoints.reorder_buffer.as_ref()?.statistics())
    }

    /// Drops the packets in the ring of an end that has closed, and for the receiver those in the reorder buffer;
    /// returns their number.
    pub fn drop_held<E: HostEnvironment>(&mut self, side: Side, hosts: &mut [HostState], env: &mut E) -> u64 {
        let host = self.endpoints.host(side);
        let mut packets = self.endpoints.ring(side).map(|ring| ring.take()).unwrap_or_default();
        if let (Side::Receiver, Some(buffer)) = (side, &mut self.endpoints.reorder_buffer) {
            packets.extend(buffer.take_held());
        }
        for &packet in &packets {
            env.drop_packet(host, packet, HostDrop::FlowEnded);
        }
        hosts[host.0 as usize].counts.dropped += packets.len() as u64;
        packets.len() as u64
    }

    #[inline(always)]
    fn deliver_to_sender<E: HostEnvironment>(
        &mut self,
        now: Time,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Self { endpoints, sender, receiver, .. } = self;
        host.counts.delivered += u64::from(segment.frames);
        let packet = segment.packet;
        dispatch!(sender, SenderState, sender =>
            endpoints.sender_received(packet, sender.as_mut(), receiver, now, host, env));
    }

    #[inline(always)]
    fn deliver_to_receiver<E: HostEnvironment>(
        &mut self,
        now: Time,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Self { endpoints, receiver, .. } = self;
        host.counts.delivered += u64::from(segment.frames);
        let enough = dispatch!(receiver, ReceiverState, receiver =>
            endpoints.receiver_received(segment, receiver.as_mut(), now, host, env));
        if enough {
            self.received_enough(now, env);
        }
    }

    pub fn take_turn<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        let Self { endpoints, sender, receiver, .. } = self;
        dispatch!(sender, SenderState, sender => endpoints.take_turn(sender.as_mut(), receiver, visit));
    }

    pub fn continue_application<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.endpoints.wake(Side::Sender, Wake::Application, visit.env);
        self.serve_sender(visit);
    }

    #[inline(never)]
    pub fn serve_sender<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.endpoints.serve_sender(&mut self.sender, &self.receiver, visit);
    }

    #[cold]
    fn received_enough<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        if self.endpoints.progress.delivered_goal().is_some() {
            let wrote = self.endpoints.advance(now, &mut self.sender, &self.receiver, env);
            assert!(!wrote, "only what the sender learns makes the application write");
            return;
        }
        let delivered_bytes = self.receiver.delivered_bytes();
        let delivered = self.endpoints.deliveries.note(now, delivered_bytes);
        if self.endpoints.deliveries.lingers() {
            self.endpoints.outcome = Some(FlowOutcome::Completed);
        }
        if let (Some(number), Direction::Flow) = (delivered, self.endpoints.direction) {
            env.records().note_delivered(now, self.endpoints.id, number);
            if E::OBSERVES {
                let (end, group) = (self.endpoints.end_at(Side::Receiver), self.endpoints.tag);
                let bytes = self.endpoints.deliveries.message_bytes();
                env.observe(HostStep::Delivered { end, group, number, bytes });
            }
        }
    }

    pub fn delivered_bytes(&self) -> u64 {
        self.receiver.delivered_bytes()
    }

    pub fn progress(&self) -> FlowProgress {
        FlowProgress {
            congestion_window_bytes: self.sender.congestion_window_bytes(),
            sent_bytes: self.sender.sent_bytes(),
            acknowledged_bytes: self.sender.acknowledged_bytes(),
            delivered_bytes: self.receiver.delivered_bytes(),
            sender: self.sender.statistics(),
        }
    }
}
