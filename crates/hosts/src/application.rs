//! Flows: their configuration, and the records about them.
//!
//! A flow is one direction of a connection, or the response to a [`Request`]. For closed loops the driver adds flows
//! when a message of another flow is complete.

use hitless_core::engine::FlowIdentity;
use hitless_core::wire::{Duration, FlowId, HostId, Time};

use crate::transport::{ReceiverStatistics, SenderStatistics};
use std::num::NonZeroU32;

/// The number of a transport registered with [`crate::Hosts::add_transport`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct TransportId(pub u16);

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Application {
    /// Messages of equal length, one after the other. Each starts a gap after the previous one was acknowledged.
    Messages {
        /// Number of messages; 1 for a one-way flow.
        count: u64,
        /// Length of each message; not 0.
        bytes: u64,
        /// Time from the acknowledgement of one message to the start of the next.
        gap: Duration,
    },
    /// As much data as the transport takes, until a deadline.
    Unlimited {
        /// Time after which the application writes nothing more; a reliable transport still delivers the rest.
        stop: Time,
        /// Maximum bytes written but not acknowledged: the socket's send buffer.
        send_buffer_bytes: u64,
    },
    /// Messages that arrive one by one ([`crate::Hosts::append_message`]) and follow each other in the byte stream. The
    /// connection stays open until it is closed ([`crate::Hosts::close`]).
    Appended,
}

impl Application {
    pub const fn one_way(bytes: u64) -> Self {
        Application::Messages { count: 1, bytes, gap: Duration::ZERO }
    }

    /// Writes without limit until `stop`, with a send buffer of 4 MiB (Linux's default maximum, `tcp_wmem`).
    pub const fn until(stop: Time) -> Self {
        Application::Unlimited { stop, send_buffer_bytes: 4 << 20 }
    }
}

/// A client's request before a flow: it opens the connection, and the flow is the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct Request {
    /// Length of the request; not 0.
    pub bytes: u64,
    /// Time from the arrival of the request's last byte to the start of the response.
    pub think: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct FlowConfig {
    pub source: HostId,
    /// The receiving host; must differ from `source`.
    pub destination: HostId,
    pub transport: TransportId,
    pub start: Time,
    pub application: Application,
    /// User-defined tag, copied to the records.
    pub tag: u32,
    /// Traffic class of the data.
    pub class: u8,
    /// Traffic class of acknowledgements.
    pub acknowledgement_class: u8,
    /// Identity of the flow: replaces addresses and ports, and names the flow's random streams.
    pub identity: FlowIdentity,
    /// Priority marks on data packets; `None` means no marks.
    pub tagging: Option<PriorityTagging>,
    /// The request that the destination sends first, at [`Self::start`]. The flow is the response and has one message.
    pub request: Option<Request>,
}

impl FlowConfig {
    /// Returns the host that opens the connection: the client, which is the receiver of a response, or the source.
    pub fn opener(&self) -> HostId {
        if self.request.is_some() { self.destination } else { self.source }
    }
}

/// A message that is complete or ended with its flow or the run. Times of steps that did not happen are
/// [`Time::NEVER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct MessageRecord {
    pub flow: FlowId,
    pub tag: u32,
    /// Number in the flow, from 0.
    pub number: u64,
    pub bytes: u64,
    /// Time when the application wrote it. For a response: when the client began to open the connection.
    pub started: Time,
    /// Time when the client sent the request on the open connection; `None` if there was no request or it was not sent.
    pub requested: Option<Time>,
    /// Time when the receiving application got the last byte; [`Time::NEVER`] if datagrams were lost.
    pub delivered: Time,
    /// Time when the sender learnt that everything has arrived; for datagrams, when the last was sent.
    pub acknowledged: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum FlowOutcome {
    /// Everything was sent and, with a reliable transport, acknowledged.
    Completed,
    /// The transport gave up.
    Failed,
    /// The run ended first.
    Unfinished,
}

/// Packets of flows as counted by hosts. Injected = delivered + dropped + in flight, if the fabric's copies and losses
/// are counted too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct PacketCounts {
    /// Sent by the transports.
    pub injected: u64,
    /// Passed to the transports.
    pub delivered: u64,
    /// Dropped by a network card, or because their flow has ended.
    pub dropped: u64,
}

impl PacketCounts {
    pub(crate) fn add(&mut self, other: PacketCounts) {
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.dropped += other.dropped;
    }

