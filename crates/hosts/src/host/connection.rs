//! An active connection: the flow and, if it is a response, the request before it.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{FlowId, HostId, Time};

use super::environment::HostEnvironment;
use super::event::{Direction, HostEvent, Side, Timer};
use super::flow_endpoints::{Asked, Visit};
use super::gro::Segment;
use super::half_connection::HalfConnection;
use super::payload::is_from_receiver;
use super::ports::Way;
use super::rpc::Rpc;
use super::state::HostState;
use crate::application::{
    Application, FlowConfig, FlowOutcome, FlowRecord, MessageRecord, ReceiverRecord, ReorderBufferStatistics,
};
use crate::flow::TransportConfig;
use crate::transport::uet::Grant;
use crate::transport::{ReceiverStatistics, SenderStatistics};

/// An active flow, or one end of it.
///
/// The two ends communicate only by packets and by [`SenderEnd`], so they can be in different partitions. Each
/// partition then has a connection with one unused end. The ends must share a connection only for requests and for
/// appended messages.
///
/// A packet needs two of its cache lines: the first, and one for its end.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C, align(64))]
pub struct Connection {
    /// The request before the flow, if the flow is a response.
    rpc: Option<Box<Rpc>>,
    /// Whether the sending end is in this partition and still open.
    sender_is_here: bool,
    /// Whether the receiving end is in this partition and still open.
    receiver_is_here: bool,
    /// Whether both ends close together.
    is_one: bool,
    pub flow: HalfConnection,
}

impl Connection {
    pub fn new(
        id: FlowId,
        now: Time,
        config: &FlowConfig,
        transport: &TransportConfig,
        hosts: &[HostState],
        streams: &RandomStreams,
    ) -> Self {
        let [sender_is_here, receiver_is_here] =
            [config.source, config.destination].map(|host| hosts[host.0 as usize].is_here);
        let half = |transport: &TransportConfig| {
            HalfConnection::new(id, Direction::Flow, now, config, transport, hosts, streams)
        };
        let Some(rpc) = Rpc::new(id, now, config, transport, hosts, streams) else {
            // Appended messages and requests need both ends in one partition: the application learns of an end at once.
            let is_one = config.application == Application::Appended;
            return Self { flow: half(transport), sender_is_here, receiver_is_here, is_one, rpc: None };
        };
        let (flow, rpc) = (half(&transport.opened(None)), Some(Box::new(rpc)));
        Self { flow, sender_is_here, receiver_is_here, is_one: true, rpc }
    }

    #[inline]
    pub fn is_here(&self, side: Side) -> bool {
        match side {
            Side::Sender => self.sender_is_here,
            Side::Receiver => self.receiver_is_here,
        }
    }

    /// Returns whether the end at `host` is open and here.
    #[inline]
    pub fn is_open_at(&self, host: HostId) -> bool {
        self.is_here(if self.flow.endpoints.host(Side::Sender) == host { Side::Sender } else { Side::Receiver })
    }

    pub fn is_one(&self) -> bool {
        self.is_one
    }

    /// Closes an end; returns whether the other end remains in this partition.
    pub fn end(&mut self, side: Side) -> bool {
        let (own, other) = match side {
            Side::Sender => (&mut self.sender_is_here, self.receiver_is_here),
            Side::Receiver => (&mut self.receiver_is_here, self.sender_is_here),
        };
        *own = false;
        other
    }

    #[inline(always)]
    pub fn read_ahead(&self) -> u64 {
        self.flow.endpoints.read_ahead() ^ u64::from(self.rpc.is_some())
    }

    /// Returns the direction that must make progress next, and whether it is the request's.
    pub fn half_under_way(&self) -> (&HalfConnection, bool) {
        let request = self.rpc.as_ref().and_then(|rpc| rpc.under_way());
        request.map_or((&self.flow, false), |request| (request, true))
    }

    fn request_mut(&mut self) -> Option<&mut HalfConnection> {
        self.rpc.as_mut()?.half.as_deref_mut()
    }

