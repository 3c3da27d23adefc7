//! A connection while it is active: the flow, and the request before it, if it is an answer.

use hitless_engine::RandomStreams;
use hitless_wire::{FlowId, Packet, Time};

use super::environment::HostEnvironment;
use super::event::{Direction, HostEvent, Timer};
use super::flow_endpoints::{Asked, FlowEndpoints, Side, Visit};
use super::gro::Segment;
use super::half_connection::HalfConnection;
use super::payload::is_from_receiver;
use super::rpc::Rpc;
use super::state::HostState;
use crate::application::{FlowConfig, FlowOutcome, FlowRecord, MessageRecord, OrderingStatistics, PacketCounts};
use crate::flow::TransportConfig;

/// An active flow.
#[derive(Clone, Debug)]
pub struct Connection {
    pub flow: HalfConnection,
    /// What comes before the flow, if it is an answer.
    rpc: Option<Box<Rpc>>,
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
        let Some(rpc) = Rpc::new(id, now, config, transport, hosts, streams) else {
            let flow = HalfConnection::new(id, Direction::Flow, now, config, transport, hosts, streams);
            return Self { flow, rpc: None };
        };
        let flow = HalfConnection::new(id, Direction::Flow, now, config, &transport.opened(None), hosts, streams);
        Self { flow, rpc: Some(Box::new(rpc)) }
    }

    /// Looks at what a packet needs; the answer means nothing.
    #[inline(always)]
    pub fn read_ahead(&self) -> u64 {
        self.flow.endpoints.read_ahead() ^ u64::from(self.rpc.is_some())
    }

    /// What does not depend on the transports.
    #[inline]
    pub fn endpoints(&mut self) -> &mut FlowEndpoints {
        &mut self.flow.endpoints
    }

    /// The packets of the flow, and of the request that it answers.
    pub fn counts(&self) -> PacketCounts {
        let mut counts = self.flow.endpoints.counts;
        if let Some(request) = self.request() {
            counts.add(request.endpoints.counts);
        }
        counts
    }

    fn request(&self) -> Option<&HalfConnection> {
        self.rpc.as_ref()?.half.as_deref()
    }

    fn request_mut(&mut self) -> Option<&mut HalfConnection> {
        self.rpc.as_mut()?.half.as_deref_mut()
    }

    /// How the flow came to its end, once it has.
    #[inline]
    pub fn outcome(&self) -> Option<FlowOutcome> {
        self.flow.endpoints.outcome
    }

    /// The end that `packet` is addressed to.
    #[inline]
    pub fn addressee(&self, packet: &Packet) -> Side {
        if packet.destination == self.flow.endpoints.host(Side::Receiver) { Side::Receiver } else { Side::Sender }
    }

    /// The application starts: that of the client, if it has to ask.
    pub fn start<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        match self.request_mut() {
            Some(request) => request.start(visit),
            None => self.flow.start(visit),
        }
    }

    /// How the flow ends if the run ends now.
    pub fn outcome_of_run(&self) -> FlowOutcome {
        let at_rest = self.flow.endpoints.progress.is_at_rest();
        self.outcome().unwrap_or(if at_rest { FlowOutcome::Completed } else { FlowOutcome::Unfinished })
    }

    /// A packet reaches the transport; its slot is freed, or used for what is sent in return.
    #[inline]
    pub fn deliver<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        if self.rpc.is_some() {
            return self.deliver_in_rpc(now, side, segment, host, env);
        }
        self.flow.deliver(now, side, segment, host, env);
    }

    /// A packet reaches one end of a connection on which a client asks and a server answers.
    #[inline(never)]
    fn deliver_in_rpc<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        segment: Segment,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Some(rpc) = &mut self.rpc else { return };
        match (side, is_from_receiver(&env.packets()[segment.packet].transport)) {
            (Side::Receiver, false) => self.flow.endpoints.counts.add(rpc.end()),
            (Side::Sender, true) => {}
            (Side::Sender, false) | (Side::Receiver, true) => match &mut rpc.half {
                Some(request) => {
                    let side = if side == Side::Sender { Side::Receiver } else { Side::Sender };
                    request.deliver(now, side, segment, host, env);
                    return self.follow_request(now, host, env);
                }
                None => {
                    self.flow.endpoints.counts.delivered += u64::from(segment.frames);
                    return env.packets().remove(segment.packet);
                }
            },
        }
        self.flow.deliver(now, side, segment, host, env);
    }

    /// Something has happened to the request: it may have arrived, or failed.
    fn follow_request<E: HostEnvironment>(&mut self, now: Time, host: &HostState, env: &mut E) {
        let Some(rpc) = &mut self.rpc else { return };
        if let Some(at) = rpc.hear(now) {
            env.schedule(at, host.id, HostEvent::Answer(self.flow.endpoints.id));
        }
        let outcome = rpc.half.as_ref().and_then(|request| request.outcome());
        if outcome == Some(FlowOutcome::Failed) {
            self.flow.endpoints.outcome = outcome;
        }
    }

    /// A timer event of the way of the request.
    pub fn request_timer<E: HostEnvironment>(&mut self, timer: Timer, visit: &mut Visit<E>) {
        let Some(request) = self.request_mut() else { return };
        match timer {
            Timer::Sender => request.sender_timer(visit),
            Timer::Receiver => request.receiver_timer(visit),
            Timer::Reorder => request.ordering_timer(visit),
        }
        self.follow_request(visit.now, visit.host, visit.env);
    }

    /// The sender of the answer knows what the handshake has shown, as on one connection it does.
    pub fn learn_from_request(&mut self, transports: &[TransportConfig], hosts: &[HostState], streams: &RandomStreams) {
        let Some(known_rtt) = self.rpc.as_ref().and_then(|rpc| rpc.known_rtt()) else { return };
        self.flow.reconnect(known_rtt, transports, hosts, streams);
    }

    /// The server begins its answer.
    pub fn answer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.flow.endpoints.asked = self.asked();
        self.flow.serve_sender(visit);
    }

    /// What is known of what came before an answer; `None`: nobody asks.
    fn asked(&self) -> Option<Asked> {
        let rpc = self.rpc.as_ref()?;
        Some(Asked { started: self.flow.started, requested: rpc.sent_at() })
    }

    /// Packets of which the reorder buffer held a copy.
    pub fn duplicates(&self) -> u64 {
        self.ordering().map_or(0, |ordering| ordering.duplicate_packets)
    }

    /// What the reorder buffers of both ways counted, if there are any.
    pub fn ordering(&self) -> Option<OrderingStatistics> {
        let mut ordering = self.flow.ordering()?;
        if let Some(of_request) = self.rpc.as_ref().and_then(|rpc| rpc.ordering()) {
            ordering.add(&of_request);
        }
        Some(ordering)
    }

    /// The flow is over: what is held of it is dropped. Returns how many packets that were.
    pub fn drop_held<E: HostEnvironment>(&mut self, env: &mut E) -> u64 {
        let of_request = self.request_mut().map_or(0, |request| request.drop_held(env));
        of_request + self.flow.drop_held(env)
    }

    /// The turn of the flow, or of the request that it answers, at a card that has drained.
    pub fn take_turn<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if visit.host.id == self.flow.endpoints.host(Side::Sender) {
            self.flow.take_turn(visit);
        } else if let Some(request) = self.request_mut() {
            request.take_turn(visit);
        }
    }

    /// The flow's record, were it to end now.
    ///
    /// # Panics
    /// When a reliable transport completed the flow and what was delivered is not what was written.
    pub fn record(&self, now: Time, outcome: FlowOutcome) -> FlowRecord {
        let endpoints = &self.flow.endpoints;
        let (mut sender, mut receiver) = self.flow.statistics();
        if let Some(rpc) = &self.rpc {
            let of_request = rpc.statistics();
            sender.add(&of_request.0);
            receiver.add(&of_request.1);
        }
        let progress = self.flow.progress();
        let record = FlowRecord {
            flow: endpoints.id,
            tag: endpoints.tag,
            source: endpoints.host(Side::Sender),
            destination: endpoints.host(Side::Receiver),
            started: self.flow.started,
            finished: now,
            outcome,
            messages_completed: endpoints.progress.messages_completed(),
            bytes_written: endpoints.progress.written_bytes(),
            bytes_acknowledged: progress.acknowledged_bytes,
            bytes_delivered: progress.delivered_bytes,
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
        self.flow.endpoints.progress.under_way().map(move |message| self.flow.endpoints.record_of(message, asked))
    }

    fn check(&self, record: &FlowRecord) {
        let FlowRecord { flow, bytes_written: written, bytes_delivered: delivered, .. } = *record;
        assert!(delivered <= written, "{flow:?}: {delivered} bytes delivered, only {written} written");
        if self.flow.reliable && record.outcome == FlowOutcome::Completed {
            assert!(delivered == written, "{flow:?}: completed with {delivered} of {written} bytes delivered");
        }
    }
}