    /// Returns the packets between the transports, including those lost in the fabric.
    pub fn in_flight(&self) -> i64 {
        self.injected as i64 - self.delivered as i64 - self.dropped as i64
    }
}

/// The counters of a receiving host's reorder buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct ReorderBufferStatistics {
    /// Packets that waited for others.
    pub packets_held: u64,
    /// Maximum number of packets held at once.
    pub held_peak_packets: u64,
    /// Packets dropped because a copy was already held.
    pub duplicate_packets: u64,
    /// Number of gaps given up.
    pub timeouts: u64,
    /// Packets that arrived after a packet that belongs behind them: reordered or retransmitted.
    pub packets_reordered: u64,
}

impl ReorderBufferStatistics {
    /// Adds the counters of the other direction of a connection.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets_held += other.packets_held;
        self.held_peak_packets = self.held_peak_packets.max(other.held_peak_packets);
        self.duplicate_packets += other.duplicate_packets;
        self.timeouts += other.timeouts;
        self.packets_reordered += other.packets_reordered;
    }
}

/// The progress of a flow, as a probe in its two hosts would see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct FlowProgress {
    /// Maximum bytes in flight; 0 for a sender without a window.
    pub congestion_window_bytes: u64,
    /// Bytes from the start of the flow to the last byte ever sent.
    pub sent_bytes: u64,
    /// Bytes that the sender knows to have arrived in order.
    pub acknowledged_bytes: u64,
    pub delivered_bytes: u64,
    pub sender: SenderStatistics,
}

/// A flow that has ended. The receiving end's data is added when both ends are [joined](crate::FlowRecords::join).
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct FlowRecord {
    pub flow: FlowId,
    pub tag: u32,
    pub source: HostId,
    pub destination: HostId,
    pub started: Time,
    pub finished: Time,
    /// Time when the sending end ended; earlier than `finished` if the receiver waited for datagrams.
    pub sender_ended: Time,
    pub outcome: FlowOutcome,
    pub messages_completed: u64,
    pub bytes_written: u64,
    /// Bytes that the sender knows to have arrived; for datagrams, bytes sent.
    pub bytes_acknowledged: u64,
    pub bytes_delivered: u64,
    /// Counters of the sending end, including those of the request.
    pub sender: SenderStatistics,
    /// Counters of the receiving end, including those of the request.
    pub receiver: ReceiverStatistics,
    /// Counters of the reorder buffer, including the request's direction; `None` without a reorder buffer.
    pub reorder_buffer: Option<ReorderBufferStatistics>,
}

/// The sending end's notification to the receiving end that it has ended. It is not a packet: it stands for the close
/// of the connection, which both programs know about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct SenderEnd {
    pub flow: FlowId,
    pub at: Time,
    pub written_bytes: u64,
    /// Deadline until which the receiving end waits for late datagrams.
    pub lingers_until: Time,
}

/// The receiving end of a flow, at the end of the flow or of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct ReceiverRecord {
    pub flow: FlowId,
    pub tag: u32,
    /// Time when a flow of datagrams was over: all had arrived, or the wait for the rest had ended.
    pub finished: Option<Time>,
    pub bytes_delivered: u64,
    /// Counters, including those of the request.
    pub receiver: ReceiverStatistics,
    /// Counters of the reorder buffer, including the request's direction; `None` without a reorder buffer.
    pub reorder_buffer: Option<ReorderBufferStatistics>,
}

/// The meaning of the rank in a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Rank {
    /// Unsent bytes of the message, including this packet: shortest remaining first. A flow without an end has the
    /// maximum of the field.
    RemainingBytes,
    /// Bytes of the message before this packet (least attained service).
    AttainedService,
    /// A constant.
    Fixed(u32),
}

/// The configuration of priority marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct PriorityTagging {
    pub rank: Rank,
    /// Divisor of a lying host's ranks; 1 is honest. A fixed rank is written unchanged.
    pub divisor: NonZeroU32,
    /// Vertigo's delta: a longer pause ends a flowlet. With [`Duration::MAX`] a flowlet ends with its message only.
    pub flowlet_gap: Duration,
}

impl PriorityTagging {
    pub const fn honest(rank: Rank) -> Self {
        Self { rank, divisor: NonZeroU32::MIN, flowlet_gap: Duration::MAX }
    }
}
