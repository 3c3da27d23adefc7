//! Transports: the state machines at both ends of a flow.
//!
//! All have the same order of calls. The driver calls [`Sender::write`], `receive` or `handle_timeout`, then
//! [`Sender::poll_transmit`] until it returns `None`, then arms a timer for `next_timeout`. Calling `handle_timeout`
//! before `next_timeout` is harmless, so timers can be lazy and fire early. A sender that its host holds back is polled
//! later; until then [`Sender::timeout_when_held_back`] is its timeout.

pub mod packet_pair;
pub mod roce;
pub mod tcp;
pub mod udp;
pub mod uet;

use hitless_core::wire::{Duration, Ecn, Packet, Time, Transport};

/// A packet that a transport wants to send; the host fills in addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    pub transport: Transport,
    /// Frame length with all headers and the frame check sequence.
    pub frame_bytes: u32,
    pub ecn: Ecn,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct SenderStatistics {
    /// Data packets sent, including retransmissions.
    pub packets_sent: u64,
    pub packets_retransmitted: u64,
    /// Loss recoveries without a timeout (fast recovery, go-back-N after a NACK).
    pub fast_recoveries: u64,
    pub timeouts: u64,
    /// Tail loss probes sent (RFC 8985, section 7).
    pub tail_loss_probes: u64,
    /// Acknowledgements that echoed congestion.
    pub congestion_echoes: u64,
    /// Observations from selective acknowledgements.
    pub sacks: SackRecord,
}

impl SenderStatistics {
    /// Adds the counters of the other direction of a connection, without its selective acknowledgements.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets_sent += other.packets_sent;
        self.packets_retransmitted += other.packets_retransmitted;
        self.fast_recoveries += other.fast_recoveries;
        self.timeouts += other.timeouts;
        self.tail_loss_probes += other.tail_loss_probes;
        self.congestion_echoes += other.congestion_echoes;
    }
}

/// A sender's observations from selective acknowledgements (LinkGuardian, section 4.4 and figure 13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct SackRecord {
    /// Maximum bytes selectively acknowledged at once: held by the receiver above a gap. 0 without any SACK.
    pub peak_bytes: u64,
    /// Offset of the gap below the first of them, in bytes from the start of the flow.
    pub gap_offset_bytes: u64,
    /// Bytes written but unsent when more than two full segments were first selectively acknowledged; a sender then
    /// assumes a loss. 0 if that never happened.
    pub pending_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct ReceiverStatistics {
    /// Data packets received, including duplicates.
    pub packets_received: u64,
    /// Data packets without new data.
    pub duplicate_packets: u64,
    /// Data packets that arrived after a packet sent later (reordered or retransmitted).
    pub reordered_packets: u64,
    /// Data packets with Congestion Experienced.
    pub marked_packets: u64,
    /// Data packets that arrived without their payload, which was missing; they are not counted as received.
    pub trimmed_packets: u64,
}

impl ReceiverStatistics {
    /// Adds the counters of the other direction of a connection.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets_received += other.packets_received;
        self.duplicate_packets += other.duplicate_packets;
        self.reordered_packets += other.reordered_packets;
        self.marked_packets += other.marked_packets;
        self.trimmed_packets += other.trimmed_packets;
    }
}

/// The state of a sender that explains why it is quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderWait {
    /// Time of the latest packet sent, or of the latest progress if that is later; [`Time::NEVER`] for a sender that
    /// waits for no answer.
    pub quiet_since: Time,
    /// Timeouts since the latest progress; a lower bound once TCP's timeout has reached its maximum. 0 if the
    /// transport does not count them.
    pub timeouts_in_row: u32,
    /// Whether it has data and no credit of the receiver.
    pub lacks_credit: bool,
}

/// The purpose of a sender's pending timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutPurpose {
    /// Sends the next packet at the sender's rate.
    Pacing,
    /// Retransmission timeout, also of a handshake.
    Retransmission,
    /// Tail loss probe (RFC 8985, section 7).
    Probe,
    /// End of the wait for reordered packets (RFC 8985, section 6.2).
    Reordering,
}

