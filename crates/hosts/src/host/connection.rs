//! A flow while it is active: both transports, their timers, and the application between them.

use hitless_engine::{RandomStreams, Stream};
use hitless_wire::{Duration, FlowId, Packet, Time};

use super::exchange::{Exchange, Timer};
use super::marking::Marker;
use super::ordering::{Arrival, Ordering};
use super::payload::is_from_receiver;
use super::progress::Progress;
use super::receive_offload::Segment;
use super::state::HostState;
use super::wiring::{Asked, End, Visit, Wiring};
use super::{HostDrop, HostEnvironment, HostEvent};
use crate::application::{
    FlowConfig, FlowOutcome, FlowProgress, FlowRecord, MessageRecord, OrderingStatistics, PacketCounts, TransportId,
};
use crate::flow::{ReceiverState, SenderState, TransportConfig};
use crate::transport::{Receiver, ReceiverStatistics, Sender, SenderStatistics};

pub use super::wiring::Side;

/// Stands for the hash of a 5-tuple: the finaliser of MurmurHash3 (Appleby), 32 bits.
fn flow_hash(flow: FlowId, salt: u32, direction: u32) -> u32 {
    let mut hash = flow.0.wrapping_mul(2).wrapping_add(direction) ^ salt;
    for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35)] {
        hash = (hash ^ (hash >> shift)).wrapping_mul(factor);
    }
    hash ^ (hash >> 16)
}

/// What one way of a connection draws from, for its transport or for its application.
fn connection_stream(flow: FlowId, leg: Leg, streams: &RandomStreams, of: &str) -> Stream {
    let way = if leg == Leg::Flow { "" } else { "request " };
    streams.stream(&format!("flow {} {way}{of}", flow.0))
}

/// An active flow.
#[derive(Clone, Debug)]
pub struct Connection {
    wiring: Wiring,
    sender: SenderState,
    receiver: ReceiverState,
    started: Time,
    reliable: bool,
    /// What comes before the flow, if it is an answer.
    exchange: Option<Box<Exchange>>,
    /// Which transport it is.
    transport: TransportId,
}

/// Which way of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// That of the flow.
    Flow,
    /// The other one, on which a client asks for it.
    Request,
}

/// Calls an expression with whichever transport is there: once per visit, so that nothing further in has to ask.
macro_rules! with {
    ($state:expr, $kind:ident, $end:ident => $call:expr) => {
        match $state {
            $kind::Tcp(boxed) => {
                let $end = boxed.as_mut();
                $call
            }
            $kind::Roce(boxed) => {
                let $end = boxed.as_mut();
                $call
            }
            $kind::Udp(boxed) => {
                let $end = boxed.as_mut();
                $call
            }
            $kind::PacketPair(boxed) => {
                let $end = boxed.as_mut();
                $call
            }
        }
    };
}

impl Connection {
    /// A connection about to be started.
    pub fn new(
        id: FlowId,
        now: Time,
        config: &FlowConfig,
        transport: &TransportConfig,
        hosts: &[HostState],
        streams: &RandomStreams,
    ) -> Self {
        let Some(exchange) = Exchange::new(id, now, config, transport, hosts, streams) else {
            return Self::one_way(id, Leg::Flow, now, config, transport, hosts, streams);
        };
        let exchange = Some(Box::new(exchange));
        let flow = Self::one_way(id, Leg::Flow, now, config, &transport.opened(None), hosts, streams);
        Self { exchange, ..flow }
    }

