//! What a flow is asked to carry, and what is recorded about it.
//!
//! A flow is a connection in one direction, or the answer to a [`Request`]. Closed loops are made of flows that a
//! driver adds when a message of another flow is complete.

use hitless_core::engine::FlowIdentity;
use hitless_core::wire::{Duration, FlowId, HostId, Time};

use crate::priority_tagging::PriorityTagging;
use crate::transport::{ReceiverStatistics, SenderStatistics};

/// Names a transport that was made known with [`crate::Hosts::add_transport`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct TransportId(pub u16);

/// What the sending application does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Application {
    /// Messages of the same length one after the other: each starts a time after the one before was acknowledged.
    Messages {
        /// How many; 1 for a one-way flow.
        count: u64,
        /// Length of each; not 0.
        bytes: u64,
        /// From the acknowledgement of one message to the start of the next.
        gap: Duration,
    },
    /// As much as the transport takes, until a time.
    Unlimited {
        /// Nothing is written from here on; a reliable transport still delivers what it has.
        stop: Time,
        /// What may be written and not acknowledged: the socket's send buffer.
        send_buffer_bytes: u64,
    },
    /// Messages that come one by one ([`crate::Hosts::append_message`]), each written behind what was written before,
    /// on a connection that stays open until it is closed ([`crate::Hosts::close`]).
    Appended,
}

impl Application {
    /// One message of `bytes`.
    pub const fn one_way(bytes: u64) -> Self {
        Application::Messages { count: 1, bytes, gap: Duration::ZERO }
    }

    /// Unlimited until `stop`, with a send buffer of 4 MiB (Linux's default maximum, `tcp_wmem`).
    pub const fn until(stop: Time) -> Self {
        Application::Unlimited { stop, send_buffer_bytes: 4 << 20 }
    }
}

/// What a client asks before a flow: it opens the connection, and the flow is the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct Request {
    /// Length of the request; not 0.
    pub bytes: u64,
    /// From the arrival of the request's last byte to the start of the answer.
    pub think: Duration,
}

/// A flow to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct FlowConfig {
    /// Where the data comes from.
    pub source: HostId,
    /// Where it goes; another host.
    pub destination: HostId,
    /// Which transport carries it.
    pub transport: TransportId,
    /// When it starts.
    pub start: Time,
    /// What it carries.
    pub application: Application,
    /// Anything; comes back in the records.
    pub tag: u32,
    /// Traffic class of the data.
    pub class: u8,
    /// Traffic class of what comes back.
    pub acknowledgement_class: u8,
    /// Stands for addresses and ports, and names the random streams of the flow.
    pub identity: FlowIdentity,
    /// How its data packets are marked; `None`: not at all.
    pub tagging: Option<PriorityTagging>,
    /// The destination opens the connection and asks first, at [`Self::start`]; the flow, of one message, is the
    /// answer.
    pub request: Option<Request>,
}

/// A message that is complete, or that its flow or the run ended with: then what did not happen is at [`Time::NEVER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct MessageRecord {
    /// The flow it was sent on.
    pub flow: FlowId,
    /// The flow's tag.
    pub tag: u32,
    /// Number in the flow, from 0.
    pub number: u64,
    /// Length.
    pub bytes: u64,
    /// When the application wrote it; of the answer to a request, when the client began to open the connection.
    pub started: Time,
    /// When the client sent the request, the connection being open; `None`: it has not, or nobody asked.
    pub requested: Option<Time>,
    /// When its last byte was handed to the receiving application. [`Time::NEVER`] when datagrams were lost.
    pub delivered: Time,
    /// When the sender learnt that all has arrived; for datagrams, when the last was sent.
    pub acknowledged: Time,
}

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum FlowOutcome {
    /// Everything was sent and, by a reliable transport, acknowledged.
    Completed,
    /// The transport gave up.
    Failed,
    /// The run ended first.
    Unfinished,
}

/// Packets of flows, as hosts see them. Injected = delivered + dropped + in flight, where the fabric counts what it
/// copied and what it lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct PacketCounts {
    /// Handed out by the transports.
    pub injected: u64,
    /// Handed to the transports.
    pub delivered: u64,
    /// Dropped by a network card, or because nobody waits for them.
    pub dropped: u64,
}

