//! What a driver does for hosts.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Duration, FlowId, HostId, Time};

use super::event::HostEvent;
use crate::application::{FlowRecord, ReceiverRecord, SenderEnd};
use crate::records::FlowRecords;

/// Why a host dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDrop {
    /// The network card's queue was full.
    NetworkCardFull,
    /// Its flow has ended: a late duplicate, as a rule.
    FlowEnded,
    /// The reorder buffer held a copy of it.
    Duplicate,
    /// It is addressed to another host: a mechanism that chooses ports sent it here.
    Misdelivered,
}

/// What a driver does for hosts. No method may call back into [`Hosts`].
pub trait HostEnvironment {
    /// Where packets are kept.
    fn packets(&mut self) -> &mut PacketStore;

    /// Calls [`Hosts::handle`] with `event` at `at`, which is not in the past.
    ///
    /// Events of one host for the same time must be handled in the order in which they were scheduled: the order of a
    /// flow's packets depends on it. `host` is where it happens.
    fn schedule(&mut self, at: Time, host: HostId, event: HostEvent);

    /// Puts a packet on the host's link. Called in the order of departure.
    fn transmit(&mut self, host: HostId, packet: PacketHandle, last_bit_leaves_at: Time);

    /// A host drops a packet; the driver frees it.
    fn drop_packet(&mut self, host: HostId, packet: PacketHandle, reason: HostDrop);

    /// Where what becomes of messages is recorded.
    fn records(&mut self) -> &mut FlowRecords;

    /// The sending end of a flow has ended. Of datagrams, which the receiving end may wait for, the record is without
    /// an end: [`FlowRecord::finished`] is [`Time::NEVER`].
    fn flow_finished(&mut self, record: &FlowRecord);

    /// The receiving end of a flow has ended.
    fn receiver_finished(&mut self, record: &ReceiverRecord);

    /// The sending end of a flow has ended: calls [`Hosts::handle`] with [`HostEvent::SenderEnded`] a constant time
    /// later. With `is_elsewhere` the `receiver` is in another partition; there [`Hosts::note_sender_end`] is before.
    fn sender_ended(&mut self, receiver: HostId, end: SenderEnd, is_elsewhere: bool);

    /// A datagram has arrived, `delay` after it was sent: the place for a histogram. Does nothing by default.
    #[inline]
    fn datagram_delivered(&mut self, _flow: FlowId, _delay: Duration) {}
}