    /// One way of a connection.
    pub fn one_way(
        id: FlowId,
        leg: Leg,
        now: Time,
        config: &FlowConfig,
        transport: &TransportConfig,
        hosts: &[HostState],
        streams: &RandomStreams,
    ) -> Self {
        let FlowConfig { source: from, destination: to, hash_salt, .. } = *config;
        let (source, destination) = (&hosts[from.0 as usize], &hosts[to.0 as usize]);
        let stream = |of: &str| connection_stream(id, leg, streams, of);
        let (phases, time_to_live) = ((source.timer_phase, destination.timer_phase), source.time_to_live);
        let (sender, receiver) = transport.connect(&source.card, phases.0, phases.1, time_to_live, stream);
        // What goes the same way has the same 5-tuple.
        let (data_direction, answer_direction) = if leg == Leg::Flow { (0, 1) } else { (1, 0) };
        let on_network_card = transport.is_on_network_card();
        let data = Packet {
            flow: id,
            source: from,
            destination: to,
            flow_hash: flow_hash(id, hash_salt, data_direction),
            class: config.class,
            ttl: source.time_to_live,
            ..Packet::default()
        };
        let answer = Packet {
            source: to,
            destination: from,
            flow_hash: flow_hash(id, hash_salt, answer_direction),
            ttl: destination.time_to_live,
            class: config.acknowledgement_class,
            ..data
        };
        let ends = (End::new(data, source, on_network_card), End::new(answer, destination, on_network_card));
        let delays_receive =
            ends.0.delays_receive(source, on_network_card) || ends.1.delays_receive(destination, on_network_card);
        let application = config.application;
        let marker = |marking| Box::new(Marker::new(marking, application, transport.counted_packet_bytes()));
        let ordering = |(timeout, marking)| Box::new(Ordering::new(timeout, marking, application));
        let wiring = Wiring {
            id,
            leg,
            asked: None,
            tag: config.tag,
            on_network_card,
            held_back: source.hold_back_tcp || !transport.is_tcp(),
            waiting: false,
            delays_receive,
            outcome: None,
            counts: PacketCounts::default(),
            progress: Progress::new(config.application, transport.is_reliable(), transport.linger()),
            marker: config.marking.map(marker),
            ordering: destination.ordering_timeout.zip(config.marking).map(ordering),
            sender_end: ends.0,
            receiver_end: ends.1,
        };
        let (reliable, transport) = (transport.is_reliable(), config.transport);
        Self { wiring, sender, receiver, started: now, reliable, exchange: None, transport }
    }

    /// What does not depend on the transports.
    #[inline]
    pub fn wiring(&mut self) -> &mut Wiring {
        &mut self.wiring
    }

    /// The packets of the flow, and of the request that it answers.
    pub fn counts(&self) -> PacketCounts {
        let mut counts = self.wiring.counts;
        if let Some(way) = self.way_of_request() {
            counts.add(way.counts());
        }
        counts
    }

    fn way_of_request(&self) -> Option<&Connection> {
        self.exchange.as_ref()?.way.as_deref()
    }

    fn way_of_request_mut(&mut self) -> Option<&mut Connection> {
        self.exchange.as_mut()?.way.as_deref_mut()
    }

    /// What both ends counted, without a request.
    pub fn statistics(&self) -> (SenderStatistics, ReceiverStatistics) {
        (self.sender.statistics(), self.receiver.statistics())
    }

