//! A request and its response on one connection: the client opens it and asks, the server thinks and responds.
//!
//! The flow is the response. The request's direction, with the handshake if the transport has one, is another
//! [`HalfConnection`] in the opposite direction. Both share the flow's number, its path and its counters. The first
//! data of the response acknowledges the request, like an acknowledgement that rides on data.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{Duration, FlowId, Time};

use super::event::Direction;
use super::half_connection::HalfConnection;
use super::state::HostState;
use crate::application::{Application, FlowConfig, ReorderBufferStatistics, Request};
use crate::flow::TransportConfig;
use crate::transport::{ReceiverStatistics, SenderStatistics};

/// The part of a connection before its flow, the response, starts.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct Rpc {
    /// Direction of the request; `None` once the response has started to arrive.
    pub half: Option<Box<HalfConnection>>,
    request: Request,
    /// Whether the request has arrived, so that the response will come.
    is_heard: bool,
    /// Time when the client sent the request, if it has.
    sent_at: Option<Time>,
    /// Counters of the request's direction at its end.
    sender: SenderStatistics,
    receiver: ReceiverStatistics,
    reorder_buffer: Option<ReorderBufferStatistics>,
}

impl Rpc {
    /// Creates the request for the flow of `config`, which is the response; `None` without a request.
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

    /// Returns when the response starts, if that has just become known.
    pub fn hear(&mut self, now: Time) -> Option<Time> {
        let delivered_bytes = self.half.as_ref().map_or(0, |half| half.delivered_bytes());
        if self.is_heard || delivered_bytes < self.request.bytes {
            return None;
        }
        self.is_heard = true;
        Some(now + self.request.think)
    }

    /// Returns the request's direction while the request has not arrived.
    pub fn under_way(&self) -> Option<&HalfConnection> {
        self.half.as_deref().filter(|_| !self.is_heard)
    }

    /// Returns the round-trip time of the handshake.
    pub fn known_rtt(&self) -> Option<Duration> {
        self.half.as_ref()?.smoothed_rtt()
    }

    pub fn sent_at(&self) -> Option<Time> {
        self.sent_at.or_else(|| self.half.as_ref()?.opened_at())
    }

    /// Ends the request's direction, because the response has started to arrive.
    pub fn end(&mut self) {
        self.sent_at = self.sent_at();
        (self.sender, self.receiver) = self.statistics();
        self.reorder_buffer = self.reorder_buffer();
        self.half = None;
    }

    pub fn statistics(&self) -> (SenderStatistics, ReceiverStatistics) {
        self.half.as_ref().map_or((self.sender, self.receiver), |half| half.statistics())
    }

    pub fn reorder_buffer(&self) -> Option<ReorderBufferStatistics> {
        self.half.as_ref().map_or(self.reorder_buffer, |half| half.reorder_buffer())
    }
}
