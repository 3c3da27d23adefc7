//! A request and its answer on one connection: the client opens it and asks, the server thinks and answers.
//!
//! The flow is the answer. The way of the request, with the handshake if the transport has one, is a
//! [`HalfConnection`] of its own in the other direction; both share the flow's number, its path and its counters. The
//! first data of the answer acknowledges the request, as it does where acknowledgements ride on data.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Duration, FlowId, Time};

use super::event::Direction;
use super::half_connection::HalfConnection;
use super::state::HostState;
use crate::application::{Application, FlowConfig, ReorderBufferStatistics, Request};
use crate::flow::TransportConfig;
use crate::transport::{ReceiverStatistics, SenderStatistics};

/// What a connection has before its flow, the answer, begins.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct Rpc {
    /// The way of the request; none when the answer has begun to arrive.
    pub half: Option<Box<HalfConnection>>,
    request: Request,
    /// The request has arrived, and the answer will come.
    is_heard: bool,
    /// When the client sent the request, if it has.
    sent_at: Option<Time>,
    /// What the way of the request had counted when it ended.
    sender: SenderStatistics,
    receiver: ReceiverStatistics,
    reorder_buffer: Option<ReorderBufferStatistics>,
}

impl Rpc {
    /// The request, and the answer that is the flow of `config`, about to be started.
    pub fn new(
        flow: FlowId,
        now: Time,
        config: &FlowConfig,
        transport: &TransportConfig,
        hosts: &[HostState],
        streams: &RandomStreams,
    ) -> Option<Self> {
        let request = config.request?;
        let way = FlowConfig {
            source: config.destination,
            destination: config.source,
            class: config.acknowledgement_class,
            acknowledgement_class: config.class,
            application: Application::one_way(request.bytes),
            request: None,
            ..*config
        };
        let half = HalfConnection::new(flow, Direction::Request, now, &way, transport, hosts, streams);
        let (sender, receiver) = (SenderStatistics::default(), ReceiverStatistics::default());
        let half = Some(Box::new(half));
        Some(Self { half, request, is_heard: false, sent_at: None, sender, receiver, reorder_buffer: None })
    }

    /// When the answer begins, if that has just become known.
    pub fn hear(&mut self, now: Time) -> Option<Time> {
        let delivered_bytes = self.half.as_ref().map_or(0, |half| half.delivered_bytes());
        if self.is_heard || delivered_bytes < self.request.bytes {
            return None;
        }
        self.is_heard = true;
        Some(now + self.request.think)
    }

    /// The round-trip time that the handshake has shown.
    pub fn known_rtt(&self) -> Option<Duration> {
        self.half.as_ref()?.smoothed_rtt()
    }

    /// When the client sent the request, if it has.
    pub fn sent_at(&self) -> Option<Time> {
        self.sent_at.or_else(|| self.half.as_ref()?.opened_at())
    }

    /// The answer has begun to arrive: ends the way of the request.
    pub fn end(&mut self) {
        self.sent_at = self.sent_at();
        (self.sender, self.receiver) = self.statistics();
        self.reorder_buffer = self.reorder_buffer();
        self.half = None;
    }

    /// What both ends of the way of the request counted.
    pub fn statistics(&self) -> (SenderStatistics, ReceiverStatistics) {
        self.half.as_ref().map_or((self.sender, self.receiver), |half| half.statistics())
    }

    /// What the reorder buffer counted on the way of the request.
    pub fn reorder_buffer(&self) -> Option<ReorderBufferStatistics> {
        self.half.as_ref().map_or(self.reorder_buffer, |half| half.reorder_buffer())
    }
}