    /// Returns the end that a packet to this host is addressed to.
    #[inline]
    pub fn addressee(&self, destination: HostId) -> Side {
        if destination == self.flow.endpoints.host(Side::Receiver) { Side::Receiver } else { Side::Sender }
    }

    /// Starts the application; with a request, the client's.
    pub fn start<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        match self.request_mut() {
            Some(request) => request.start(visit),
            None => self.flow.start(visit),
        }
    }

    pub fn outcome_of_run(&self) -> FlowOutcome {
        let at_rest = self.flow.endpoints.progress.is_at_rest();
        self.flow.endpoints.outcome.unwrap_or(if at_rest { FlowOutcome::Completed } else { FlowOutcome::Unfinished })
    }

    /// Delivers a packet to its transport; the packet's slot is freed or reused for a packet in return.
    #[inline(always)]
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
            // Data of the response, so the request has arrived.
            (Side::Receiver, false) => rpc.end(),
            (Side::Sender, true) => {}
            // A packet of the request's direction.
            (Side::Sender, false) | (Side::Receiver, true) => match &mut rpc.half {
                Some(request) => {
                    request.deliver(now, side.other(), segment, host, env);
                    return self.follow_request(now, host, env);
                }
                None => {
                    host.counts.delivered += u64::from(segment.frames);
                    return env.packets().remove(segment.packet);
                }
            },
        }
        self.flow.deliver(now, side, segment, host, env);
    }

    /// Checks whether the request has arrived or failed.
    fn follow_request<E: HostEnvironment>(&mut self, now: Time, host: &HostState, env: &mut E) {
        let Some(rpc) = &mut self.rpc else { return };
        if let Some(at) = rpc.hear(now) {
            env.schedule(at, host.id, HostEvent::Answer(self.flow.endpoints.id));
        }
        let outcome = rpc.half.as_ref().and_then(|request| request.endpoints.outcome);
        if outcome == Some(FlowOutcome::Failed) {
            self.flow.endpoints.outcome = outcome;
        }
    }

    pub fn grant_credit<E: HostEnvironment>(
        &mut self,
        direction: Direction,
        in_advance: bool,
        visit: &mut Visit<E>,
    ) -> Option<Grant> {
        let half = if direction == Direction::Flow { Some(&mut self.flow) } else { self.request_mut() };
        half?.grant_credit(in_advance, visit)
    }

    pub fn timer<E: HostEnvironment>(&mut self, direction: Direction, timer: Timer, visit: &mut Visit<E>) {
        if direction == Direction::Flow {
            self.flow.timer(timer, visit);
        } else if let Some(request) = self.request_mut() {
            request.timer(timer, visit);
            self.follow_request(visit.now, visit.host, visit.env);
        }
    }

    /// Passes the handshake's round-trip time to the sender of the response: both directions are one connection.
    pub fn learn_from_request(&mut self, transports: &[TransportConfig], hosts: &[HostState], streams: &RandomStreams) {
        let Some(known_rtt) = self.rpc.as_ref().and_then(|rpc| rpc.known_rtt()) else { return };
        self.flow.reconnect(known_rtt, transports, hosts, streams);
    }

    pub fn answer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.flow.endpoints.asked = self.asked();
        self.flow.continue_application(visit);
    }

    /// Returns the data about the request before a response; `None` without a request.
    fn asked(&self) -> Option<Asked> {
        let rpc = self.rpc.as_ref()?;
        Some(Asked { started: self.flow.started, requested: rpc.sent_at() })
    }

    pub fn duplicates(&self) -> u64 {
        self.reorder_buffer().map_or(0, |reorder_buffer| reorder_buffer.duplicate_packets)
    }

    /// Returns the reorder buffers' counters for both directions, if there are any.
    pub fn reorder_buffer(&self) -> Option<ReorderBufferStatistics> {
        let mut reorder_buffer = self.flow.reorder_buffer()?;
        if let Some(of_request) = self.rpc.as_ref().and_then(|rpc| rpc.reorder_buffer()) {
            reorder_buffer.add(&of_request);
        }
        Some(reorder_buffer)
    }

    /// Drops the packets held for an end that has closed; returns their number.
    pub fn drop_held<E: HostEnvironment>(&mut self, side: Side, hosts: &mut [HostState], env: &mut E) -> u64 {
        let of_request = self.request_mut().map_or(0, |request| request.drop_held(side.other(), hosts, env));
        of_request + self.flow.drop_held(side, hosts, env)
    }

    /// Gives a turn at the drained card to the flow, or to its request.
    pub fn take_turn<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if visit.host.id == self.flow.endpoints.host(Side::Sender) {
            self.flow.take_turn(visit);
        } else if let Some(request) = self.request_mut() {
            request.take_turn(visit);
        }
    }

    /// Returns the properties that decide on the port of the data that `host` sends.
    pub fn way_from(&self, host: HostId) -> Way {
        self.half_from(host).endpoints.way()
    }

    /// Returns the class of the data that `host` sends.
    pub fn class_from(&self, host: HostId) -> u8 {
        self.half_from(host).endpoints.class()
    }

    fn half_from(&self, host: HostId) -> &HalfConnection {
        let request = self.rpc.as_ref().and_then(|rpc| rpc.half.as_deref());
        request.filter(|_| host != self.flow.endpoints.host(Side::Sender)).unwrap_or(&self.flow)
    }

    fn statistics(&self) -> (SenderStatistics, ReceiverStatistics) {
        let (mut sender, mut receiver) = self.flow.statistics();
        if let Some(rpc) = &self.rpc {
            let of_request = rpc.statistics();
            sender.add(&of_request.0);
            receiver.add(&of_request.1);
        }
        (sender, receiver)
    }

    /// Returns the record of the sending end as of now. For datagrams the record has no end time.
    pub fn record(&self, now: Time, outcome: FlowOutcome) -> FlowRecord {
        let endpoints = &self.flow.endpoints;
        let is_open = outcome == FlowOutcome::Completed && !self.flow.reliable;
        FlowRecord {
            flow: endpoints.id,
            tag: endpoints.tag,
            source: endpoints.host(Side::Sender),
            destination: endpoints.host(Side::Receiver),
            started: self.flow.started,
            finished: if is_open { Time::NEVER } else { now },
            sender_ended: now,
            outcome,
            messages_completed: endpoints.progress.messages_completed(),
            bytes_written: endpoints.progress.written_bytes(),
            bytes_acknowledged: self.flow.progress().acknowledged_bytes,
            bytes_delivered: 0,
            sender: self.statistics().0,
            receiver: ReceiverStatistics::default(),
            reorder_buffer: None,
        }
    }

    pub fn receiver_record(&self, finished: Option<Time>) -> ReceiverRecord {
        ReceiverRecord {
            flow: self.flow.endpoints.id,
            tag: self.flow.endpoints.tag,
            finished,
            bytes_delivered: self.flow.delivered_bytes(),
            receiver: self.statistics().1,
            reorder_buffer: self.reorder_buffer(),
        }
    }

    /// Returns records of the messages that have started and are incomplete.
    pub fn messages_under_way(&self) -> impl Iterator<Item = MessageRecord> {
        let asked = self.asked();
        self.flow.endpoints.progress.under_way().map(move |message| self.flow.endpoints.record_of(message, asked))
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::Connection;

    #[test]
    fn the_fields_of_both_ends_share_a_cache_line_and_so_do_those_of_each_end() {
        let line = |offset: usize| offset / 64;
        assert_eq!(line(offset_of!(Connection, flow.endpoints.receiver_host)), 0);
        // The goal ends where the next field begins, and the endpoint's hot fields take 32 bytes.
        let sender = [offset_of!(Connection, flow.endpoints.tagger), offset_of!(Connection, flow.endpoints.sender_end)];
        let receiver = [
            offset_of!(Connection, flow.endpoints.reorder_buffer),
            offset_of!(Connection, flow.endpoints.receiver_end),
        ];
        for [below, end] in [sender, receiver] {
            assert_eq!(line(below - 8), line(end + 31), "from {below} to {end}");
        }
    }
}