    /// Smoothed round-trip time, where the sender has measured one.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.sender.smoothed_rtt()
    }

    /// When data could first be sent, if it could.
    pub fn opened_at(&self) -> Option<Time> {
        self.sender.opened_at().map(|at| at.max(self.started))
    }

    /// How the flow came to its end, once it has.
    #[inline]
    pub fn outcome(&self) -> Option<FlowOutcome> {
        self.wiring.outcome
    }

    /// The end that `packet` is addressed to.
    #[inline]
    pub fn addressee(&self, packet: &Packet) -> Side {
        if packet.destination == self.wiring.host(Side::Receiver) { Side::Receiver } else { Side::Sender }
    }

    /// The application starts: that of the client, if it has to ask.
    pub fn start<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if let Some(way) = self.way_of_request_mut() {
            return way.start(visit);
        }
        if let Some(stop) = self.wiring.progress.start(visit.now) {
            visit.env.schedule(stop, visit.host.id, HostEvent::FlowStop(self.wiring.id));
        }
        self.serve_sender(visit);
    }

    /// The application stops writing.
    pub fn stop<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        let withdrawn = self.sender.withdraw_unsent();
        self.wiring.progress.stop_writing(withdrawn);
        self.serve_sender(visit);
    }

    /// The gap between two messages is over.
    pub fn next_message<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.wiring.progress.next_message();
        self.serve_sender(visit);
    }

    /// One more message, of an application that appends them.
    pub fn append_message<E: HostEnvironment>(&mut self, bytes: u64, visit: &mut Visit<E>) {
        self.wiring.progress.append(visit.now, bytes);
        self.serve_sender(visit);
    }

    /// No message will be appended any more.
    pub fn close(&mut self) {
        self.wiring.progress.close();
        if self.wiring.progress.is_done() {
            self.wiring.outcome = Some(FlowOutcome::Completed);
        }
    }

    /// How the flow ends if the run ends now.
    pub fn outcome_of_run(&self) -> FlowOutcome {
        let at_rest = self.wiring.progress.is_at_rest();
        self.outcome().unwrap_or(if at_rest { FlowOutcome::Completed } else { FlowOutcome::Unfinished })
    }

    /// Late datagrams are waited for no more.
    pub fn stop_lingering<E: HostEnvironment>(&mut self, env: &mut E) {
        if let Some(message) = self.wiring.progress.stop_lingering() {
            self.wiring.report(message, env);
        }
        self.wiring.outcome = Some(FlowOutcome::Completed);
    }

    /// A timer event of the sender.
    pub fn sender_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if self.wiring.fire_timer(visit.now, Side::Sender) && self.wiring.timer_counts(&self.sender) {
            self.sender.handle_timeout(visit.now);
            if self.sender.has_failed() {
                self.wiring.outcome = Some(FlowOutcome::Failed);
            }
            self.serve_sender(visit);
        }
    }

    /// A timer event of the receiver.
    pub fn receiver_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if self.wiring.fire_timer(visit.now, Side::Receiver) {
            self.receiver.handle_timeout(visit.now);
            if self.wiring.serve_receiver(&mut self.receiver, visit) {
                self.received_enough(visit.now, visit.env);
            }
        }
    }

    /// A packet reaches the transport; its slot is freed, or used for the answer.
    #[inline]
    pub fn deliver<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        if self.exchange.is_some() {
            return self.deliver_in_exchange(now, side, segment, host, env);
        }
        self.deliver_on_flow(now, side, segment, host, env);
    }

    /// A packet reaches one end of a connection on which a client asks and a server answers.
    #[inline(never)]
    fn deliver_in_exchange<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Some(exchange) = &mut self.exchange else { return };
        match (side, is_from_receiver(&env.packets()[segment.packet].transport)) {
            (Side::Receiver, false) => self.wiring.counts.add(exchange.end()),
            (Side::Sender, true) => {}
            (Side::Sender, false) | (Side::Receiver, true) => match &mut exchange.way {
                Some(way) => {
                    let side = if side == Side::Sender { Side::Receiver } else { Side::Sender };
                    way.deliver_on_flow(now, side, segment, host, env);
                    return self.follow_request(now, host, env);
                }
                None => {
                    self.wiring.counts.delivered += u64::from(segment.frames);
                    return env.packets().remove(segment.packet);
                }
            },
        }
        self.deliver_on_flow(now, side, segment, host, env);
    }

    /// Something has happened to the request: it may have arrived, or failed.
    fn follow_request<E: HostEnvironment>(&mut self, now: Time, host: &HostState, env: &mut E) {
        let Some(exchange) = &mut self.exchange else { return };
        if let Some(at) = exchange.hear(now) {
            env.schedule(at, host.id, HostEvent::Answer(self.wiring.id));
        }
        let outcome = exchange.way.as_ref().and_then(|way| way.outcome());
        if outcome == Some(FlowOutcome::Failed) {
            self.wiring.outcome = outcome;
        }
    }

    /// A timer event of the way of the request.
    pub fn request_timer<E: HostEnvironment>(&mut self, timer: Timer, visit: &mut Visit<E>) {
        let Some(way) = self.way_of_request_mut() else { return };
        match timer {
            Timer::Sender => way.sender_timer(visit),
            Timer::Receiver => way.receiver_timer(visit),
            Timer::Ordering => way.ordering_timer(visit),
        }
        self.follow_request(visit.now, visit.host, visit.env);
    }

    /// The sender of the answer knows what the handshake has shown, as on one connection it does.
    pub fn learn_from_request(&mut self, transports: &[TransportConfig], hosts: &[HostState], streams: &RandomStreams) {
        let Some(known_rtt) = self.exchange.as_ref().and_then(|exchange| exchange.known_rtt()) else { return };
        let [source, destination] =
            [Side::Sender, Side::Receiver].map(|side| &hosts[self.wiring.host(side).0 as usize]);
        let transport = transports[usize::from(self.transport.0)].opened(Some(known_rtt));
        let stream = |of: &str| connection_stream(self.wiring.id, Leg::Flow, streams, of);
        let phases = (source.timer_phase, destination.timer_phase);
        (self.sender, _) = transport.connect(&source.card, phases.0, phases.1, source.time_to_live, stream);
    }

    /// The server begins its answer.
    pub fn answer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.wiring.asked = self.asked();
        self.serve_sender(visit);
    }

    /// What is known of what came before an answer; `None`: nobody asks.
    fn asked(&self) -> Option<Asked> {
        let exchange = self.exchange.as_ref()?;
        Some(Asked { started: self.started, requested: exchange.sent_at() })
    }

    #[inline]
    fn deliver_on_flow<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        match side {
            Side::Sender => self.deliver_to_sender(now, segment, host, env),
            Side::Receiver if self.wiring.ordering.is_some() => self.deliver_in_order(now, segment, host, env),
            Side::Receiver => self.deliver_to_receiver(now, segment, host, env),
        }
    }

    /// A packet reaches the ordering layer.
    #[inline(never)]
    fn deliver_in_order<E: HostEnvironment>(&mut self, now: Time, segment: Segment, host: &mut HostState, env: &mut E) {
        let Some(ordering) = &mut self.wiring.ordering else { return };
        env.packets()[segment.packet].transport.note_arrival(now);
        match ordering.arrive(now, segment.packet, &env.packets()[segment.packet]) {
            Arrival::Passes => return self.deliver_to_receiver(now, segment, host, env),
            Arrival::IsHeld => {}
            Arrival::Releases => self.deliver_ready(now, host, env),
            Arrival::Duplicates(copy) => {
                self.wiring.counts.dropped += 1;
                env.drop_packet(host.id, copy, HostDrop::Duplicate);
            }
        }
        self.arm_ordering(now, host, env);
    }

    fn deliver_ready<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        let ready = |wiring: &mut Wiring| wiring.ordering.as_mut().map(|ordering| std::mem::take(&mut ordering.ready));
        let mut packets = ready(&mut self.wiring).unwrap_or_default();
        for packet in packets.drain(..) {
            self.deliver_to_receiver(now, packet.into(), host, env);
        }
        if let Some(ordering) = &mut self.wiring.ordering {
            // The room that it had is used again.
            ordering.ready = packets;
        }
    }

    fn arm_ordering<E: HostEnvironment>(&mut self, now: Time, host: &HostState, env: &mut E) {
        if let Some(at) = self.wiring.ordering.as_mut().and_then(|ordering| ordering.arm(now)) {
            env.schedule(at, host.id, Timer::Ordering.event(self.wiring.id, self.wiring.leg));
        }
    }

    /// A timer event of the ordering layer.
    pub fn ordering_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        let Some(ordering) = &mut self.wiring.ordering else { return };
        ordering.expire(visit.now);
        self.deliver_ready(visit.now, visit.host, visit.env);
        self.arm_ordering(visit.now, visit.host, visit.env);
    }

    /// Packets of which the ordering layer held a copy.
    pub fn duplicates(&self) -> u64 {
        self.ordering().map_or(0, |ordering| ordering.duplicate_packets)
    }

    /// What the ordering layers of both ways counted, if there are any.
    pub fn ordering(&self) -> Option<OrderingStatistics> {
        let mut ordering = self.wiring.ordering.as_ref()?.statistics();
        if let Some(of_request) = self.exchange.as_ref().and_then(|exchange| exchange.ordering()) {
            ordering.add(&of_request);
        }
        Some(ordering)
    }

    /// The flow is over: what its ordering layer holds is dropped. Answers how many packets that were.
    pub fn drop_held<E: HostEnvironment>(&mut self, env: &mut E) -> u64 {
        let of_request = self.way_of_request_mut().map_or(0, |way| way.drop_held(env));
        of_request + self.drop_rings(env) + self.drop_held_of_flow(env)
    }

    fn drop_rings<E: HostEnvironment>(&mut self, env: &mut E) -> u64 {
        [Side::Sender, Side::Receiver].map(|side| self.drop_ring(side, env)).iter().sum()
    }

    fn drop_ring<E: HostEnvironment>(&mut self, side: Side, env: &mut E) -> u64 {
        let host = self.wiring.host(side);
        let packets = self.wiring.ring(side).map(|ring| ring.take()).unwrap_or_default();
        for &packet in &packets {
            env.drop_packet(host, packet, HostDrop::FlowEnded);
        }
        self.wiring.counts.dropped += packets.len() as u64;
        packets.len() as u64
    }

    fn drop_held_of_flow<E: HostEnvironment>(&mut self, env: &mut E) -> u64 {
        let Wiring { ordering: Some(ordering), counts, receiver_end, .. } = &mut self.wiring else { return 0 };
        let before = counts.dropped;
        for packet in ordering.take_held() {
            counts.dropped += 1;
            env.drop_packet(receiver_end.host(), packet, HostDrop::FlowEnded);
        }
        counts.dropped - before
    }

    #[inline(never)]
    fn deliver_to_sender<E: HostEnvironment>(
        &mut self,
        now: Time,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Self { wiring, sender, receiver, .. } = self;
        let mut visit = Visit { now, host, env, spare: Some(segment.packet) };
        wiring.counts.delivered += u64::from(segment.frames);
        with!(sender, SenderState, sender => wiring.sender_received(segment.packet, sender, receiver, &mut visit));
        visit.end();
    }

    #[inline(never)]
    fn deliver_to_receiver<E: HostEnvironment>(
        &mut self,
        now: Time,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Self { wiring, receiver, .. } = self;
        let mut visit = Visit { now, host, env, spare: Some(segment.packet) };
        wiring.counts.delivered += u64::from(segment.frames);
        let enough =
            with!(receiver, ReceiverState, receiver => wiring.receiver_received(segment, receiver, &mut visit));
        if enough {
            self.received_enough(now, visit.env);
        }
        visit.end();
    }

    /// The flow's turn at a card that has drained.
    pub fn take_turn<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if visit.host.id != self.wiring.host(Side::Sender) {
            return self.way_of_request_mut().into_iter().for_each(|way| way.take_turn(visit));
        }
        let Self { wiring, sender, receiver, .. } = self;
        with!(sender, SenderState, sender => wiring.take_turn(sender, receiver, visit));
    }

    #[inline(never)]
    fn serve_sender<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.wiring.serve_sender(&mut self.sender, &self.receiver, visit);
    }

    /// The application may act on what has been delivered.
    #[cold]
    fn received_enough<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        let wrote = self.wiring.advance(now, &mut self.sender, &self.receiver, env);
        debug_assert!(!wrote, "only what the sender learns makes the application write");
    }

    /// How far the flow has got.
    pub fn progress(&self) -> FlowProgress {
        FlowProgress {
            congestion_window_bytes: self.sender.congestion_window_bytes(),
            sent_bytes: self.sender.sent_bytes(),
            acknowledged_bytes: self.sender.acknowledged_bytes(),
            delivered_bytes: self.receiver.delivered_bytes(),
            sender: self.sender.statistics(),
        }
    }

    /// The flow's record, were it to end now.
    ///
    /// # Panics
    /// When a reliable transport completed the flow and what was delivered is not what was written.
    pub fn record(&self, now: Time, outcome: FlowOutcome) -> FlowRecord {
        let wiring = &self.wiring;
        let (mut sender, mut receiver) = self.statistics();
        if let Some(exchange) = &self.exchange {
            let of_request = exchange.statistics();
            sender.add(&of_request.0);
            receiver.add(&of_request.1);
        }
        let record = FlowRecord {
            flow: wiring.id,
            tag: wiring.tag,
            source: wiring.host(Side::Sender),
            destination: wiring.host(Side::Receiver),
            started: self.started,
            finished: now,
            outcome,
            messages_completed: wiring.progress.messages_completed(),
            bytes_written: wiring.progress.written_bytes(),
            bytes_acknowledged: self.sender.acknowledged_bytes(),
            bytes_delivered: self.receiver.delivered_bytes(),
            packets: self.counts(),
            sender,
            receiver,
            ordering: self.ordering(),
        };
        self.check(&record);
        record
    }

    /// What is recorded of the messages that have begun and are not complete, were the flow to end now.
    pub fn messages_under_way(&self) -> impl Iterator<Item = MessageRecord> {
        let asked = self.asked();
        self.wiring.progress.under_way().map(move |message| self.wiring.record_of(message, asked))
    }

    fn check(&self, record: &FlowRecord) {
        let FlowRecord { flow, bytes_written: written, bytes_delivered: delivered, .. } = *record;
        assert!(delivered <= written, "{flow:?}: {delivered} bytes delivered, only {written} written");
        if self.reliable && record.outcome == FlowOutcome::Completed {
            assert!(delivered == written, "{flow:?}: completed with {delivered} of {written} bytes delivered");
        }
    }
}
