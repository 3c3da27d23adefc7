//! The interface between hosts and their driver.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Duration, FlowId, HostId, PortId, Time};

use super::event::{HostEvent, HostStep};
use crate::application::{FlowRecord, ReceiverRecord, SenderEnd};
use crate::records::FlowRecords;

/// The reason why a host dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDrop {
    /// The network card's queue was full.
    NetworkCardFull,
    /// Its flow has ended; usually a late duplicate.
    FlowEnded,
    /// The reorder buffer already held a copy.
    Duplicate,
    /// It is addressed to another host; a mechanism that chooses ports sent it here.
    Misdelivered,
    /// It was a signal of flow control: the card has consumed it, and nothing is lost.
    Signal,
}

/// The operations that hosts need from their driver. No method may call back into [`Hosts`](crate::Hosts).
pub trait HostEnvironment {
    /// Whether [`Self::observe`] does something; otherwise the code that prepares steps costs nothing.
    const OBSERVES: bool = false;

    fn packets(&mut self) -> &mut PacketStore;

    /// Calls [`Hosts::handle`](crate::Hosts::handle) with `event` at `at`, which is not in the past; `host` is the host
    /// concerned.
    ///
    /// Simultaneous events of a host must be handled in the order of scheduling: the order of a flow's packets depends
    /// on it.
    fn schedule(&mut self, at: Time, host: HostId, event: HostEvent);

    /// Records that a card has made a packet: a signal of flow control.
    fn created(&mut self, packet: PacketHandle);

    /// Puts a packet on the host's link. Calls are in order of departure.
    fn transmit(&mut self, host: HostId, packet: PacketHandle, last_bit_leaves_at: Time);

    /// Puts a packet on one of the links of a host that has several. Calls for a port are in order of departure.
    fn transmit_by_port(&mut self, host: HostId, port: PortId, packet: PacketHandle, last_bit_leaves_at: Time);

    /// Drops a packet; the driver frees it.
    fn drop_packet(&mut self, host: HostId, packet: PacketHandle, reason: HostDrop);

    fn records(&mut self) -> &mut FlowRecords;

    /// Reports the end of a flow's sending end. For datagrams, which the receiving end can wait for,
    /// [`FlowRecord::finished`] is [`Time::NEVER`].
    fn flow_finished(&mut self, record: &FlowRecord);

    /// Reports the end of a flow's receiving end.
    fn receiver_finished(&mut self, record: &ReceiverRecord);

    /// Reports the end of a flow's sending end to its receiver: the driver calls
    /// [`Hosts::handle`](crate::Hosts::handle) with [`HostEvent::SenderEnded`] a constant time later. `is_elsewhere`
    /// means that the `receiver` is in another partition; the driver must then call
    /// [`Hosts::note_sender_end`](crate::Hosts::note_sender_end) there first.
    fn sender_ended(&mut self, receiver: HostId, end: SenderEnd, is_elsewhere: bool);

    /// Reports a datagram that arrived `delay` after it was sent, for histograms. Does nothing by default.
    #[inline]
    fn datagram_delivered(&mut self, _flow: FlowId, _delay: Duration) {}

    /// Shows the next step of a flow at its hosts, in the order of causes. Does nothing by default.
    #[inline(always)]
    fn observe(&mut self, _step: HostStep) {}
}
