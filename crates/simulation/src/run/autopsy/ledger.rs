//! The ledger of a packet: the time since its message started, divided into parts.

use hitless_core::wire::{FlowId, PortId, Time};
use hitless_switch::DropReason;

/// A part of a completion time, in the order of the table's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Part {
    /// The application: a server's thinking time, or a step between two of its writes.
    Application,
    /// Earlier messages of the same connection.
    EarlierMessages,
    /// The host's stack: its delays, and polling with receive offload.
    Stack,
    /// The network card: its queue, and the line of flows that wait for it.
    Card,
    /// The sender's rate.
    Pacing,
    /// The receiver's queue for credit.
    Credit,
    /// An acknowledgement that the receiver delays.
    DelayedAcknowledgement,
    Serialisation,
    /// Links, with their PHYs.
    Propagation,
    /// Fixed latencies of switches.
    Pipeline,
    /// Queues of switches, except while they are paused.
    Queue,
    /// Queues of switches that the link partner has paused.
    Paused,
    /// A mechanism held the packet, or sent a copy of it later.
    Mechanism,
    /// From the loss of the packet until the link or a mechanism repeated it.
    LinkRecovery,
    /// From a loss until an acknowledgement made the sender repeat the packet.
    FastRecovery,
    /// From a loss until the end of the wait for reordered packets.
    ReorderingTimer,
    /// From a loss until the tail loss probe.
    Probe,
    /// From a loss until the retransmission timeout.
    Timeout,
    /// The reorder buffer of the receiving host.
    ReorderBuffer,
}

/// Number of parts.
pub(super) const PARTS: usize = Part::ReorderBuffer as usize + 1;

/// The column of each part.
pub(super) const COLUMNS: [&str; PARTS] = [
    "application_ps",
    "earlier_messages_ps",
    "stack_ps",
    "card_ps",
    "pacing_ps",
    "credit_ps",
    "delayed_acknowledgement_ps",
    "serialisation_ps",
    "propagation_ps",
    "pipeline_ps",
    "queue_ps",
    "paused_ps",
    "mechanism_ps",
    "link_recovery_ps",
    "fast_recovery_ps",
    "reordering_timer_ps",
    "probe_ps",
    "timeout_ps",
    "reorder_buffer_ps",
];

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On a link, by its number.
    Link(u32),
    /// At the egress port of a switch.
    Port(u32, PortId),
    /// In the network card of a host.
    Host(u32),
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Corrupted,
    LinkDown,
    Switch(DropReason),
    CardFull,
}

/// A loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub place: Place,
    pub cause: Cause,
}

/// The recovery that took the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recovery {
    pub time_ps: u64,
    pub part: Part,
    /// `None` if no packet was lost: a timer ran out too early, or acknowledgements were lost.
    pub loss: Option<Loss>,
}

/// A switch port and the time in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub time_ps: u64,
    pub switch: u32,
    pub port: PortId,
}

/// The time of a packet's message up to `at`, divided into parts. The parts always add up to `at - origin`, because
/// every step of time is charged to one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledger {
    /// Start of the message.
    pub origin: Time,
    pub at: Time,
    pub parts: [u64; PARTS],
    pub longest_queue: Option<Wait>,
    pub recoveries: u32,
    pub longest_recovery: Option<Recovery>,
    /// Time of the latest retransmission on the path.
    pub recovered_at: Time,
    /// Packets on the path that arrived at the data sender: acknowledgements, credits, a request.
    pub round_trips: u32,
    /// Arrival of the latest of them.
    pub round_began: Time,
    /// A mechanism of the switch has made the packet, and has not sent it yet.
    pub is_copy: bool,
}

impl Ledger {
    /// Starts the ledger of a message.
    pub fn new(origin: Time) -> Self {
        Self {
            origin,
            at: origin,
            parts: [0; PARTS],
            longest_queue: None,
            recoveries: 0,
            longest_recovery: None,
            recovered_at: Time::ZERO,
            round_trips: 0,
            round_began: origin,
            is_copy: false,
        }
    }

    /// Charges the time until `until`, if that is later than the ledger, and returns it in picoseconds.
    #[inline]
    pub fn charge(&mut self, until: Time, part: Part) -> u64 {
        let time_ps = until.saturating_since(self.at).as_ps();
        self.parts[part as usize] += time_ps;
        self.at = self.at.max(until);
        time_ps
    }

    /// Returns the ledger with the time until `until` charged.
    pub fn charged(mut self, until: Time, part: Part) -> Self {
        self.charge(until, part);
        self
    }

    /// Charges the time until `until` as a queue's.
    #[inline]
    pub fn wait(&mut self, until: Time, switch: u32, port: PortId) {
        let time_ps = self.charge(until, Part::Queue);
        if time_ps > self.longest_queue.map_or(0, |longest| longest.time_ps) {
            self.longest_queue = Some(Wait { time_ps, switch, port });
        }
    }

    /// Charges the time until `until` to a recovery.
    pub fn recover(&mut self, until: Time, part: Part, loss: Option<Loss>) {
        let time_ps = self.charge(until, part);
        self.note_recovery(Recovery { time_ps, part, loss });
    }

    /// Counts a recovery with its time already charged.
    pub fn note_recovery(&mut self, recovery: Recovery) {
        self.recovered_at = self.at;
        self.recoveries += 1;
        if self.longest_recovery.is_none_or(|longest| recovery.time_ps >= longest.time_ps) {
            self.longest_recovery = Some(recovery);
        }
    }

    /// The whole time in picoseconds.
    pub fn total_ps(&self) -> u64 {
        self.parts.iter().sum()
    }
}

/// A delivered message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub flow: FlowId,
    pub group: u32,
    pub number: u64,
    pub ledger: Ledger,
}
