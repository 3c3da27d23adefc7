//! Transports: what each end of a flow does.
//!
//! The order of calls is the same for all of them. Whoever drives an end calls one of [`Sender::write`],
//! `receive` or `handle_timeout`, then [`Sender::poll_transmit`] until it returns `None`, then arms a timer for
//! `next_timeout`. Calling `handle_timeout` before `next_timeout` is harmless: timers may be armed lazily and run
//! out early. A sender that its host holds back is polled later; until then [`Sender::timeout_when_held_back`] counts.

pub mod packet_pair;
pub mod roce;
pub mod tcp;
pub mod udp;

use hitless_core::wire::{Duration, Ecn, Packet, Time, Transport};

/// A packet that a transport wants to send; addresses are filled in by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Transport header.
    pub transport: Transport,
    /// Length of the frame with all headers and the frame check sequence.
    pub frame_bytes: u32,
    /// ECN field to send it with.
    pub ecn: Ecn,
}

/// What the sending end counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct SenderStatistics {
    /// Data packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Data packets sent again.
    pub packets_retransmitted: u64,
    /// Times that loss was found without a timeout (fast recovery, go-back-N after a NACK).
    pub fast_recoveries: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes sent (RFC 8985, section 7).
    pub tail_loss_probes: u64,
    /// Acknowledgements that echoed congestion.
    pub congestion_echoes: u64,
    /// What selective acknowledgements said.
    pub sacks: SackRecord,
}

impl SenderStatistics {
    /// Adds what was counted on the other way of a connection; what its selective acknowledgements said is left out.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets_sent += other.packets_sent;
        self.packets_retransmitted += other.packets_retransmitted;
        self.fast_recoveries += other.fast_recoveries;
        self.timeouts += other.timeouts;
        self.tail_loss_probes += other.tail_loss_probes;
        self.congestion_echoes += other.congestion_echoes;
    }
}

/// What selective acknowledgements said to a sender (LinkGuardian, section 4.4 and figure 13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct SackRecord {
    /// The most bytes that were selectively acknowledged at once: held by the receiver above a gap. 0: there was no
    /// selective acknowledgement.
    pub peak_bytes: u64,
    /// Where the gap below the first of them began, in bytes from the beginning of the flow.
    pub gap_offset_bytes: u64,
    /// What the application had handed over and had not been sent when more than two full segments had first been
    /// selectively acknowledged, which is when a sender takes a loss for granted. 0 also if that never was.
    pub pending_bytes: u64,
}

/// What the receiving end counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct ReceiverStatistics {
    /// Data packets received, duplicates included.
    pub packets_received: u64,
    /// Data packets that brought nothing new.
    pub duplicate_packets: u64,
    /// Data packets that arrived after a packet sent later (reordered on the way or retransmitted).
    pub reordered_packets: u64,
    /// Data packets with Congestion Experienced.
    pub marked_packets: u64,
    /// Data packets that came without their payload, which was missing; they are not among those received.
    pub trimmed_packets: u64,
}

impl ReceiverStatistics {
    /// Adds what was counted on the other way of a connection.
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets_received += other.packets_received;
        self.duplicate_packets += other.duplicate_packets;
        self.reordered_packets += other.reordered_packets;
        self.marked_packets += other.marked_packets;
        self.trimmed_packets += other.trimmed_packets;
    }
}

/// The end of a flow that has data.
pub trait Sender {
    /// The application hands over `bytes` more to send.
    fn write(&mut self, now: Time, bytes: u64);
    /// A packet for this end arrived.
    fn receive(&mut self, now: Time, packet: &Packet);
    /// The next packet to send, if any may be sent now.
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing>;
    /// [`Self::poll_transmit`] for a driver in a hurry: shows the packet to `put` where it is built, so that it need
    /// not be copied on its way to a packet store. Returns what `put` does, if there was one.
    #[inline]
    fn transmit_into<T>(&mut self, now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        self.poll_transmit(now).as_ref().map(put)
    }
    /// When [`Self::handle_timeout`] must be called at the latest; [`Time::NEVER`] when nothing is pending.
    fn next_timeout(&self) -> Time;
    /// Time has come (or not yet: then nothing happens).
    fn handle_timeout(&mut self, now: Time);
    /// [`Self::next_timeout`] while its host holds it back, which is when it may not be asked for packets. A timer that
    /// only says when to ask does not count then.
    #[inline]
    fn timeout_when_held_back(&mut self, _now: Time) -> Time {
        Time::NEVER
    }
    /// Bytes that the other end has acknowledged in order.
    fn acknowledged_bytes(&self) -> u64;
    /// Bytes from the beginning to the last one ever sent.
    fn sent_bytes(&self) -> u64;
    /// Bytes that it lets be in flight; 0 when it counts none.
    fn congestion_window_bytes(&self) -> u64;
    /// What was counted.
    fn statistics(&self) -> SenderStatistics;
}

/// The end of a flow that takes data.
pub trait Receiver {
    /// A packet for this end arrived.
    fn receive(&mut self, now: Time, packet: &Packet);
    /// The same when receive offload has put it together from so many `frames`, if that makes a difference.
    #[inline]
    fn receive_merged(&mut self, now: Time, packet: &Packet, _frames: u32) {
        self.receive(now, packet);
    }
    /// The next packet to send (an acknowledgement), if one is due.
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing>;
    /// [`Self::poll_transmit`] for a driver in a hurry: shows the packet to `put` where it is built, so that it need
    /// not be copied on its way to a packet store. Returns what `put` does, if there was one.
    #[inline]
    fn transmit_into<T>(&mut self, now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        self.poll_transmit(now).as_ref().map(put)
    }
    /// When [`Self::handle_timeout`] must be called at the latest; [`Time::NEVER`] when nothing is pending.
    fn next_timeout(&self) -> Time;
    /// Time has come (or not yet: then nothing happens).
    fn handle_timeout(&mut self, now: Time);
    /// The one-way delay of the datagram just received, where the transport measures it.
    #[inline]
    fn latest_delay(&self) -> Option<Duration> {
        None
    }
    /// Bytes handed to the application in order.
    fn delivered_bytes(&self) -> u64;
    /// What was counted.
    fn statistics(&self) -> ReceiverStatistics;
}