/// The end of a flow that sends data.
pub trait Sender {
    /// Whether packets can select their paths ([`uet::spread`]); other transports do not pay for it.
    const SPREADS: bool = false;
    /// Takes `bytes` more from the application.
    fn write(&mut self, now: Time, bytes: u64);
    /// Handles a packet for this end.
    fn receive(&mut self, now: Time, packet: &Packet);
    /// Lets a sender with [`Self::SPREADS`] count the flows that share its host's card: itself, and those that wait for
    /// it. A sender that does not need the number does not pay for it.
    #[inline]
    fn share_card(&mut self, _flows: impl FnOnce() -> usize) {}
    /// Returns the next packet to send, if any may be sent now.
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing>;
    /// Like [`Self::poll_transmit`], for fast drivers: shows the packet to `put` where it is built, to avoid a copy on
    /// its way to a packet store. Returns the result of `put`, if there was a packet.
    #[inline]
    fn transmit_into<T>(&mut self, now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        self.poll_transmit(now).as_ref().map(put)
    }
    /// Returns the deadline for calling [`Self::handle_timeout`]; [`Time::NEVER`] if nothing is pending.
    fn next_timeout(&self) -> Time;
    /// Handles a timeout; does nothing if called early.
    fn handle_timeout(&mut self, now: Time);
    /// Like [`Self::next_timeout`], while the host holds the sender back and does not poll it for packets. Timers that
    /// only pace packets do not count then.
    #[inline]
    fn timeout_when_held_back(&mut self, _now: Time) -> Time {
        Time::NEVER
    }
    /// Returns the purpose of the timeout of [`Self::next_timeout`].
    fn timeout_purpose(&self) -> TimeoutPurpose {
        TimeoutPurpose::Retransmission
    }
    /// Returns the bytes that the other end has acknowledged in order.
    fn acknowledged_bytes(&self) -> u64;
    /// Returns the bytes from the start of the flow to the last byte ever sent.
    fn sent_bytes(&self) -> u64;
    /// Returns the maximum bytes in flight; 0 without a window.
    fn congestion_window_bytes(&self) -> u64;
    fn statistics(&self) -> SenderStatistics;
}

/// The end of a flow that receives data.
pub trait Receiver {
    /// Like [`Sender::SPREADS`].
    const SPREADS: bool = false;
    /// Handles a packet for this end.
    fn receive(&mut self, now: Time, packet: &Packet);
    /// Like [`Self::receive`], for a packet that receive offload has merged from this many `frames`.
    #[inline]
    fn receive_merged(&mut self, now: Time, packet: &Packet, _frames: u32) {
        self.receive(now, packet);
    }
    /// Returns the next packet to send (an acknowledgement), if one is due.
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing>;
    /// Like [`Self::poll_transmit`], for fast drivers: shows the packet to `put` where it is built, to avoid a copy on
    /// its way to a packet store. Returns the result of `put`, if there was a packet.
    #[inline]
    fn transmit_into<T>(&mut self, now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        self.poll_transmit(now).as_ref().map(put)
    }
    /// Returns the deadline for calling [`Self::handle_timeout`]; [`Time::NEVER`] if nothing is pending.
    fn next_timeout(&self) -> Time;
    /// Handles a timeout; does nothing if called early.
    fn handle_timeout(&mut self, now: Time);
    /// Returns whether the end enters its host's queue for credit now, which a host with many senders gives in turn.
    #[inline]
    fn enters_credit_queue(&mut self) -> bool {
        false
    }
    /// Grants credit in the end's turn, `in_advance` beyond the sender's demand; `None` if the transport has no credit.
    fn grant_credit(&mut self, _in_advance: bool) -> Option<uet::Grant> {
        None
    }
    /// Returns the one-way delay of the datagram just received, if the transport measures it.
    #[inline]
    fn latest_delay(&self) -> Option<Duration> {
        None
    }
    /// Returns the bytes handed to the application in order.
    fn delivered_bytes(&self) -> u64;
    fn statistics(&self) -> ReceiverStatistics;
}