impl PacketCounts {
    pub(crate) fn add(&mut self, other: PacketCounts) {
        self.injected += other.injected;
        self.delivered += other.delivered;
        self.dropped += other.dropped;
    }

    /// Packets between the transports, those included that the fabric has lost.
    pub fn in_flight(&self) -> i64 {
        self.injected as i64 - self.delivered as i64 - self.dropped as i64
    }
}

/// What the reorder buffer of the receiving host counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct ReorderBufferStatistics {
    /// Packets that had to wait for others.
    pub packets_held: u64,
    /// The most that were held at once.
    pub held_peak_packets: u64,
    /// Packets that were dropped because a copy was held already.
    pub duplicate_packets: u64,
    /// Times that a gap was given up.
    pub timeouts: u64,
    /// Packets that arrived after one that belongs behind them: reordered on the way, or sent again.
    pub packets_reordered: u64,
}

impl ReorderBufferStatistics {
    /// Adds what was counted on the other way of a connection.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets_held += other.packets_held;
        self.held_peak_packets = self.held_peak_packets.max(other.held_peak_packets);
        self.duplicate_packets += other.duplicate_packets;
        self.timeouts += other.timeouts;
        self.packets_reordered += other.packets_reordered;
    }
}

/// How far a flow has got: what a probe in its two hosts would see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct FlowProgress {
    /// Bytes that the sender lets be in flight; 0 when it counts none.
    pub congestion_window_bytes: u64,
    /// Bytes from the beginning to the last one ever sent.
    pub sent_bytes: u64,
    /// Bytes that the sender knows to have arrived, in order.
    pub acknowledged_bytes: u64,
    /// Bytes handed to the receiving application.
    pub delivered_bytes: u64,
    /// What the sender counted.
    pub sender: SenderStatistics,
}

/// A flow that has ended. What its receiving end knows is added when both ends are [joined](crate::FlowRecords::join).
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct FlowRecord {
    /// Its number.
    pub flow: FlowId,
    /// Its tag.
    pub tag: u32,
    /// Where the data came from.
    pub source: HostId,
    /// Where it went.
    pub destination: HostId,
    /// When it started.
    pub started: Time,
    /// When it ended.
    pub finished: Time,
    /// When its sending end did: before that, where datagrams were waited for.
    pub sender_ended: Time,
    /// How it ended.
    pub outcome: FlowOutcome,
    /// Messages that were completed.
    pub messages_completed: u64,
    /// Bytes that the application wrote.
    pub bytes_written: u64,
    /// Bytes that the sender knows to have arrived; for datagrams, bytes sent.
    pub bytes_acknowledged: u64,
    /// Bytes handed to the receiving application.
    pub bytes_delivered: u64,
    /// What the sending end counted; with a request, what sent that too.
    pub sender: SenderStatistics,
    /// What the receiving end counted; with a request, what received that too.
    pub receiver: ReceiverStatistics,
    /// What the reorder buffer counted; with a request, on both ways; `None` where there is none.
    pub reorder_buffer: Option<ReorderBufferStatistics>,
}

/// What the sending end of a flow tells the receiving end when it has ended. Not a packet: it stands for the end of the
/// connection, which both programs know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct SenderEnd {
    /// The flow.
    pub flow: FlowId,
    /// When the sending end ended.
    pub at: Time,
    /// Bytes that the application wrote.
    pub written_bytes: u64,
    /// How long the receiving end waits for late datagrams.
    pub lingers_until: Time,
}

/// The receiving end of a flow that has ended, or the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct ReceiverRecord {
    /// The flow.
    pub flow: FlowId,
    /// Its tag.
    pub tag: u32,
    /// When a flow of datagrams was over: all had arrived, or nobody waited for the rest any more.
    pub finished: Option<Time>,
    /// Bytes handed to the receiving application.
    pub bytes_delivered: u64,
    /// What it counted; with a request, what received that too.
    pub receiver: ReceiverStatistics,
    /// What the reorder buffer counted; with a request, on both ways; `None` where there is none.
    pub reorder_buffer: Option<ReorderBufferStatistics>,
}
